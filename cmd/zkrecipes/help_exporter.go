package main

const helpExporter = `usage: zkrecipes exporter [PATH] [--address HOST:PORT] [--paths TEMPLATE,...] [--limit N]
                          [--holder-after D] [--litter] [--timeout D] [--servers ...] [--session-timeout D]
                          [--auth-file FILE] [--tls ...]

Serves metrics of the locks, semaphores and elections in use at PATH and below (/ if there is no PATH) to
Prometheus, until a signal. It changes nothing in ZooKeeper. One exporter is enough for an ensemble.

  --address HOST:PORT  where to listen (localhost:10141); :10141 is all addresses of this machine, port 0 any
                       port that is free. The first line of output is the URL of the metrics. There is no
                       password and no encryption: who can connect sees paths, and who holds them.
  --paths TEMPLATE,... what the label path is: the first template that matches, else "other". In a template
                       * stands for any characters but /, ? for one, [a-z] for one of some, and /** at the
                       end for all paths below. Without it each lock has its own path.
  --limit N            for how many locks, or templates, there are series (1000); 0 for all. Those that most
                       clients wait for come first, then those that have been held longest: so series at
                       the limit can come and go. What is beyond counts in zkrecipes_locks_left_out.
  --holder-after D     how long a client must have held a lock until it has a series that names it (10s): each
                       makes a new one. Where it is not stored since when, it counts from the first scrape
                       that has seen it.
  --litter             look for what is left behind as well, as "zkrecipes litter" does. For each lock that is
                       up to 16 reads more.
  -w, --timeout D      how long a scrape may take (15s); never longer than Prometheus waits for it

Requests:
  /metrics    the metrics, in the text format of Prometheus. Each scrape is one look at all locks; scrapes at
              the same time share one. It costs what "zkrecipes top" costs: a listing of each node below
              PATH, and two or three reads for each lock.
  /-/healthy  200 while the exporter runs
  /-/ready    200 while it is connected to ZooKeeper, else 503
  /           a page with a link

The metrics; all are gauges. Times are by the clock of ZooKeeper's servers, in seconds since 1970.
  zkrecipes_exporter_up                           1; 0 if ZooKeeper did not answer: then there is only this
                                                  one, and zkrecipes_build_info
  zkrecipes_exporter_survey_seconds               how long the look took
  zkrecipes_build_info                            1, with the labels version and go
  zkrecipes_locks_in_use{recipe}                  how many clients hold or wait for
  zkrecipes_locks_contended{recipe}               how many of them clients wait for
  zkrecipes_locks_waiters{recipe}                 clients that wait, for all of them together
  zkrecipes_locks_left_out                        how many have no series, because of --limit
  zkrecipes_paths_unreadable                      paths that may not be read; what is below counts nowhere
  zkrecipes_lock_holding{path,recipe}             how many clients hold
  zkrecipes_lock_waiting{path,recipe}             how many clients wait
  zkrecipes_lock_size{path,recipe}                permits or stripes; absent where that is not stored
  zkrecipes_lock_held_since_timestamp_seconds{path,recipe}
                                                  since when; absent if nobody holds. Where it is not stored,
                                                  since when the holder has been in the queue
  zkrecipes_lock_waiting_since_timestamp_seconds{path,recipe}
                                                  since when the first waiter waits; absent if none does
  zkrecipes_lock_holder{path,recipe,holder,host,pid}
                                                  1, of one that holds, or the one that has held longest.
                                                  holder is its label, or its host, or its session.
  zkrecipes_litter{kind}                          with --litter: how much is left behind, of each kind, but
                                                  nothing that the servers may still remove ("?")

recipe is lock (a mutex or a read-write lock), election, semaphore, stripe (all stripes of a path) or run (all
runs of a job). Locks that one template matches share their series: numbers are added, times are the
earliest, and there is no zkrecipes_lock_holder if there are several. Clients of which it is not known whether
they hold (in a semaphore whose number of permits is not stored) count neither as holding nor as waiting.
Paths are without the chroot of --servers. Long names are cut.

It starts without ZooKeeper, too, and connects when it can. What keeps it from looking is on standard error,
once, and again when that is over.
` + helpConnectionShort + `
Exit codes: 0 ended by INT or TERM; 64 usage; 69 cannot listen there; 77 credentials or the client's
certificate refused when it started.

Examples:
  For all locks of an ensemble, with Prometheus on the same machine:
      zkrecipes exporter --servers zk1:2181,zk2:2181,zk3:2181
  With one series for the locks of all tenants, and one for those of all jobs:
      zkrecipes exporter /locks --paths '/locks/tenants/**,/locks/jobs/*' --address :10141
  Who has held a lock for more than an hour, in Prometheus:
      time() - zkrecipes_lock_held_since_timestamp_seconds > 3600
`
