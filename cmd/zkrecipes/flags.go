package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// parse parses the flags of a verb, which is the name of the flag set. For --help it
// prints the help and returns flag.ErrHelp.
//
// Package flag describes mistakes in texts only, with one dash before a flag's name. So
// checkSyntax finds the mistakes first, and each flag remembers why it refused a value.
func (p *program) parse(fs *flag.FlagSet, args []string) error {
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	allowOnce(fs)
	err := checkSyntax(fs, args)
	if err == nil {
		err = fs.Parse(args)
	}
	if errors.Is(err, flag.ErrHelp) {
		if v, ok := findVerb(fs.Name()); ok {
			fmt.Fprint(p.stdout, v.help)
		}
		return err
	}
	if refused := refusedFlag(fs); refused != nil {
		err = refused
	}
	if err != nil {
		return usageErrorf("%s: %v (see \"zkrecipes help %s\")", fs.Name(), err, fs.Name())
	}
	return nil
}

// checkSyntax returns an error for a flag that does not exist or has no value. It reads
// args as [flag.FlagSet.Parse] does.
func checkSyntax(fs *flag.FlagSet, args []string) error {
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && args[0] != "--" {
		name, _, hasValue := strings.Cut(strings.TrimPrefix(args[0][1:], "-"), "=")
		f := fs.Lookup(name)
		switch {
		case name == "" || name[0] == '-':
			return fmt.Errorf("%q is not a flag", args[0])
		case f == nil && (name == "help" || name == "h"):
			return nil
		case f == nil:
			return fmt.Errorf("there is no flag --%s", name)
		}
		args = args[1:]
		if once, ok := f.Value.(*onceFlag); hasValue || ok && once.IsBoolFlag() {
			continue
		}
		if len(args) == 0 {
			return fmt.Errorf("--%s needs a value", name)
		}
		args = args[1:]
	}
	return nil
}

// A onceFlag is the value of a flag that may be given once. Of two values the flag
// package would keep the last, without a word.
type onceFlag struct {
	flag.Value
	name    string
	given   bool
	refused error // why the command line is wrong
}

// Set sets the value if it is the first.
func (f *onceFlag) Set(text string) error {
	if f.given {
		f.refused = fmt.Errorf("--%s is given twice", f.name)
		return nil // --help may follow
	}
	f.given = true
	err := f.Value.Set(text)
	if err != nil && f.IsBoolFlag() {
		err = errNotBool
	}
	if err != nil {
		f.refused = fmt.Errorf("--%s %q: %w", f.name, text, err)
	}
	return err
}

// IsBoolFlag reports whether the flag can stand without a value.
func (f *onceFlag) IsBoolFlag() bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// allowOnce makes every flag of a set a onceFlag, but not one that keeps all values. It
// can be called again, between two parts of one command line.
func allowOnce(fs *flag.FlagSet) {
	fs.VisitAll(func(f *flag.Flag) {
		switch f.Value.(type) {
		case *onceFlag, *pathList:
		default:
			f.Value = &onceFlag{Value: f.Value, name: f.Name}
		}
	})
}

// refusedFlag returns why a flag was refused, nil if none was.
func refusedFlag(fs *flag.FlagSet) (err error) {
	fs.VisitAll(func(f *flag.Flag) {
		if once, ok := f.Value.(*onceFlag); ok && err == nil {
			err = once.refused
		}
	})
	return err
}
