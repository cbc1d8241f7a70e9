# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Collects messages from each process that initializes MPI under an interposer, at its beginning and at its end.

A process connects to a port of this machine, sends one message, and closes. If it can't connect, it leaves the same bytes
as a file in a folder that both see, if there is one (kept.py). If it sees the folder, it always leaves its part of the
report there. ATTRCACHE_LAUNCHER in its environment says where:

    TOKEN@FOLDER@BOOT@PORT@ADDRESS@ADDRESS...

without any character that has a meaning in shells, launchers' lists or command lines. BOOT identifies the kernel that
we run on: only processes on the same kernel may use the loopback address. A message is

    attrcache TOKEN WHAT
    NAME VALUE                      (lines: host, pid, asked, rank, size, world, ...; length of the bytes that follow)
    (an empty line)
    (bytes)

and a message with bytes is answered by "ok". (lib/mpi/report/hello.h and lib/mpi/handover/channel.h are the other side.)
"""

import os
import re
import selectors
import socket
import threading
import time

from words import die, say

MOST = 1 << 31  # the bytes of a message, at most
# How long to wait, once the command has ended, for ranks that have said hello (seconds).
PATIENCE = 3.0


def addresses():
    """This machine's addresses, the most likely to be reachable first."""
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
    """The path, with %XX for each character that might be special to a shell or launcher."""
    return re.sub(rb"[^\w./-]", lambda found: b"%%%02x" % ord(found.group()), os.fsencode(path)).decode()


class Message:
    """A message from a process: `what` it is, its `fields` and `body`."""

    def __init__(self, what, fields, body):
        self.what = what
        self.fields = fields
        self.body = body

    def number(self, name):
        value = self.fields.get(name, "")
        return int(value) if value.isdigit() else -1

    def process(self):
        """The name of the process's files."""
        return ".".join(self.fields.get(name, "").replace("/", "_") for name in ("host", "pid", "asked"))

    def may_run(self):
        """Whether the process may still run, as far as that can be seen from here."""
        here = self.fields.get("host") == socket.gethostname()
        return not here or os.path.exists("/proc/" + self.fields.get("pid", ""))


def ranks(messages, most=8):
    """The senders of messages, for a line that people read."""
    messages = sorted(messages, key=lambda message: message.number("rank"))
    named = ["%s on %s" % (one.fields.get("rank", "?"), one.fields.get("host", "?")) for one in messages]
    more = " and %d more" % (len(named) - most) if len(named) > most else ""
    return "rank%s %s%s" % ("s" if len(named) > 1 else "", ", ".join(named[:most]), more)


def parse(data, token):
    """The message in some bytes; None as long as it is incomplete. Raises ValueError if it isn't one of ours."""
    if len(data) < 4096 and not data.startswith(b"attrcache ") and not b"attrcache ".startswith(data):
        raise ValueError
    head, empty, _ = bytes(data[:65536]).partition(b"\n\n")
    if not empty:
        if len(data) > 65536:
            raise ValueError
        return None
    # Fields may be printed later, and must not control a terminal.
    first, *lines = re.sub(r"[^\n\x20-\x7e\xa0-\U0010ffff]", "?", head.decode(errors="replace")).split("\n")
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
    """Listens from its creation on; start() begins to accept messages, end() stops. `take` is called, by another thread,
    with each message that has bytes, before it is answered. `lacking` says, given the messages so far, whether to wait
    for more when the command has ended."""

    def __init__(self, token, folder="", take=None, lacking=None):
        self.token = token
        self.folder = folder
        self._lacking = lacking or (lambda messages: False)
        self.messages = []
        self._take = take
        self._socket = self._listen()
        self._wake = os.pipe()
        self._thread = None

    def _listen(self):
        """Listens on a port of ATTRCACHE_PORTS (FIRST-LAST), for firewalls that admit only some; else on any."""
        wanted = os.environ.get("ATTRCACHE_PORTS") or "0"
        named = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?", wanted)
        ports = range(int(named.group(1)), int(named.group(2) or named.group(1)) + 1) if named else ()
        if not ports or ports[-1] > 65535:
            die("ATTRCACHE_PORTS=%s: not FIRST-LAST, ports up to 65535" % wanted)
        for family, host in ((socket.AF_INET6, "::"), (socket.AF_INET, "0.0.0.0")):
            for port in ports:
                try:
                    listening = socket.socket(family)
                    # The closed connections of an earlier run keep their port for a minute.
                    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    if family == socket.AF_INET6:
                        listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
                    listening.bind((host, port))
                    listening.listen(4096)
                    listening.setblocking(False)
                    return listening
                except OSError as error:
                    failure = error.strerror
        say(
            "can't listen%s: %s. Ranks that don't see this host's %s aren't counted"
            % (" on ATTRCACHE_PORTS=" + wanted if wanted != "0" else "", failure, self.folder or "files")
        )
        return None

    def setting(self):
        """The value of ATTRCACHE_LAUNCHER."""
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
        deadline, wait = None, 0
        while True:
            events = selector.select(wait if deadline else None)
            for key, _ in events:
                if key.fileobj is self._socket:
                    self._accept(selector)
                elif key.fileobj == self._wake[0]:
                    selector.unregister(self._wake[0])
                    deadline = time.monotonic() + PATIENCE
                else:
                    self._receive(selector, key)
            # A process that was connected when the command ended is in the queue, so its message is read to its end.
            if deadline and not events:
                if time.monotonic() > deadline or len(selector.get_map()) == 1 and not self._lacking(self.messages):
                    return
                wait = 0.02

    def _accept(self, selector):
        for _ in range(256):
            try:
                connection, _ = self._socket.accept()
            except BlockingIOError:
                return
            except OSError:  # too many open files: some are closed soon
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
                if message.body:
                    if self._take:
                        self._take(message)
                    key.fileobj.send(b"ok")
        except BlockingIOError:
            return
        except (OSError, ValueError):
            pass
        selector.unregister(key.fileobj)
        key.fileobj.close()

    def end(self):
        """Returns all messages, including those in the folder, each once."""
        os.close(self._wake[1])
        if self._thread:
            self._thread.join()
        for name in sorted(os.listdir(self.folder)) if self.folder else []:
            try:
                if name.endswith((".hello", ".spawned")):
                    with open(os.path.join(self.folder, name), "rb") as file:
                        self.messages += filter(None, [parse(file.read(), self.token)])
            except (OSError, ValueError):
                continue
        if self._socket:
            self._socket.close()
        return list({(message.what, message.process()): message for message in self.messages}.values())
