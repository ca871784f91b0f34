package main

const helpRevoke = `usage: zkrecipes revoke PATH [--node NODE | --all | --successor ID] [--json] [--timeout D]
                        [--servers ...] [--session-timeout D] [--auth-file FILE] [--tls ...]

Requests that the clients that hold the lock, the permits or the leadership of PATH release it, and prints
which clients got the request. It does not wait for the release: see "zkrecipes ls PATH".

Nothing is taken away. "zkrecipes run" and "zkrecipes elect" pass the request on to their command as TERM,
once, and release when the command has ended; with --ignore-revoke they do not pass it on. Programs that
use the Go library see it in Lease.RevocationRequested, Java programs that use Curator in the
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
  --json       one JSON object, {"lock", "asked", "successor"}: the PATH; an array, which may be empty, with
               objects as in the "queue" of "zkrecipes ls --json"; and such an object for the candidate ID,
               which is waiting and leads next, or holds and leads already. "successor" is null without
               --successor, or if ID neither leads nor is next. With --successor the object is printed also
               when that fails, once there is a connection.
  --timeout D  for how long to try, connecting included (15s). If candidates have not stepped back by then,
               nothing is requested; those that have stay behind ID, and others may still follow.
` + helpConnection + `
If the lock was taken with credentials, revoke needs the same ones.

Exit codes: 0 a request was made, or ID leads already; 1 no client was there to get one, or none has that
ID; 64 usage, or --successor for a PATH that is not that of an election; 69 ZooKeeper cannot be used; 75 a
candidate ahead of ID, or ID behind others, is Java's, or has not stepped back in time, or a LeaderLatch is
next: the error names it; 77 credentials or the client's certificate refused, or not permitted. If a request
fails, the earlier ones have been printed.

Examples:
  Move the leadership to another machine:
      zkrecipes revoke /elections/scheduler
  Move it to a certain machine, whose elect has --id db2:
      zkrecipes revoke --successor db2 /elections/scheduler
  Request it, and wait until it is free, for ten minutes at most:
      zkrecipes revoke /locks/backup
      zkrecipes run --lock /locks/backup --timeout 10m -- ./urgent-restore.sh
  Take it by force (the holder notices at once, and stops; see "zkrecipes help run"):
      zkCli.sh -server zk1:2181 delete /locks/backup/NODE
`
