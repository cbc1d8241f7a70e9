# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Hears of each process that initializes MPI under an interposer, and takes what it hands over at its end.

A process connects to a port of this machine, sends one message, and closes; or, where it can't connect, leaves the same
bytes as a file in a folder that both see, if there is one. ATTRCACHE_LAUNCHER in its environment says where:

    TOKEN@FOLDER@BOOT@PORT@ADDRESS@ADDRESS...

with none of the characters that shells, launchers' lists and command lines take for theirs. BOOT tells the kernel that
we run on: the loopback address is for processes on it alone. A message is

    attrcache TOKEN WHAT
    NAME VALUE                      (lines: host, pid, asked, rank, size, world, ...; length of the bytes that follow)
    (an empty line)
    (bytes)

and what has bytes is answered by "ok". (lib/mpi/report/hello.h and lib/mpi/handover/channel.h are the other side.)
"""

import os
import re
import selectors
import shutil
import socket
import threading
import time

from words import die

MOST = 1 << 31  # a message's bytes, and no more
# After the command has ended, what was sent before that is on its way still (seconds).
PATIENCE = 2.0


def addresses():
    """This machine's, the likeliest to be reached first."""
    found = []
    try:
        with open("/proc/net/fib_trie") as table:
            found = re.findall(r"\|-- ([\d.]+)\n\s+/32 host LOCAL", table.read())
        with open("/proc/net/if_inet6") as table:
            for line in table:
                address, _, _, scope, *_ = line.split()
                if scope == "00":
                    found.append(socket.inet_ntop(socket.AF_INET6, bytes.fromhex(address)))
    except OSError:
        pass
    found = list(dict.fromkeys(found))
    local = [address for address in found if address.startswith("127.")]
    return ["127.0.0.1"] + [address for address in found if address not in local][:8]


def boot():
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return "-"


def quoted(path):
    """With %XX for all characters that anybody might take for his."""
    return re.sub(rb"[^\w./-]", lambda found: b"%%%02x" % ord(found.group()), os.fsencode(path)).decode()


class Message:
    """What a process has sent: `what`, its `fields` and `body`."""

    def __init__(self, what, fields, body):
        self.what = what
        self.fields = fields
        self.body = body

    def number(self, name):
        value = self.fields.get(name, "")
        return int(value) if value.isdigit() else -1

    def who(self):
        return tuple(self.fields.get(name, "") for name in ("host", "pid", "asked", "rank", "world"))


def parse(data, token):
    """The message in some bytes; None as long as it isn't whole. Raises ValueError if it is none of ours."""
    if len(data) < 4096 and not data.startswith(b"attrcache ") and not b"attrcache ".startswith(data):
        raise ValueError
    head, empty, _ = bytes(data[:65536]).partition(b"\n\n")
    if not empty:
        if len(data) > 65536:
            raise ValueError
        return None
    first, *lines = head.decode(errors="replace").split("\n")
    words = first.split(" ")
    if len(words) != 3 or words[1] != token:
        raise ValueError
    fields = dict(line.partition(" ")[::2] for line in lines)
    length = int(fields.get("length", "0"))
    if not 0 <= length <= MOST:
        raise ValueError
    begin = len(head) + 2
    if len(data) < begin + length:
        return None
    return Message(words[2], fields, bytes(data[begin : begin + length]))


class Collector:
    """Listens from its creation on; start() begins to hear, end() stops it. `take` is called, by another thread, with
    each part of a report, before it is answered."""

    def __init__(self, folder, take=None):
        self.token = os.urandom(8).hex()
        self.folder = os.path.join(folder, ".attrcache-run." + self.token) if folder else ""
        self.messages = []
        self._take = take
        self._socket = self._listen()
        self._wake = os.pipe()
        self._thread = None

    def _listen(self):
        """On a port of ATTRCACHE_PORTS (FIRST-LAST), where a firewall lets some pass only; else on any."""
        wanted = os.environ.get("ATTRCACHE_PORTS") or "0"
        named = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?", wanted)
        ports = range(int(named.group(1)), int(named.group(2) or named.group(1)) + 1) if named else ()
        if not ports or ports[-1] > 65535:
            die("ATTRCACHE_PORTS=%s: not FIRST-LAST, ports up to 65535" % wanted)
        for family, host in ((socket.AF_INET6, "::"), (socket.AF_INET, "0.0.0.0")):
            for port in ports:
                try:
                    listening = socket.socket(family)
                    if family == socket.AF_INET6:
                        listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
                    listening.bind((host, port))
                    listening.listen(4096)
                    listening.setblocking(False)
                    return listening
                except OSError:
                    continue
        return None

    def setting(self):
        """What ATTRCACHE_LAUNCHER is to be."""
        where = [str(self._socket.getsockname()[1])] + addresses() if self._socket else []
        return "@".join([self.token, quoted(self.folder), boot()] + where)

    def start(self):
        self._thread = threading.Thread(target=self._hear, daemon=True)
        self._thread.start()

    def _hear(self):
        if not self._socket:
            return
        selector = selectors.DefaultSelector()
        selector.register(self._socket, selectors.EVENT_READ)
        selector.register(self._wake[0], selectors.EVENT_READ)
        deadline = None
        while True:
            events = selector.select(0.01 if deadline and len(selector.get_map()) > 1 else 0 if deadline else None)
            for key, _ in events:
                if key.fileobj is self._socket:
                    self._accept(selector)
                elif key.fileobj == self._wake[0]:
                    selector.unregister(self._wake[0])
                    deadline = time.monotonic() + PATIENCE
                else:
                    self._receive(selector, key)
            # Whoever was connected when the command ended is in the queue, and so is heard to its end.
            if deadline and not events and (len(selector.get_map()) == 1 or time.monotonic() > deadline):
                return

    def _accept(self, selector):
        for _ in range(256):
            try:
                connection, _ = self._socket.accept()
            except BlockingIOError:
                return
            except OSError:  # too many files: these are closed soon
                time.sleep(0.001)
                return
            connection.setblocking(False)
            selector.register(connection, selectors.EVENT_READ, bytearray())

    def _receive(self, selector, key):
        try:
            data = key.fileobj.recv(1 << 20)
            key.data.extend(data)
            message = parse(key.data, self.token)
            if message is None and data:
                return
            if message is not None:
                self.messages.append(message)
                if self._take and message.what == "report":
                    self._take(message)
                if message.body:
                    key.fileobj.send(b"ok")
        except BlockingIOError:
            return
        except (OSError, ValueError):
            pass
        selector.unregister(key.fileobj)
        key.fileobj.close()

    def end(self):
        """All messages, those in the folder included, each once; the folder is gone then."""
        os.close(self._wake[1])
        if self._thread:
            self._thread.join()
        for name in sorted(os.listdir(self.folder)) if os.path.isdir(self.folder) else []:
            try:
                with open(os.path.join(self.folder, name), "rb") as file:
                    message = parse(file.read(), self.token)
            except (OSError, ValueError):
                continue
            if message:
                self.messages.append(message)
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._socket:
            self._socket.close()
        once = {(message.what, message.who()): message for message in self.messages}
        return list(once.values())
