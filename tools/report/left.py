# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What ranks have left in a folder: the documents that they have handed over, or, of those that were killed or still
run, the memory that outlives them (lib/mpi/handover/kept.h), of which a document is made here."""

import json
import os
import socket
import stat
import struct
import time

from reading import Bad

HEAD = struct.Struct("<QQ")
# The first members of a Maker (lib/mpi/recording/maker.h): counters, names, and the kind.
COUNTERS = struct.Struct("<131Q6Qq4Q")
LATER = ["deletes", "copies", "deleted_with_object", "copy_calls", "delete_calls", "failed"]
LATER += ["last_failure", "callback_ns", "callback_own_ns", "left_by_set", "left_by_delete"]
LOCATED = struct.Struct("<384s512sQ")
NAMES = struct.Struct("<64s256s256s256si")
SIGHTING = struct.Struct("<64s256s256s")  # after its number and place (lib/mpi/watching/misuse.cc)
EVENT = struct.Struct("<?7xQQQiiiBBxx")  # lib/mpi/recording/trace.cc


def files(folder):
    """Of each process one; folders in it included."""
    found = {}

    def cant(error):
        raise Bad(f"{error.filename} can't be read: {error.strerror}")

    for there, _, names in os.walk(folder, onerror=cant):
        for name in names:
            process, _, suffix = name.rpartition(".")
            if suffix == "json" or (suffix == "kept" and process not in found):
                found[process] = os.path.join(there, name)
    return [found[process] for process in sorted(found)]


# A process hands over 1 GiB at most (lib/mpi/handover/kept.cc).
MOST_BYTES = 1 << 30


def read(path):
    """The document in a file, as JSON; None if the process had not begun to count. Whoever may write to the folder
    may have put a link there, or a pipe, which would keep us waiting."""

    def opener(name, how):
        return os.open(name, how | os.O_NOFOLLOW | os.O_NONBLOCK)

    try:
        with open(path, "rb", opener=opener) as file:
            of = os.fstat(file.fileno())
            data = file.read() if stat.S_ISREG(of.st_mode) and of.st_size <= MOST_BYTES else b""
    except OSError as error:
        raise Bad(f"{path} can't be read: {error.strerror}") from None
    try:
        return data if path.endswith(".json") else document(data, of.st_mtime_ns)
    except (struct.error, ValueError, IndexError, KeyError):
        return data  # which is no document, as will be said


def text(field):
    return field.partition(b"\0")[0].decode(errors="replace")


def blocks(data):
    """(what, place, bytes) of each."""
    at = 0
    while at + 64 <= len(data):
        what, size = HEAD.unpack_from(data, at)
        if not what:
            return
        yield chr(what), at + 64, data[at + 64 : at + 64 + size]
        at += 64 + (size + 63) // 64 * 64


def document(data, written):
    """The document that the process would have handed over, but for what was attached just then; None if it had not
    begun to count."""
    head = None
    makers, events, misuse, addresses = {}, [], {}, {}
    for what, place, block in blocks(data):
        if what == "P" and block.endswith(b"}"):
            head = json.loads(block.decode(errors="replace"))
        elif what == "M":
            makers[place] = maker(block, addresses)
        elif what == "S":
            sighting(block, misuse, addresses)
        elif what == "T":
            events, taken = [*EVENT.iter_unpack(block[64:])], HEAD.unpack_from(block)[0]
    if head is None:
        return None
    if head["host"] == socket.gethostname() and os.path.exists(f"/proc/{head['pid']}"):
        written = time.time_ns()  # it still runs
    kinds, base, epoch = list(head["kinds"]), head.pop("base"), head.pop("epoch_ns")
    for one in makers.values():
        one["kind"] = kinds[one["kind"]]
    head.update(
        ns=max(0, written - head["begun"]),
        keyvals=[one for one in makers.values() if one["created"]],
        attached=[],
        made=[],
        most_alive={},
        misuse=misuse,
        addresses=addresses,
    )
    if events:
        head["trace"] = trace(events, {place + base: one for place, one in makers.items()})
        head["trace"].update(epoch_ns=epoch, dropped=taken - len(head["trace"]["events"]))
    for one in makers.values():
        del one["callbacks"]
    return json.dumps(head).encode()


def place(block, at, addresses):
    name, path, in_file = LOCATED.unpack_from(block, at)
    if text(path):
        addresses[text(name)] = [text(path), in_file]
    return text(name)


def maker(block, addresses):
    numbers = COUNTERS.unpack_from(block)
    one = dict(zip(LATER, numbers[131:]), created=numbers[0], freed=numbers[1], sets=numbers[2])
    one.update(gets=sum(numbers[3:131:8]), absent=sum(numbers[4:131:8]), attached=0)
    one["leaked"] = max(0, one["created"] - one["freed"])
    made_at = place(block, COUNTERS.size, addresses)
    library, copy, delete, caller, kind = NAMES.unpack_from(block, COUNTERS.size + LOCATED.size)
    one.update(
        kind=kind,
        library=text(library),
        function=text(caller) or text(delete) or text(copy),
        has_delete_fn=bool(text(delete)),
        named_by="caller" if text(caller) else "callback",
        made_at=made_at,
        leaked_at={},
        callbacks={5: text(copy), 6: text(delete)},  # by What (lib/mpi/recording/trace.h)
    )
    return one


def sighting(block, misuse, addresses):
    times = struct.unpack_from("<Q", block)[0]
    name, what, rule = map(text, SIGHTING.unpack_from(block, 8 + LOCATED.size))
    one = misuse.setdefault(name, {"times": 0, "what": what, "rule": rule, "places": {}})
    one["times"] += times
    there = place(block, 8, addresses)
    if there:
        one["places"][there] = one["places"].get(there, 0) + times


def trace(events, makers):
    names, made = {}, []
    for written, maker_, start, duration, thread, keyval, code, kind, what in events:
        if not written:
            continue
        one = makers.get(maker_)
        name = one["callbacks"].get(what) or one["function"] if one else ""
        name = one["library"] + name if name.startswith("+") else name
        number = names.setdefault(name, len(names))
        made.append([start, duration, thread, what, number, kind, keyval, code])
    return {"events": made, "names": list(names)}
