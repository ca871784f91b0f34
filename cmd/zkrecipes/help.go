package main

// helpOverview has a line for each verb, from which manual pages and completions take
// what it does.
const helpOverview = `usage: zkrecipes VERB [ARGS...]
       zkrecipes help [VERB]

zkrecipes runs commands under ZooKeeper locks.

  run         run a command while holding a lock
  elect       run a command whenever this machine leads
  hold        hold a lock until a signal, without a command
  ls          list who holds a lock and who waits for it; find deadlocks
  show        say all that is known about one lock
  top         list the locks that most clients wait for, and those held longest
  litter      list what is left behind of locks
  exporter    serve metrics of all locks to Prometheus
  revoke      request that the holders of a lock release it
  resize      change how many permits or stripes there are
  testserver  run an in-memory ZooKeeper, for trying things out
  completion  complete verbs, flags and paths in bash, zsh and fish
  man         print manual pages
  version     print what this program was built from
  help        print this, or the help of one of these verbs

Give ZooKeeper's address with --servers zk1:2181,zk2:2181 or ZKRECIPES_SERVERS.
Each flag can be set in the environment, and in a file of NAME=value lines
(--config). Flags and PATH may come in any order; COMMAND comes last:

  export ZKRECIPES_SERVERS=zk1:2181,zk2:2181,zk3:2181
  # one at a time; three at a time; on one of four; beside other readers
  zkrecipes run /locks/backup --timeout 10m -- /usr/bin/backup --full
  zkrecipes run /locks/import --permits 3 -- ./import.sh
  zkrecipes run /locks/gpus --stripes 4 -- ./train.sh
  zkrecipes run /locks/catalog --shared -- ./report.sh
  # once every 5 minutes; on one machine, always
  zkrecipes run --once /jobs/report --tick 5m -- ./report.sh
  zkrecipes elect /elections/scheduler -- /usr/local/bin/scheduler
  zkrecipes ls /locks/backup
  zkrecipes revoke /locks/backup

Which one? "run" is for a job that ends: it waits for the lock, runs once, and
fails if it loses the lock. "elect" is for a service that must run on one of
several machines: start it on all of them. If the leader loses the leadership or
dies, another leads; a leader that lost the leadership waits for another term.

"zkrecipes help run" says what is guaranteed, what is not, and what the exit
codes mean.
`
