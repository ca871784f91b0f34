package main

var helpElect = `usage: zkrecipes elect --path PATH [flags] -- COMMAND [ARGS...]

Takes part in the election PATH, and runs COMMAND whenever it leads. Of all who take part, on any machine,
one runs at a time. Start it on every machine that could do the work; the first leads, and the others are
ready to take over, in the order in which they came.

What happens when:
  COMMAND ends by itself       it resigns, and exits with COMMAND's code: another leads
  leadership is lost           COMMAND is stopped, as "zkrecipes run" does it, before the servers can let
                               another lead; then it waits for another term, at the end of the line
  somebody asks it to give way ("zkrecipes revoke PATH")
                               COMMAND gets TERM, once; when it has ended, however long that takes, it
                               resigns, and waits for another term, at the end of the line
  INT, TERM or QUIT            COMMAND gets it; when it has ended it resigns, and exits with COMMAND's code
  the machine dies             another leads one session timeout later

So COMMAND may be started many times in the life of one "elect", never twice at a time. If it fails,
elect ends with it: let what starts elect, such as systemd with Restart=always, start it again. By then
another machine leads.

The election:
  --path PATH             a ZooKeeper path, such as /elections/scheduler; it is created when missing
  --id ID                 what others see of this participant (default: HOST:PID)
  --timeout D             wait at most that long for a term, the first and any other, connecting included
                          (default: for ever, with 15 s for connecting)
  --max-hold D            lead for at most that long at a time: COMMAND gets TERM --grace before that, KILL
                          at that time, and the next in line leads

The command:
  --grace D               how long before the end of trust the command gets TERM (default: a sixth of
                          the session timeout; at most a quarter; 0 means KILL without TERM)
` + helpKill + `  --ignore-revoke         do not pass on to the command that somebody asks it to give way
  --json                  say what happens as JSON, one object per line, on standard error
  --quiet                 say only what goes wrong, and that somebody asks for it
` + helpConnection + `
With credentials, the election belongs to them: others can look, but neither take part nor delete. A
PATH that is open to strangers is refused, at every term; see "zkrecipes help run".

` + helpEnvironment + `Here the token is the number of the term.

What is guaranteed, with the timeline of a loss in numbers, what is not, and what counts as COMMAND (all
that it has started), is as for a lock: see "zkrecipes help run". So is what is said of signals, as long as
COMMAND runs. While it waits for a term INT, TERM, HUP and QUIT end the wait, and nothing is left behind.

Beside Java: the nodes are those of Apache Curator's LeaderLatch, whose participants take part in the
same election, and see the id.

Exit codes:
  0-255    the command's own, when it ended by itself or by a signal that zkrecipes was sent; 128+N if
           signal N killed it
  64       usage: wrong flags or arguments, or a zkrecipes elect above this one leads PATH
  69       ZooKeeper cannot be used: the error names the addresses and what happened at each; to connect
           for the first time is given up after 15 s, later it is not, unless --timeout says so
  75       after --timeout another leads; the error names it
  76       leadership was lost after the command had been told to end, or was found to be lost when it
           had ended by itself
  77       credentials or the client's certificate refused, or not permitted, or strangers may enter PATH in
           spite of credentials
  126      COMMAND cannot be executed
  127      COMMAND was not found
  128+N    signal N ended the wait for a term

` + helpEvents + `
Examples:
  A scheduler that is to run on one of three machines, as a systemd unit on each:
      [Service]
      Environment=ZKRECIPES_SERVERS=zk1:2181,zk2:2181,zk3:2181
      ExecStart=/usr/local/bin/zkrecipes elect --path /elections/scheduler -- /usr/local/bin/scheduler
      Restart=always
  Who leads?
      zkrecipes ls /elections/scheduler
  Move it to the next machine, in order:
      zkrecipes revoke /elections/scheduler
`
