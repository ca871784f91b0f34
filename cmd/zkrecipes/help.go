package main

// helpTopics are the pages of "zkrecipes help TOPIC" and "zkrecipes TOPIC --help".
var helpTopics = map[string]string{
	"": helpOverview, "run": helpRun, "elect": helpElect, "ls": helpLs, "revoke": helpRevoke,
	"testserver": helpTestserver, "version": helpVersion,
}

const helpOverview = `zkrecipes runs commands under ZooKeeper locks.

  zkrecipes run --lock PATH [flags] -- COMMAND [ARGS...]    run COMMAND while holding a lock
  zkrecipes elect --path PATH [flags] -- COMMAND [ARGS...]  run COMMAND whenever this machine leads
  zkrecipes ls PATH [flags]                                 list who holds a lock and who waits for it
  zkrecipes ls --cycles [PATH] [flags]                      find clients that wait for each other
  zkrecipes revoke PATH [flags]                             request that the holders release it
  zkrecipes testserver [--port N]                           run an in-memory ZooKeeper, for trying things out
  zkrecipes version                                         print what this program was built from
  zkrecipes help [run|elect|ls|revoke|testserver|version]   more about one of them

Give ZooKeeper's address with --servers zk1:2181,zk2:2181 or ZKRECIPES_SERVERS. Only --lock
may be given more than once: run then takes several locks together. For example:

  export ZKRECIPES_SERVERS=zk1:2181,zk2:2181,zk3:2181
  zkrecipes run --lock /locks/backup --timeout 10m -- /usr/local/bin/backup --full   # one at a time
  zkrecipes run --lock /locks/import --permits 3 -- ./import.sh                      # three at a time
  zkrecipes run --lock /locks/gpus --stripes 4 -- ./train.sh                         # on one of four
  zkrecipes run --lock /locks/catalog --shared -- ./report.sh                        # beside other readers
  zkrecipes run --once /jobs/report --tick 5m -- ./report.sh                         # once every 5 minutes
  zkrecipes elect --path /elections/scheduler -- /usr/local/bin/scheduler            # on one machine, always
  zkrecipes ls /locks/backup
  zkrecipes revoke /locks/backup

Which one? "run" is for a job that ends: it waits for the lock, runs once, and fails if it loses the lock.
"elect" is for a service that must run on one of several machines: start it on all of them. If the leader
loses the leadership or dies, another leads; a leader that lost the leadership waits for another term.

"zkrecipes help run" says what is guaranteed, what is not, and what the exit codes mean.
`

const helpVersion = `usage: zkrecipes version

Prints the version and the commit that zkrecipes was built from, and the Go version and system
it was built with.
`

const helpConnection = `
Reaching ZooKeeper:
  --servers HOST:PORT[,HOST:PORT...][/CHROOT]
                          default: the environment variable ZKRECIPES_SERVERS
  --session-timeout D     how long ZooKeeper keeps a session that is silent (15s); servers may
                          shorten or lengthen it
  --auth-file FILE        credentials, one SCHEME:SECRET per line, such as digest:user:password;
                          empty lines and lines that begin with # are skipped. A file without
                          credentials is refused, and one that users other than its owner may read
                          or write (chmod 600 FILE); if it belongs to root, its group may read it.
  ZKRECIPES_AUTH          one more, from the environment. There is no flag for a secret, because all
                          users of the machine can read flags. Secrets are never printed.
  --tls                   encrypt connections, with TLS 1.2 or newer; the flags below imply it
                          (--tls=false: do not, whatever the environment says)
  --tls-ca FILE           the authorities that sign the servers' certificates, in PEM (the system's)
  --tls-cert FILE         this client's certificate, and those between it and its authority, in PEM
  --tls-key FILE          its key, in PEM, not encrypted; the file must be private, as that of --auth-file
  --tls-server-name NAME  the name that the servers' certificates must have (the host in --servers)
  ZKRECIPES_TLS (true or false), ZKRECIPES_TLS_CA, ZKRECIPES_TLS_CERT, ZKRECIPES_TLS_KEY,
  ZKRECIPES_TLS_SERVER_NAME
                          the same from the environment; a flag overrides it. Each connection reads
                          the files again, so they can be replaced at any time. If a file cannot be
                          read, the attempt to connect fails, and zkrecipes tries again.
`

const helpLs = `usage: zkrecipes ls PATH [--json] [--timeout D] [--servers ...] [--session-timeout D]
                    [--auth-file FILE] [--tls ...]
       zkrecipes ls --cycles [PATH] [--json] [...]

Prints the clients that hold the lock, the permits or the leadership of PATH, and those that wait for it,
in order. It changes nothing.

  POS      the position in the queue
  KIND     mutex (run, run --stripes, run --once), reader (run --shared), writer (run --write), semaphore
           (run --permits), leader (elect)
  STATE    held or waiting. A lock can have several readers as holders, a semaphore as many as permits.
  TOKEN    the fencing token that the holder has or will have ("-" for those that wait for a permit:
           not known yet)
  SESSION  the ZooKeeper session of the client; when it ends, the client holds nothing and waits no more
  WHO, HOST, PID
           what the client says about itself ("-" if nothing, as Java clients). In an election WHO is
           the id.
  SINCE    when the client joined the queue, by the server's clock; AGE is how long ago that is

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
reverses that). So each line of the table has ten words, with stripes or runs eleven. Columns are
aligned, even with wide characters, except for names wider than 60.

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

` + helpCycles + `
--timeout D limits how long ls may take, connecting included (15s).
` + helpConnection + `
Exit codes: 0 the queue was printed, even if it is empty, or the cycles, even if there are some; 64 usage;
69 ZooKeeper cannot be used (the error names the addresses and what happened at each); 77 credentials or the
client's certificate refused, or not permitted.

Examples:
  Who holds it?
      zkrecipes ls /locks/backup
  How many wait, for a script:
      zkrecipes ls /locks/backup --json | jq '[.queue[] | select(.state == "waiting")] | length'
  Is there a deadlock, for a script:
      zkrecipes ls --cycles /locks --json | jq -e 'any(.cycles[]; .certain)'
`

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
