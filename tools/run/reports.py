# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Which reports are to be made, and where the ranks' documents are collected. tools/report makes reports from them."""

import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

import collector
import counting
import kept
import trust
from words import die, printable, say


def maker(here):
    for folder in (here + "/report", here + "/../share/attrcache/report"):
        file = os.path.realpath(os.path.join(folder, "report.py"))
        if os.path.isfile(file):
            prefix = trust.cached("bytecode")
            return [sys.executable, "-E", "-s"] + (["-X", "pycache_prefix=" + prefix] if prefix else ["-B"]) + [file]
    die("there is no report/report.py beside %s, which makes reports" % here)


def options(wanted):
    """The reports that are to be made, as options of report.py."""
    made = []
    for name in wanted.report:
        kind = {".html": "--page", ".json": "--json"}.get(os.path.splitext(name)[1], "--text")
        made += [kind, name]
    if wanted.compare_ is not None:
        made += ["--compare", wanted.compare_]
    return made + (["--trace", wanted.trace_] if wanted.trace_ else [])


def known(owner, **more):
    """What is known about the run, in report.py's format."""
    import json

    words = [str(word) for word in owner.get("words", ())]
    return json.dumps(dict(more, command=" ".join(map(shlex.quote, words)), job=owner.get("job", "")))


def from_file(here, wanted):
    try:
        (os.listdir if os.path.isdir(wanted.from_) else os.stat)(wanted.from_)
    except OSError as error:
        die("%s can't be read: %s" % (wanted.from_, error.strerror))
    if wanted.command:
        die("--from runs nothing, but there is a command: " + " ".join(wanted.command))
    owner = kept.owner(wanted.from_) if os.path.isdir(wanted.from_) else {"options": []}
    # By default, what the run was to make.
    asked = options(wanted) or owner["options"]
    if not wanted.report and wanted.compare_ is None and not asked:
        die("--from needs --report or --compare OLD.json")
    if wanted.trace_ and not os.path.isfile(wanted.trace_) and not os.path.isdir(wanted.from_):
        die("--trace=%s: there is no such file" % wanted.trace_)
    command = maker(here) + asked + ["--run", known(owner), "--from", wanted.from_]
    os.environ["LD_PRELOAD"] = ""
    os.execv(command[0], command)


def left(here, wanted):
    """Lists, or removes, what ended runs have left in this folder."""
    for folder in kept.left(os.getcwd(), not wanted.remove_left_):
        if wanted.remove_left_:
            done = "removed " if kept.remove(folder) else "not removed, since not all in it is a run's: "
            print(done + printable(folder))
        elif kept.has_data(folder):
            command = " ".join(map(shlex.quote, map(str, kept.owner(folder)["words"])))
            makes_it = " ".join(map(shlex.quote, [program(here), "--from", folder]))
            makes_it += "" if kept.owner(folder)["options"] else " --report"
            command = printable(command) + ("" if kept.ended(folder) else " (may still run)")
            print("%s: %s\n  %s" % (time.ctime(os.stat(folder).st_mtime), command, makes_it))
    return 0


def program(here):
    """How this program is called, wherever that is done."""
    ours = os.path.join(here, "attrcache-run")
    return "attrcache-run" if os.path.realpath(shutil.which("attrcache-run") or "") == ours else ours


class Reports:
    """The reports of a run. An earlier report to compare with is read before the run begins, so that a wrong name fails
    at once."""

    def __init__(self, here, wanted):
        self.options = options(wanted)
        self.any = bool(self.options)
        self.targets = [name for name in wanted.report + [wanted.trace_] if name and name != "-"]
        self.owner = {"words": wanted.command, "options": self.options, "job": kept.batch_job(), "targets": self.targets}
        if wanted.compare_ is not None:  # which may be made in another folder
            wanted.compare_ = os.path.abspath(wanted.compare_)
            self.owner["options"] = options(wanted)
        self.wanted, self.here = wanted, here
        if not self.any:
            return
        self.command = maker(here)
        if wanted.compare_ is not None:
            sys.path.append(os.path.dirname(self.command[-1]))
            import reading

            try:
                reading.read(wanted.compare_)
            except reading.Bad as error:
                die(str(error))

    def folder(self, name):
        return kept.Folder(name, self.targets, self.owner)

    def makes_it(self, folder, elsewhere=False):
        """The command that makes the reports of a folder later, wherever it is run. Where the folder can't say which these
        are, the command does, and where they can't be written (`elsewhere`), it names another place."""
        words = [program(self.here), "--from", folder]
        if elsewhere or not kept.owner(folder)["options"]:
            moved = self.elsewhere() if elsewhere else {}
            names = [moved.get(name, name) for name in self.wanted.report]
            words += ["--report" if name == "-" else "--report=" + name for name in names]
            words += ["--compare", self.wanted.compare_] if self.wanted.compare_ is not None else []
            words += ["--trace", moved.get(self.wanted.trace_, self.wanted.trace_)] if self.wanted.trace_ else []
        return "on %s this makes it: %s" % (socket.gethostname(), " ".join(map(shlex.quote, words)))

    def tell_job(self, folder):
        """Says at the beginning of a batch job's first run in a place what to do should the job be ended. Returns whether it
        did."""
        place = os.path.dirname(folder)
        if not folder or not kept.batch_job() or not kept.is_first(kept.batch_job() + " " + place):
            return False
        say("should the job be ended before the report is there, " + self.makes_it(folder))
        listing = "cd %s && %s --left" % (shlex.quote(place), shlex.quote(program(self.here)))
        say("should it be ended in a later run, this says what makes that report: " + listing)
        return True

    def elsewhere(self):
        """Where there is room for the reports, as {name: new name}, in place of nothing."""
        for place in kept.places([]):
            moved = {name: os.path.join(place, os.path.basename(name)) for name in self.targets}
            if has_room(place) and not any(map(os.path.lexists, moved.values())):
                return moved
        return {}

    def laid_down(self, documents, files=()):
        """A new folder with documents and files, for when there is no room in the working folder. None if there is room
        nowhere."""
        import tempfile

        error = None
        folders = [os.environ.get("TMPDIR", "/tmp"), "/dev/shm"]
        for folder in folders:
            there = None
            try:
                there = tempfile.mkdtemp(prefix=kept.PREFIX, dir=folder)
                for name in files:
                    with open(name, "rb") as file, open(os.path.join(there, os.path.basename(name)), "xb") as copy:
                        shutil.copyfileobj(file, copy)
                for process, document in documents.items():
                    with open(os.path.join(there, process + ".json"), "xb") as file:
                        file.write(document)
                with open(os.path.join(there, kept.OWNER), "x") as file:
                    file.write(repr(self.owner))
                return there
            except OSError as failed:
                error = failed
                if there:
                    kept.remove(there)
        say("no report: what the ranks have handed over can't be written to %s: %s" % (", ".join(folders), error.strerror))
        return None

    def settings(self):
        """Makes the ranks count, and keep a timeline."""
        if self.any:
            os.environ["ATTRCACHE_REPORT"] = "launcher"
            os.environ["ATTRCACHE_TRACE"] = "yes" if {"--trace", "--page"} & set(self.options) else ""

    def make_of(self, folder, **more):
        """Makes the reports from what is in a folder, which stays if that fails. `more` is known about the run.
        Returns whether it succeeded."""
        command = self.command + self.options + ["--run", known(self.owner, **more), "--from", folder]
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        made = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, mask),
        )
        if made.returncode != 0:
            say("what the ranks have handed over is kept; " + self.makes_it(folder, True))
        return made.returncode == 0


def has_room(place):
    """Whether a report can be written to a folder, as far as that can be tried with a megabyte."""
    import tempfile

    try:
        with tempfile.TemporaryFile(dir=place) as file:
            os.posix_fallocate(file.fileno(), 0, 1 << 20)
        return True
    except OSError:
        return False


class Parts:
    """The ranks' parts of a report, in a folder from the time when they begin to count."""

    token = ""  # the run's; "" if each rank has an attrcache-run of its own

    def __init__(self, wants, token):
        self.wants = wants
        self.token = token
        # Other users may see the folder's name, so the token isn't in it.
        self.folder = wants.folder(".".join(filter(None, (kept.batch_job(), os.urandom(8).hex()))))
        self.homeless = {}  # parts that didn't fit into the folder
        self.told = wants.any and wants.tell_job(self.folder.path)

    def makes_it(self):
        return self.wants.makes_it(self.folder.path)

    def take(self, message):
        """Takes a message of a process, which waits until this returns."""
        if message.what != "report":
            return
        try:
            self.folder.add(message.process(), message.body)
            message.body = b""
        except OSError:
            self.homeless[message.process()] = message.body

    def endangered(self):
        """Called when we may be killed soon."""
        if self.wants.any and self.folder.path and not self.told:
            self.told = True
            say("if no report follows, " + self.makes_it())

    def report_now(self):
        """Makes the reports of what was done until now, while the ranks run."""
        if self.wants.any and self.folder.path:
            self.wants.make_of(self.folder.path)
        else:
            say("no report now: " + ("there is no folder that keeps what ranks count" if self.wants.any else "none is wanted"))

    def came(self, hello):
        return hello.process() in self.homeless or self.folder.has(hello.process())

    def lacking(self, messages):
        """Whether ranks that have said hello have handed nothing over, and may still do so; or whether some may still
        say hello, as those of a launcher that a script has left in the background."""
        hellos = [message for message in messages if message.what == "hello" and "declined" not in message.fields]
        waiting = any(not self.came(hello) and hello.may_run() for hello in hellos)
        return self.wants.any and (waiting or self.token and not messages and any(counting.processes(self.token)))

    def end(self, messages, ended):
        """Called when the command has ended."""
        if self.wants.any:
            self.make(messages, ended.code)
        if self.lacking(messages) and ended.code == 0:
            say("what the command has started still runs; when it has ended, " + self.makes_it())
        else:
            self.folder.remove()

    def make(self, messages, code):
        there = self.folder.path
        names = kept.names(there) if there else []
        data = [os.path.join(there, name) for name in names if name.endswith((".json", ".kept"))]
        for file in data:
            try:
                if file.endswith(".kept"):
                    os.utime(file, follow_symlinks=False)  # its time says when counting ended
            except OSError:
                pass  # its process has just ended by itself
        if not data and not self.homeless:
            say("no report: no rank has handed anything over")
            return
        if self.homeless:
            there = self.wants.laid_down(self.homeless, data)
        # Ranks that were heard of at their beginning, but handed nothing over at their end.
        gone = [
            hello
            for hello in messages
            if hello.what == "hello" and not self.came(hello) and "declined" not in hello.fields
        ]
        counted = [hello for hello in gone if self.folder.has(hello.process(), "kept")]
        lost = [hello for hello in gone if hello not in counted]
        heard = [[hello.number("rank"), hello.number("size"), hello.fields.get("host", "")] for hello in lost[:1000]]
        if there and not self.wants.make_of(there, exit_code=code, heard=heard):
            if there == self.folder.path:
                self.folder.path = ""  # it stays
            return
        if there and there != self.folder.path:
            kept.remove(there)
        for names, said in ((counted, "has what was counted until the end of"), (lost, "lacks")):
            if names:
                say("the report %s %s: killed, or ended without MPI_Finalize" % (said, collector.ranks(names)))
