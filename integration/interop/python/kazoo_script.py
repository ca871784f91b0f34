"""Runs kazoo's recipes and calls against a server: kazoo_script.py SERVER.

What it prints does not depend on timing. The exit code is 0 unless something
failed. The end of standard input means that who started the program is gone,
and ends it.
"""

import logging
import os
import queue
import sys
import threading

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, LockTimeout, ZookeeperError
from kazoo.security import make_digest_acl

LIMIT = 120  # seconds that an expected event may take
SHORT = 0.3  # seconds to wait for an event that must not happen

SERVER = sys.argv[1]


def say(what, result=None):
    print(what if result is None else "%s: %s" % (what, result), flush=True)


def attempt(what, call):
    """Prints what a call returned, or which of ZooKeeper's errors it raised."""
    try:
        say(what, call())
    except (KazooException, ZookeeperError) as error:
        say(what, type(error).__name__)


def connect():
    client = KazooClient(hosts=SERVER, timeout=10)
    client.start(timeout=LIMIT)
    return client


def leave(client):
    client.stop()
    client.close()


def short(stat):
    return "version %d, children changed %d times, acl version %d, length %d, children %d" % (
        stat.version, stat.cversion, stat.aversion, stat.data_length, stat.children_count)


def server(ann):
    version = ann.server_version()
    say("server is 3.8 or newer", version >= (3, 8) and len(version) == 3)
    say("ruok", ann.command(b"ruok"))


def nodes(ann):
    attempt("ensure path", lambda: ann.ensure_path("/app/deep/down"))
    attempt("create", lambda: ann.create("/app/a", b"one"))
    attempt("create again", lambda: ann.create("/app/a"))
    attempt("create without parents", lambda: ann.create("/new/b"))
    attempt("create with parents", lambda: ann.create("/new/b", makepath=True))
    attempt("create ephemeral", lambda: ann.create("/app/live", ephemeral=True))
    attempt("create below ephemeral", lambda: ann.create("/app/live/c"))
    attempt("create sequential", lambda: ann.create("/app/job-", sequence=True))
    attempt("create both", lambda: ann.create("/app/job-", ephemeral=True, sequence=True))
    path, stat = ann.create("/app/told", b"12345", include_data=True)
    say("create2 %s" % path, short(stat))
    attempt("get", lambda: ann.get("/app/a")[0])
    attempt("set", lambda: short(ann.set("/app/a", b"other", version=0)))
    attempt("set an old version", lambda: ann.set("/app/a", b"never", version=0))
    attempt("exists", lambda: short(ann.exists("/app")))
    attempt("exists not", lambda: ann.exists("/none") is None)
    attempt("children", lambda: sorted(ann.get_children("/app")))
    attempt("children's parent", lambda: short(ann.get_children("/app", include_data=True)[1]))
    attempt("children of none", lambda: ann.get_children("/none"))
    attempt("sync", lambda: ann.sync("/app"))
    attempt("delete an old version", lambda: ann.delete("/app/a", version=0))
    attempt("delete with children", lambda: ann.delete("/app/deep"))
    attempt("delete all of it", lambda: ann.delete("/app/deep", recursive=True))
    attempt("delete quota", lambda: ann.delete("/zookeeper/quota"))


def permissions(ann, bob):
    ann.add_auth("digest", "ann:secret")
    ann.create("/hers", b"private", acl=[make_digest_acl("ann", "secret", all=True)])
    attempt("ann gets hers", lambda: ann.get("/hers")[0])
    attempt("its acl", lambda: [(acl.perms, acl.id.scheme) for acl in ann.get_acls("/hers")[0]])
    attempt("bob gets it", lambda: bob.get("/hers"))
    attempt("bob deletes below it", lambda: bob.delete("/hers/none"))
    bob.add_auth("digest", "ann:secret")
    attempt("bob as ann gets it", lambda: bob.get("/hers")[0])
    attempt("set no acl", lambda: ann.set_acls("/hers", []))


def transactions(ann):
    def outcome(fill):
        transaction = ann.transaction()
        fill(transaction)
        return [r if isinstance(r, str) else short(r) if hasattr(r, "version") else
                type(r).__name__ if isinstance(r, Exception) else r for r in transaction.commit()]

    def good(t):
        t.create("/app/t-", b"1", sequence=True)
        t.create("/app/e", ephemeral=True)
        t.set_data("/app/a", b"in one", version=1)
        t.check("/app/a", version=2)
        t.delete("/app/e", version=0)

    def bad(t):
        t.create("/app/never")
        t.check("/app/a", version=9)
        t.delete("/app/a")

    attempt("good transaction", lambda: outcome(good))
    attempt("bad transaction", lambda: outcome(bad))
    attempt("nothing of it is there", lambda: (ann.exists("/app/never") is None, ann.get("/app/a")[0]))


def watches(ann, bob):
    seen = queue.Queue()
    ann.ensure_path("/watched")
    ann.ChildrenWatch("/watched", lambda children: seen.put(("children", sorted(children))))
    say("watch", seen.get(timeout=LIMIT))
    for name in ("a", "b"):
        bob.create("/watched/" + name)
        say("watch", seen.get(timeout=LIMIT))
    bob.delete("/watched/a")
    say("watch", seen.get(timeout=LIMIT))

    @ann.DataWatch("/watched/later")
    def _later(data, stat, event):
        seen.put(("data", data, event and event.type))

    say("watch", seen.get(timeout=LIMIT))
    # The parent's children change too when the node is made and deleted; the order of the two depends on threads.
    for change, events in ((lambda: bob.create("/watched/later", b"1"), 2),
                           (lambda: bob.set("/watched/later", b"2"), 1),
                           (lambda: bob.delete("/watched/later"), 2)):
        change()
        say("watch", sorted((seen.get(timeout=LIMIT) for _ in range(events)), key=lambda e: e[0]))

    eve = connect()
    eve.create("/watched/eve", ephemeral=True)
    say("eve comes", seen.get(timeout=LIMIT))
    leave(eve)
    say("eve goes", seen.get(timeout=LIMIT))


def lock(ann, bob):
    hers, his = ann.Lock("/kazoo/lock", "ann"), bob.Lock("/kazoo/lock", "bob")
    attempt("ann locks", lambda: hers.acquire(timeout=LIMIT))
    attempt("bob tries", lambda: his.acquire(blocking=False))
    attempt("bob waits a little", lambda: his.acquire(timeout=SHORT))
    got = threading.Thread(target=lambda: his.acquire(timeout=LIMIT))
    waits = threading.Event()
    ann.ChildrenWatch("/kazoo/lock", lambda children: waits.set() if len(children) == 2 else None)
    got.start()
    say("bob waits", waits.wait(LIMIT))
    attempt("contenders", hers.contenders)
    say("bob has it", his.is_acquired)
    attempt("ann unlocks", hers.release)
    got.join(LIMIT)
    say("bob has it", his.is_acquired)
    attempt("bob unlocks", his.release)
    attempt("contenders", hers.contenders)


def semaphore(ann, bob):
    hers, his = ann.Semaphore("/kazoo/semaphore", "ann", 2), bob.Semaphore("/kazoo/semaphore", "bob", 2)
    third = ann.Semaphore("/kazoo/semaphore", "third", 2)
    attempt("ann takes one", lambda: hers.acquire(timeout=LIMIT))
    attempt("bob takes one", lambda: his.acquire(timeout=LIMIT))
    attempt("holders", lambda: sorted(hers.lease_holders()))
    attempt("a third", lambda: third.acquire(timeout=SHORT))
    attempt("bob gives back", his.release)
    attempt("a third", lambda: third.acquire(timeout=LIMIT))
    attempt("holders", lambda: sorted(hers.lease_holders()))
    hers.release()
    third.release()
    attempt("holders", hers.lease_holders)
    other = ann.Semaphore("/kazoo/semaphore", "ann", 3)
    try:
        other.acquire(timeout=LIMIT)
    except ValueError as error:
        say("another number of leases", type(error).__name__)


def contend():
    """Four clients contend for a lock: no two are in the guarded code at once."""
    inside, most, total = [0], [0], [0]
    failures = queue.Queue()

    def work():
        try:
            client = connect()
            for _ in range(15):
                with client.Lock("/kazoo/contended"):
                    inside[0] += 1
                    most[0] = max(most[0], inside[0])
                    total[0] += 1
                    client.exists("/kazoo")  # lets the others run
                    inside[0] -= 1
                counter = client.Counter("/kazoo/counter")
                counter += 1
            leave(client)
        except Exception as error:  # the transcript shows any error
            failures.put(repr(error))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(2 * LIMIT)
    say("failures", list(failures.queue))
    say("grants", total[0])
    say("most at once", most[0])


def recipes(ann, bob):
    say("counted", ann.Counter("/kazoo/counter").value)

    jobs = ann.LockingQueue("/kazoo/jobs")
    jobs.put_all([b"second", b"third"], priority=100)
    jobs.put(b"first", priority=1)
    other = bob.LockingQueue("/kazoo/jobs")
    say("ann takes", jobs.get(LIMIT))
    say("bob takes", other.get(LIMIT))
    say("consumed", (jobs.consume(), other.consume(), len(jobs)))

    party = ann.Party("/kazoo/party", "ann")
    party.join()
    bob.Party("/kazoo/party", "bob").join()
    say("party", sorted(party))

    barrier = ann.Barrier("/kazoo/barrier")
    barrier.create()
    say("barrier holds", not bob.Barrier("/kazoo/barrier").wait(SHORT))
    barrier.remove()
    say("barrier is gone", bob.Barrier("/kazoo/barrier").wait(LIMIT))

    led = queue.Queue()
    election = bob.Election("/kazoo/election", "bob")
    election.run(led.put, "bob leads")
    say(led.get(timeout=LIMIT))


def end_with_input():
    sys.stdin.buffer.read()
    os._exit(3)


def main():
    logging.disable(logging.CRITICAL)
    threading.Thread(target=end_with_input, daemon=True).start()
    ann, bob = connect(), connect()
    server(ann)
    nodes(ann)
    permissions(ann, bob)
    transactions(ann)
    watches(ann, bob)
    lock(ann, bob)
    semaphore(ann, bob)
    contend()
    recipes(ann, bob)
    leave(ann)
    leave(bob)
    sys.stdout.flush()
    os._exit(0)  # threads that wait for input do not matter any more


main()
