# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Option table, --help and manual page name the same commands and options.
. "${0%/*}/../lib.sh"

man=$T_TOP/man/ctmend.8
mapfile -t commands < <("$CTMEND" __options)

# The names that follow Fl in the page: long ones as "--name", letters as "-x".
man_options()
{
	awk '/^\.(It|Op|Nm|Fl|Pp|Dl)?/ && /(^|[ .])Fl / {
		for (i = 1; i <= NF; i++) {
			if ($i != "Fl" && $i != ".Fl") { continue }
			if ($(i + 1) == "Fl") { print "--" $(i + 2); i += 2 } else { print "-" $(i + 1) }
		}
	}' "$man" | sort -u
}

help_options()
{
	"$CTMEND" "$1" --help | sed -n '/^Options:/,$p' | grep -oE '^ +(-[a-z], )?--[a-z-]+' |
		grep -oE -- '--?[a-z-]+' | sort -u
}

t_ok "there are commands" test "${#commands[@]}" -ge 7
for command in "${commands[@]}"; do
	t_is "$command: --help shows the table's options" \
		"$(help_options "$command")" "$("$CTMEND" __options "$command" | sort -u)"
	t_ok "$command: the manual has an entry" grep -qx "\.It Cm $command" "$man"
	t_ok "$command: the manual's synopsis has it" \
		sh -c "sed -n '/^.Sh SYNOPSIS/,/^.Sh DESCRIPTION/p' '$man' | grep -qx '.Cm $command'"
	t_ok "$command: the general help lists it" sh -c "'$CTMEND' --help | grep -q '^  $command '"
done
t_is "the manual names the table's options, no more and no less" "$(man_options)" \
	"$(for command in "${commands[@]}"; do "$CTMEND" __options "$command"; done | sort -u)"
t_is "every exit status of the manual is one of the program's" \
	"$(sed -n '/^.Sh EXIT STATUS/,/^.Sh EXAMPLES/s/^.It //p' "$man" | tr '\n' ' ')" "0 1 2 3 4 5 "
t_done
