//go:build unix

package main

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Completions and manual pages take from the help what a flag is for.
func TestEveryFlagHasALineInTheHelp(t *testing.T) {
	for _, v := range verbs() {
		v.flags().VisitAll(func(f *flag.Flag) {
			if _, text := v.flagHelp(f); text == "" {
				require.Contains(t, strings.Join(usage(v.help), " "), dashed(f.Name),
					"%s: no line of the help begins with the flag, and the usage does not name it", v.name)
			}
		})
	}
}

// A letter that a verb takes stands in its help, in front of what it is short for.
func TestEveryLetterIsInTheHelp(t *testing.T) {
	for _, v := range verbs() {
		for _, short := range shortFlags {
			if v.flags().Lookup(short.name) != nil {
				require.Regexp(t, fmt.Sprintf(`-%c(?:, |\|)--%s\b`, short.letter, short.name), v.help, v.name)
			}
		}
	}
}

func TestOverviewListsEveryVerb(t *testing.T) {
	for _, v := range verbs() {
		require.NotEmpty(t, v.summary(), "%s: it is not listed in the overview", v.name)
		require.Contains(t, usage(v.help)[0], "zkrecipes ")
	}
	for line := range strings.Lines(helpOverview) {
		require.LessOrEqual(t, len(line), 80+len("\n"), line)
	}
}

func TestArgumentOfAVerb(t *testing.T) {
	for name, want := range map[string]string{
		"run": "PATH", "elect": "PATH", "hold": "PATH", "ls": "PATH", "show": "PATH", "top": "PATH", "litter": "PATH", "exporter": "PATH", "revoke": "PATH", "resize": "PATH", "man": "VERB", "testserver": "", "completion": "bash|zsh|fish", "help": "VERB", "version": "",
	} {
		v, ok := findVerb(name)
		require.True(t, ok)
		require.Equal(t, want, v.argument(), name)
		require.Equal(t, name == "run" || name == "elect", v.runsCommand(), name)
	}
}

// madeUp is a verb with flags in all the forms that a help may have.
var madeUp = verb{
	name: "watch",
	help: `usage: zkrecipes watch [--json | --color WHEN] [-o wide|json] [--depth N] [--lock PATH]
                      PATH [flags]
       zkrecipes watch --all

  -j, --json         one object: its fields; more of them
  --color WHEN       when to use colours. Never by default.
  -o, --output wide|json
                     how much (wide). There
                     is more.
  --all              all of them [a:b]
--depth N is how deep, counted from 0 on.

A word about --json-lines, and --all.
`,
	flags: func() *flag.FlagSet {
		fs := flag.NewFlagSet("watch", flag.ContinueOnError)
		json, all := fs.Bool("json", false, ""), fs.Bool("all", false, "")
		fs.BoolVar(json, "j", false, "")
		fs.BoolVar(all, "everything", false, "")
		output := fs.String("output", "", "")
		fs.StringVar(output, "o", "", "")
		fs.Int("depth", 0, "")
		fs.String("color", "", "")
		fs.Var(new(pathList), "lock", "")
		return fs
	},
}

func TestFlagHelp(t *testing.T) {
	require.Equal(t, "PATH", madeUp.argument())
	require.Len(t, usage(madeUp.help), 2)
	for name, want := range map[string][2]string{
		"json": {"", "one object: its fields"}, "j": {"", "one object: its fields"}, "color": {"WHEN", "when to use colours"},
		"output": {"wide|json", "how much"}, "o": {"wide|json", "how much"}, "all": {"", "all of them [a:b]"},
		"depth": {"N", "is how deep, counted from 0 on"}, "everything": {"", ""}, "lock": {"PATH", ""},
	} {
		value, text := madeUp.flagHelp(madeUp.flags().Lookup(name))
		require.Equal(t, want, [2]string{value, text}, name)
	}
	long := "how long it takes: the time from the first to the last of them all, which may be long, but not longer"
	require.Equal(t, "how long it takes", firstClause(long))
	require.Equal(t, "what is there, and no more", firstClause("what is there, and no more."))
}

func TestCompletionScripts(t *testing.T) {
	for shell, forms := range map[string][3]string{
		"bash": {"\t%s)\n", "%s", ""},
		"zsh":  {"'%s:", "%s", "[%s]"},
		"fish": {"-a %s -d", " -%s", " -d '%s'\n"},
	} {
		code, script, stderr := invoke(t, nil, "completion", shell)
		require.Equal(t, 0, code, stderr)
		for _, v := range verbs() {
			require.Contains(t, script, fmt.Sprintf(forms[0], v.name))
			for _, f := range v.completedFlags() {
				name, text := f.name, shellWord(f.text)
				switch {
				case shell == "fish" && len(name) == len("-x"):
					name = "s " + name[1:]
				case shell == "fish":
					name = "l " + name[2:]
				case shell == "zsh":
					text = shellWord(zshEscape(f.text))
				}
				require.Contains(t, script, fmt.Sprintf(forms[1], name))
				if forms[2] != "" && f.text != "" {
					require.Contains(t, script, fmt.Sprintf(forms[2], strings.Trim(text, "'")))
				}
			}
		}
		for _, placeholder := range []string{"VERBS", "CASES"} {
			require.NotContains(t, script, placeholder)
		}
	}
	for args, says := range map[string]string{"": "no shell", "tcsh": `no shell "tcsh"`, "bash zsh": `no shell "bash zsh"`, "paths": `no shell "paths"`} {
		code, stdout, stderr := invoke(t, nil, append([]string{"completion"}, strings.Fields(args)...)...)
		require.Equal(t, exitUsage, code)
		require.Empty(t, stdout)
		require.Contains(t, stderr, says)
	}
}

// Choices, files and repeated flags, of which the verbs have few or none.
func TestCompletedFlags(t *testing.T) {
	all := map[string]completedFlag{}
	for _, f := range madeUp.completedFlags() {
		all[f.name] = f
	}
	require.True(t, all["--lock"].repeated)
	require.False(t, all["--output"].repeated)
	require.Equal(t, completedFlag{name: "-o", value: "wide|json", text: "how much"}, all["-o"])
	require.Contains(t, all, "--help")
	v, _ := findVerb("top")
	shown := v.completedFlags()
	for _, name := range []string{"-o", "--output"} {
		require.Contains(t, shown, completedFlag{name: name, value: "table|wide|json", text: "how to print it"})
	}
	for value, want := range map[string][3]string{
		"wide|json": {"wide|json|", "(wide json)", "-x -a 'wide json'"},
		"FILE":      {"FILE", "_files", "-r -F"},
		"DIR":       {"DIR", "_files -/", "-x -a '(__fish_complete_directories)'"},
		"PATH":      {"PATH", "_zkrecipes_paths", "-x -a '(__zkrecipes_paths)'"},
		"N":         {"VALUE", "", "-x"},
	} {
		require.Equal(t, want, [3]string{bashKind(value), zshAction(value), fishAction(value)})
	}
}
