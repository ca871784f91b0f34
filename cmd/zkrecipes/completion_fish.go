package main

import (
	"fmt"
	"strings"
)

const fishScript = `# Completion of zkrecipes for fish. Made by: zkrecipes completion fish

# Succeeds where the verb is to be given.
function __zkrecipes_no_verb
    set -l words (commandline -opc)
    not set -q words[2]
end

# Succeeds at the flags and the argument of a verb.
function __zkrecipes_verb
    set -l words (commandline -opc)
    set -q words[2]; and test $words[2] = $argv[1]; and not contains -- -- $words
end

# Succeeds after the "--" of a verb.
function __zkrecipes_runs
    set -l words (commandline -opc)
    set -q words[2]; and test $words[2] = $argv[1]; and contains -- -- $words
end

# Completes a command as it is without zkrecipes.
function __zkrecipes_command
    set -l words (commandline -opc)
    set -e words[1..(contains -i -- -- $words)]
    complete -C (string join ' ' -- (string escape -- $words) (commandline -ct))
end

function __zkrecipes_paths
    set -l words (commandline -opc)
    zkrecipes completion paths (commandline -ct | string replace -r '^--[^=]*=' '') $words[3..] 2>/dev/null
end

complete -c zkrecipes -f
VERBS`

func fishCompletion() string {
	var lines strings.Builder
	for _, v := range verbs() {
		fmt.Fprintf(&lines, "complete -c zkrecipes -n __zkrecipes_no_verb -a %s -d %s\n", v.name, shellWord(v.summary()))
	}
	for _, v := range verbs() {
		begin := fmt.Sprintf("complete -c zkrecipes -n '__zkrecipes_verb %s'", v.name)
		lines.WriteByte('\n')
		if v.runsCommand() {
			fmt.Fprintf(&lines, "complete -c zkrecipes -n '__zkrecipes_runs %s' -a '(__zkrecipes_command)'\n", v.name)
		}
		if argument := v.argument(); argument != "" {
			lines.WriteString(begin + " " + fishAction(argument) + "\n")
		}
		for _, f := range v.completedFlags() {
			option := "-l"
			if !strings.HasPrefix(f.name, "--") {
				option = "-s"
			}
			words := []string{begin, option, strings.TrimLeft(f.name, "-")}
			if f.value != "" {
				words = append(words, fishAction(f.value))
			}
			if f.text != "" {
				words = append(words, "-d", shellWord(f.text))
			}
			lines.WriteString(strings.Join(words, " ") + "\n")
		}
	}
	return strings.NewReplacer("VERBS", lines.String()).Replace(fishScript)
}

// fishAction is what completes a value or argument: an option of "complete".
func fishAction(value string) string {
	switch all := choices(value); {
	case all != nil:
		return "-x -a " + shellWord(strings.Join(all, " "))
	case value == "FILE":
		return "-r -F"
	case value == "DIR":
		return "-x -a '(__fish_complete_directories)'"
	case value == "PATH":
		return "-x -a '(__zkrecipes_paths)'"
	}
	return "-x"
}
