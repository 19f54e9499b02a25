# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# --from-map where the old map and the new one overlap: exact, once, also when it is killed; and from
# an unprivileged container to a privileged one and back.
. "${0%/*}/pve.sh"

t_image ext4 "$TMP/tank.img" 64M
rm -rf "$TMP/tank"
t_mount "$TMP/tank.img" "$TMP/tank"
mkdir -p "$TMP/tank/images"

new=("lxc.idmap: u 0 101000 65536" "lxc.idmap: g 0 101000 65536")
pve_dir_ct 115 "${new[@]}"
dir=$(pve_dir 115)
mkdir -p "$dir"/{etc,usr/bin,srv}
for i in $(seq 1 120); do
	echo "$i" >"$dir/usr/bin/f$i"
done
find "$dir" -exec chown -h 100000:100000 {} +
for i in $(seq 1 120); do
	# ids whose places overlap: 1000 goes to where 2000 was
	chown $((100000 + i % 4 * 1000)):$((100000 + i % 3 * 1000)) "$dir/usr/bin/f$i"
	chmod $((i % 2 ? 4755 : 2755)) "$dir/usr/bin/f$i"
done
ln "$dir/usr/bin/f7" "$dir/srv/f7"
setcap cap_net_raw=ep "$dir/usr/bin/f2"
setcap -n 100000 cap_net_raw=ep "$dir/usr/bin/f5"
setfacl -m u:101000:rwx,g:100004:r-x,d:u:100033:rwx "$dir/srv"
chmod 2775 "$dir/srv"

all()
{
	find "$dir" -printf './%P %y %m %n %U:%G %T@\n' | LC_ALL=C sort
	getcap -n -r "$dir" | LC_ALL=C sort
	getfacl -n -s -R -E -P -p "$dir"
}
# What is 1000 further up: owners of the listing, ids of ACLs, roots of capabilities; a capability
# without a root gets one when its file moves.
wanted()
{
	awk '
		/^[^#].* [0-9]+:[0-9]+ [0-9.]+$/ {
			split($5, id, ":")
			$5 = id[1] + 1000 ":" id[2] + 1000
		}
		NF == 6 { print; next }
		/^(default:)?(user|group):[0-9]+:/ {
			n = split($0, part, ":")
			part[n - 1] += 1000
			line = part[1]
			for (i = 2; i <= n; i++)
				line = line ":" part[i]
			print line
			next
		}
		/^# (owner|group): / { $3 += 1000 }
		/cap_net_raw=ep$/ { $0 = $0 " [rootid=101000]" }
		/rootid=100000/ { sub(/100000/, "101000") }
		{ print }' <<<"$1"
}
before=$(all)
want=$(wanted "$before")
t_status "check" 1 ctm check --from-map 100000 115
t_ok "repair" ctm repair --yes --from-map 100000 115
t_is "every id is where the new map has it" "$(all)" "$want"
t_ok "and clean" ctm check 115
t_status "a second run is refused" 3 ctm repair --yes --from-map 100000 115
t_match "by the first one's name" "$(cat "$T_ERR")" '^ctmend: .*run 0001-[0-9TZ]+ has moved ids'
t_status "so is the look at what it would do" 3 ctm diff --from-map 100000 115
t_is "nothing has moved" "$(all)" "$want"
t_ok "a plain repair finds nothing" ctm repair --yes 115
t_ok "undo" ctm undo --yes 115
t_is "undo brings everything back" "$(all)" "$before"
t_ok "then it can be done again" ctm repair --yes --from-map 100000 115
t_is "with the same end" "$(all)" "$want"
t_ok "undo once more" ctm undo --yes 115

# kill_at CALL N: a repair that is killed when it makes the Nth call
kill_at()
{
	strace -f -qq -o /dev/null -e "trace=$1" -e "inject=$1:signal=KILL:when=$2" \
		"$CTMEND" --sysroot "$TMP/sys" repair --yes --from-map 100000 115 >/dev/null 2>&1
}
n=0
for at in "fchownat 1" "fchownat 60" "fchownat 119" "setxattr 1"; do
	# shellcheck disable=SC2086 # two words
	kill_at $at
	t_is "killed at $at" $? 137
	n=$((n + 1))
	if [ $((n % 2)) = 0 ]; then
		t_ok "killed at $at: the same command finishes it" ctm repair --yes \
			--from-map 100000 115
	else
		t_ok "killed at $at: a plain repair finishes it" ctm repair --yes 115
	fi
	t_is "killed at $at: nothing was moved twice" "$(all)" "$want"
	t_status "killed at $at: a second run is refused" 3 ctm repair --yes --from-map 100000 115
	t_ok "killed at $at: undo" ctm undo --yes 115
	t_is "killed at $at: undo brings everything back" "$(all)" "$before"
done
kill_at fchownat 60
t_ok "what was interrupted can be taken back as it is" ctm undo --yes 115
t_is "and is as before" "$(all)" "$before"

# Privileged and back.
rm -rf "$TMP/sys/var/lib/ctmend"
sed -i '/^unprivileged\|idmap/d' "$TMP/sys/etc/pve/lxc/115.conf"
back()
{
	awk '/ [0-9]+:[0-9]+ [0-9.]+$/ && NF == 6 {
			split($5, id, ":")
			$5 = id[1] - 100000 ":" id[2] - 100000
			print
		}' <<<"$1"
}
owners()
{
	all | awk 'NF == 6 && / [0-9]+:[0-9]+ [0-9.]+$/'
}
t_ok "a privileged container" ctm repair --yes --from-map 0:100000:65536 115
t_is "has its ids as they are" "$(owners)" "$(back "$before")"
t_is "its capabilities count everywhere" "$(getcap -n -r "$dir" | grep -c rootid)" 0
t_is "its ACLs name its own users" "$(getfacl -n -c -p "$dir/srv" | grep '^user:[0-9]')" "user:1000:rwx"
t_ok "undo" ctm undo --yes 115
t_is "undo brings everything back" "$(all)" "$before"
kill_at fchownat 60
t_ok "killed: repair finishes it" ctm repair --yes 115
t_is "killed: to the same end" "$(owners)" "$(back "$before")"
echo "unprivileged: 1" >>"$TMP/sys/etc/pve/lxc/115.conf"
t_ok "unprivileged again, by name" ctm repair --yes --from-map 0:0:65536 115
t_is "all is shifted" "$(owners)" "$(awk 'NF == 6 && / [0-9]+:[0-9]+ [0-9.]+$/' <<<"$before")"

t_status "no map" 2 ctm check --from-map nonsense 115
t_status "nothing for --flatten" 2 ctm repair --yes --flatten --path etc --from-map 100000 115
t_done
