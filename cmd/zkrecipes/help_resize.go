package main

const helpResize = `usage: zkrecipes resize PATH N [--json] [--timeout D]
                        [--servers ...] [--session-timeout D] [--auth-file FILE] [--tls ...]

Changes how many permits the semaphore at PATH has, or how many stripes are there, and prints that number
and the one before. If it is N already nothing is changed, and the exit code is 0.

A semaphore ("zkrecipes run --permits"): the change takes effect at once, for all who hold or wait. If there
are more, those who wait get them. If there are fewer, nobody is stopped: holders keep their permits, and
none is granted until fewer than N are held. A program that waits for more than N at once gets an error.
Then "run --permits N" has to give the new N; runs with --permits stored:N follow by themselves.

Stripes ("zkrecipes run --stripes"): the stripe of a key depends on how many there are, so the number changes
only while nobody holds one. resize takes all of them, one after another: it waits for the holders, and who
comes later waits for resize. Those who wait when the number changes get an error, with exit code 64, as
all get who give the old number from then on.

The number is stored at PATH. If PATH is not a node that someone has made persistent, servers remove it
about a minute after its last use, and the number with it; then the next run stores its own. To change the
number of a job that runs once a day, make the node first, as with: zkCli.sh create /locks/import ""

  --json       one JSON object, {"lock", "kind", "before", "after"}: the PATH; "semaphore" or "stripes"; the
               number that was replaced; and N. Of two changes at the same time each replaces a number.
  -w, --timeout D
               for how long to try, connecting included (15s); for stripes also how long to wait for holders
` + helpConnectionShort + `
Exit codes: 0 there are N now; 64 usage, or PATH stores no such number: it does not exist, is that of a lock
or an election, stores other data, or is a semaphore of Java clients that store none; 69 ZooKeeper cannot be
used, or it is not known whether the number has changed: then try again; 75 not all stripes were free in
time, and nothing has changed; 77 credentials or the client's certificate refused, or not permitted;
128+N interrupted by signal N while it waited for stripes, and nothing has changed.

Examples:
  Five imports at a time instead of three, without a change in the crontabs, which give --permits stored:3:
      zkrecipes resize /locks/import 5
  More stripes, when the jobs that run now have ended, within an hour:
      zkrecipes resize /locks/customers 128 --timeout 1h
`
