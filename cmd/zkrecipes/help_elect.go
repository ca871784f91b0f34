package main

const helpElect = `usage: zkrecipes elect PATH [flags] -- COMMAND [ARGS...]
       zkrecipes elect -l|--listen PATH [--json] [--timeout D] [--servers ...]

Takes part in the election PATH, and runs COMMAND whenever it leads. Of all participants, on all machines,
one runs its command at a time. Start it on every machine that could do the work: the first leads, and the
others take over, in the order in which they came.

What happens when:
  COMMAND ends by itself       elect resigns, and exits with COMMAND's code: another leads
  leadership is lost           COMMAND is stopped, as by "zkrecipes run", before the servers can let another
                               lead; then elect waits for another term, at the end of the queue
  a revocation is requested    COMMAND gets TERM, once; when it has ended, however long that takes, elect
  ("zkrecipes revoke PATH")    resigns, and waits for another term, at the end of the queue
  another is named to be next  an elect that waits ahead of that one leaves the queue, and joins it again at
  ("revoke --successor")       the end
  INT, TERM or QUIT            COMMAND gets it; when COMMAND has ended, elect resigns, and exits with its code
  the machine dies             another leads one session timeout later, and --lock-delay after that

So one "elect" may start COMMAND many times, never twice at a time. If COMMAND fails, elect ends with its
code: start elect again by a service manager, such as systemd with Restart=always. By then another machine
leads.

The election:
  PATH                    a ZooKeeper path, such as /elections/scheduler; it is created if it does not exist
  --path PATH             the same as a flag
  --id ID                 the participant's name, for other clients to see (default: HOST:PID)
  -w, --timeout D         wait at most that long for each term, connecting included (default: for ever,
                          with 15 s for connecting)
  --max-hold D            lead for at most that long at a time: COMMAND gets TERM --grace before that, KILL
                          at that time, and the next participant leads
  --min-hold D            lead for at least that long at a time: if COMMAND has ended sooner, elect keeps the
                          leadership for the rest, and does what comes next then. A signal to end cuts that
                          short, as for "zkrecipes run".
  --lock-delay D          when a leader has lost its term, nobody leads for that long, so that what it has
                          sent elsewhere has time to arrive; see "zkrecipes help run". All participants who
                          give one must give the same.

The command:
  -c, --command TEXT      run sh -c TEXT; only on the command line
  --grace D               how long before the leadership stops being certain the command gets TERM
                          (default: a sixth of the session timeout; at most a quarter; 0 means KILL
                          without TERM)
` + helpKill + `  --ignore-revoke         do not pass a request for revocation on to the command
  --json                  report what happens as JSON, one object per line, on standard error
  -q, --quiet             report only failures, and requests for revocation
` + helpConnectionShort + `
Credentials protect the election: clients without them can list it, but neither take part nor delete. A
PATH that is open to such clients is refused, at every term; see "zkrecipes help run".

` + helpWaiting + `
` + helpEnvironment + helpEnvironmentRest + `Here the token is the number of the term.

With --listen it takes no part, runs no command, and changes nothing: it prints who leads PATH, and each
change of that, until it gets INT or TERM. PATH may be given as an argument or with --path. Leaders that come
and go faster than the lines are read are left out. One line, with the time (UTC) first:
  leader ID, token N         the leader's id; in parentheses its host and process, if they are known; the term
  no leader                  nobody takes part, or PATH does not exist
  connection broken: ...     from here on the leader may change unseen: what was printed may be stale
  connected again            the present leader is printed next, also if it is the same
It goes on over all of these. Before it notices that no server answers, what it has printed may be stale for
up to a session timeout. With --json each line is an object, always with "time", "event" (leader, no leader,
suspended or connected, as above), "election", "leader" and "reason". "leader" is null, or {"id", "host",
"pid", "since", "token", "session", "node"} with "" or 0 for what is not known; since is when it joined the
election.

What is guaranteed, with the timeline of a loss, what is not, what counts as COMMAND (all processes that it
has started), signals while COMMAND runs, and the wait for a server when elect ends and none answers: as for a
lock, see "zkrecipes help run". While elect waits for a term, INT, TERM, HUP and QUIT end the wait, and leave
no node if a server answers.

With Java: the nodes are those of Apache Curator's LeaderLatch, whose participants take part in the same
election, and see the id.

Exit codes:
  0        with --listen: INT or TERM ended it
  0-255    the command's own, when it ended by itself or by a signal that zkrecipes was sent; 128+N if
           signal N killed it
  64       usage: wrong flags or arguments, or a zkrecipes elect above this one leads PATH, or --lock-delay
           differs from that of PATH
  69       ZooKeeper cannot be used: the error names the addresses and what happened at each. Elect gives
           up its first connection after 15 s, later ones never, except after --timeout
  75       after --timeout another leads, or --lock-delay keeps the election closed; the error names it
  76       leadership was lost after the command had got a signal to end, or the loss was noticed when
           the command had ended by itself
  77       credentials or the client's certificate refused, or not permitted, or clients without the
           credentials may change PATH
  126      COMMAND cannot be executed
  127      COMMAND was not found
  128+N    signal N ended the wait for a term

The events of --json are those of "zkrecipes run": see "zkrecipes help run".

Examples:
  A scheduler that must run on one of three machines, as a systemd unit on each:
      [Service]
      Environment=ZKRECIPES_SERVERS=zk1:2181,zk2:2181,zk3:2181
      ExecStart=/usr/local/bin/zkrecipes elect /elections/scheduler -- /usr/local/bin/scheduler
      Restart=always
  Who leads?
      zkrecipes ls /elections/scheduler
      zkrecipes elect --listen /elections/scheduler
  Move it to the next machine in the queue:
      zkrecipes revoke /elections/scheduler
  Move it to a certain machine:
      zkrecipes revoke --successor db2:4711 /elections/scheduler
`
