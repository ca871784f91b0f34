package main

// helpRecursive is a part of the help of "ls".
const helpRecursive = `ls --recursive prints one line for each lock, semaphore and election that is in use at PATH and below (/ if
there is no PATH): that a client holds or waits for. All stripes of a path are one line, and so are all runs
of a job.

  PATH     where it is
  KIND     as above, of the client that holds it; stripes or job for those
  HOLD     how many hold it ("?" if that is not known: it depends on a number of permits that is not stored)
  WAIT     how many wait
  AGE      for how long it has been held; of several holders by the one that has held it longest. Paths with a
           lock-delay store that, and so do semaphores in Curator's layout. Of others it is for how long the
           holder has been in the queue, waiting included, so it is held no longer than that.
  WHO      the label of that holder, or its host, or its session, if it does not say more

With -o wide, further columns are HOST, PID, TOKEN and SESSION of that holder.

What may not be read is left out, and its paths are named. If the path of a client's node is among these, or
the client has left meanwhile, AGE and WHO are "-". Each node below PATH is listed, but of the clients only
the first holder of each lock is read: for very many locks, give a longer --timeout.

With --json it prints another object than without --recursive, with these fields:
  below      string: PATH
  locks      array, by path, of objects with
    lock           string: its path
    recipe         string: lock, election, semaphore, stripe or run (all of these at the path)
    kind           string: mutex, reader, writer, semaphore or leader
    queues         integer: how many stripes or runs are in use; 1 for all others
    size           integer: how many permits or stripes there are; 0 if that is not stored
    holding, waiting, unknown
                   integers: how many hold, how many wait, and of how many that is not known
    holder         object or null: the client of AGE and WHO, with kind, token, session, who, host, pid,
                   since, age_seconds, node, as in the queue above; since is when it joined the queue
    granted        string or null: RFC 3339, UTC: when it was granted what it holds, if that is stored
    held_seconds   number: AGE; 0 if there is no holder
    waited_seconds number: for how long the first client that waits has waited; 0 if none waits
  unreadable array of strings: the paths that may not be read
`
