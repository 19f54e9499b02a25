/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctmend: entry point. */
#include <stdio.h>
#include <string.h>

#include "base/version.h"

static const char help[] =
	"usage: ctmend COMMAND [OPTION]... [TARGET]...\n"
	"       ctmend --help | --version\n"
	"\n"
	"Repairs ownership in the root file system of a stopped LXC container.\n";

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		printf("ctmend %s\n", ctm_version);
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		fputs(help, stdout);
		return 0;
	}
	if (argc < 2) {
		fputs(help, stderr);
	} else {
		fprintf(stderr, "ctmend: unknown command '%s'\n", argv[1]);
	}
	return 2;
}
