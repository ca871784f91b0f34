package main

const helpRevoke = `usage: zkrecipes revoke PATH [--node NODE | --all | --successor ID] [--json] [--timeout D]
       zkrecipes revoke PATH --force [--node NODE] [--json] [--timeout D]
                        [--servers ...] [--session-timeout D] [--auth-file FILE] [--tls ...]

Requests that the clients that hold the lock, the permits or the leadership of PATH release it, and prints
which clients got the request. It does not wait for the release: see "zkrecipes ls PATH".

Without --force nothing is taken away. "zkrecipes run" and "zkrecipes elect" pass the request on to their
command as TERM, once, and release when the command has ended; with --ignore-revoke they do not pass it on.
"zkrecipes hold" cannot end its script, so it only reports the request, and keeps the lock.
Programs that use the Go library see it in Lease.RevocationRequested, Java programs that use Curator in the
RevocationListener of an InterProcessMutex. Other programs do not notice.

If a LeaderLatch of Curator is the next candidate of an election, nothing is requested from the leader: that
latch would not notice that the leader has resigned. Then stop the leader.

  (neither)    request it from all holders: several, if it is a semaphore, readers hold it, or it has stripes
               or runs; PATH/stripe-0003 is one stripe alone, PATH/KEY.key or PATH/TICK.tick one run
  --node NODE  request it from one client, which may still wait: by the name of its node ("node" in
               "ls --json") or its token (TOKEN in "ls")
  --all        request it from waiting clients too; they see it when they hold
  --successor ID
               make the candidate ID of an election the next leader, then request it from the present one. ID
               is WHO in "ls" ("who" in "ls --json"). Candidates between the two leave the queue, and join it
               again at the end; that takes no session timeout. Java's neither do that nor pass others: then
               nothing is done. If ID leads already, nothing is done either, and revoke says so.
  --force      take it away from one client (see below)
  --json       one JSON object, {"lock", "asked", "successor", "taken"}: the PATH; an array, which may be
               empty, with objects as in the "queue" of "zkrecipes ls --json"; such an object for the
               candidate ID, which is waiting and leads next, or holds and leads already; and an array like
               "asked" for what --force has taken away. "successor" is null without --successor, or if ID
               neither leads nor is next. With --successor or --force the object is printed also when that
               fails, once there is a connection.
  -w, --timeout D
               for how long to try, connecting included (15s). If candidates have not stepped back by then,
               nothing is requested; those that have stay behind ID, and others may still follow. With
               --force it bounds the look and the taking away, not the time for an answer.

By force: --force deletes the node of one client, so that the next one gets what it holds, and the servers
tell that client. "zkrecipes run" and "zkrecipes elect" stop their command then, as after any loss: with TERM,
and after the grace with KILL. Programs with the Go library see that the lease is lost. Meanwhile the next
holder may begin, unless a lock-delay keeps the lock closed. And a client that is paused or cut off works on
beside the next holder until it notices; Java's Curator and other clients do not notice at all. So first try
it without --force, and make sure that such clients have ended. Only receivers that refuse a token smaller
than the greatest they have seen are safe in any case.

With --node the client is named by its node, or by the token that it has now, and nobody is asked: use that
in scripts. Nothing else is deleted: if the client has released meanwhile, and even if it has acquired again,
that stays. Without --node there must be one holder, and a terminal: revoke shows the holder, and takes it
away when its token or the last element of PATH is typed. One of several readers, permits, stripes or runs is
named by --node, each with a command of its own. A client that waits is only removed from the queue, if it
is named: if it is alive, it joins it again, at the end. --force and its --node are read from the command
line only. Who may create and delete below PATH may do it; that is why credentials protect PATH.
` + helpConnectionShort + `
If the lock was taken with credentials, revoke needs the same ones.

Exit codes: 0 a request was made, it was taken away, or ID leads already; 1 no client was there to get a
request, or none has that ID; with --force: nothing was taken away, because no such client is there (any
more), or it was not confirmed; 64 usage, --successor for a PATH that is not that of an election, or --force
where several hold it; 69 ZooKeeper cannot be used, or with --force: it is not known whether it was taken
away; 75 a candidate ahead of ID, or ID behind others, is Java's, or has not stepped back in time, or a
LeaderLatch is next: the error names it; 77 credentials or the client's certificate refused, or not
permitted. If a request fails, the earlier ones have been printed.

Examples:
  Move the leadership to another machine:
      zkrecipes revoke /elections/scheduler
  Move it to a certain machine, whose elect has --id db2:
      zkrecipes revoke --successor db2 /elections/scheduler
  Request it, and wait until it is free, for ten minutes at most:
      zkrecipes revoke /locks/backup
      zkrecipes run --lock /locks/backup --timeout 10m -- ./urgent-restore.sh
  Take it away from the holder that "zkrecipes ls" shows with token 4711, and from no other one:
      zkrecipes revoke /locks/backup --force --node 4711
`
