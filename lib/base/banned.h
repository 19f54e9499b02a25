/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls that this program does not make; the Makefile includes this file into every source of lib/
 * and cmd/ before its first line.
 *
 * Never, an error: calls that cannot be told the size of their buffer, that report no error, that
 * keep their result in a static buffer, or that run a shell.
 *
 * Only in a file that says so, otherwise a warning (an error with DEV=1, and for make lint): calls
 * that take a path. The container's tree is hostile and is worked on as root, so the only way into
 * it is target/rootfd.h. A file that needs such calls says one of these, on a line of its own
 * behind its includes:
 *
 *	CTM_HOST_PATHS	it works on the host's own files: /proc, configuration, the state directory
 *	CTM_TREE_CALLS	it is one of the few files behind that door; tests/lint.sh knows them
 *
 * The attributes work on the functions alone, so that "struct stat" and a member "open" stay
 * usable.
 */
#ifndef CTM_BASE_BANNED_H
#define CTM_BASE_BANNED_H

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/acl.h>
#include <sys/capability.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#define CTM_HOST_PATHS _Pragma("GCC diagnostic ignored \"-Wdeprecated-declarations\"")
#define CTM_TREE_CALLS CTM_HOST_PATHS

/*
 * clang sees inline definitions of some of these in the headers of a fortified build and takes no
 * attribute behind a definition; it says so, and gcc and the unfortified build of make lint still
 * catch the call.
 */
#ifdef __clang__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
#endif

/* NOLINTBEGIN(bugprone-macro-parentheses): a name cannot stand in parentheses here */
#define CTM_NEVER(call, why) extern __typeof__(call) call __attribute__((__unavailable__(why)))

CTM_NEVER(strcpy, "it does not know the size of its buffer: memcpy, or ctm_buf");
CTM_NEVER(stpcpy, "it does not know the size of its buffer: memcpy, or ctm_buf");
CTM_NEVER(strcat, "it does not know the size of its buffer: ctm_buf");
CTM_NEVER(strncat, "its size is not the buffer's: ctm_buf");
CTM_NEVER(sprintf, "it does not know the size of its buffer: snprintf, or ctm_buf");
CTM_NEVER(vsprintf, "it does not know the size of its buffer: vsnprintf, or ctm_buf");
CTM_NEVER(strtok, "it keeps its state in a static variable: strsep or strtok_r");
CTM_NEVER(atoi, "it reports no error: strtoul with a check");
CTM_NEVER(atol, "it reports no error: strtoul with a check");
CTM_NEVER(atoll, "it reports no error: strtoull with a check");
CTM_NEVER(system, "it runs a shell: posix_spawn");
CTM_NEVER(popen, "it runs a shell: posix_spawn and a pipe");
CTM_NEVER(gmtime, "its result is static: gmtime_r");
CTM_NEVER(localtime, "its result is static: localtime_r");
CTM_NEVER(asctime, "its result is static: strftime");
CTM_NEVER(ctime, "its result is static: strftime");
CTM_NEVER(tmpnam, "another may make the file first: O_TMPFILE or mkostemp");
CTM_NEVER(tempnam, "another may make the file first: O_TMPFILE or mkostemp");
CTM_NEVER(mktemp, "another may make the file first: O_TMPFILE or mkostemp");
#undef alloca
#pragma GCC poison gets alloca

#define CTM_BY_PATH(call)                            \
	extern __typeof__(call) call __attribute__(( \
		__deprecated__("it takes a path: target/rootfd.h, or CTM_HOST_PATHS")))

CTM_BY_PATH(access);
CTM_BY_PATH(acl_delete_def_file);
CTM_BY_PATH(acl_get_file);
CTM_BY_PATH(acl_set_file);
CTM_BY_PATH(cap_get_file);
CTM_BY_PATH(cap_set_file);
CTM_BY_PATH(chdir);
CTM_BY_PATH(chmod);
CTM_BY_PATH(chown);
CTM_BY_PATH(chroot);
CTM_BY_PATH(creat);
CTM_BY_PATH(euidaccess);
CTM_BY_PATH(faccessat);
CTM_BY_PATH(fchmodat);
CTM_BY_PATH(fchownat);
CTM_BY_PATH(fopen);
CTM_BY_PATH(freopen);
CTM_BY_PATH(fstatat);
CTM_BY_PATH(ftw);
CTM_BY_PATH(futimesat);
CTM_BY_PATH(getxattr);
CTM_BY_PATH(glob);
CTM_BY_PATH(lchown);
CTM_BY_PATH(lgetxattr);
CTM_BY_PATH(link);
CTM_BY_PATH(linkat);
CTM_BY_PATH(listxattr);
CTM_BY_PATH(llistxattr);
CTM_BY_PATH(lremovexattr);
CTM_BY_PATH(lsetxattr);
CTM_BY_PATH(lstat);
CTM_BY_PATH(lutimes);
CTM_BY_PATH(mkdir);
CTM_BY_PATH(mkdirat);
CTM_BY_PATH(mkfifo);
CTM_BY_PATH(mkfifoat);
CTM_BY_PATH(mknod);
CTM_BY_PATH(mknodat);
CTM_BY_PATH(name_to_handle_at);
CTM_BY_PATH(nftw);
CTM_BY_PATH(open);
CTM_BY_PATH(open_by_handle_at);
CTM_BY_PATH(openat);
CTM_BY_PATH(opendir);
CTM_BY_PATH(readlink);
CTM_BY_PATH(readlinkat);
CTM_BY_PATH(realpath);
CTM_BY_PATH(remove);
CTM_BY_PATH(removexattr);
CTM_BY_PATH(rename);
CTM_BY_PATH(renameat);
CTM_BY_PATH(renameat2);
CTM_BY_PATH(rmdir);
CTM_BY_PATH(scandir);
CTM_BY_PATH(setxattr);
CTM_BY_PATH(stat);
CTM_BY_PATH(statfs);
CTM_BY_PATH(statvfs);
CTM_BY_PATH(statx);
CTM_BY_PATH(symlink);
CTM_BY_PATH(symlinkat);
CTM_BY_PATH(truncate);
CTM_BY_PATH(unlink);
CTM_BY_PATH(unlinkat);
CTM_BY_PATH(utime);
CTM_BY_PATH(utimensat);
CTM_BY_PATH(utimes);

/* NOLINTEND(bugprone-macro-parentheses) */
#undef CTM_NEVER
#undef CTM_BY_PATH

#ifdef __clang__
#pragma GCC diagnostic pop
#endif

#endif
