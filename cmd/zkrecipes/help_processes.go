package main

// helpKill are the flags of "run" and "elect" about the end of a command.
const helpKill = `  --kill-after D          how long the command has to end after a signal or a revocation told it to;
                          then all of it gets KILL (default: as long as it takes)
  --pid-namespace         run the command in a PID namespace of its own (Linux; needs root or
                          CAP_SYS_ADMIN): then nothing is left even if zkrecipes and its guardian are
                          killed at once. The command sees a /proc with its own processes only.
`

const helpProcesses = `What the command is: all the processes that COMMAND has started and that have not ended, wherever they
have gone: into other process groups or sessions (timeout, setsid, jobs of a shell), away from their
parent (daemons). Between zkrecipes and COMMAND there is a guardian for that, a small process of the same
program, zkr-guardian in lists of processes.

                                          Linux                           BSD, macOS
  The lock is kept for                    all of them                     its process group
  What runs on
  - after a loss of the lock              nothing                         what has left its process group
  - after SIGKILL of zkrecipes            nothing                         what has left its process group
  - after SIGKILL of the guardian         nothing                         what has left its process group
  - after SIGKILL of both, at once        all but COMMAND itself;         all
                                          nothing with --pid-namespace
  - while Ctrl-Z has stopped zkrecipes    nothing                         what has left its process group

  On Windows, "run" and "elect" refuse at the start, with exit code 126.

  Not part of it is what others start on its behalf: systemd-run, at, cron, docker, ssh. Nor can zkrecipes
  stop what it may not signal, such as a process that has become another user; it says so ("cannot send"),
  and waits for it. If the guardian is killed, orphans end as well that zkrecipes has adopted from others,
  as the first process of a container does. If both are killed at once, systemd with its
  KillMode=control-group kills the rest of a unit just as well as --pid-namespace.

When COMMAND has ended and others have not, a line names them after 0.2 s. They are supervised as COMMAND
was, and signals go to them. To run a daemon that is to stay under a lock is to keep the lock.
`
