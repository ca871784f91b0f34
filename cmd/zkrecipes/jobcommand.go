package main

import (
	"flag"
	"strings"
)

// registerCommand adds the flag for a command of the shell.
func (f *jobFlags) registerCommand(fs *flag.FlagSet) { fs.Func("command", "", f.shell.set(parseText)) }

// parseJob parses what to run, and the paths of which it needs the locks. These are
// arguments, or values of the flag pathFlag.
func (p *program) parseJob(fs *flag.FlagSet, args []string, f *jobFlags, pathFlag string) (err error) {
	f.command, err = p.parseCommand(fs, args, pathFlag)
	switch {
	case err != nil || !f.shell.given:
		return err
	case f.command != nil:
		return usageErrorf("%s: --command and a COMMAND behind -- contradict each other", fs.Name())
	case f.shell.value == "":
		return usageErrorf("%s: --command is empty", fs.Name())
	}
	f.command = []string{"sh", "-c", f.shell.value}
	return nil
}

// checkCommand finds a missing command. It is perhaps among the paths, as flock(1) has
// it: but of "run /locks/a /usr/bin/b" nobody could tell which is which.
func (f *jobFlags) checkCommand(verb, path string) error {
	switch {
	case len(f.command) > 0 && f.command[0] == "":
		return usageErrorf("%s: the command's name is empty", verb)
	case len(f.command) > 0:
		return nil
	}
	command := "COMMAND ARGS..."
	if len(f.paths) > 1 {
		command = strings.Join(f.paths[1:], " ")
	}
	return usageErrorf("%s: no command: put it last, behind --, as in: zkrecipes %s %s -- %s",
		verb, verb, strings.Replace(path, "PATH", f.paths[0], 1), command)
}
