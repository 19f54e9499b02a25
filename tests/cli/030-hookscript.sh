#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The hook script as make install puts it in place, called as Proxmox VE and LXC call it, with
# stand-ins for the program; and the manual's commands that give it to a container.
. "${0%/*}/../lib.sh"

t_ok "make installs it" make -s -C "$T_TOP" "DESTDIR=$TMP/dest" "sbindir=$TMP/sbin" datadir=/usr/share \
	BUILD="$TMP/build" install-share
shipped=$TMP/dest/usr/share/ctmend/hookscript
t_is "everybody may execute it" "$(stat -c %a "$shipped")" 755
t_no_match "its paths are filled in" "$(cat "$shipped")" '@[a-z]+@'
strict=$TMP/strict
sed 's/^strict=no$/strict=yes/' "$shipped" >"$strict"
chmod 755 "$strict"
t_is "one line makes it strict" "$(diff "$shipped" "$strict" | grep -c '^>')" 1
mkdir "$TMP/sbin"

# program LINE...: a stand-in for ctmend that keeps its words and then does this
program()
{
	printf '%s\n' '#!/bin/sh' "echo \"\$*\" >>'$TMP/calls'" "$@" >"$TMP/sbin/ctmend"
	chmod 755 "$TMP/sbin/ctmend"
	: >"$TMP/calls"
}

# call SCRIPT WORD...: with the environment that pct has
call()
{
	env -i PATH=/sbin:/bin:/usr/sbin:/usr/bin LC_ALL=C "$@"
}

program 'echo repaired'
t_ok "all is well" call "$shipped" 115 pre-start
t_is "the program gets the words" "$(cat "$TMP/calls")" "hook 115 pre-start"
t_is "what it says is passed on, and nothing else" "$(cat "$T_OUT" "$T_ERR")" repaired
program
t_ok "strict: all is well" call "$strict" 115 pre-start
t_is "strict: the program is told so" "$(cat "$TMP/calls")" "hook --strict 115 pre-start"

t_ok "it knows the option" sh -c "'$CTMEND' __options hook | grep -qx -- --strict"

program 'exit 3'
for phase in post-start pre-stop post-stop pre-migrate '' 'pre-start '; do
	t_ok "phase '$phase'" call "$shipped" 115 "$phase"
	t_ok "strict: phase '$phase'" call "$strict" 115 "$phase"
done
t_ok "no words" call "$shipped"
t_ok "strict: no words" call "$strict"
t_is "the program was not even started" "$(cat "$TMP/calls")" ""

# Not 0 of the program, 0 of the script; strict, the program's.
n=0
while read -r status line; do
	n=$((n + 1))
	program "$line"
	t_ok "the program: $line" call "$shipped" 115 pre-start
	t_match "the program: $line" "$(cat "$T_OUT")" \
		"^'$TMP/sbin/ctmend hook' ended with status $status; the container starts all the same$"
	call "$strict" 115 pre-start >/dev/null 2>&1
	t_is "strict: the program: $line" "$?" "$status"
done <<'END'
1 exit 1
2 exit 2
3 exit 3
4 exit 4
5 exit 5
127 exit 127
139 kill -SEGV $$
137 kill -KILL $$
141 kill -PIPE $$
END
t_is "all of them were tried" "$n" 9

# broken NAME STATUS: the program as it is now is none that can be run
broken()
{
	t_ok "$1" call "$shipped" 115 pre-start
	t_match "$1" "$(cat "$T_OUT")" "ended with status $2; the container starts all the same$"
	t_status "strict: $1" "$2" call "$strict" 115 pre-start
}
rm "$TMP/sbin/ctmend"
broken "the program is missing" 127
ln -s nowhere "$TMP/sbin/ctmend"
broken "the program is a link to nothing" 127
rm "$TMP/sbin/ctmend"
program
chmod 644 "$TMP/sbin/ctmend"
if [ "$(id -u)" = 0 ]; then
	chmod 600 "$TMP/sbin/ctmend"
fi
broken "the program is not executable" 126
rm "$TMP/sbin/ctmend"
mkdir "$TMP/sbin/ctmend"
broken "the program is a directory" 126
rmdir "$TMP/sbin/ctmend"
# As after an upgrade that changes a library's name: the program asks for a loader that is gone.
sed 's,/lib64/ld-linux,/lib64/ld-xinux,' "$CTMEND" >"$TMP/sbin/ctmend"
chmod 755 "$TMP/sbin/ctmend"
if ! cmp -s "$CTMEND" "$TMP/sbin/ctmend"; then
	broken "the program cannot be loaded" 127
else
	t_skip "the program cannot be loaded" "its loader has another name on this machine"
fi

program 'echo much' 'exit 3'
t_ok "the outputs are closed" sh -c "'$shipped' 115 pre-start >&- 2>&-"
# bash has SIGPIPE as it came in, which the harness may ignore.
t_ok "nobody reads" bash -c "trap - PIPE
	{ sleep 0.2; '$shipped' 115 pre-start; echo \$? >'$TMP/status'; } | true"
t_is "nobody reads" "$(cat "$TMP/status")" 0

# --- LXC -----------------------------------------------------------------------------------------

program 'exit 3'
t_ok "lxc.hook.pre-start" sh -c "exec $shipped web lxc pre-start"
t_is "lxc.hook.pre-start" "$(cat "$TMP/calls")" "hook web lxc pre-start"
program 'exit 3'
t_ok "lxc.hook.version = 1" env LXC_HOOK_TYPE=pre-start sh -c "exec $shipped"
t_is "lxc.hook.version = 1" "$(cat "$TMP/calls")" hook
program 'exit 3'
t_ok "another hook of LXC" sh -c "exec $shipped web lxc post-stop"
t_ok "another hook of LXC, version 1" env LXC_HOOK_TYPE=post-stop sh -c "exec $shipped"
t_is "the program was not even started" "$(cat "$TMP/calls")" ""

# --- the manual's commands -----------------------------------------------------------------------

make -s -C "$T_TOP" "DESTDIR=$TMP/dest" "sbindir=$TMP/sbin" datadir=/usr/share mandir=/man \
	BUILD="$TMP/build" install-man >/dev/null
page=$TMP/dest/man/man8/ctmend.8
t_match "LXC's line names the script" "$(sed -n '/^\.Sh HOOKS/,/^\.Sh ENV/p' "$page")" \
	'^\.Dl lxc\.hook\.pre-start = /usr/share/ctmend/hookscript$'

# The block of commands, with this test's directories in the place of the system's. A page has "\e"
# for a backslash.
sed -n '/^\.Sh HOOKS/,/^\.Sh ENV/{/^\.Bd -literal/,/^\.Ed/{/^\./!p}}' "$page" |
	sed -e 's/\\e/\\/g' -e "s,/etc/pve,$TMP/pve,g" -e "s, /usr/share, $TMP/dest/usr/share,g" >"$TMP/commands"
t_is "there are four commands" "$(grep -c . "$TMP/commands")" 4
mkdir "$TMP/pve" "$TMP/bin" "$TMP/vz"
cat >"$TMP/bin/pvesm" <<END
#!/bin/sh
if [ "\$1" = path ]; then
	echo "$TMP/vz/\${2#local:}"
else
	echo "pvesm \$*" >>"$TMP/calls"
fi
END
printf '#!/bin/sh\necho "pct $*" >>"%s"\n' "$TMP/calls" >"$TMP/bin/pct"
chmod 755 "$TMP/bin/"*

# commands LINE...: type them where storage.cfg has these lines
commands()
{
	printf '%b\n' "$@" >"$TMP/pve/storage.cfg"
	: >"$TMP/calls"
	rm -rf "$TMP/vz/snippets"
	(
		PATH=$TMP/bin:$PATH
		set +u
		while read -r line; do
			eval "$line"
		done <"$TMP/commands"
	) >"$T_OUT" 2>"$T_ERR"
}
commands 'dir: other\n\tpath /srv\n\tcontent images\n' \
	'dir: local\n\tpath /var/lib/vz\n\tcontent iso,vztmpl,backup\n' \
	'dir: local2\n\tpath /srv\n\tcontent rootdir'
t_is "local keeps what it holds" "$(cat "$TMP/calls")" \
	"pvesm set local --content iso,vztmpl,backup,snippets
pct set 115 --hookscript local:snippets/ctmend"
t_ok "the script lies on the storage" cmp "$TMP/vz/snippets/ctmend" "$shipped"
t_is "and is executable" "$(stat -c %a "$TMP/vz/snippets/ctmend")" 755
t_is "nothing is complained about" "$(cat "$T_ERR")" ""
commands 'dir: other\n\tpath /srv\n\tcontent images'
t_no_match "what local holds is not known: it keeps it" "$(cat "$TMP/calls")" 'pvesm set'
t_done
