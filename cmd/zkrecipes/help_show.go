package main

const helpShow = `usage: zkrecipes show PATH [--all] [-o table|wide|json] [--timeout D] [--servers ...]
                      [--session-timeout D] [--auth-file FILE] [--tls ...]

Prints all that is known about the lock, the semaphore or the election of PATH, for a person who wants to
know who holds it, since when, and who waits. It changes nothing.

First comes each holder, with
  joined      when it joined the queue, by the server's clock
  granted     since when it holds, or leads. Servers store that only where the grant itself makes a node:
              with a lock-delay, and for the permits of a semaphore without one. Else it is not known: all
              that is certain is that it was after "joined". Java clients do not say when they got a permit.
  token, session, node
              as in "zkrecipes ls --json"
  holds also  a lease that it held when it joined, and releases only later, by its node
  within      the session of a zkrecipes whose command it is a part of: it holds what that one holds
  revocation  when that was requested ("zkrecipes revoke"); without such a line it was not
What else it has acquired since, or waits for, is not stored at PATH: "zkrecipes ls --cycles" looks there.

Then come those that wait, with the columns of "zkrecipes ls", and lines about those that hold other locks
or were requested to release, or that may leave the queue by themselves. Then the numbers of a semaphore, of
stripes and of a job, and the lock-delays, as in "zkrecipes ls"; and commands that one may want to run next.

  --all        all holders and all that wait; without it the first 10 of each, and how many more there are,
               who are not read
  -o, --output table|wide|json
               how to print it. table is the default; wide has the columns of "zkrecipes ls -o wide" for
               those that wait; json is the same as --json.
  --json       one JSON object, which always has all of these fields:
    lock, exists, semaphore, stripes, job, lock_delays, others
                       as in "zkrecipes ls --json"
    state              string: "in use", "closed" (no client holds it, but a lock-delay may keep it closed) or
                       "free"
    holders, waiting   arrays of objects with the fields of "queue" in "zkrecipes ls --json", and with
      granted               string or null: RFC 3339, UTC; null if it is not known, or it does not hold
      revocation_requested  string or null: RFC 3339, UTC
      holds                 array of strings: paths of nodes, as "holds also"
      within                array of strings: sessions, in hexadecimal
      gives_up              boolean: whether it may leave the queue by itself
                       Those of whom it is not known whether they hold are in "waiting".
    holders_left_out, waiting_left_out
                       integers: how many more there are; 0 with --all
  -w, --timeout D
               how long it may take, connecting included (15s)
` + helpConnectionShort + `
Exit codes: 0 printed, even if it is free; 64 usage; 69 ZooKeeper cannot be used; 77 credentials or the
client's certificate refused, or not permitted.

Examples:
  Who holds it, and who waits?
      zkrecipes show /locks/backup
  Since when, for a script:
      zkrecipes show /elections/scheduler --json | jq -r '.holders[] | .granted // "after " + .since'
`
