#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Immutable and append-only inodes: left and named, or with --fix flags lifted, repaired and flagged
# again, whatever kills the program in between.
. "${0%/*}/pve.sh"

sys=$TMP/sys
flagged=(conf log below deep)

# What chattr(1) has set on one of these files, "i", "a" or both
flags()
{
	lsattr -d "$1" | cut -d ' ' -f 1 | tr -cd ia
}

# all DIR: owner, mode, capability and flags of everything
all()
{
	local path

	(cd "$1" && find . -path ./lost+found -prune -o -printf '%P %y %m %U:%G %T@\n' | LC_ALL=C sort
		getcap -n -r . | LC_ALL=C sort
		for path in home/*; do
			echo "$path $(flags "$path")"
		done)
}

plant()
{
	mkdir -p "$1"/home/{below,plain} "$1/etc"
	touch "$1"/etc/right{1..20}
	touch "$1"/home/{conf,log,x,y} "$1"/home/{below,plain}/file "$1/etc/file" "$1/home/deep"
	find "$1" -exec chown -h 100000:100000 {} +
	chown 0:0 "$1"/home/{conf,deep,x,y} "$1"/home/{below,plain}/file "$1/etc/file"
	chown 0:42 "$1/home/log"
	chown 0:0 "$1/home/below"
	chmod 4755 "$1/home/conf"
	chmod 1775 "$1/home/below"
	setcap cap_net_raw=ep "$1/home/deep"
	chattr +A "$1/home/conf" # another flag, which is nobody's business
	chattr +i "$1/home/conf" "$1/home/below" "$1/home/deep"
	chattr +a "$1/home/log"
}

# wanted BEFORE: the listing after a repair of everything
wanted()
{
	sed -E -e 's/ 0:0 / 100000:100000 /; s/ 0:42 / 100000:100042 /' \
		-e 's|^(./home/deep cap_net_raw=ep)$|\1 [rootid=100000]|' <<<"$1"
}

ctmend()
{
	"$CTMEND" --sysroot "$sys" "$@"
}

for type in ext4 xfs btrfs; do
	root=$TMP/$type
	t_image "$type" "$TMP/$type.img" 320M
	t_mount "$TMP/$type.img" "$root.mnt" -o loop
	root=$root.mnt/rootfs
	mkdir "$root"
	t_defer chattr -R -ia "$root"
	plant "$root"
	before=$(all "$root")
	t_is "$type: flags are there" "$(flags "$root/home/conf") $(flags "$root/home/log")" "i a"

	# Without the option: case F1
	t_status "$type: check" 1 ctmend check -v --map 100000 "$root"
	t_match "$type: it says own.host" "$(cat "$T_OUT")" 'own\.host'
	t_match "$type: and attr.flag" "$(cat "$T_OUT")" 'attr\.flag'
	for name in "${flagged[@]}"; do
		t_match "$type: $name is named" "$(sed -n '/attr\.flag/,$p' "$T_OUT")" \
			"/home/$name.*(immutable|append-only)"
	done
	t_status "$type: repair leaves them" 4 ctmend repair --yes --map 100000 "$root"
	t_match "$type: and says so" "$(cat "$T_OUT")" 'left: attr\.flag 4'
	t_is "$type: five are changed" "$(all "$root")" \
		"$(sed -E '/^home\/(conf|log|below|deep) /!s/ 0:0 / 100000:100000 /' <<<"$before")"
	once=$(all "$root")
	t_status "$type: again" 4 ctmend repair --yes --map 100000 "$root"
	t_is "$type: and no other change" "$(all "$root")" "$once"
	t_ok "$type: undo" ctmend undo --yes --map 100000 "$root"
	t_is "$type: as before" "$(all "$root")" "$before"

	# With it
	t_status "$type: diff" 1 ctmend diff --fix flags --map 100000 "$root"
	t_match "$type: the diff has the flags" "$(cat "$T_OUT")" \
		'^\+f 4755   100000:100000 /home/conf flags=i$'
	t_is "$type: diff changes nothing" "$(all "$root")" "$before"
	t_ok "$type: repair" ctmend repair --yes --fix flags --map 100000 "$root"
	t_is "$type: everything is right, and flagged" "$(all "$root")" "$(wanted "$before")"
	t_is "$type: another flag stays" "$(lsattr -d "$root/home/conf" | grep -c '^[^ ]*A')" 1
	t_ok "$type: check is content" ctmend check --map 100000 "$root"
	t_ok "$type: a second repair has nothing to do" ctmend repair --yes --fix flags --map 100000 "$root"
	t_ok "$type: undo" ctmend undo --yes --map 100000 "$root"
	t_is "$type: owners go back, and the flags are there" "$(all "$root")" "$before"

	# A flag that was taken away after the repair stays away; another one is a conflict.
	t_ok "$type: repair" ctmend repair --yes --fix flags --map 100000 "$root"
	chattr -i "$root/home/conf"
	chattr -i "$root/home/deep"
	chattr +ia "$root/home/deep"
	t_status "$type: undo after a change of flags" 4 ctmend undo --yes --map 100000 "$root"
	t_match "$type: names it" "$(cat "$T_OUT")" '/home/deep'
	t_is "$type: the one" "$(stat -c %u "$root/home/conf") $(flags "$root/home/conf")" "0 "
	t_is "$type: the other" "$(stat -c %u "$root/home/deep") $(flags "$root/home/deep")" "100000 ia"
	chattr -R -ia "$root"
	rm -r "${root:?}/"*
	plant "$root"
	rm -rf "${sys:?}/var"
done

# undone NAME: after it everything is as before; killed before its record was whole there is no run
undone()
{
	local status

	ctmend undo --yes --map 100000 "$root" >"$TMP/undo" 2>&1
	status=$?
	t_ok "$1: undo ($status)" [ $status = 0 -o $status = 3 ]
	t_is "$1: everything is as before" "$(all "$root")" "$before"
}

# Killed at each ioctl(2) and each change: whoever comes next, forwards or back, finds its way.
root=$TMP/ext4.mnt/rootfs
before=$(all "$root")
command=("$CTMEND" --sysroot "$sys" repair --yes --fix flags --map 100000 "$root")
kills=0
for call in ioctl fchownat fchmodat setxattr; do
	for when in $(seq 1 60); do
		strace -f -qq -o /dev/null -e "trace=$call" \
			-e "inject=$call:signal=KILL:when=$when" "${command[@]}" >/dev/null 2>&1
		status=$?
		# Killed was a process that looks at the host for the one that works.
		if [ $status = 5 ]; then
			t_is "a child killed at $call $when: nothing has changed" "$(all "$root")" "$before"
			continue
		fi
		if [ $status != 137 ]; then
			t_is "$call: $((when - 1)) points" "$status" 0
			t_ok "taken back" ctmend undo --yes --map 100000 "$root"
			break
		fi
		kills=$((kills + 1))
		if [ $((when % 2)) = 0 ]; then
			t_ok "killed at $call $when: the next repair finishes it" "${command[@]}"
			t_is "killed at $call $when: everything is right" "$(all "$root")" \
				"$(wanted "$before")"
		fi
		undone "killed at $call $when"
	done
done
t_ok "many points" [ $kills -ge 20 ]
echo "# $kills points"

t_done
