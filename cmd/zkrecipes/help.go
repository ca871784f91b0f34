package main

// helpTopics are the pages of "zkrecipes help TOPIC" and "zkrecipes TOPIC --help".
var helpTopics = map[string]string{
	"": helpOverview, "run": helpRun, "elect": helpElect, "ls": helpLs, "revoke": helpRevoke,
	"testserver": helpTestserver, "version": helpVersion,
}

const helpOverview = `zkrecipes runs commands under ZooKeeper locks.

  zkrecipes run --lock PATH [flags] -- COMMAND [ARGS...]    run COMMAND while holding a lock
  zkrecipes elect --path PATH [flags] -- COMMAND [ARGS...]  run COMMAND whenever this machine leads
  zkrecipes ls PATH [flags]                                 who holds what there, and who waits for it
  zkrecipes revoke PATH [flags]                             ask who holds it to give way
  zkrecipes testserver [--port N]                           an in-memory ZooKeeper, for trying things out
  zkrecipes version                                         what this program was built from
  zkrecipes help [run|elect|ls|revoke|testserver|version]   more about one of them

Say where ZooKeeper is with --servers zk1:2181,zk2:2181 or ZKRECIPES_SERVERS. No flag may be given twice.
For example:

  export ZKRECIPES_SERVERS=zk1:2181,zk2:2181,zk3:2181
  zkrecipes run --lock /locks/backup --timeout 10m -- /usr/local/bin/backup --full   # one at a time
  zkrecipes run --lock /locks/import --permits 3 -- ./import.sh                      # three at a time
  zkrecipes run --lock /locks/catalog --shared -- ./report.sh                        # beside other readers
  zkrecipes elect --path /elections/scheduler -- /usr/local/bin/scheduler            # on one machine, always
  zkrecipes ls /locks/backup
  zkrecipes revoke /locks/backup

Which one? "run" is for a job that ends: it waits its turn, runs once, and fails if it loses the lock.
"elect" is for a service that is to be up on one of several machines: start it on all of them; if one
loses its leadership or dies another takes over, and the one that lost it waits for its next turn.

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
  --session-timeout D     how long ZooKeeper keeps a session that it no longer hears of (15s);
                          servers may shorten or lengthen it
  --auth-file FILE        credentials, one SCHEME:SECRET per line, such as digest:user:password;
                          empty lines and lines that begin with # are skipped. It is refused if
                          others than its owner may read or write it (chmod 600 FILE), except that
                          its group may read it if it belongs to root; and if no credentials are in it.
  ZKRECIPES_AUTH          one more, from the environment. There is no flag for a secret, since
                          everybody on the machine can read flags. Secrets are never printed.
  --tls                   encrypt connections, with TLS 1.2 or newer; what follows implies it
                          (--tls=false: do not, whatever the environment says)
  --tls-ca FILE           whom to trust to vouch for the servers: certificates in PEM (the system's)
  --tls-cert FILE         this client's certificate, and those between it and its authority, in PEM
  --tls-key FILE          its key, in PEM, not encrypted, in a file that is as closed as that of --auth-file
  --tls-server-name NAME  whom the servers' certificates must be for (the host in --servers)
  ZKRECIPES_TLS (true or false), ZKRECIPES_TLS_CA, ZKRECIPES_TLS_CERT, ZKRECIPES_TLS_KEY,
  ZKRECIPES_TLS_SERVER_NAME
                          the same from the environment, for what no flag says. The files are read
                          again for each connection, so they can be replaced at any time; if that
                          fails, an attempt to connect does, and there is another.
`

const helpLs = `usage: zkrecipes ls PATH [--json] [--timeout D] [--servers ...] [--session-timeout D]
                    [--auth-file FILE] [--tls ...]

Prints who holds the lock, the permits or the leadership of PATH, and who waits for it, in order. It
changes nothing.

  POS      the place in line
  KIND     mutex (run), reader (run --shared), writer (run --write), semaphore (run --permits),
           leader (elect)
  STATE    held or waiting. Several readers can hold a lock, and as many as there are permits a semaphore.
  TOKEN    the fencing token that goes, or will go, with it ("-" for those who wait for a permit, as it
           is not known yet)
  SESSION  the ZooKeeper session that owns the place; if it ends, the place is free
  WHO, HOST, PID
           what the process says about itself ("-" where it says nothing, as Java clients do). In an
           election WHO is the id.
  SINCE    when it joined the line, by the server's clock; AGE is how long ago that is

For a semaphore a line at the end says how many permits are free: could be had at once, which none can
while somebody waits. (Of Java's, it can be that nobody has stored how many there are.) Both layouts are
shown, Curator's and the one with a single queue.

Locks, elections and semaphores do not heed each other. On a PATH that is used for several of them, by
mistake, each has its own line, counted from 1. Children that are none of these are named at the end.

A lock that nobody uses is free, and so is one whose path does not exist: servers remove unused
paths after a while. Both are said in a line, and are no error. (To catch a mistyped path in a
script, look at "exists" with --json.)

In what others wrote, everything that would act on a terminal or forge a line is escaped, such as \x1b, \n
or \u202e; in the table, and in names of children, also a space, as \x20, and a backslash, as \\ ("printf %b"
of bash turns that back). So each line of the table has ten words. The columns are aligned, also if a name
has wide characters, unless it is wider than 60.

--json prints one object, which always has all of these fields, also where they are 0, "", null or []. Fields
may be added; none is renamed or removed, and none changes its type.
  lock       string: PATH, as given
  exists     boolean: whether there is such a node
  queue      array, each line in order, of objects with
    position     integer: as POS; of each line the first has 1
    kind         string: as KIND
    state        string: held, waiting, or unknown, if it depends on how many permits there are and that
                 is not stored
    token        integer: 0 if it is not known yet
    session      string, in hexadecimal
    who, host    string: "" where it says nothing
    pid          integer: 0 where it says nothing
    since        string: RFC 3339, UTC
    age_seconds  number
    node         string: the node's name, for "zkrecipes revoke --node"
  semaphore  null if there is none, or an object with
    permits      integer: how many there are
    free         integer: how many could be had at once
    known        boolean: false if it is not stored how many there are; then the others are 0
  others     array of strings: the children that contend for nothing

--timeout D says for how long to look, connecting included (15s).
` + helpConnection + `
Exit codes: 0 the queue was printed, also if it is empty; 64 usage; 69 ZooKeeper cannot be used (the
error names the addresses and what happened at each); 77 credentials or the client's certificate refused,
or not permitted.

Examples:
  Who holds it?
      zkrecipes ls /locks/backup
  How many wait, for a script:
      zkrecipes ls /locks/backup --json | jq '[.queue[] | select(.state == "waiting")] | length'
`

const helpRevoke = `usage: zkrecipes revoke PATH [--node NODE | --all] [--json] [--timeout D] [--servers ...]
                        [--session-timeout D] [--auth-file FILE] [--tls ...]

Asks those who hold the lock, the permits or the leadership of PATH to give way, and prints whom it
asked. It does not wait until they have: look with "zkrecipes ls PATH".

It is a request, and nothing is taken away. "zkrecipes run" and "zkrecipes elect" pass it on to their
command as TERM, once, and hold on until the command has ended; with --ignore-revoke they pass nothing
on. Programs that use the Go library see it in Lease.RevocationRequested, Java programs that use
Curator in the RevocationListener of an InterProcessMutex. Others do not notice.

  (neither)    ask all who hold it: several, if it is a semaphore or readers hold it
  --node NODE  ask one, which may also be one that waits: its node's name ("node" in "ls --json"), or its
               token (TOKEN in "ls")
  --all        ask those who wait as well; they learn of it when their turn comes
  --json       one JSON object, {"lock", "asked"}: the PATH, and an array, which may be empty, with objects
               as in the "queue" of "zkrecipes ls --json"
  --timeout D  for how long to try, connecting included (15s)
` + helpConnection + `
Where the lock was taken with credentials it needs the same ones.

Exit codes: 0 somebody was asked; 1 nobody was there to be asked; 64 usage; 69 ZooKeeper cannot be used;
77 credentials or the client's certificate refused, or not permitted. If it fails half way it has printed
whom it has asked.

Examples:
  Move the leadership to another machine:
      zkrecipes revoke /elections/scheduler
  Ask, and wait until it is free, for ten minutes at most:
      zkrecipes revoke /locks/backup
      zkrecipes run --lock /locks/backup --timeout 10m -- ./urgent-restore.sh
  Take it by force (the holder learns of it at once, and stops; see "zkrecipes help run"):
      zkCli.sh -server zk1:2181 delete /locks/backup/NODE
`
