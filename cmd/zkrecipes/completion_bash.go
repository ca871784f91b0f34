package main

import (
	"fmt"
	"strings"
)

// bashScript reads the line itself: bash takes "=" and ":" for ends of words, and then
// replaces only what follows the last of these.
const bashScript = `# Completion of zkrecipes for bash 4.4 and newer. Made by: zkrecipes completion bash

_zkrecipes() {
	local IFS=$' \t\n' line=${COMP_LINE:0:COMP_POINT} flags= argument= command= kind= flag i
	local word=${line##*[[:space:]]} words # the one at the cursor, and those before it
	read -ra words <<<"${line%"$word"}"
	COMPREPLY=()

	case ${words[1]-} in
	'') argument='VERBS' ;;
VERB_CASES	*) return ;;
	esac

	if [[ $word == -*=* ]]; then
		flag=${word%%=*} word=${word#*=}
	else
		flag=${words[-1]}
	fi
	for i in $flags; do
		[[ $i != "$flag="* ]] || kind=${i#*=}
	done
	if [[ -n $command && " ${words[*]} " == *' -- '* ]]; then
		kind=FILE
		[[ $flag != -- ]] || kind=COMMAND
	elif [[ -z $kind && ( $word == -* || -z $argument ) ]]; then
		for i in $flags; do
			kind+="${i%%=*}|"
		done
	fi

	case ${kind:=$argument} in
	FILE) compopt -o default ;; # readline's own
	DIR) compopt -o dirnames ;;
	COMMAND) mapfile -t COMPREPLY < <(compgen -c -- "$word") ;;
	PATH)
		compopt -o nospace # a slash may follow
		mapfile -t COMPREPLY < <(zkrecipes completion paths "$word" "${words[@]:2}" 2>/dev/null)
		;;
	*'|'*) mapfile -t COMPREPLY < <(compgen -W '${kind//|/ }' -- "$word") ;;
	esac
	i=${word##*["$COMP_WORDBREAKS"]}
	COMPREPLY=("${COMPREPLY[@]#"${word%"$i"}"}")
}
complete -F _zkrecipes zkrecipes
`

func bashCompletion() string {
	var cases strings.Builder
	for _, v := range verbs() {
		fmt.Fprintf(&cases, "\t%s)\n", v.name)
		if v.runsCommand() {
			cases.WriteString("\t\tcommand=yes\n")
		}
		if argument := bashKind(v.argument()); argument != "" {
			fmt.Fprintf(&cases, "\t\targument=%s\n", shellWord(argument))
		}
		var flags []string
		for _, f := range v.completedFlags() {
			if f.value != "" {
				f.name += "=" + bashKind(f.value)
			}
			flags = append(flags, f.name)
		}
		fmt.Fprintf(&cases, "\t\tflags=%s\n\t\t;;\n", shellWord(strings.Join(flags, " ")))
	}
	return strings.NewReplacer("VERBS", strings.Join(verbNames(), "|"), "VERB_CASES", cases.String()).Replace(bashScript)
}

// bashKind is what the script knows of a value or argument: its choices, or one of the
// names of which it knows something. Others must not be empty there.
func bashKind(value string) string {
	switch all := choices(value); {
	case all != nil:
		return strings.Join(all, "|") + "|"
	case value == "" || value == "FILE" || value == "DIR" || value == "PATH":
		return value
	}
	return "VALUE"
}
