package main

var helpRun = `usage: zkrecipes run --lock PATH [flags] -- COMMAND [ARGS...]

Waits for the lock PATH, runs COMMAND while holding it, and gives it back when COMMAND has ended. Of
all who do so with the same PATH, on any machine, one runs at a time, in the order in which they came.
The command is executed as it stands, without a shell, on the standard input, output and error of
zkrecipes.

The lock:
  --lock PATH             a ZooKeeper path, such as /locks/backup; it is created when missing
  --shared                run beside others that say --shared, and never beside one that does not
  --permits N             run beside at most N-1 others: a semaphore. All must say the same N, which is
                          stored at PATH; who disagrees is told so, and gets exit code 64.
  --timeout D             wait at most that long, connecting included (default: for ever, with 15 s
                          for connecting). Where no server answers, it takes up to two seconds more.
  --try                   do not wait: take the lock only if it is free. Without a server it ends within
                          two seconds, or three if one falls silent in the middle.
  --max-hold D            hold it for at most that long: the command gets TERM --grace before that, KILL
                          at that time, and the exit code is 76
  --label NAME            what others see as the holder (default: the command's name)
  --write                 exclude everybody, as without flags, with the nodes of a read-write lock of Java
                          (see below)
  --conflict-exit-code N  the exit code when somebody else has the lock (75)

The command:
  --grace D               how long before the end of trust the command gets TERM (default: a sixth of
                          the session timeout; at most a quarter; 0 means KILL without TERM)
` + helpKill + `  --ignore-revoke         do not pass on to the command that somebody asks for the lock
  --json                  say what happens as JSON, one object per line, on standard error
  --quiet                 say only what goes wrong, and that somebody asks for it
` + helpConnection + `
With credentials (a client's certificate alone is none), PATH and what is below it belong to them if
zkrecipes makes it: others can look at the queue, but not enter it or delete from it. A PATH that was there
before, and in which strangers (world:anyone, or an address) may create or delete, or write (with
--permits), or whose ACL they may change, is refused with exit code 77 and the commands that close it,
before the wait and again before COMMAND is started. Identities that the ACL names (digest, sasl, x509) are
taken for invited. What is above PATH is left as it is: who may delete there can delete PATH when nobody
holds it or waits, and never else; who may create there can then make it anew, open, which the next run
refuses. Without credentials everybody can do everything.

` + helpEnvironment + `
` + helpProcesses + `
What is guaranteed:
  As long as zkrecipes itself runs and nobody takes the lock away by hand, the command does not outlive
  the lock. ZooKeeper gives a lock away when its leader has not heard of the holder for the session
  timeout. zkrecipes asks the leader something every twelfth of that, and counts what the answers prove
  to have reached it, but only as far as a quorum of the servers commits something, for which it asks
  every quarter. With the default, 15 s, and nothing but silence from some moment on:

       0 s    the last question that is answered is asked
       1.25 s the next one is asked, and not answered
       5 s    the command and all that it started get TERM          (1/2 - grace; grace is 1/6)
       7.5 s  whatever is left of them gets KILL                    (1/2 of the session timeout)
      10 s    the servers may give the lock to the next at the earliest

  (Each up to 1.25 s earlier, depending on when the servers were asked before; in the first seconds of a
  session up to 2 s later, and KILL always a sixth of the timeout before the last line.) An answer before
  TERM is sent ends the matter: a server that is restarted or an election does no harm. After that the
  command is stopped even if contact comes back. If the lock is taken away (its node deleted, its session
  ended), TERM is sent at once and KILL after the grace. In each case the exit code is 76, and standard error
  says what happened and when.

What is not:
  - While zkrecipes itself is stopped (SIGSTOP, a frozen virtual machine) it stops nothing. When it goes
    on after too long it kills the command and exits with 76, but meanwhile another may have run. If the
    command writes where two at a time do damage, let it pass on ZKRECIPES_LOCK_TOKEN, and let the
    receiver refuse a token smaller than the greatest it has seen.
  - If zkrecipes is killed with SIGKILL the command is killed, but the lock is free only one session
    timeout later.
  - One PATH is for one purpose. A lock, a semaphore and an election do not heed each other.

Somebody asks for it ("zkrecipes revoke PATH", or a program's lease.RequestRevocation): COMMAND and
all in its process group get TERM, once; what has left the group gets it when COMMAND has ended, as it was
up to COMMAND to tell them. It is not killed, unless --kill-after says so, the lock is held until all have
ended, and the exit code is COMMAND's own: nothing went wrong. A command that does not handle TERM ends by
it, with exit code 143.

Signals: INT, TERM, HUP, QUIT, USR1, USR2, WINCH, TSTP and CONT go to COMMAND and all in its process
group, and when COMMAND has ended to all that is left. Of INT, TERM and QUIT what has left the group is told
when COMMAND has ended, as above. While zkrecipes still waits, INT, TERM, HUP and QUIT end the wait, and
nothing is left behind. The command gets the terminal as soon as it reads from it. When COMMAND is stopped
at a terminal, as by Ctrl-Z, all of it is stopped, also what does not obey Ctrl-Z, and then zkrecipes; "fg"
continues all, or kills all if the lock is not held any more. As the first process of a container zkrecipes
lets orphans end.

One zkrecipes under another: to take a second PATH while holding a first is fine. Take them in the same
order everywhere, or two can wait for each other; --timeout ends that. To wait for the same PATH again
would be to wait for oneself, and is refused at once with exit code 64, by what
ZKRECIPES_LOCK_ANCESTORS says: where the environment is not passed on, as by sudo, it is not noticed.
Runs with --shared may be nested in one with --shared while no other waits, and those with --permits as
long as those above do not hold all of them.

A PATH is for a lock, for --permits, or for an election: whoever comes while one of the others is there
gets exit code 64.

Beside Java: the nodes are those of Apache Curator. Without flags, of InterProcessMutex; with --shared
and --write, of InterProcessReadWriteLock; with --permits, of InterProcessSemaphoreV2 with a SharedCount
at the same path. Runs exclude each other with and without --write. But Java's readers do not see
InterProcessMutex: where Java has a read-write lock, say --write or --shared.

Exit codes:
  0-255    the command's own; 128+N if signal N killed it
  64       usage: wrong flags or arguments, or --permits differs from what PATH has, or a zkrecipes above
           this one holds PATH
  69       ZooKeeper cannot be used, or no server answered when time was up, whoever was ahead before;
           the error names the addresses and what happened at each
  75       not acquired in time, as somebody else has it; the error names the holder and how many are
           ahead (--conflict-exit-code changes it)
  76       the lock was lost, or could not be proved to be held, or held for --max-hold, before the
           command had ended
  77       credentials or the client's certificate refused, or not permitted, or strangers may enter PATH in
           spite of credentials
  126      COMMAND cannot be executed          (checked before the lock is taken,
  127      COMMAND was not found                as far as that is possible)
  128+N    signal N ended the wait for the lock

` + helpEvents + `
Examples:
  A job in the crontab of three machines, which must run on one of them:
      zkrecipes run --lock /locks/report --try --conflict-exit-code 0 -- /usr/local/bin/report
  Pipes and variables need a shell:
      zkrecipes run --lock /locks/dump -- sh -c 'pg_dump orders | gzip > /backup/orders.gz'
  Readers beside each other, and a writer alone:
      zkrecipes run --lock /locks/catalog --shared -- ./report.sh
      zkrecipes run --lock /locks/catalog -- ./rebuild.sh
  At most three downloads at a time, on all machines together:
      zkrecipes run --lock /locks/downloads --permits 3 -- wget -q https://example.org/big.iso
  A lock that survives longer trouble, and is free later after a crash:
      zkrecipes run --lock /locks/migrate --session-timeout 40s --grace 8s -- ./migrate.sh
  A job that must not block the others for longer than an hour:
      zkrecipes run --lock /locks/backup --max-hold 1h -- backup.sh
  What happened, for a program to read:
      zkrecipes run --lock /locks/backup --json -- backup.sh 2>events.json
`

const helpEnvironment = `The command finds in its environment, whatever was there before:
  ZKRECIPES_LOCK_PATH     the path, as given
  ZKRECIPES_LOCK_TOKEN    the fencing token: a number that grows from each holder to the next
  ZKRECIPES_LOCK_SESSION  the ZooKeeper session, in hexadecimal
  ZKRECIPES_LOCK_ANCESTORS
                          SESSION:PID of every zkrecipes above it, outermost first, separated by commas
Everything else it inherits, ZKRECIPES_AUTH included; with --auth-file it does not see the secret.
`
