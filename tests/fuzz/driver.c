/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replays inputs through a fuzz target: each argument is a file, or a folder of files. Prints
 * "ok FILE" for each and a plan at the end, as the scripts of the test suite do.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#include "fuzz/fuzz.h"

static unsigned int count;

static int replay(const char *path, size_t size)
{
	FILE *f = fopen(path, "rb");
	/* of the exact size, so that AddressSanitizer sees a read beyond its end */
	uint8_t *data = malloc(size > 0 ? size : 1);

	FUZZ_CHECK(data);
	if (!f || fread(data, 1, size, f) != size) {
		(void)fprintf(stderr, "%s: %s\n", path, strerror(errno));
		free(data);
		if (f) {
			(void)fclose(f);
		}
		return -1;
	}
	(void)fclose(f);
	(void)LLVMFuzzerTestOneInput(data, size);
	free(data);
	count++;
	(void)printf("ok %s\n", path);
	(void)fflush(stdout);
	return 0;
}

static int replay_folder(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	int r = 0;

	if (!dir) {
		(void)fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return -1;
	}
	while (r == 0 && (entry = readdir(dir))) {
		char file[PATH_MAX];
		struct stat st;

		(void)snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		if (stat(file, &st) == 0 && S_ISREG(st.st_mode)) {
			r = replay(file, (size_t)st.st_size);
		}
	}
	(void)closedir(dir);
	return r;
}

int main(int argc, char **argv)
{
	int r = 0;

	for (int i = 1; i < argc && r == 0; i++) {
		struct stat st;

		if (stat(argv[i], &st) < 0) {
			(void)fprintf(stderr, "%s: %s\n", argv[i], strerror(errno));
			r = -1;
		} else {
			r = S_ISDIR(st.st_mode) ? replay_folder(argv[i]) :
						  replay(argv[i], (size_t)st.st_size);
		}
	}
	(void)printf("1..%u\n", count);
	return r < 0 || count == 0;
}
