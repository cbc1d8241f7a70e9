#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""collector_test.py FOLDER [RANKS...]: the launcher's collector (in FOLDER, tools/run) with this many ranks at once.

Each sends a hello, and 64 KB at its end. Each message must arrive once, and messages of other jobs must not. Prints the cost.
"""

import multiprocessing
import os
import resource
import socket
import struct
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.realpath(sys.argv[1]))
import collector
import counting
import kept
import trust
import words

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
    ranked = {"rank": str(rank)} if rank != "" else {}
    return collector.Message("hello", dict(ranked, size=str(size), pid=str(pid), world=world), b"")


for hellos, served, of in (
    ([hello(0, 2, 1)], 1, 2),
    ([hello(0, 2, 1), hello(1, 2, 2), hello(1, 2, 3), hello(0, 2, 4)], 4, 4),
    ([hello(0, 2, 1, "a"), hello(1, 2, 2, "b")], 2, 4),
    ([hello(0, 1, 1), hello(0, 1, 2)], 2, 2),
    ([hello("", 0, 1)], 1, 1),
):
    count = counting.Count(hellos)
    assert (len(count.served), count.ranks) == (served, of), (count.served, count.ranks)
# Nothing that is printed controls a terminal or begins a line. Another user's file isn't taken for ours; a link takes its part here.
assert words.printable("a\x1b[2J\n\u202eb\u2028\x9b \u00e9") == "a\\x1b[2J\\n\\u202eb\\u2028\\x9b \u00e9"
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
    # What another report could be made of stays; what this one replaces is removed, and so is what is empty.
    saying = []
    kept.say = saying.append
    files = {"plain": [], "same": [place + "/run.txt"], "other": [place + "/other.txt"], "empty": []}
    for name, targets in files.items():
        kept.Folder(name, [place + "/run.txt"], {"targets": targets}).lock.close()
        if name != "empty":
            open(os.path.join(place, kept.PREFIX + name, "host.1.1.json"), "w").close()
    kept.Folder("now", [place + "/run.txt"]).remove()
    there = [os.path.exists(os.path.join(place, kept.PREFIX + name)) for name in [*files, "now"]]
    assert there == [True, False, True, False, False], there
    assert len(saying) == 1 and saying[0].endswith(kept.PREFIX + "same"), saying
    # So does what an earlier job of the same name has left.
    os.chdir(place)
    for targets in ([], [place + "/run.txt"], [place + "/run.txt"]):
        kept.Folder("job/0", targets, {"targets": targets}).lock.close()
        open(os.path.join(place, kept.PREFIX + "job", "0", "host.1.1.json"), "w").close()
    os.chdir("/")
    moved = [name for name in os.listdir(place) if name.startswith(kept.PREFIX + "job.")]
    assert moved == [kept.PREFIX + "job.1"] and kept.has_data(os.path.join(place, moved[0])), moved
    # How to make a report is said by a job's first run in a folder alone. (Root keeps nothing, and hears it each time.)
    os.environ["HOME"] = place
    os.mkdir(place + "/.cache")
    assert os.geteuid() or [kept.is_first("77 /a") for _ in "12"] == [True, True]
    geteuid, os.geteuid = os.geteuid, lambda: os.getuid() or 1
    asked = [kept.is_first(mark) for mark in ("77 /a", "77 /a", "77 /b", "78 /a", "77 /a", "77 /b")]
    assert asked == [True, False, True, True, False, False], asked
    os.geteuid = geteuid


# ---- Whoever means harm ----

# Others may rename what lies in a folder that all may write to: nothing is written through their links, nor removed but what
# runs have put there.
with tempfile.TemporaryDirectory() as place:
    with open(place + "/precious", "w") as file:
        file.write("precious")
    folder = kept.Folder("1", [place + "/r.txt"], {"targets": [place + "/r.txt"]})
    os.rename(folder.path, place + "/gone")
    os.mkdir(folder.path)
    for name in ("ended", "h.1.1.json.part", "h.1.1.json"):
        os.symlink(place + "/precious", os.path.join(folder.path, name))
    folder.open("ended", "w").close()
    folder.add("h.1.1", b"part")
    # Nor does what has no folder take the working folder for one.
    os.chdir(place)
    kept.Folder().clear()
    try:
        kept.Folder().add("h.1.1", b"part")
        raise AssertionError("added to no folder")
    except FileNotFoundError:
        os.chdir("/")
    assert open(place + "/precious").read() == "precious"
    assert sorted(os.listdir(place + "/gone")) == ["ended", "h.1.1.json", "owner"]
    thesis = os.path.join(place, kept.PREFIX + "2", "config")
    os.makedirs(thesis)
    for name in ("owner", "thesis.tex"):
        open(os.path.join(thesis, name), "w").close()
    kept.Folder("3", [place + "/r.txt"], {}).remove()
    assert sorted(os.listdir(thesis)) == ["owner", "thesis.tex"] and not kept.remove(os.path.dirname(thesis))
    os.chmod(place + "/gone", 0o777)
    assert kept.owner(place + "/gone")["targets"] == []
    # An access control list lets in more than this user's own group. (Its entries: kind, rights, whose.)
    os.chmod(place + "/gone", 0o775)
    entries = ((1, 7, -1), (2, 7, 12345), (4, 7, -1), (16, 7, -1), (32, 5, -1))
    lets_in = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    try:
        os.setxattr(place + "/gone", "system.posix_acl_access", lets_in)
        assert trust.others(place + "/gone") == os.path.realpath(place + "/gone")
    except OSError:
        print("not tried: this file system has no access control lists")


def closed(connection):
    connection.settimeout(60)
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def strangers():
    """Connections that say nothing are closed in time, are never many, and no rank waits for them."""
    heard = collector.Collector("00ff" * 8, "", lambda one: None)
    port = int(heard.setting().split("@")[3])
    collector.SILENCE = 1e6  # only their number closes them
    heard.start()
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(collector.MOST_STRANGERS + 300)]
    assert all(closed(one) for one in idle[:300])
    send(port, message(heard.token, "report", 0, 1, BODY), True)
    # A part of the token is answered in no way, right or wrong: nobody can guess one character after the other.
    for part in (b"attrcache 00f", b"attrcache 00e"):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(part)
            send(port, message(heard.token, "report", 0, 1, BODY), True)
            connection.setblocking(False)
            try:
                raise AssertionError(connection.recv(1))
            except BlockingIOError:
                pass
    collector.SILENCE = 0.01
    with socket.create_connection(("127.0.0.1", port)) as connection:
        assert closed(connection)
    # Who goes on connecting doesn't keep the run from ending.
    collector.PATIENCE = 0.1
    stop = threading.Event()

    def storm():
        while not stop.is_set():
            try:
                socket.create_connection(("127.0.0.1", port)).close()
            except OSError:
                return

    storming = threading.Thread(target=storm)
    storming.start()
    heard.end()
    stop.set()
    storming.join()
    for one in idle:
        one.close()


# What a rank says of sizes is believed without a list of so many.
assert counting.Count([hello(3, 999999999, 1)]).missing == ["ranks 0, 1, 2, 4, 5, 6, 7, 8 and 999999990 more"]
strangers()
print("passed")
