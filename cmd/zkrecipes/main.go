// Command zkrecipes runs a command under a ZooKeeper lock: of all machines that try,
// one runs it at a time, or at most N, or one while it leads. It also shows which
// clients hold a lock and which wait for it, and requests that holders release it.
//
//	zkrecipes run /locks/backup --servers zk1:2181,zk2:2181 -- /usr/local/bin/backup --full
//	zkrecipes elect /elections/scheduler --servers zk1:2181,zk2:2181 -- /usr/local/bin/scheduler
//	zkrecipes ls /locks/backup --servers zk1:2181
//	zkrecipes revoke /locks/backup --servers zk1:2181
//
// "zkrecipes help run" says what it guarantees and what it does not, with the exit
// codes and the timeline of a loss.
//
// # How it works
//
// One run (job.go) looks the command up, connects, takes the lock, starts the command,
// supervises both, and releases the lock when all processes of the command have ended.
// An election (elect.go) repeats all but the first two steps. The mutex, read-write
// lock, semaphore or election that is acquired is a recipe (recipe.go).
//
// Between this program and the command is a guardian, a second process of this program
// (guardian_unix.go). It knows all processes that the command has started, and when the
// last of them has ended. If this program is killed, the guardian kills them; if the
// guardian is killed, this program does (process_unix.go, tree_linux.go).
//
// Supervision is one loop (supervise.go, remaining.go) over what can happen: the
// command has stopped or ended, or all processes that it started have; a signal is to
// be passed on; a revocation is requested; the lease is over, or has too little time
// left. Everything that the loop depends on is an interface, so tests run it in virtual
// time.
//
// The command has a process group of its own, so that it and its descendants can be
// killed without the other processes of the pipeline. The price: the terminal belongs
// to another group, so the kernel stops a command that reads from it. zkrecipes then
// lends it the terminal (terminal_unix.go). It does so on demand only, because another
// process of the pipeline may need the terminal, as in "zkrecipes run ... | less".
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/zkrecipes/zkrecipes/framework"
)

func main() { os.Exit(runProcess()) }

// runProcess is the whole program: zkrecipes itself, or its guardian.
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

	// What parse has read:
	flags    *flag.FlagSet // of the verb, with where each was given
	fromFile []variable    // of the file of --config
	auth     []framework.Credential
}

// run is zkrecipes without the process around it; it returns the exit code.
func run(args []string, stdin, stdout, stderr *os.File, env []string) int {
	p := &program{stdin: stdin, stdout: stdout, stderr: stderr, env: env}
	if len(args) == 0 {
		fmt.Fprint(stderr, helpOverview)
		return exitUsage
	}
	v, ok := findVerb(args[0])
	if !ok {
		return p.failed(unknownVerb("there is no command %q", args[0]))
	}
	return v.run(p, args[1:])
}

// failed prints why a verb failed and returns its exit code.
func (p *program) failed(err error) int {
	if err != nil && !errors.Is(err, flag.ErrHelp) && !errors.Is(err, errFree) {
		_ = printLine(p.stderr, "zkrecipes: "+p.withOrigins(err)) // if it fails there is no other way to report it
	}
	return exitCode(err, exitConflict)
}
