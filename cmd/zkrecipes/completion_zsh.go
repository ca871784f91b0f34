package main

import (
	"fmt"
	"strings"
)

// zshScript is both a file for $fpath and a script to source.
const zshScript = `#compdef zkrecipes
# Completion of zkrecipes for zsh. Made by: zkrecipes completion zsh

_zkrecipes_paths() {
	local -a paths
	paths=(${(f)"$(zkrecipes completion paths "$PREFIX" $words[2,CURRENT-1] 2>/dev/null)"})
	compadd "$@" -S '' -a paths
}

_zkrecipes() {
	if ((CURRENT == 2)); then
		local -a verbs=(
VERBS		)
		_describe verb verbs
		return
	fi
	shift words
	((CURRENT--))
	local dashes=$words[(ie)--] # where -- is, or more words than there are
	case $words[1] in
CASES	esac
}

if [[ $funcstack[1] == _zkrecipes ]]; then
	_zkrecipes "$@"
else
	compdef _zkrecipes zkrecipes
fi
`

// zshCommand completes what stands behind --, as it is without zkrecipes.
const zshCommand = `		if ((dashes < CURRENT)); then
			shift dashes words
			((CURRENT -= dashes))
			_normal
			return
		fi
`

func zshCompletion() string {
	var names, cases strings.Builder
	for _, v := range verbs() {
		fmt.Fprintf(&names, "\t\t\t%s\n", shellWord(v.name+":"+v.summary()))
		fmt.Fprintf(&cases, "\t%s)\n", v.name)
		if v.runsCommand() {
			cases.WriteString(zshCommand)
		}
		cases.WriteString("\t\t_arguments -S")
		for _, f := range v.completedFlags() {
			spec := f.name
			if f.value != "" {
				spec += "="
			}
			if f.repeated {
				spec = "*" + spec
			}
			spec += "[" + zshEscape(f.text) + "]"
			if f.value != "" {
				spec += ":" + zshEscape(f.value) + ":" + zshAction(f.value)
			}
			cases.WriteString(" \\\n\t\t\t" + shellWord(spec))
		}
		if argument := v.argument(); argument != "" {
			which := "1"
			if strings.Contains(usage(v.help)[0], " ["+argument+"...]") {
				which = "*"
			}
			cases.WriteString(" \\\n\t\t\t" + shellWord(which+":"+zshEscape(argument)+":"+zshAction(argument)))
		}
		cases.WriteString("\n\t\t;;\n")
	}
	return strings.NewReplacer("VERBS", names.String(), "CASES", cases.String()).Replace(zshScript)
}

// zshEscape writes text in a specification of _arguments.
func zshEscape(text string) string {
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, ":", `\:`).Replace(text)
}

// zshAction is what completes a value or argument.
func zshAction(value string) string {
	switch all := choices(value); {
	case all != nil:
		return "(" + strings.Join(all, " ") + ")"
	case value == "FILE":
		return "_files"
	case value == "DIR":
		return "_files -/"
	case value == "PATH":
		return "_zkrecipes_paths"
	}
	return ""
}
