package main

const helpOverview = `zkrecipes runs commands under ZooKeeper locks.

  zkrecipes run PATH [flags] -- COMMAND [ARGS...]           run COMMAND while holding a lock
  zkrecipes elect PATH [flags] -- COMMAND [ARGS...]         run COMMAND whenever this machine leads
  zkrecipes ls PATH [flags]                                 list who holds a lock and who waits for it
  zkrecipes ls --cycles [PATH] [flags]                      find clients that wait for each other
  zkrecipes revoke PATH [flags]                             request that the holders release it
  zkrecipes resize PATH N [flags]                           change how many permits or stripes there are
  zkrecipes testserver [--port N]                           run an in-memory ZooKeeper, for trying things out
  zkrecipes version                                         print what this program was built from
  zkrecipes help [run|elect|ls|revoke|resize|...]           more about one of them

Give ZooKeeper's address with --servers zk1:2181,zk2:2181 or ZKRECIPES_SERVERS: each flag can be set in the
environment, and in a file of NAME=value lines (--config). Flags and PATH may come in any order, COMMAND
comes last. For example:

  export ZKRECIPES_SERVERS=zk1:2181,zk2:2181,zk3:2181
  zkrecipes run /locks/backup --timeout 10m -- /usr/local/bin/backup --full   # one at a time
  zkrecipes run /locks/import --permits 3 -- ./import.sh                      # three at a time
  zkrecipes run /locks/gpus --stripes 4 -- ./train.sh                         # on one of four
  zkrecipes run /locks/catalog --shared -- ./report.sh                        # beside other readers
  zkrecipes run --once /jobs/report --tick 5m -- ./report.sh                         # once every 5 minutes
  zkrecipes elect /elections/scheduler -- /usr/local/bin/scheduler            # on one machine, always
  zkrecipes ls /locks/backup
  zkrecipes revoke /locks/backup

Which one? "run" is for a job that ends: it waits for the lock, runs once, and fails if it loses the lock.
"elect" is for a service that must run on one of several machines: start it on all of them. If the leader
loses the leadership or dies, another leads; a leader that lost the leadership waits for another term.

"zkrecipes help run" says what is guaranteed, what is not, and what the exit codes mean.
`
