#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Whatever names and links a container's root has planted, nothing outside the volume changes, and
# nothing waits for it.
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"

vmid=9313
root=$(pve_dir $vmid)
host=$TMP/host

# The host's files that a careless program would change, on the file system that the volume is on.
make_host()
{
	mkdir -p "$host"/{etc,root} "$host/var/lib/dpkg/"{info,updates} \
		"$host/var/lib/apt/lists/partial" "$host/var/cache/apt/archives/partial" &&
		echo secret >"$host/etc/shadow" && chmod 4640 "$host/etc/shadow" &&
		: >"$host/var/lib/dpkg/lock" && : >"$host/var/lib/dpkg/status" &&
		: >"$host/var/lib/apt/lists/partial/download" && : >"$host/var/lib/apt/lists/lock" &&
		truncate -s 1k "$host/var/cache/apt/pkgcache.bin" && : >"$host/root/.profile" &&
		chown 33:33 "$host/root/.profile"
}

# fresh: the container's root again, damaged here and there
fresh()
{
	rm -rf --one-file-system "$root"
	pve_dir_ct $vmid
	zoo_healthy "$root" && : >"$root/etc/damaged" && : >"$root/root/.damaged" &&
		: >"$root/var/lib/dpkg/info/damaged.list" && : >"$root/var/lib/dpkg/lock"
}

# run NAME STATUS WORD...: the program, which may not wait for anything
run()
{
	local name=$1 status=$2
	shift 2
	t_status "$name" "$status" timeout 20 "$CTMEND" --sysroot "$TMP/sys" "$@" $vmid
}

# untouched NAME: the host's files are what they were, in everything that an inode has
untouched()
{
	t_is "$1: nothing outside has changed" "$(pve_trace "$host")" "$outside"
}

# assault NAME PLANT WHOLE REQUIRED: plant something and let everything loose on it. WHOLE and
# REQUIRED are the exit status of a repair of all and of one of the required directories.
assault()
{
	local name=$1 plant=$2 whole=$3 required=$4 i=0 words status

	for words in "" "--clean all" "--scope required" "--scope required --flatten" \
		"--path /var/lib/dpkg --path root --path etc"; do
		i=$((i + 1))
		if ! fresh || ! "$plant"; then
			t_is "$name: planted" no yes
		fi
		outside=$(pve_trace "$host")
		status=$whole
		if [ $i -ge 3 ]; then
			status=$required
		fi
		# shellcheck disable=SC2086 # words
		{
			run "$name: check $words" 1 check $words
			run "$name: diff $words" 1 diff $words
			run "$name: repair $words" "$status" repair --yes $words
		}
		cp "$T_OUT" "$TMP/said"
		untouched "$name: $words"
		if [ $i -le 2 ]; then
			t_is "$name: the rest is repaired" "$(stat -c %u:%g "$root/etc/damaged")" \
				100000:100000
			run "$name: undo" 0 undo --yes
			untouched "$name: undo"
			t_is "$name: and all that is taken back" \
				"$(stat -c %u:%g "$root/etc/damaged")" 0:0
		fi
		if [ -n "$(type -t "un$plant")" ]; then
			"un$plant"
		fi
	done
	start "$name" "$plant"
}

# start NAME PLANT: the same tree as the hook of a start meets it
slowest=0
start()
{
	local name=$1 plant=$2 since took

	if ! fresh || ! "$plant"; then
		t_is "$name: planted for a start" no yes
	fi
	outside=$(pve_trace "$host")
	since=$(date +%s%N)
	t_status "$name: the hook stops no start" 0 timeout 60 "$CTMEND" --sysroot "$TMP/sys" \
		hook $vmid pre-start
	took=$((($(date +%s%N) - since) / 1000000))
	slowest=$((took > slowest ? took : slowest))
	untouched "$name: hook"
	if [ -n "$(type -t "un$plant")" ]; then
		"un$plant"
	fi
}

t_ok "files of the host" make_host

lib_absolute()
{
	rm -r "$root/var/lib" && ln -s "$host/var/lib" "$root/var/lib"
}
assault "absolute link at var/lib" lib_absolute 0 4

lib_relative()
{
	rm -r "$root/var/lib" && ln -s "$(realpath -m --relative-to="$root/var" "$host/var/lib")" \
		"$root/var/lib" && [ -e "$root/var/lib/dpkg/lock" ]
}
assault "climbing link at var/lib" lib_relative 0 4

lib_magic()
{
	rm -r "$root/var/lib" && ln -s "/proc/self/root$host/var/lib" "$root/var/lib" &&
		[ -e "$root/var/lib/dpkg/lock" ]
}
assault "magic link at var/lib" lib_magic 0 4

dpkg_link()
{
	rm -r "$root/var/lib/dpkg" && ln -s "$host/var/lib/dpkg" "$root/var/lib/dpkg"
}
assault "link at var/lib/dpkg" dpkg_link 0 4

inside_link()
{
	mv "$root/var/lib" "$root/var/elsewhere" && ln -s elsewhere "$root/var/lib"
}
assault "link to a place inside" inside_link 0 4

root_link()
{
	rm -r "$root/root" && ln -s "$host/root" "$root/root"
}
assault "link at root" root_link 0 4
t_match "it is named" "$(cat "$TMP/said")" '^left: path.link 1: .* \(/root\)$'

partial_link()
{
	rmdir "$root/var/lib/apt/lists/partial" "$root/var/cache/apt/archives/partial" &&
		ln -s "$host/var/lib/apt/lists/partial" "$root/var/lib/apt/lists/partial" &&
		ln -s "$host/var/cache/apt/archives" "$root/var/cache/apt/archives/partial"
}
assault "links at partial" partial_link 0 0

lock_link()
{
	ln -sf "$host/etc/shadow" "$root/var/lib/dpkg/lock" &&
		ln -s "$host/var/cache/apt/pkgcache.bin" "$root/var/cache/apt/pkgcache.bin" &&
		ln -s "$host/etc/shadow" "$root/etc/shadow"
}
assault "links at locks and caches" lock_link 0 0

lock_fifo()
{
	rm "$root/var/lib/dpkg/lock" && mkfifo "$root/var/lib/dpkg/lock" \
		"$root/var/lib/apt/lists/lock" "$root/var/cache/apt/pkgcache.bin" &&
		mknod "$root/var/cache/apt/archives/lock" c 5 0 &&
		mknod "$root/var/lib/apt/lists/partial/device" c 1 5 &&
		(cd "$root/var/lib/dpkg/triggers" &&
			python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("Lock")') &&
		rm "$root/var/lib/dpkg/lock-frontend" && mkdir "$root/var/lib/dpkg/lock-frontend" &&
		: >"$root/var/lib/dpkg/lock-frontend/content"
}
assault "FIFOs, devices, a socket and a directory at locks" lock_fifo 0 0

status_fifo()
{
	rm "$root/var/lib/dpkg/status" && mkfifo "$root/var/lib/dpkg/status" &&
		rm "$root/etc/passwd" && mkfifo "$root/etc/passwd"
}
assault "FIFOs at files that are read" status_fifo 0 0

hard_link()
{
	ln "$host/etc/shadow" "$root/etc/shadow" && ln "$host/root/.profile" "$root/root/.profile" &&
		ln -f "$host/var/lib/dpkg/lock" "$root/var/lib/dpkg/lock"
}
assault "hard links to the host's files" hard_link 4 4
t_match "they are named" "$(cat "$TMP/said")" '^left: link.outside'
rm "$root/etc/shadow" "$root/root/.profile" "$root/var/lib/dpkg/lock"

bind_mounts()
{
	mkdir "$root/mnt" "$root/mnt/rec" && : >"$root/etc/shadow" &&
		mount --bind "$host" "$root/mnt" &&
		mount --bind "$host/var/lib/dpkg" "$root/var/lib/dpkg" &&
		mount --bind "$host/root" "$root/root" &&
		mount --bind "$host/etc/shadow" "$root/etc/shadow"
}
unbind_mounts()
{
	umount "$root/etc/shadow" "$root/root" "$root/var/lib/dpkg" "$root/mnt"
}
assault "bind mounts" bind_mounts 0 0

t_match "no hook has taken longer than its deadline" "$slowest" '^(1?[0-9])?[0-9]{1,3}$'
echo "the slowest hook took $slowest ms"

# The same links in an image, where they would lead out of wherever it is mounted.
image=$(pve_image 9314)
pve_ct 9314 tank:9314/vm-9314-disk-0.raw
mkdir -p "${image%/*}"
t_pve_image "$image" 32M
t_mount "$image" "$TMP/in"
zoo_healthy "$TMP/in"
: >"$TMP/in/etc/damaged"
rm -r "$TMP/in/var/lib/apt" "$TMP/in/var/cache" "$TMP/in/root"
ln -s "$host/var/lib/apt" "$TMP/in/var/lib/apt"
ln -s "/proc/self/root$host/var/cache" "$TMP/in/var/cache"
ln -s "../../../../../../../../..$host/root" "$TMP/in/root"
ln -s "$host/etc/shadow" "$TMP/in/var/lib/dpkg/lock"
t_umount "$TMP/in"
outside=$(pve_trace "$host")
for words in "" "--scope required" "--path var/cache/apt --path root --flatten"; do
	# shellcheck disable=SC2086 # words
	{
		t_status "image: diff $words" 1 ctm diff $words 9314
		t_status "image: repair $words" $((${#words} > 0 ? 4 : 0)) ctm repair --yes $words 9314
	}
done
untouched "image"

# A storage's folders are not the container's to make, but a link there is not believed either.
mv "$TMP/tank/images/$vmid" "$TMP/tank/moved"
ln -s ../moved "$TMP/tank/images/$vmid"
run "a link on the way to the volume is refused" 3 repair --yes
t_match "and named" "$(cat "$T_ERR")" 'symbolic link'
rm "$TMP/tank/images/$vmid"
mkdir "$TMP/tank/images/$vmid"
ln -s "$host" "$root"
run "so is one in the volume's place" 3 repair --yes
rm "$root"
mkdir -p "$root/var/lib/dpkg"
run "and a directory that is no root" 3 check
t_match "which the message says" "$(cat "$T_ERR")" 'neither etc nor usr is a directory there'
untouched "links on the way"
rm -r "$TMP/tank/images/$vmid"
rm -r "$TMP/tank/moved"

for path in .. ../etc etc/../../host /..; do
	run "--path $path makes no sense" 2 check --path "$path"
done

# swap DIR: exchanges names as long as it lives, so that what was just looked at is a link out; and
# damages what the names stand for again and again
swap()
{
	exec python3 - "$1" "$host" <<-'END'
		import ctypes, os, sys

		root, host = sys.argv[1:]
		os.chdir(root)
		libc = ctypes.CDLL(None, use_errno=True)
		pairs = [(b"etc/swapped", b"etc/link"), (b"var/lib/dpkg", b"var/dpkg-link"),
		         (b"var/lib/apt/lists/partial", b"etc/partial-link"), (b"root", b"home")]
		mine = []
		for top, dirs, files in os.walk("."):
		    for name in dirs + files:
		        path = os.path.join(top, name)
		        if not path.startswith("./usr/share") and not os.path.islink(path):
		            mine.append(os.open(path, os.O_PATH | os.O_NOFOLLOW))
		AT_FDCWD, RENAME_EXCHANGE = -100, 2
		while True:
		    for a, b in pairs * 50:
		        libc.renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE)
		    for fd in mine:
		        os.chown("/proc/self/fd/%d" % fd, 0, 0)
	END
}

stop_swapping()
{
	kill "$swapper" 2>/dev/null
	wait "$swapper" 2>/dev/null
}

fresh
mkdir "$root/etc/swapped"
: >"$root/etc/swapped/shadow"
ln -s "$host/etc" "$root/etc/link"
ln -s "$host/var/lib/dpkg" "$root/var/dpkg-link"
ln -s "$host/var/lib/apt/lists/partial" "$root/etc/partial-link"
ln -s "$host/root" "$root/home"
swap "$root" &
swapper=$!
t_defer stop_swapping
end=$((SECONDS + 3))
statuses=
while [ "$SECONDS" -lt "$end" ]; do
	for words in "" "--scope required" "--path var/lib/dpkg --path root --flatten"; do
		# shellcheck disable=SC2086 # words
		timeout 20 "$CTMEND" --sysroot "$TMP/sys" repair --yes $words $vmid >"$TMP/said" 2>&1
		statuses+=" $?"
	done
done
stop_swapping
untouched "races"
t_no_match "no race ends in anything but done, done in part, or refused" \
	"$(tr ' ' '\n' <<<"$statuses" | sort -u)" '^([125-9]|..+)$'
t_match "and some repair has been done" "$statuses" '[04]'
echo "statuses of repairs in a race:$statuses"
t_done
