package main

const helpTop = `usage: zkrecipes top [PATH] [--sort waiting|held] [--limit N] [-o table|wide|json] [--timeout D]
                     [--servers ...] [--session-timeout D] [--auth-file FILE] [--tls ...]

Prints which locks, semaphores and elections at PATH and below (/ if there is no PATH) most clients wait for,
or which have been held longest. It changes nothing.

  --sort waiting|held  which come first: those that most clients wait for, of equal ones that where the first
                       one has waited longest (the default); or those that have been held longest
  --limit N            print N of them at most (10); 0 prints all
  -o, --output table|wide|json
                       how to print it. table is the default; wide has HOST, PID, TOKEN and SESSION of the
                       holder as well, and nothing is shortened.
  --json               the same as -o json: one object, see below
  -w, --timeout D      for how long to try, connecting included (15s)

The first line says how many there are in all. The columns are those of "zkrecipes ls --recursive" (see
"zkrecipes help ls"), and WAITED: for how long the first client that waits has waited, "-" if none waits. AGE
may include the time for which the holder has waited itself, where it is not stored when it was granted.

It lists each node below PATH, and reads of the clients only the first holder of each lock.

--json prints one object, which always has all of these fields. Fields may be added; none is renamed or
removed, and none changes its type.
  below      string: PATH
  sort       string: waiting or held
  in_use     integer: how many locks, semaphores and elections are in use
  contended  integer: how many of them clients wait for
  waiting    integer: how many clients wait, for all of them together
  locks      array of the first ones, of objects as in "zkrecipes ls --recursive --json"
  unreadable array of strings: the paths that may not be read
` + helpConnectionShort + `
Exit codes: 0 printed, even if nothing is in use; 64 usage; 69 ZooKeeper cannot be used; 77 credentials or
the client's certificate refused, or not permitted.

Examples:
  Where is the queue?
      zkrecipes top /locks
  What has been held for more than an hour, for a script:
      zkrecipes top --sort held --json | jq -r '.locks[] | select(.held_seconds > 3600) | .lock'
`
