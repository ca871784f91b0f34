package main

// helpKill are the flags of "run" and "elect" about the end of a command.
const helpKill = `  --kill-after D          how long the command may take to end after a signal or a request for
                          revocation; then all its processes get KILL (default: as long as it takes)
  --pid-namespace         run the command in a PID namespace of its own (Linux; needs root or
                          CAP_SYS_ADMIN): then no process is left even if zkrecipes and its guardian are
                          killed at once. The command sees a /proc with its own processes only.
`

// helpWaiting is the part of the help on "run", "elect" and "hold" about a wait.
const helpWaiting = `While it waits, a line on standard error says how many are ahead, and who holds it (or for how long
--lock-delay keeps it closed). On a terminal it is one line that is written again each second. Elsewhere, and
with --json, there is another line when the queue or the holder has changed: at most every 10 s, later every
minute, and more seldom in a queue of more than a thousand. For that zkrecipes lists the queue, while it has a
connection; --quiet saves that. A wait of less than 50 ms is not reported.
`

const helpProcesses = `What counts as the command: COMMAND and all processes that it has started and that have not ended, also
those in other process groups or sessions (timeout, setsid, jobs of a shell) and those whose parent has ended
(daemons). A guardian watches them: a small process of the same program between zkrecipes and COMMAND,
zkr-guardian in lists of processes.

                                          Linux                           BSD, macOS
  The lock is kept for                    all of them                     its process group
  What still runs
  - after a loss of the lock              nothing                         what has left its process group
  - after SIGKILL of zkrecipes            nothing                         what has left its process group
  - after SIGKILL of the guardian         nothing                         what has left its process group
  - after SIGKILL of both, at once        all but COMMAND itself;         all
                                          nothing with --pid-namespace
  - while Ctrl-Z has stopped zkrecipes    nothing                         what has left its process group

  On Windows, "run" and "elect" refuse at the start, with exit code 126.

  Processes that a service starts for COMMAND do not count: systemd-run, at, cron, docker, ssh. zkrecipes
  cannot stop a process that it may not signal, such as one that has become another user; it reports that
  ("cannot send"), and waits for it. If the guardian is killed, orphans are killed too that zkrecipes has
  adopted as the first process of a container. If both are killed at once, systemd with its
  KillMode=control-group kills the other processes of a unit as --pid-namespace does.

When COMMAND has ended and other processes have not, a line names them after 0.2 s. They are supervised as
COMMAND was, and signals go to them. A daemon that COMMAND leaves behind keeps the lock.
`
