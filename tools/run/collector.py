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

Other users can reach the port, too, so the token is secret: it stands in the environment alone, which only its user can read.
Who doesn't send it at once is no rank, and all that is not a message as above is closed without an answer.
"""

import os
import re
import selectors
import socket
import threading
import time

import kept
from words import contents, die, say

# The most bytes of a message, and of its part before the empty line; the most messages; and the most connections that have
# not sent the token: the oldest of these makes room for another.
MOST, MOST_HEAD, MOST_MESSAGES, MOST_STRANGERS = 1 << 28, 1 << 14, 1 << 20, 256
# How long a connection may take to send the token, and may then send nothing (seconds).
SILENCE, STALLING = 2.0, 60.0
# How long to wait, once the command has ended, for ranks that have said hello (seconds).
PATIENCE = 3.0


def addresses():
    """This machine's addresses, the most likely to be reachable first."""
    found = re.findall(r"\|-- ([\d.]+)\n\s+/32 host LOCAL", contents("/proc/net/fib_trie"))
    for line in contents("/proc/net/if_inet6").splitlines():
        address, _, _, scope, *_ = line.split()
        if scope == "00":
            found.append(socket.inet_ntop(socket.AF_INET6, bytes.fromhex(address)))
    found = list(dict.fromkeys(found))
    local = [address for address in found if address.startswith("127.")]
    return ["127.0.0.1"] + [address for address in found if address not in local][:8]


def quoted(path):
    """The path, with %XX for each character that might be special to a shell or launcher."""
    return re.sub(rb"[^\w./-]", lambda found: b"%%%02x" % ord(found.group()), os.fsencode(path)).decode()


NUMBER = r"[0-9]{1,9}"
# What the fields of a message must be that are used later as numbers, or in the names of files.
FIELDS = {"host": r"[!-.0-~]{1,255}", "pid": NUMBER, "asked": "[0-9]{1,20}"}
FIELDS.update({"rank": NUMBER, "size": NUMBER, "length": NUMBER})
WHATS = ("hello", "spawned", "partial", "report")


class Message:
    """A message from a process: `what` it is, its `fields` and `body`. Raises ValueError if it isn't well-formed."""

    def __init__(self, what, fields, body):
        self.what = what
        self.fields = fields
        self.body = body
        for name, value in fields.items():
            if not re.fullmatch(FIELDS.get(name, ".*"), value, re.ASCII if name in FIELDS else re.DOTALL):
                raise ValueError(name)
        if what not in WHATS or self.number("length", 0) > MOST or self.number("rank") >= self.number("size", 1):
            raise ValueError(what)

    def number(self, name, none=-1):
        return int(self.fields.get(name) or none)

    def process(self):
        """The name of the process's files."""
        return ".".join(self.fields.get(name, "") for name in ("host", "pid", "asked"))

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


def begins(data, token):
    """Whether a message begins with the token of this run; None as long as that can't be told. Nothing is told of a part of
    the token, neither by an answer nor by the time that this takes, lest somebody guess one character after the other."""
    import hmac  # takes longer than most other imports together

    begin = b"attrcache %s " % token.encode()
    return hmac.compare_digest(data[: len(begin)], begin) if len(data) >= len(begin) else None


def parse(data, token):
    """The message in some bytes; None as long as it is incomplete. Raises ValueError if it isn't one of ours."""
    if not begins(data, token):
        if len(data) >= MOST_HEAD or begins(data, token) is False:
            raise ValueError
        return None
    head, empty, _ = bytes(data[:MOST_HEAD]).partition(b"\n\n")
    if not empty:
        if len(data) >= MOST_HEAD:
            raise ValueError
        return None
    first, *lines = head.decode(errors="replace").split("\n")
    message = Message(first.split(" ", 2)[2], dict(line.partition(" ")[::2] for line in lines), b"")
    begin, end = len(head) + 2, len(head) + 2 + message.number("length", 0)
    if len(data) < end:
        return None
    message.body = bytes(data[begin:end])
    if message.what == "spawned" and not re.fullmatch(NUMBER.encode(), message.body):
        raise ValueError
    return message


class Connection:
    """A connection, and what has come by it."""

    def __init__(self, of):
        self.socket = of
        self.data = bytearray()
        self.is_known = False  # whether it has sent the token
        self.until = time.monotonic() + SILENCE  # when it is closed

    def receive(self, token):
        """Reads what has come. Returns the message when it is complete, else None. Raises ValueError or OSError when nothing
        more is to be expected."""
        try:
            more = self.socket.recv(1 << 20 if self.is_known else MOST_HEAD)
        except BlockingIOError:
            return None
        self.data += more
        message = parse(self.data, token)
        if message is None and not more:
            raise ValueError
        if begins(self.data, token):
            self.is_known, self.until = True, time.monotonic() + STALLING
        return message


class Collector:
    """Listens from its creation on; start() begins to accept messages, end() stops. `take` is called, by another thread,
    with each message, before it is answered. `lacking` says, given the messages so far, whether to wait
    for more when the command has ended."""

    def __init__(self, token, folder="", take=None, lacking=None):
        self.token = token
        self.folder = folder
        self._lacking = lacking or (lambda messages: False)
        self._heard = {}  # messages, each once
        self._open = {}  # connections, the oldest first
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
        boot = contents("/proc/sys/kernel/random/boot_id").strip() or "-"
        where = [str(self._socket.getsockname()[1])] + addresses() if self._socket else []
        return "@".join([self.token, quoted(self.folder), boot] + where)

    def start(self):
        self._thread = threading.Thread(target=self._hear, daemon=True)
        self._thread.start()

    def _hear(self):
        if not self._socket:
            return
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._socket, selectors.EVENT_READ)
        self._selector.register(self._wake[0], selectors.EVENT_READ)
        deadline = None
        while True:
            # Often enough for the connections that time out.
            events = self._selector.select(0.02 if deadline else 0.25 if self._open else None)
            for key, _ in events:
                if key.fileobj is self._socket:
                    self._accept()
                elif key.fileobj == self._wake[0]:
                    self._selector.unregister(self._wake[0])
                    deadline = time.monotonic() + PATIENCE
                elif key.data in self._open:
                    self._receive(key.data)
            now = time.monotonic()
            for one in [one for one in self._open if one.until < now]:
                self._close(one)
            if deadline and now > deadline:
                return
            # A process that was connected when the command ended is in the queue, so its message is read to its end.
            if deadline and not events and not any(one.is_known for one in self._open) and not self._lacking(self.messages):
                return

    def _accept(self):
        for _ in range(256):
            try:
                connection = Connection(self._socket.accept()[0])
            except BlockingIOError:
                return
            except OSError:  # too many open files: one is closed, or all are of ranks, and some of these are closed soon
                if not self._make_room(0):
                    time.sleep(0.001)
                return
            self._make_room(MOST_STRANGERS - 1)
            connection.socket.setblocking(False)
            self._selector.register(connection.socket, selectors.EVENT_READ, connection)
            self._open[connection] = None

    def _make_room(self, most):
        """Closes the oldest of the connections that haven't sent the token, if there are that many, unless it has done so by
        now. Returns whether it did."""
        strangers = [one for one in self._open if not one.is_known]
        if len(strangers) <= most:
            return False
        self._receive(strangers[0])
        if strangers[0] in self._open and not strangers[0].is_known:
            self._close(strangers[0])
        return strangers[0] not in self._open

    def _receive(self, connection):
        try:
            message = connection.receive(self.token)
            if message is None:
                return
            key = message.what, message.process()
            if key in self._heard or len(self._heard) < MOST_MESSAGES:
                self._heard[key] = message
                is_awaited = bool(message.body)
                if self._take:
                    self._take(message)
                if is_awaited:
                    connection.socket.send(b"ok")
        except (OSError, ValueError):
            pass
        self._close(connection)

    def _close(self, connection):
        del self._open[connection]
        self._selector.unregister(connection.socket)
        connection.socket.close()

    @property
    def messages(self):
        return list(self._heard.values())

    def end(self):
        """Returns all messages, including those in the folder, each once."""
        os.close(self._wake[1])
        if self._thread:
            self._thread.join()
        for name in kept.names(self.folder) if self.folder else []:
            try:
                if name.endswith((".hello", ".spawned")):
                    message = parse(kept.content(os.path.join(self.folder, name), MOST), self.token)
                    if message:
                        self._heard.setdefault((message.what, message.process()), message)
            except (OSError, ValueError):
                continue
        if self._socket:
            self._socket.close()
        return self.messages
