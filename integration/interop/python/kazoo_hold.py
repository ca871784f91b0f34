"""Holds kazoo's Lock: kazoo_hold.py SERVER PATH [PATTERN...].

Prints "held", or "busy" and ends if it is not free. Patterns are those of other
libraries' nodes that count as contenders. The end of standard input releases.
"""

import sys

from kazoo.client import KazooClient

client = KazooClient(hosts=sys.argv[1], timeout=10)
client.start(timeout=120)
lock = client.Lock(sys.argv[2], "kazoo", extra_lock_patterns=sys.argv[3:])
held = lock.acquire(blocking=False)
print("held" if held else "busy", flush=True)
if held:
    sys.stdin.read()
    lock.release()
client.stop()
client.close()
