package main

import (
	"flag"
	"fmt"
	"slices"
	"strings"
)

// parse reads the command line of a verb, which is the name of the flag set, and for
// flags that it does not give the environment and the file of --config. Flags and other
// arguments may come in any order; fs.Args() are the others. For --help it prints the
// help and returns flag.ErrHelp.
func (p *program) parse(fs *flag.FlagSet, args []string) error {
	command, err := p.parseCommand(fs, args, "")
	if err != nil {
		return err
	}
	return keepArgs(fs, append(fs.Args(), command...))
}

// parseCommand is parse for a verb that runs a command, which is what stands behind
// "--". The other arguments are further values of the flag pathFlag, if it is not "".
func (p *program) parseCommand(fs *flag.FlagSet, args []string, pathFlag string) (command []string, err error) {
	makeSettings(fs)
	p.flags = fs
	line, err := readLine(fs, args, settingOf(fs, pathFlag))
	if err != nil && pathFlag != "" && !slices.Contains(args, "--") {
		err = fmt.Errorf("%w; COMMAND and its flags stand behind --", err)
	}
	switch {
	case err == nil && line.help:
		if v, ok := findVerb(fs.Name()); ok {
			fmt.Fprint(p.stdout, v.help)
		}
		return nil, flag.ErrHelp
	case err == nil:
		err = line.mistake
	}
	if err == nil {
		err = p.applySettings(fs)
	}
	if err != nil {
		return nil, usageErrorf("%s: %v (see \"zkrecipes help %s\")", fs.Name(), err, fs.Name())
	}
	return line.command, keepArgs(fs, line.others)
}

// keepArgs makes arguments those that fs.Args() returns.
func keepArgs(fs *flag.FlagSet, args []string) error {
	return fs.Parse(append([]string{"--"}, args...))
}

// A commandLine is what a command line has besides flags.
type commandLine struct {
	others  []string // in front of "--"
	command []string // behind it
	help    bool     // is asked for
	mistake error    // the first one after which the rest could be read
}

// readLine reads flags as package flag does, with one or two dashes, but also behind
// other arguments, and with one dash the short flags. It keeps what it reads in the
// settings of fs, and other arguments in that for paths, if it is not nil.
func readLine(fs *flag.FlagSet, args []string, paths *setting) (*commandLine, error) {
	line := &commandLine{}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		switch {
		case arg == "--":
			line.command = args
			return line, nil
		case len(arg) < 2 || arg[0] != '-':
			line.giveOther(arg, paths)
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
		if name == "" || name[0] == '-' {
			return nil, fmt.Errorf("%q is not a flag", arg)
		}
		flags, number := findFlags(fs, name, arg[1] != '-')
		if hasValue && number != "" {
			number += "=" + value
		}
		if number != "" {
			value, hasValue = number, true
		}
		switch {
		case flags != nil:
		case name == "help" || name == "h":
			line.help = true
			return line, nil
		default:
			return nil, unknownFlag(fs, arg[:len(arg)-len(strings.TrimLeft(arg, "-"))]+name)
		}
		last := len(flags) - 1
		for _, f := range flags[:last] {
			line.give(f, "true")
		}
		switch {
		case hasValue:
		case flags[last].IsBoolFlag():
			value = "true"
		case len(args) == 0:
			return nil, fmt.Errorf("%s needs a value", flags[last].written)
		default:
			value, args = args[0], args[1:]
		}
		line.give(flags[last], value)
	}
	return line, nil
}

// unknownFlag describes a flag that a verb does not have.
func unknownFlag(fs *flag.FlagSet, written string) error {
	if short := strings.TrimPrefix(written, "-"); len(short) > 1 && short[0] != '-' {
		if f := findShort(fs, short[0]); f != nil && !f.IsBoolFlag() {
			return fmt.Errorf("there is no flag -%s; the value of -%c stands behind a space", short, short[0])
		}
		written = "-" + written // package flag's long flags may have one dash
	}
	var names []string
	fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	if nearest := similar(strings.TrimPrefix(written, "--"), names); nearest != "" && written[1] == '-' {
		return fmt.Errorf("there is no flag %s; did you mean --%s?", written, nearest)
	}
	return fmt.Errorf("there is no flag %s", written)
}

// give keeps the value that the command line has for a flag.
func (l *commandLine) give(f writtenFlag, value string) {
	if f.convert != nil {
		value = f.convert(value)
	}
	if f.zero != nil && isZero(value) {
		f.setting, value = f.zero, "true"
		f.written += " 0"
	}
	if f.level == onCommandLine && !f.list() && l.mistake == nil {
		l.mistake = fmt.Errorf("--%s is given twice", f.name)
	}
	f.level = onCommandLine
	f.values = append(f.values, given{value, f.written})
}

// giveOther keeps an argument that is no flag.
func (l *commandLine) giveOther(arg string, paths *setting) {
	switch {
	case paths == nil:
		l.others = append(l.others, arg)
		return
	case paths.level == onCommandLine && !paths.list() && l.mistake == nil:
		l.mistake = fmt.Errorf("only one path at a time: what is %q? COMMAND stands behind --", arg)
	}
	paths.level = onCommandLine
	paths.values = append(paths.values, given{arg, "PATH"})
}

// A writtenFlag is a flag as it was written on the command line.
type writtenFlag struct {
	*setting
	written string // with its dashes
	convert func(value string) string
	zero    *setting // that a time of 0 stands for, nil if there is none
}

// findFlags returns the flag of that name. With one dash, a name may also be a short
// flag, or several of which all but the last stand without a value; the value of the
// last one follows at once if it begins as a number does, such as -w5.
func findFlags(fs *flag.FlagSet, name string, oneDash bool) (all []writtenFlag, number string) {
	if s := settingOf(fs, name); s != nil {
		return []writtenFlag{{setting: s, written: "--" + name}}, ""
	}
	if !oneDash {
		return nil, ""
	}
	letters := name
	if i := strings.IndexAny(name, ".0123456789"); i > 0 {
		letters, number = name[:i], name[i:]
	}
	all = findLetters(fs, letters)
	if number != "" && all != nil && all[len(all)-1].IsBoolFlag() {
		return nil, ""
	}
	return all, number
}

// findLetters returns short flags, nil if one of the letters is none.
func findLetters(fs *flag.FlagSet, name string) (all []writtenFlag) {
	for i := range len(name) {
		f := findShort(fs, name[i])
		if f == nil || i+1 < len(name) && !f.IsBoolFlag() {
			return nil
		}
		all = append(all, *f)
	}
	return all
}

// findShort returns the flag that has this letter, nil if the verb has none.
func findShort(fs *flag.FlagSet, letter byte) *writtenFlag {
	i := slices.IndexFunc(shortFlags, func(s shortFlag) bool { return s.letter == letter })
	if i < 0 {
		return nil
	}
	s := settingOf(fs, shortFlags[i].name)
	if s == nil {
		return nil
	}
	return &writtenFlag{setting: s, written: "-" + string(letter), convert: shortFlags[i].convert, zero: settingOf(fs, shortFlags[i].zero)}
}
