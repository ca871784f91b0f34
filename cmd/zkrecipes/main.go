// Command zkrecipes runs a command under a ZooKeeper lock, so that of all the machines
// that try only one runs it at a time, or so many, or one as long as it leads; shows
// who holds a lock and who waits for it; and asks holders to give way.
//
//	zkrecipes run --servers zk1:2181,zk2:2181 --lock /locks/backup -- /usr/local/bin/backup --full
//	zkrecipes elect --servers zk1:2181,zk2:2181 --path /elections/scheduler -- /usr/local/bin/scheduler
//	zkrecipes ls /locks/backup --servers zk1:2181
//	zkrecipes revoke /locks/backup --servers zk1:2181
//
// "zkrecipes help run" says what it guarantees and what it does not, with the exit
// codes and the timeline of a loss.
//
// # How it works
//
// The journey of one run (job.go): look the command up, connect, take the lock, start
// the command, supervise both, give the lock back when all of it has ended. An election
// (elect.go) repeats all but the first two. What is to be won, a lock, a permit or a
// term, is a contest (contest.go).
//
// Between this program and the command there is a guardian, a second process of it
// (guardian_unix.go), which knows all that the command has started and when the last of
// it has ended. If this program is killed the guardian kills all that; if the guardian
// is killed, this program does (process_unix.go, tree_linux.go).
//
// Supervision is one loop (supervise.go, rest.go) over what can happen: the command was
// stopped, it has ended, or all that it has started has; a signal to pass on; somebody
// asks for the lock; the lease said that it is over; and the moment came at which the
// lease has too little time left. Everything it depends on is an interface, so that its
// timeline is tested in virtual time.
//
// A process group of its own is what makes the command and its descendants killable
// without killing others in the pipeline. Its price is that the terminal belongs to
// another group: a command that reads from it is stopped by the kernel. zkrecipes then
// lends it the terminal (terminal_unix.go). It does so on demand only, because others
// in the pipeline, as in "zkrecipes run ... | less", may be the ones who need it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() { os.Exit(runProcess()) }

// runProcess is the program as a process of its own.
func runProcess() int {
	if len(os.Args) > 0 && os.Args[0] == guardianName {
		return guard(os.Args[1:])
	}
	reapOrphans()
	return run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())
}

// program is what one invocation works with. The standard streams are files, because
// the command inherits them.
type program struct {
	stdin, stdout, stderr *os.File
	env                   environ
}

// run is the whole program but for the process around it; it returns the exit code.
func run(args []string, stdin, stdout, stderr *os.File, env []string) int {
	p := &program{stdin: stdin, stdout: stdout, stderr: stderr, env: env}
	if len(args) == 0 {
		fmt.Fprint(stderr, helpOverview)
		return exitUsage
	}
	var err error
	switch verb, rest := args[0], args[1:]; verb {
	case "run":
		return p.run(rest)
	case "elect":
		return p.elect(rest)
	case "ls":
		err = p.ls(rest)
	case "revoke":
		err = p.revoke(rest)
	case "testserver":
		err = p.testserver(rest)
	case "version", "--version", "-version":
		err = p.version(rest)
	case "help", "--help", "-help", "-h":
		err = p.help(rest)
	default:
		err = usageErrorf("there is no command %q; there are run, elect, ls, revoke, testserver, help and version", verb)
	}
	return p.failed(err)
}

// failed says why a command failed and returns its exit code.
func (p *program) failed(err error) int {
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		_ = printLine(p.stderr, "zkrecipes: "+explain(err)) // nobody is left to be told if it fails
	}
	return exitCode(err, exitConflict)
}

// help prints the overview or the page about one command.
func (p *program) help(args []string) error {
	topic := ""
	if len(args) > 0 {
		topic = args[0]
	}
	text, ok := helpTopics[topic]
	if !ok || len(args) > 1 {
		return usageErrorf("there is no help on %q; there is on run, elect, ls, revoke, testserver and version", strings.Join(args, " "))
	}
	fmt.Fprint(p.stdout, text)
	return nil
}
