package main

const helpLitter = `usage: zkrecipes litter [PATH] [-o table|wide|json] [--timeout D] [--servers ...] [--session-timeout D]
                        [--auth-file FILE] [--tls ...]

Prints what programs that use locks have left behind below PATH (/ if there is no PATH), and what soon cannot
be used any more. It changes nothing. Give the folder of your locks: below / other programs have nodes that
look the same, such as an empty folder.

  KIND     what it is, with "?" if the servers may still remove it
  AGE      how long ago that was certainly so, or the node was made; "-" if that is not known
  USED     how much of the sequence numbers or of the records is used, or how many holders have ended
  PATH     where it is

The kinds are these. Nothing of them is in use, except for "not-ephemeral", "records" and "numbers".
  empty          a node that had children, and has none now: the parent of a lock that nobody uses. It stores
                 nothing, or only what clients of a lock must agree on. Servers remove it within about a
                 minute if it is a container, but do not say whether it is one. So it counts only if something
                 else below PATH shows that it has been empty for two minutes; else it is "empty?". What is
                 here when litter runs again two minutes later stays. Delete it with "zkCli.sh delete PATH":
                 that fails if it is in use again, and clients make it again when they need it.
  never-used     a node without data that never had a child, for ten minutes: the parent of a lock that was
                 not acquired. Before ZooKeeper 3.10 servers keep such a container for ever, unless
                 znode.container.maxNeverUsedIntervalMs is set. Delete it likewise, if no program needs it.
  not-ephemeral  a node in the queue of a lock, or a permit, that belongs to no session: the lock is blocked
                 until somebody deletes it. The first 16 of each queue are looked at; an older one is among
                 those in the end. Delete it with "zkCli.sh delete PATH", if no program needs it.
  bad-name       a node that was to be in a queue, but has no number. It keeps nobody waiting, but keeps the
                 path from being removed. Delete it likewise.
  ended          a lock with a lock-delay that nobody holds or waits for, and whose holders (USED) have ended
                 without a release. The next client has to wait for the lock-delay, and then removes the
                 records: "zkrecipes run --lock PATH -- true". AGE is since the lock was granted.
  records        a job (run --once) with 90% of the 100,000 records that it may have, or more. Choose a
                 shorter --retention, or several paths.
  numbers        a node whose sequence numbers are used up to 90% or more: 1,932,735,276 of 2,147,483,647.
                 After the last one no lock can be acquired there: at 1,000 a second that is two days later.
                 Delete the node while no client uses it: then they begin at 0.

What may not be read is left out, and its paths are named. Each node below PATH is listed, except for those
of clients: for very many, give a longer --timeout.

  -o, --output table|wide|json
               how to print it. table is the default; wide has SINCE as well, the time that AGE counts from,
               and in USED the numbers in place of percent; json is the same as --json.
  --json       one object, which always has all of these fields. Fields may be added; none is renamed or
               removed, and none changes its type.
                 below        string: PATH
                 nodes        integer: how many nodes were listed
                 litter       array, by path, of objects with
                   path         string
                   kind         string: as above
                   certain      boolean: false for "?"
                   since        string or null: RFC 3339, UTC: the begin of AGE, by the server's clock
                   age_seconds  number: AGE; 0 if it is not known
                   used, max    integers: how many numbers or records are used, of how many; for "ended" the
                                holders, and max is 0; both are 0 for the others
                 unreadable   array of strings: the paths that may not be read
  -w, --timeout D
               for how long to try, connecting included (15s)
` + helpConnectionShort + `
Exit codes: 0 nothing is left behind, or only what the servers may still remove; 1 something is; 64 usage; 69
ZooKeeper cannot be used; 77 credentials or the client's certificate refused, or not permitted.

Examples:
  Is there anything to clean up?
      zkrecipes litter /locks
  What blocks a lock for ever, for a script:
      zkrecipes litter /locks --json | jq -r '.litter[] | select(.kind == "not-ephemeral") | .path'
`
