package main

var helpRun = `usage: zkrecipes run PATH [PATH...] [flags] -- COMMAND [ARGS...]
       zkrecipes run PATH [PATH...] [flags] -c 'COMMAND OF THE SHELL'
       zkrecipes run --once PATH (--key KEY | --tick D) [--retention D] [flags] -- COMMAND [ARGS...]

Waits for the lock PATH, runs COMMAND while holding it, and releases it when COMMAND has ended. Of all
zkrecipes with the same PATH, on all machines, one runs its command at a time, in the order in which they
came. COMMAND is executed without a shell, with the standard input, output and error of zkrecipes.

The lock:
  PATH                    a ZooKeeper path, such as /locks/backup; it is created if it does not exist.
                          With several PATHs COMMAND runs while all of them are held (see below).
  --lock PATH             the same as a flag; ZKRECIPES_LOCK_1, ZKRECIPES_LOCK_2 and so on for several
  -s, --shared            a read lock: run beside other runs with --shared, never beside one without
  -x, --exclusive         the opposite, which is the default. It makes zkrecipes ignore ZKRECIPES_SHARED,
                          ZKRECIPES_PERMITS and ZKRECIPES_STRIPES; without it, where one of these changes
                          the kind of a PATH that is on the command line, standard error says so.
  --permits N             a semaphore: run beside at most N-1 others. All must give the same N, which is
                          stored at PATH; a run with another N fails with exit code 64. The stored
                          number is removed when PATH has been unused for about a minute;
                          "zkrecipes resize" changes it. Only with one PATH.
  --permits stored:N      the number that is stored counts, and N only where none is: so a crontab that
                          gives it need not be changed after "zkrecipes resize". All may give different
                          ones. With --permits stored alone a run fails where none is, with exit code 64.
  --stripes N             N locks at PATH, the stripes: take any one of them. So N runs at a time, as with
                          --permits, but each has a number of its own, 0 to N-1, which COMMAND gets in
                          ZKRECIPES_LOCK_STRIPE: a GPU, a port, a share. N is stored as with --permits.
                          Only with one PATH (see below).
  --key KEY               with --stripes: take the stripe of this key. Runs with equal keys exclude each
                          other, and those of different keys seldom do: many keys, and few locks.
                          With --once: the name of the run.
  --once PATH             in place of a lock: COMMAND is done once for each --key or --tick, on all
                          machines together. If that run is recorded as finished, exit with 0 at once; if
                          another zkrecipes is at it, wait until it is recorded, or take over (see below).
  --tick D                with --once: the run is that of the present time, rounded down to a multiple of
                          D, such as 5m, for commands that crontabs start at intervals of D
  --retention D           with --once: how long records are kept, at least (24h, or twice --tick if that
                          is longer). Give the same to all; it must be longer than COMMAND ever takes.
  -w, --timeout D         wait at most that long, connecting included (default: for ever, with 15 s
                          for connecting). If no server answers, it takes up to two seconds more.
                          -w takes a number of seconds, too; -w 0 is -n.
  -n, --try               do not wait: take the lock only if it is free. Without a server this takes at
                          most two seconds, or three if a server stops answering in the middle.
  --max-hold D            hold it for at most that long: the command gets TERM --grace before that, KILL
                          at that time, and the exit code is 76. With several PATHs each is held for
                          at most that long; COMMAND has at least about three quarters of the time
                          until TERM, the waits for further locks the rest.
  --min-hold D            hold it for at least that long: if COMMAND ends sooner, zkrecipes keeps the lock
                          for the rest of the time, and ends then. So a job that takes no time is not done
                          again by a machine whose clock is behind. A signal to end cuts it short (see
                          "Signals"), as the end of the session does; a request for revocation does not.
                          Not longer than --max-hold, and not with --once.
  --lock-delay D          keep it closed for that long when a holder has lost it, so that what that one has
                          sent elsewhere has time to arrive (see below). All who give one must give the same.
  --label NAME            the holder's name, for other clients to see (default: the command's name)
  --write                 a write lock: exclude all other runs, as without flags, but with the nodes of
                          Java's read-write lock (see below)
  -E, --conflict-exit-code N
                          the exit code when another client holds the lock (75)

The command:
  -c, --command TEXT      run sh -c TEXT; only on the command line
  --grace D               how long before the lock stops being certain the command gets TERM
                          (default: a sixth of the session timeout; at most a quarter; 0 means KILL
                          without TERM)
` + helpKill + `  --ignore-revoke         do not pass a request for revocation on to the command
  --json                  report what happens as JSON, one object per line, on standard error
  -q, --quiet             report only failures, and requests for revocation
` + helpConnection + `
Credentials (not a client's certificate) protect PATH and what is below it, if zkrecipes creates it: clients
without them can list the queue, but not join it or delete from it. If PATH exists already, and its ACL lets
clients without an identity (world:anyone, or an address) create or delete, or write (with --permits,
--stripes or --lock-delay), or change the ACL, run refuses it with exit code 77 and the commands that close
it, before the wait and again before COMMAND is started. Identities that the ACL names (digest, sasl, x509)
are allowed. The nodes above PATH keep their ACLs: a client that may delete there can delete PATH, but only
when no client holds it or waits; one that may create there can then create PATH again, open, and the next
run refuses it. Without credentials every client can do everything.

` + helpEnvironment + helpEnvironmentRun + helpEnvironmentRest + `
` + helpWaiting + `
` + helpProcesses + `
What is guaranteed:
  While zkrecipes runs and no client deletes the lock's node by hand, the command does not outlive the
  lock. ZooKeeper gives a lock to the next client when its leader has not heard from the holder for the
  session timeout. zkrecipes sends the leader a request every twelfth of that; an answer proves that the
  leader has heard from it. That counts only as far as a quorum of the servers still commits something,
  which zkrecipes requests every quarter. With the default, 15 s, if no server answers any more:

       0 s    the last request that is answered is sent
       1.25 s the next one is sent, and not answered
       5 s    the command and all processes it started get TERM     (1/2 - grace; grace is 1/6)
       7.5 s  those that have not ended get KILL                    (1/2 of the session timeout)
      10 s    the earliest time at which the servers give the lock to the next client (as a rule 15 to 18 s)

  (Each up to 1.25 s earlier, depending on when the servers were asked before; in the first seconds of a
  session up to 2 s later, and KILL always a sixth of the timeout before the last line.) If an answer comes
  before TERM is sent, nothing happens: the restart of a server or an election does no harm, and no outage
  does that is over within a sixth of the session timeout. After TERM,
  the command is stopped even if the servers answer again. If the lock is taken away (its node deleted, its
  session ended), TERM is sent at once and KILL after the grace. In each case the exit code is 76, and
  standard error says what happened and when.

What is not guaranteed:
  - While zkrecipes itself is stopped (SIGSTOP, a frozen virtual machine) it stops nothing. If it continues
    too late, it kills the command and exits with 76, but meanwhile another may have run. If the command
    writes to data that two at a time would damage, it should send ZKRECIPES_LOCK_TOKEN along (with several
    PATHs, ZKRECIPES_LOCK_TOKEN_N of the one that protects the data), and the receiver should refuse a
    token smaller than the greatest it has seen. With --permits no token helps: several hold together.
  - If zkrecipes is killed with SIGKILL, the command is killed, but the lock is free only one session
    timeout later, and then closed for --lock-delay.
  - One PATH is for one purpose. Java clients do not check that.

A request for revocation ("zkrecipes revoke PATH", or a program's lease.RequestRevocation): COMMAND and its
process group get TERM, once; processes that have left the group get it when COMMAND has ended, because
until then COMMAND may notify them. They are not killed, except with --kill-after. The lock is held until all
have ended, and the exit code is COMMAND's own: nothing went wrong. A command that does not handle TERM ends
by it, with exit code 143.

Signals: INT, TERM, HUP, QUIT, USR1, USR2, WINCH, TSTP and CONT go to COMMAND and its process group, and when
COMMAND has ended to all remaining processes. Processes that have left the group get INT, TERM and QUIT when
COMMAND has ended, as above. While zkrecipes still waits, INT, TERM, HUP and QUIT end the wait, and leave no
node if a server answers. COMMAND gets the terminal as soon as it reads from it. When COMMAND is stopped at a
terminal, as by Ctrl-Z, all its processes are stopped, even those that ignore Ctrl-Z, and then zkrecipes; "fg"
continues all of them, or kills them if the lock is not held any more. As the first process of a container,
zkrecipes reaps orphans. If INT, TERM or QUIT has come while COMMAND ran, zkrecipes does not wait for the rest
of --min-hold, and while it does, INT, TERM, HUP and QUIT end that. Then the lock is free at once, and the
exit code is COMMAND's own.

If no server answers when COMMAND has ended, as while the servers elect a leader, zkrecipes waits for one, so
that the lock is free as soon as it answers, and not only when the session has ended. It waits for one session
timeout at most. By then servers that it only cannot reach have ended the session, and --lock-delay keeps the
lock closed; servers without a leader end it one session timeout after they have one again. After a second it
says that it waits (not with --quiet), and from then on INT, TERM, HUP and QUIT end that. If no server has
answered by then, standard error says that the lock is not free yet. The exit code is COMMAND's own all the
same (with --once, if the run is recorded). After a loss it waits for no server.

Several locks: all of them are held, or none. They are acquired in the order of their paths, whatever their
order on the command line, so runs that take the same locks never wait for each other for ever. While a run
holds some of them, it waits for the next one only for a limited time, which grows; then it releases them and
begins again, at the end of the queues: so it does not block others for long, nor for ever if they take the
locks in another order. If one of them is lost, or a client requests that it is released, that is as for one
lock, and all are released when COMMAND has ended. With --shared or --write this is the kind of each lock.

Lock-delay: without it the next client has the lock as soon as the servers have ended the session of a
holder that was killed or cut off. What that one has sent to other systems may still arrive then. With
--lock-delay D each holder is recorded below PATH/lock-delay before COMMAND is started, until it releases
the lock. If it loses the lock before, who waits gets that D after it has seen the end, by its own clock. If
--try or --timeout ends the wait before, the exit code is 75, the cause in --json is "closed", and the error
names the holder that has ended, as "zkrecipes ls PATH" does. Runs that begin twice D after one has first
seen the end need not wait: so a lock for which nobody waits that long does not stay closed. That COMMAND
was stopped in time, as for --max-hold, is no loss. If several PATHs are closed, the waits add up. With
--permits it needs the layout with a single queue, which Java does not have; where clients use the other
one, run ends with exit code 64. D is stored in PATH/lock-delay, with --stripes or --once below each stripe
or run. Who gives another one ends with exit code 64; who gives none obeys the one that is stored. To change
it, stop all that give one, and delete that node. Java knows no lock-delay: its clients do not wait, and
nobody waits for them.

Stripes: each is a lock, at PATH/stripe-0000 and so on, with a queue and a fencing token of its own. A run
without --key waits in the queue of one of them, and moves to another that it finds free, within ten seconds.
So runs do not always get a stripe in the order in which they came; with --permits they do. Two keys can
have the same stripe: then they exclude each other too, and a run for one must not wait under a run for the
other. "zkrecipes ls PATH" shows all stripes. To change N, wait until PATH has been unused for about a minute,
or use "zkrecipes resize".

Once: the first zkrecipes with a key or tick runs COMMAND. The run is recorded when COMMAND and all
processes that it has started have ended, COMMAND with exit code 0, while the lock is held. The others wait,
and exit with 0 when it is recorded; standard error says by whom and when. If COMMAND ends with another
code, or its zkrecipes is killed or loses the lock, nothing is recorded, and the next one that waits runs
COMMAND. So with --try nobody takes over. A run is finished once, but may be begun several times: if COMMAND
changes data elsewhere, it should send the key and ZKRECIPES_LOCK_TOKEN along, and the receiver should
refuse a key that it has seen. Exit code 0 means finished also after a signal: a COMMAND that TERM has ended
early should give another one.

A tick begins at a multiple of D since 1970-01-01T00:00Z, and zkrecipes belongs to that in which it was
started. Cron and systemd start commands at the moment or later, by the clock that zkrecipes reads: so the
machines agree on the tick even if their clocks do not, and a start that is late by less than D, or by hand,
is still of its own tick. Give the D of the crontab, no greater one. Use --key in place of --tick
  - if the days are those of local time, of which some have 23 or 25 hours: --key "$(date +%F)";
  - if the clock of another machine starts zkrecipes, as a CronJob of Kubernetes: a start that is early here
    belongs to the tick before, which is recorded, so that the run would be missed. Give the moment for which
    it is scheduled, or schedule it some time after the multiple of D.
Runs of different ticks and keys do not exclude each other: if a COMMAND can take longer than D, put a lock
inside, as in: zkrecipes run --once PATH --tick D -- zkrecipes run LOCK -- COMMAND.
Records are removed when they are older than --retention. Then a key would be run again; a tick is refused
with exit code 64, also on a machine whose clock is that much behind.

One zkrecipes under another: it may take a second PATH while one above it holds a first. Take them in the
same order everywhere, or both in one run, or two runs can wait for each other; --timeout ends that. To wait
for the same PATH again would be to wait for itself, and is refused at once with exit code 64. It is known
from ZKRECIPES_LOCK_ANCESTORS: if the environment is not passed on, as by sudo, it is not noticed.
Runs with --shared may be nested in one with --shared while no other client waits, and those with --permits
or --stripes while those above do not hold all permits or stripes, or the stripe of --key.

A PATH is for a lock, for --permits, for --stripes, or for an election: a run that finds another kind in use
there ends with exit code 64. A PATH of --once is for nothing else either, but that is not checked.

With Java: the nodes are those of Apache Curator. Without flags, of InterProcessMutex; with --shared and
--write, of InterProcessReadWriteLock; with --permits, of InterProcessSemaphoreV2 with a SharedCount at the
same path, except with --lock-delay; with --stripes, each stripe is an InterProcessMutex. Runs exclude each
other with and without --write. But Java's readers do not see InterProcessMutex: if Java uses a read-write
lock there, use --write or --shared.

Exit codes:
  0-255    the command's own; 128+N if signal N killed it; with --once also 0 if the run is recorded already
  64       usage: wrong flags or arguments, or --permits, --stripes or --lock-delay differs from what PATH
           has, or a zkrecipes above this one holds PATH, or the tick is older than the records of PATH, or
           there are 100000 of these
  69       ZooKeeper cannot be used, or no server answered at the end of the time, even if a client was
           ahead before; the error names the addresses and what happened at each
  75       not acquired in time, because another client holds it; the error names the holder and how many
           are ahead (--conflict-exit-code changes it); or because --lock-delay keeps it closed
  76       the lock was lost, or could not be proved to be held, or was held for --max-hold, before the
           command had ended and, with --once, was recorded; after a broken connection it may be recorded
  77       credentials or the client's certificate refused, or not permitted, or clients without the
           credentials may change PATH
  126      COMMAND cannot be executed (checked before the lock is taken, as far as that is possible)
  127      COMMAND was not found (likewise)
  128+N    signal N ended the wait for the lock
With --once, 64, 69 and 77 can also mean that COMMAND has ended with 0, and that could not be recorded.

` + helpEvents + `
Examples:
  A job in the crontabs of three machines that is to be done once every five minutes, or once a day:
      */5 * * * *  zkrecipes run --once /jobs/report --tick 5m --quiet -- /usr/local/bin/report
      30 1 * * *   zkrecipes run --once /jobs/backup --key "$(date +\%F)" --quiet -- backup.sh
  A job that need not be done while another machine is at it:
      zkrecipes run /locks/report --try --conflict-exit-code 0 -- /usr/local/bin/report
  Pipes and variables need a shell:
      zkrecipes run /locks/dump -c 'pg_dump orders | gzip > /backup/orders.gz'
  Readers beside each other, and a writer alone:
      zkrecipes run /locks/catalog --shared -- ./report.sh
      zkrecipes run /locks/catalog -- ./rebuild.sh
  At most three downloads at a time, on all machines together:
      zkrecipes run /locks/downloads --permits 3 -- wget -q https://example.org/big.iso
  One of four GPUs:
      zkrecipes run /gpus --stripes 4 -c 'CUDA_VISIBLE_DEVICES=$ZKRECIPES_LOCK_STRIPE ./train'
  One import of each customer at a time, with 64 locks for all of them:
      zkrecipes run /locks/imports --stripes 64 --key "$CUSTOMER" -- ./import.sh
  Two locks at once, for a job that changes the cart and the stock:
      zkrecipes run /locks/cart /locks/stock -- ./order.sh
  A lock that survives longer outages, and is free later after a crash:
      zkrecipes run /locks/migrate --session-timeout 40s --grace 8s -- ./migrate.sh
  A job of a moment in the crontabs of machines whose clocks may be a minute apart:
      zkrecipes run /locks/mail --try --min-hold 2m --conflict-exit-code 0 -- ./send-mail.sh
  A job whose last requests must have arrived before another machine begins, also after a crash:
      zkrecipes run /locks/billing --lock-delay 30s -- ./bill.sh
  A job that must not block the others for longer than an hour:
      zkrecipes run /locks/backup --max-hold 1h -- backup.sh
  What happened, as events for a program:
      zkrecipes run /locks/backup --json -- backup.sh 2>events.json
`

const helpEnvironment = `Environment of the command (these variables are always overwritten):
  ZKRECIPES_LOCK_PATH     the path, as given
  ZKRECIPES_LOCK_TOKEN    the fencing token: a number that grows from each holder to the next
  ZKRECIPES_LOCK_SESSION  the ZooKeeper session, in hexadecimal
  ZKRECIPES_LOCK_ANCESTORS
                          SESSION:PID of every zkrecipes above it, outermost first, separated by commas
`

// helpEnvironmentRun is what only "run" sets.
const helpEnvironmentRun = `With --permits the token fences nothing: to refuse a smaller one would refuse runs that hold as well. Where
each needs a token, use --stripes.
With several locks, the path and the token above are those of the first on the command line, and there are
variables for each; with one they are not set:
  ZKRECIPES_LOCK_COUNT    how many locks there are
  ZKRECIPES_LOCK_PATH_1, ZKRECIPES_LOCK_PATH_2, ...
                          the paths, in the order of the command line, each as given
  ZKRECIPES_LOCK_TOKEN_1, ZKRECIPES_LOCK_TOKEN_2, ...
                          their fencing tokens. Those of different paths cannot be compared: send data
                          that one lock protects the token of that lock.
With --stripes:
  ZKRECIPES_LOCK_STRIPE   the number of the stripe, from 0 on. The token is that of this stripe; those of
                          different stripes cannot be compared. Without --stripes it is not set.
With --once one of:
  ZKRECIPES_LOCK_KEY      the key, as given
  ZKRECIPES_LOCK_TICK     the tick: RFC 3339, UTC, such as 2026-11-26T03:00:00Z
                          A "zkrecipes run" below passes it on.
`

// helpEnvironmentRest is what "run" and "elect" pass on.
const helpEnvironmentRest = `The command inherits everything else, but not the variables of those flags that say what to lock and how,
so that a zkrecipes below does not take them as its own. Those of "Reaching ZooKeeper" stay, ZKRECIPES_AUTH
included, and ZKRECIPES_CONFIG if the file sets no other. Of --auth-file and --config it sees nothing.
`
