package main

const helpHold = `usage: zkrecipes hold PATH [PATH...] [flags]

Waits for the lock PATH, prints a line when it holds it, and holds it until it gets a signal. It is for
scripts whose protected part is no single command; where it is one, "zkrecipes run" is better:

  A script is NOT stopped when its lock is lost. hold says so and ends, in time for the script to end
  before another client can be granted the lock. But only the script can do that: see "Examples". "run"
  stops the command and all processes that it has started. "run" also releases when the command has
  ended, however it ends; hold holds as long as it runs, even if the script was killed.

The line on standard output: the fencing token, a space, and PATH; last, because it may contain spaces. With
several PATH, one line for each, in their order. With --stripes the number of the stripe is between the two.
With --json it is the event "acquired", which is also on standard error. The line is written at once, also
to a pipe. Everything else is on standard error.

What ends it:
  INT, TERM, HUP, QUIT      it releases, and exits with 0 when the release is confirmed. If no server
                            answers it waits for one, says so after a second, and exits with 69 after one
                            session timeout, or at another signal.
  a loss                    it says so, with the time by which all that relies on it must have ended, and
                            exits with 76. That is --grace before the lock stops being certain, or at once
                            if the lock was taken away. With --max-hold it does the same --grace before
                            that time. hold deletes nothing then: the lock is free when its session
                            has ended, at most one session timeout later, and then closed for --lock-delay.
  A request for revocation ("zkrecipes revoke PATH") does not: hold cannot end the script, so it keeps the
  lock, and only says that its release is requested. End the script, then hold.
  Shells start processes in the background (&) with INT and QUIT ignored, hold too: send it TERM. After
  SIGKILL of hold the lock is free one session timeout later, and then closed for --lock-delay. While hold
  is stopped (Ctrl-Z, SIGSTOP, a frozen virtual machine) it reports nothing.

The lock, all as for "zkrecipes run":
  --lock PATH             PATH as a flag; ZKRECIPES_LOCK_1, ZKRECIPES_LOCK_2 and so on for several
  -s, --shared            a read lock: hold it beside others with --shared
  -x, --exclusive         the opposite, which is the default, whatever variables say
  --write                 a write lock, with the nodes of Java's read-write lock
  --permits N             a semaphore: at most N hold a permit at a time. All must give the same N. Only with
                          one PATH.
  --stripes N             any one of N locks at PATH. Only with one PATH.
  --key KEY               with --stripes: the stripe of this key
  -w, --timeout D         wait at most that long, connecting included (default: for ever, with 15 s
                          for connecting)
  -n, --try               do not wait: take the lock only if it is free
  --max-hold D            hold it for at most that long
  --lock-delay D          keep it closed for that long when a holder has lost it. All who give one must give
                          the same.
  --label NAME            the holder's name, for other clients to see (default: hold)
  -E, --conflict-exit-code N
                          the exit code when another client holds the lock (75)
  --grace D               how long before the lock stops being certain hold gives it up, so that the script
                          has that long to end (default: a sixth of the session timeout; at most a
                          quarter)
  --json                  report what happens as JSON, one object per line; "zkrecipes help run" has the
                          events
  -q, --quiet             report only failures, and requests for revocation
` + helpConnectionShort + `
` + helpWaiting + `
What is guaranteed, with the timeline of a loss, several locks, stripes, and how credentials protect PATH: see
"zkrecipes help run". A "zkrecipes run" that the script starts does not know that the script holds PATH, and
would wait for it.

Exit codes:
  0        it was held until a signal or a request for revocation came, and the release is confirmed
  64       usage: wrong flags or arguments, or a zkrecipes above this one holds PATH, or --permits, --stripes
           or --lock-delay differs from that of PATH
  69       ZooKeeper cannot be used, or the line could not be written; nothing is held. Or the release is
           not confirmed: it was held to the end, and will be free when the session has ended.
  75       not acquired: another client holds it, or --lock-delay keeps it closed (--conflict-exit-code)
  76       it was lost, or --max-hold was over
  77       credentials or the client's certificate refused, or not permitted, or clients without the
           credentials may change PATH
  128+N    signal N ended the wait

Examples:
  Better, where it is possible: the script runs itself under the lock.
      [ "$ZKRECIPES_LOCK_PATH" = /locks/backup ] || exec zkrecipes run --lock /locks/backup -- "$0" "$@"
  A script in bash that ends its work when the lock is lost, and notices it if that came too late:
      coproc HOLD { exec zkrecipes hold /locks/backup; }
      hold=$HOLD_PID
      trap 'kill "$hold" 2>/dev/null' EXIT          # release, however this script ends
      read -r token path <&"${HOLD[0]}" || { wait "$hold"; exit; }
      ./backup --token "$token" & work=$!
      wait -n "$hold" "$work"                       # whichever ends first
      if kill -0 "$work" 2>/dev/null; then          # hold: the lock is lost, or was released on request
          kill "$work"; wait "$work"; exit 76
      fi
      wait "$work" || exit
      kill "$hold"; wait "$hold"                    # 0: the lock was held to the end
  By hand: keep all backups from starting for as long as this terminal is open, or until Ctrl-C.
      zkrecipes hold /locks/backup --label maintenance
`
