/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ctmend: repairs ownership in the root file system of a stopped LXC container.
 *
 * Table of contents.  cmd/ talks to people: it reads the command line, prints, asks and
 * exits.  lib/ does the work and never prints:
 *
 *   main.c           global options, dispatch
 *   options.[ch]     the one option table: parser, --help, completion words
 *   commands.c       the array of commands; command.h says how to add one
 *   check.c          check: what is wrong, by cause
 *   repair.c         repair and diff: show, ask, repair, verify
 *   undo.c           undo: take a repair back
 *   history.c        history: what was done here
 *   map.c            map: id maps, what is wrong with them, ids translated
 *   list.c           list: every container of this host
 *   explain.c        explain: what a finding means
 *   hook.c           hook: entry point for PVE hook scripts and lxc.hook.pre-start
 *   hookwatch.[ch]   the process that watches over a hook's work, and ends it in time
 *   relay.[ch]       what is said to a caller who may not listen
 *   term.[ch]        colour, the question, the progress line
 *   volumes.[ch]     --volume: one volume, or all of a target
 *   syslog_line.[ch] begin and end of every change, for the system's log
 *
 *   lib/session/     the stages in their order; ARCHITECTURE.md has the picture
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/version.h"
#include "command.h"
#include "hook.h"
#include "report/explain.h"
#include "report/wrap.h"
#include "stop.h"
#include "term.h"

CTM_HOST_PATHS

#define HELP_WIDTH 80

static void usage(FILE *out)
{
	fputs("usage: ctmend COMMAND [OPTION]... [TARGET]...\n"
	      "\n"
	      "Repairs ownership in the root file system of a stopped, unprivileged LXC\n"
	      "container. TARGET is a Proxmox VE container id, the name of a plain LXC\n"
	      "container, or a path with --map.\n"
	      "\n"
	      "Commands:\n",
	      out);
	for (size_t i = 0; i < commands_n; i++) {
		fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
	}
	fputs("\nOptions:\n", out);
	options_help(out, OPTS_COMMON);
	fputs("\n'ctmend COMMAND --help' shows a command's own options; ctmend(8) has the rest.\n",
	      out);
}

static void command_usage(FILE *out, const struct command *cmd)
{
	fprintf(out, "usage: ctmend %s [OPTION]...%s%s\n\n", cmd->name, cmd->operands[0] ? " " : "",
		cmd->operands);
	ctm_wrap(out, "", "", HELP_WIDTH, cmd->details);
	fputs("\nOptions:\n", out);
	options_help(out, cmd->options);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < commands_n; i++) {
		if (strcmp(commands[i]->name, name) == 0) {
			return commands[i];
		}
	}
	return NULL;
}

static void print_debug(const char *cat, const char *line, void *arg)
{
	(void)arg;
	term_say("%s: %s", cat, line);
}

/*
 * A program that was started without standard descriptors must not get a volume or a record as
 * its stdout: the first files it opens would take the free numbers. What takes them instead cannot
 * be written to, or read from, so that a report that nobody gets is an error.
 */
static int hold_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
			int got = open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);

			if (got != fd) {
				return -1;
			}
		}
	}
	return 0;
}

/*
 * What the caller's surroundings must not decide: the modes of records and locks, and how a file
 * that grows beyond a limit ends. A tree can be made so that what is wrong with it takes much
 * memory; when the host runs out of it, this program is the one to go, not a guest: what it was
 * doing can be done again, or finished.
 */
static void settle_in(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	(void)umask(022);
	(void)signal(SIGXFSZ, SIG_IGN);
	if (fd >= 0) {
		(void)!write(fd, "1000", 4);
		(void)close(fd);
	}
}

/*
 * "ctmend __options [COMMAND]": words for shell completion and for the tests that compare surfaces.
 */
static int print_words(int argc, char **argv)
{
	if (argc == 0) {
		for (size_t i = 0; i < commands_n; i++) {
			puts(commands[i]->name);
		}
		return EXIT_CLEAN;
	}
	const struct command *cmd = find_command(argv[0]);

	if (!cmd) {
		return EXIT_USAGE;
	}
	options_words(stdout, cmd->options);
	return EXIT_CLEAN;
}

static int run_command(struct options *opts, const struct command *cmd, int argc, char **argv)
{
	int first = options_parse(opts, cmd->options, false, argc, argv);
	int n = argc - first;

	if (first < 0) {
		fprintf(stderr, "ctmend: 'ctmend %s --help' shows the options\n", cmd->name);
		return EXIT_USAGE;
	}
	if (opts->help) {
		command_usage(stdout, cmd);
		return EXIT_CLEAN;
	}
	if (opts->version) {
		printf("ctmend %s\n", ctm_version);
		return EXIT_CLEAN;
	}
	if (n < cmd->min_operands || (cmd->max_operands >= 0 && n > cmd->max_operands)) {
		fprintf(stderr, "ctmend: usage: ctmend %s [OPTION]... %s\n", cmd->name,
			cmd->operands);
		return EXIT_USAGE;
	}
	return cmd->run(opts, n, argv + first);
}

static int dispatch(struct options *opts, int argc, char **argv, const struct command **ret_cmd)
{
	const struct command *cmd;
	int first = options_parse(opts, OPTS_COMMON, true, argc, argv);

	if (first < 0) {
		return EXIT_USAGE;
	}
	if (opts->version) {
		printf("ctmend %s\n", ctm_version);
		return EXIT_CLEAN;
	}
	if (opts->help) {
		usage(stdout);
		return EXIT_CLEAN;
	}
	if (first >= argc) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[first], "__options") == 0) {
		return print_words(argc - first - 1, argv + first + 1);
	}
	if (strcmp(argv[first], "__pages") == 0) {
		ctm_explain_mdoc(stdout); /* the list of ctmend-findings(7) */
		return EXIT_CLEAN;
	}
	if (strcmp(argv[first], "__causes") == 0) {
		ctm_explain_causes_mdoc(stdout); /* likewise */
		return EXIT_CLEAN;
	}
	cmd = find_command(argv[first]);
	if (!cmd) {
		term_say("unknown command '%s'; 'ctmend --help' lists them", argv[first]);
		return EXIT_USAGE;
	}
	*ret_cmd = cmd;
	return run_command(opts, cmd, argc - first, argv + first);
}

int main(int argc, char **argv)
{
	const struct command *cmd = NULL;
	struct options opts;
	int status;

	if (hold_standard_descriptors() < 0) {
		return hook_status(argc, argv, EXIT_FAILED);
	}
	settle_in();
	ctm_log_set(print_debug, NULL, getenv("CTM_DEBUG"));
	options_init(&opts);
	opts.session.progress = term_progress;
	opts.session.notice = term_notice;
	opts.session.stop = stop_on_signals();
	status = dispatch(&opts, argc, argv, &cmd);
	term_progress_end();
	options_done(&opts);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "ctmend: cannot write the report: %s\n", strerror(errno));
		if (status < EXIT_FAILED) {
			status = EXIT_FAILED;
		}
	}
	return !cmd || cmd == &command_hook ? hook_status(argc, argv, status) : status;
}
