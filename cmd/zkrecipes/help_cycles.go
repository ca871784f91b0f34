package main

// helpCycles is a part of the help of "ls".
const helpCycles = `ls --cycles prints which clients wait for each other, among all locks, semaphores and elections at PATH and
below (/ if there is no PATH). Each holds what the one before waits for, and none of them releases it before
it has got what it waits for itself:

  deadlock since 2026-01-02T14:03:11Z (2m0s): 2 wait for each other
    web (host-1, pid 312) holds /locks/cart and waits for /locks/stock
    billing (host-2, pid 99) holds /locks/stock and waits for /locks/cart

It is over when one of them stops to wait, or releases what it holds. A timeout may end it, and so may
"zkrecipes revoke /locks/cart", if that client heeds the request; else end one of the processes.

A "deadlock" is certain: the clients have stored which of their leases they release only after the wait. So
do programs that use the Go library and acquire with the context of the lease that they hold, and commands
that run below a "zkrecipes run" or "elect". Of others, as Java clients, and of elections it is only known
that the same session or process holds one lock and waits for another one, perhaps in two threads, for
different work. A cycle of these is a "possible deadlock": if it lasts, and its age grows, it may well be one.
Several locks that are taken together (run --lock A --lock B) may be shown so for a moment, and are no
deadlock; nor is it one if any of some stripes will do (run --stripes), as long as one is free.

Where many wait for each other, one of the shortest cycles is shown; there may be another one when that is
over. A cycle that leads to locks elsewhere than at PATH or below is not found, nor one in which an "elect"
waits below another zkrecipes. If there is none, one line says how many locks are in use, each stripe and each
run for itself. What may not be read is left out, and its paths are named. Each node below PATH is listed: for
very many, give a longer --timeout.

With --json it prints another object than without --cycles, with these fields:
  below      string: PATH
  locks      integer: how many locks, semaphores and elections are in use, each stripe and each run for itself
  cycles     array, those that are certain first, of objects with
    certain      boolean
    since        string: RFC 3339, UTC: when the last of these began to wait, by the server's clock
    age_seconds  number
    links        array, each of which waits for the next one, and the last one for the first, of objects with
      holds        string or null: the path of the lock that it holds, which the one before waits for; null if
                   it only waits ahead of that, as a writer ahead of a reader
      held         object or null: by what it holds that
      waits_for    string: the path of the lock that it waits for
      waiting      object: by what it waits; as "held" an object with kind, token, session, who, host, pid,
                   since, age_seconds, node, as in the queue above
  unreadable array of strings: the paths that may not be read
`
