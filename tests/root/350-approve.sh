#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A repair does what was shown and agreed to, and nothing when nobody agreed.
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"

vmid=9351
dir=$(pve_dir $vmid)

digest()
{
	ctm diff "$@" $vmid | sed -n 's/^plan \([0-9a-f]\{32\}\)  .*/\1/p'
}

# unchanged NAME
unchanged()
{
	t_is "$1: nothing has changed" "$(pve_trace "$dir")" "$trace"
}

# terminal INPUT WORD...: the program on a terminal on which somebody types; what it writes goes to
# $TMP/screen. INPUT: lines to type, one for each question; "^D" ends the input, "!COMMAND" runs a
# command before it answers yes.
terminal()
{
	python3 - "$TMP/screen" "$@" <<-'END'
		import os, pty, subprocess, sys

		screen, typed, *argv = sys.argv[1:]
		answers = typed.split("\n")
		pid, fd = pty.fork()
		if pid == 0:
		    os.execvp(argv[0], argv)
		seen = b""
		asked = 0
		while True:
		    try:
		        block = os.read(fd, 4096)
		    except OSError:
		        break
		    if not block:
		        break
		    seen += block
		    while seen.count(b"? ") + seen.count(b"] ") > asked and answers:
		        asked = seen.count(b"? ") + seen.count(b"] ")
		        answer = answers.pop(0)
		        if answer.startswith("!"):
		            subprocess.run(answer[1:], shell=True, check=True)
		            answer = "y"
		        os.write(fd, b"\x04" if answer == "^D" else answer.encode() + b"\n")
		open(screen, "wb").write(seen.replace(b"\r\n", b"\n"))
		sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	END
}

# ask INPUT WORD...: a repair on a terminal
ask()
{
	local input=$1
	shift

	terminal "$input" "$CTMEND" --sysroot "$TMP/sys" "$@"
}

pve_dir_ct $vmid
zoo_healthy "$dir"
zoo_damage "$dir"
pve_listing "$dir" "$TMP/before"
zoo_want "$TMP/before" "$TMP/want"
trace=$(pve_trace "$dir")

plan=$(digest)
t_match "a diff ends with a digest" "$plan" '^[0-9a-f]{32}$'
for j in 1 2 3 4 16; do
	t_is "it is the same with $j threads" "$(digest -j $j)" "$plan"
	t_is "and so is all of the diff" "$(ctm diff -j $j $vmid)" "$(ctm diff $vmid)"
done
part=$(digest --path zoo)
t_ok "another selection has another one" [ "$part" != "$plan" ]
t_ok "so have other rules" [ "$(digest --clean none)" != "$plan" ]
t_is "the verb 'repair --dry-run' is diff" "$(ctm repair --dry-run $vmid)" "$(ctm diff $vmid)"

wrong=${plan:0:31}$(tr 0-9a-f 1-9a-f0 <<<"${plan:31}")
t_status "a wrong digest is refused" 3 ctm repair --approve "$wrong" $vmid
t_match "with the present one" "$(cat "$T_ERR")" "$plan"
t_status "that of a part does not do for all" 3 ctm repair --approve "$part" $vmid
t_status "nor that of all for a part" 3 ctm repair --approve "$plan" --path zoo $vmid
for text in "" "${plan:0:31}" "${plan}0" "${plan^^}x" "${plan:0:16}" "$plan "; do
	t_status "'$text' is no digest" 2 ctm repair --approve "$text" $vmid
done
t_status "it does not go with a dry run" 2 ctm repair --approve "$plan" --dry-run $vmid
t_status "nor with two targets" 2 ctm repair --approve "$plan" $vmid $vmid
unchanged "not approved"

# What was approved is not what is there any more.
: >"$dir/etc/late"
trace=$(pve_trace "$dir")
t_status "a late file makes it stale" 3 ctm repair --approve "$plan" $vmid
unchanged "stale"
chown 100000:100000 "$dir/etc/late"
t_is "a file that is right is no part of it" "$(digest)" "$plan"
for change in "chmod 0700 zoo/modes/f4755" "setfacl -m u:9:r zoo/attr/file" \
	"mv zoo/names/... zoo/names/...." "chgrp 100000 zoo/modes/f4755" \
	"touch -d @5 var/lib/dpkg/lock" "truncate -s 5 var/lib/dpkg/lock"; do
	(cd "$dir" && $change)
	if [ "$change" = "touch -d @5 var/lib/dpkg/lock" ]; then
		# Not what is done about it, nor what is lost.
		t_is "$change: the same plan" "$(digest)" "$plan"
	else
		t_ok "$change: another plan" [ "$(digest)" != "$plan" ]
	fi
	plan=$(digest)
done
pve_listing "$dir" "$TMP/before"
zoo_want "$TMP/before" "$TMP/want"
t_status "the right one is carried out" 0 ctm repair --approve "$plan" $vmid
pve_listing "$dir" "$TMP/after"
t_is "exactly" "$(listing_diff "$TMP/want" "$TMP/after")" ""
t_status "twice is refused" 3 ctm repair --approve "$plan" $vmid
t_status "an empty plan has a digest, too" 0 ctm repair --approve "$(digest)" $vmid
t_status "taken back" 0 ctm undo --yes $vmid
t_is "the plan is the same again" "$(digest | wc -c)" 33
pve_listing "$dir" "$TMP/after"
t_is "as before" "$(listing_diff "$TMP/before" "$TMP/after")" ""

# Questions.
trace=$(pve_trace "$dir")
t_status "without a terminal nobody can be asked" 2 ctm repair $vmid
t_match "which is said" "$(cat "$T_ERR")" '--yes'
t_status "nor for undo" 2 ctm undo $vmid
t_status "nor when the report is for a program" 2 ask y repair --json $vmid
for answer in n '' no '^D' x yesterday 'yes, but not before tomorrow'; do
	t_status "'$answer' is no yes" 3 ask "$answer" repair $vmid
done
t_match "the summary comes first" "$(cat "$TMP/screen")" '^own.host  [0-9]+ '
t_match "then the question" "$(cat "$TMP/screen")" 'Make these [0-9]+ changes\?'
t_match "and what became of it" "$(cat "$TMP/screen")" 'nothing was changed'
unchanged "no yes"
# Somebody works in the tree while the question stands.
t_status "what has changed meanwhile is asked again" 3 \
	ask $'!: >'"$dir/etc/meanwhile"$'\nn' repair $vmid
t_match "with the new plan" "$(cat "$TMP/screen")" 'this is the plan now'
rm "$dir/etc/meanwhile"
# What follows in the line, where a reader of few bytes would go on, answers nothing.
trace=$(pve_trace "$dir")
t_status "a long no is one no" 3 ask "$(printf '%015d' 0)y"$'\nn' repair $vmid $vmid
unchanged "a long no"
t_status "and done when that is agreed to" 0 \
	ask $'!: >'"$dir/etc/meanwhile"$'\ny' repair $vmid
t_is "the new file as well" "$(stat -c %u "$dir/etc/meanwhile")" 100000
rm "$dir/etc/meanwhile"
pve_listing "$dir" "$TMP/after"
sed -i '/^\.\/etc\tI/d' "$TMP/want" "$TMP/after"
t_is "all is repaired" "$(listing_diff "$TMP/want" "$TMP/after")" ""
t_status "there is nothing more to ask" 0 ask '' repair $vmid
t_no_match "so no question is asked" "$(cat "$TMP/screen")" 'Make .*\?'
t_status "undo asks" 3 ask n undo $vmid
t_match "for a run" "$(cat "$TMP/screen")" 'Take run .* back \([0-9]+ changes\)\?'
t_status "and does it" 4 ask y undo $vmid
t_match "but for what is gone meanwhile" "$(cat "$TMP/screen")" '/etc/meanwhile: left alone: gone'
t_done
