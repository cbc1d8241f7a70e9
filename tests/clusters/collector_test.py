#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""collector_test.py FOLDER [RANKS...]: the launcher's collector (in FOLDER, tools/run) with this many ranks at once.

Each sends a hello, and 64 KB at its end. Each message must arrive once, and messages of other jobs must not. Prints the cost.
"""

import multiprocessing
import os
import resource
import socket
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.realpath(sys.argv[1]))
import collector
import counting
import kept

BODY = b"x" * 65536


def message(token, what, rank, size, body=b""):
    lines = "host node%d\npid %d\nrank %d\nsize %d\nworld w\nlength %d\n" % (rank % 64, rank + 1, rank, size, len(body))
    return ("attrcache %s %s\n%s\n" % (token, what, lines)).encode() + body


def send(port, data, answered):
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(data)
        if answered:
            assert connection.recv(2) == b"ok"


def ranks(port, token, size):
    """All ranks start before any of them ends; the last one is killed before its end."""
    for rank in range(size):
        send(port, message(token, "hello", rank, size), False)
    send(port, message("0" * 16, "hello", size, size), False)
    send(port, b"GET / HTTP/1.0\r\n\r\n", False)
    for rank in range(size - 1):
        send(port, message(token, "report", rank, size, BODY), True)
    send(port, message(token, "report", 0, size, BODY), True)  # again, as after a partial one


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def hear(size):
    before = time.process_time(), peak()
    heard = collector.Collector("00ff" * 4)
    token, _, _, port = heard.setting().split("@")[:4]
    # Python 3.14 would import this file again instead, and start all over.
    others = multiprocessing.get_context("fork").Process(target=ranks, args=(int(port), token, size))
    others.start()
    heard.start()
    others.join()
    messages = heard.end()
    assert others.exitcode == 0
    hellos = sum(one.what == "hello" for one in messages)
    documents = [one for one in messages if one.what == "report"]
    count = counting.Count(messages)
    assert (hellos, len(documents), count.ranks) == (size, size - 1, size)
    assert count.complete() and all(one.body == BODY for one in documents)
    print("%d ranks: %.2f s of a processor, %.0f MB" % (size, time.process_time() - before[0], peak() - before[1]))


for number in sys.argv[2:]:
    hear(int(number))
# One rank of two is missing; two worlds of two ranks, one after the other; a process that has no rank.
def hello(rank, size, pid, world=""):
    return collector.Message("hello", {"rank": str(rank), "size": str(size), "pid": str(pid), "world": world}, b"")


for hellos, served, of in (
    ([hello(0, 2, 1)], 1, 2),
    ([hello(0, 2, 1), hello(1, 2, 2), hello(1, 2, 3), hello(0, 2, 4)], 4, 4),
    ([hello(0, 2, 1, "a"), hello(1, 2, 2, "b")], 2, 4),
    ([hello(0, 1, 1), hello(0, 1, 2)], 2, 2),
    ([hello("", 0, 1)], 1, 1),
):
    count = counting.Count(hellos)
    assert (len(count.served), count.ranks) == (served, of), (count.served, count.ranks)
# Nothing in a message controls a terminal. Another user's file isn't taken for ours; a link takes its part here.
assert collector.parse(b"attrcache t hello\nhost a\x1b[2Jb\n\n", "t").fields["host"] == "a?[2Jb"
with tempfile.TemporaryDirectory() as place:
    run = os.path.join(place, kept.PREFIX + "1")
    first = kept.Folder("1/0", [place + "/run.txt"], {"targets": [place + "/run.txt"]})
    assert first.path == run + "/0" and kept.owner(run)["targets"] == [place + "/run.txt"]
    os.rename(run + "/0/owner", place + "/owner")
    os.symlink(place + "/owner", run + "/0/owner")
    assert kept.owner(run)["targets"] == []
    os.symlink(run, os.path.join(place, kept.PREFIX + "2"))
    try:
        kept.make(os.path.join(place, kept.PREFIX + "2", "0"))
        raise AssertionError("a link was taken for a folder of ours")
    except PermissionError:
        pass
print("passed")
