package main

const helpLs = `usage: zkrecipes ls PATH [-o table|wide|json] [--limit N] [--timeout D] [--servers ...]
                    [--session-timeout D] [--auth-file FILE] [--tls ...]
       zkrecipes ls PATH -q|--quiet [...]
       zkrecipes ls PATH --watch [--interval D] [...]
       zkrecipes ls -r|--recursive [PATH] [-o table|wide|json] [...]
       zkrecipes ls --cycles [PATH] [--json] [...]

Prints the clients that hold the lock, the permits or the leadership of PATH, and those that wait for it,
in order. It changes nothing. ("zkrecipes show PATH" says more about each of them.)

  POS      the position in the queue
  STATE    held or waiting. A lock can have several readers as holders, a semaphore as many as permits.
  KIND     mutex (run, run --stripes, run --once), reader (run --shared), writer (run --write), semaphore
           (run --permits), leader (elect)
  WHO, HOST, PID
           what the client says about itself ("-" if nothing, as Java clients). In an election WHO is
           the id.
  AGE      how long ago it joined the queue
  TOKEN    the fencing token that the holder has or will have ("-" for those that wait for a permit:
           not known yet)

  -o, --output table|wide|json
                      how to print it. table is the default, with the columns above: they fit 80 columns
                      with ordinary names. wide has more, in another order: POS KIND STATE TOKEN SESSION WHO
                      HOST PID SINCE AGE. SESSION is the ZooKeeper session of the client; when it ends, the
                      client holds nothing and waits no more. SINCE is when it joined the queue, by the
                      server's clock.
  --json              the same as -o json: one JSON object, described below
  --limit N           lists N clients at most, and a line says how many more there are; 0 lists all.
                      Without it a terminal gets 50, all else gets all. Those that are left out
                      are not read, only counted.

On a terminal a table that is not wide has WHO, HOST, RUN and PATH shortened until lines fit, and marks that
with an ellipsis.
Held is green and waiting yellow there, what is closed red, unless NO_COLOR is set or TERM is "dumb".
To a file or a pipe nothing is shortened or coloured.

For a semaphore, a line below says how many permits are free, that is, can be acquired at once; while a
client waits, none can. (A Java client may not have stored how many permits there are.) Both layouts are
shown, Curator's and the one with a single queue.

For a PATH of stripes the first column is STRIPE, the number of the stripe, and each stripe has its own queue,
with positions from 1. A line below says how many stripes are free. One stripe alone is listed by its own
path, such as PATH/stripe-0003.

For a PATH of a job (run --once) the first column is RUN: the key or the tick of a run that is under way. Each
has its own queue, with positions from 1. A line below says how many runs are recorded as finished, and up to
when old records were removed. A run whose key is too long for a name is shown by the name of its node.

For a PATH with a lock-delay (--lock-delay) a line below says how long that is, and one names each holder that
has ended without a release, if there is one. Then PATH may be closed although no client holds it: that line
says for how long. It goes when a client has waited as long as it had to, and is granted the lock.

If a PATH is used for several of lock, election and semaphore, as Java clients can, each has its own
queue, with positions from 1. Other children of PATH are named at the end.

A lock that no client uses is free, and so is one whose path does not exist: servers remove unused paths
after a while. One line says so, and it is no error. (To catch a mistyped path in a script, read "exists"
in --json.)

Text of other clients is escaped where it would act on a terminal or fake a line, as \x1b, \n or \u202e;
in the table and in names of children also a space, as \x20, and a backslash, as \\ (bash's "printf %b"
reverses that). So each line of the table has eight words, of the wide one ten, and one more with stripes or
runs. Columns are aligned, even with wide characters, except, in a file, for names wider than 60.

--quiet prints nothing. The exit code is 0 if PATH is in use, and 1 if it is free, which is when ls without
--quiet says "is free". In use means that at least one client holds it or waits for it, also if further
permits or stripes are free: "semaphore" and "stripes" in --json say how many. A lock that a lock-delay may
keep closed is in use as well: the work of a holder that has ended may go on.

--watch looks again and again, every --interval (2s), until it is interrupted by INT (Ctrl-C) or TERM, which
is exit code 0. No look begins before the one before has ended. On a terminal it redraws, and restores what
was there when it ends. To all else it prints the time and the listing, but only when something other than
the ages has changed. While no server answers a line says since when; if a look takes longer than two
seconds, that counts as no answer. When one answers again ls goes on, also if its session was lost. Only if
the first look fails, or a later one for another reason, it ends with an error.
With --json, --watch prints one object per line, with these fields:
  time             string: RFC 3339, UTC
  no_answer_since  null, or if no server answers string: RFC 3339, UTC: when one last did
  listing          object as below; null if no server answers: what is true then is not known

--json prints one object, which always has all of these fields, even if they are 0, "", null or []. Fields
may be added; none is renamed or removed, and none changes its type.
  lock       string: PATH, as given
  exists     boolean: whether there is such a node
  queue      array, each queue in order, of objects with
    stripe       integer or null: the number of the stripe; null if the queue is not that of one
    run          string or null: the key or tick of the run, as RUN; null if the queue is not that of one
    position     integer: as POS; the head of each queue has 1
    kind         string: as KIND
    state        string: held, waiting, or unknown, if it depends on a number of permits that is not
                 stored
    token        integer: 0 if it is not known yet
    session      string, in hexadecimal
    who, host    string: "" if the client does not say
    pid          integer: 0 if the client does not say
    since        string: RFC 3339, UTC
    age_seconds  number
    node         string: the node's name, for "zkrecipes revoke --node"
  left_out   integer: how many clients of the queue --limit has left out
  semaphore  null if there is none, or an object with
    permits      integer: how many there are
    free         integer: how many could be acquired at once
    known        boolean: false if it is not stored how many there are; then the others are 0
  stripes    null if there are none, or an object with
    stripes      integer: how many there are; 0 if that is not stored
    free         integer: how many no client holds
  job        null if there is none, or an object with
    records      integer: how many runs are recorded as finished
    swept        string or null: RFC 3339, UTC: up to when old records were removed; null if none were
  lock_delays
             array, for each queue that stores a lock-delay, also if it is empty, of objects with
    stripe, run  as in the queue
    seconds      number: how long it is
    ended        array of the holders that have ended without a release, of objects with
      kind, who, host, pid, node
                 as in the queue; kind is "" if it is not known
      granted    string: RFC 3339, UTC: when it was granted what it held, by the server's clock
      seen       string or null: when a waiting client first saw that it had ended; null if none has.
                 Clients that join the queue twice the lock-delay later need not wait.
  others     array of strings: the children that belong to no lock, semaphore or election

` + helpRecursive + `
` + helpCycles + `
-w, --timeout D limits how long ls may take, connecting included (15s); with --watch, how long connecting may
take, and each look.
` + helpConnectionShort + `
Exit codes: 0 the queue was printed, even if it is empty, or the locks or the cycles, however many, or --watch
was interrupted; with --quiet 0 in use, 1 free; 64 usage; 69 ZooKeeper cannot be used (the error names the
addresses and what happened at each); 77 credentials or the client's certificate refused, or not permitted.

Examples:
  Who holds it?
      zkrecipes ls /locks/backup
  Is it in use, for a script? (An error is no "free": its code is 64 or more.)
      if zkrecipes ls --quiet /locks/backup; then echo busy; elif [ $? -eq 1 ]; then echo free; fi
  See it change:
      zkrecipes ls --watch /locks/backup
  How many wait, for a script:
      zkrecipes ls /locks/backup --json | jq '[.queue[] | select(.state == "waiting")] | length'
  Which locks of an application are in use?
      zkrecipes ls --recursive /locks
  Is there a deadlock, for a script:
      zkrecipes ls --cycles /locks --json | jq -e 'any(.cycles[]; .certain)'
`
