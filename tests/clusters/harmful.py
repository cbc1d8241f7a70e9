#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""harmful.py SEED TIMES [unknown]: sends what isn't well-formed to the collector that ATTRCACHE_LAUNCHER names, with the
secret; "unknown": without it."""

import os
import random
import socket
import sys


def message(random_, token):
    """A message with some of it changed."""
    fields = {"host": "nodea", "pid": str(random_.randrange(1, 10**6)), "asked": "5", "rank": "0", "size": "2", "world": "w"}
    fields["length"] = random_.choice("0223")
    odd = ["", "-1", "\u00b2", "9" * 5000, "999999999", "1e3", "../x", "a/b", "..", "\x1b]0;x\x07", "\u202e", "nan", "0x5", "\0", " 1"]
    odd += ["--help[", "n[1-99999999999]", "x" * 20000]
    for _ in range(random_.randrange(3)):
        name = random_.choice([*fields, "declined", "spawned", "left", "nodes", "x" * 300])
        fields[name] = random_.choice(odd)
    what = random_.choice(["hello", "hello", "report", "spawned", "partial", "", "x", "hello hello", "\u00e9" * 9])
    head = "".join("%s %s\n" % one for one in fields.items())
    data = bytearray(("attrcache %s %s\n%s\n" % (token, what, head)).encode("utf-8", "surrogatepass") + b"12\xff")
    for _ in range(random_.choice([0, 0, 1, 9])):
        at = random_.randrange(len(data))
        data[at : at + random_.randrange(3)] = bytes(random_.randrange(256) for _ in range(random_.randrange(3)))
    return bytes(data[: random_.choice([len(data), len(data), random_.randrange(len(data))])])


def send(port, data, cut):
    """What is answered to data that come in two pieces."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        try:
            connection.sendall(data[:cut])
            connection.sendall(data[cut:])
            connection.shutdown(socket.SHUT_WR)
            return connection.recv(2)
        except OSError:
            return b""


def main(seed, times, who=""):
    """Messages with other tokens must not be answered."""
    random_ = random.Random(seed)
    secret, _, _, port = os.environ["ATTRCACHE_LAUNCHER"].split("@")[:4]
    for _ in range(int(times)):
        other = random_.choice(["", "0" * 32, secret[:-1], secret + "f"])
        data = message(random_, other if who else secret)
        answer = send(int(port), data, random_.randrange(len(data) + 1))
        assert answer in ((b"",) if who else (b"", b"ok")), (data, answer)


if __name__ == "__main__":
    main(*sys.argv[1:])
