# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What is wanted of reports, and where the ranks' documents come together; tools/report makes the reports of them."""

import os
import shutil
import subprocess
import sys
import threading

from words import die, say


def maker(here):
    for folder in (here + "/report", here + "/../share/attrcache/report"):
        file = os.path.realpath(os.path.join(folder, "report.py"))
        if os.path.isfile(file):
            prefix = getattr(sys, "pycache_prefix", None)
            return [sys.executable, "-E", "-s"] + (["-X", "pycache_prefix=" + prefix] if prefix else ["-B"]) + [file]
    die("there is no report/report.py beside %s, which makes reports" % here)


def options(wanted):
    """What is wanted, as options of report.py."""
    made = []
    for name in wanted.report:
        kind = {".html": "--page", ".json": "--json"}.get(os.path.splitext(name)[1], "--text")
        made += [kind, name]
    if wanted.compare_ is not None:
        made += ["--compare", wanted.compare_]
    return made + (["--trace", wanted.trace_] if wanted.trace_ else [])


def from_file(here, wanted):
    if wanted.command:
        die("--from runs nothing, but there is a command: " + " ".join(wanted.command))
    if not wanted.report and wanted.compare_ is None:
        die("--from wants --report or --compare OLD.json")
    if wanted.trace_ and not os.path.isfile(wanted.trace_) and not os.path.isdir(wanted.from_):
        die("--trace=%s: there is no such file" % wanted.trace_)
    command = maker(here) + options(wanted) + ["--from", wanted.from_]
    os.environ["LD_PRELOAD"] = ""
    os.execv(command[0], command)


def spool():
    """A folder that other hosts are likely to see; "" if there is none that we may write to."""
    for folder in (os.getcwd(), os.environ.get("HOME", "")):
        if folder and os.access(folder, os.W_OK):
            return folder
    return ""


def elsewhere():
    """Where there may be room when there is none in the working folder."""
    return [os.environ.get("TMPDIR", "/tmp"), "/dev/shm"]


def lay_down(folder, documents, number=0):
    for document in documents:
        with open(os.path.join(folder, "%d.json" % number), "wb") as file:
            file.write(document)
        number += 1


def laid_down(documents, folders):
    """A new folder with the documents: in the first of the folders that has room for them. None if none has."""
    import tempfile

    for folder in folders:
        there = None
        try:
            there = tempfile.mkdtemp(prefix=".attrcache.", dir=folder)
            lay_down(there, documents)
            return there
        except OSError as failed:
            error = failed
            if there:
                shutil.rmtree(there, ignore_errors=True)
    say("no report: what the ranks have handed over can't be written to %s: %s" % (", ".join(folders), error.strerror))
    return None


class Reports:
    """The reports of a run. Before it begins, so that a wrong name costs no run, it is seen whether there is an earlier
    report to compare with."""

    def __init__(self, here, wanted):
        self.any = bool(options(wanted))
        if not self.any:
            return
        self.command = maker(here) + options(wanted)
        self.words = wanted.command
        if wanted.compare_ is not None:
            sys.path.append(os.path.dirname(self.command[-len(options(wanted)) - 1]))
            import reading

            try:
                reading.read(wanted.compare_)
            except reading.Bad as error:
                die(str(error))

    def settings(self, wanted):
        """What the ranks are told: that they are to count, and to keep a timeline."""
        if self.any:
            os.environ["ATTRCACHE_REPORT"] = "launcher"
            os.environ["ATTRCACHE_TRACE"] = "yes" if {"--trace", "--page"} & set(self.command) else ""

    def make(self, documents):
        """Of the ranks' documents."""
        if not documents:
            say("no report: no rank has handed anything over")
            return
        there = laid_down(documents, [spool() or "."] + elsewhere())
        if there and self.make_of(there):
            shutil.rmtree(there)

    def make_of(self, folder):
        """Of the documents in a folder, which stay there if it can't be done."""
        words = ["--word=" + word for word in self.words]
        made = subprocess.run(self.command + words + ["--from", folder], stdin=subprocess.DEVNULL)
        if made.returncode != 0:
            say("what the ranks have handed over is kept: " + folder)
        return made.returncode == 0

    def tell_missing(self, hellos, documents):
        """Which ranks were heard of at their beginning, but have handed nothing over at their end."""
        came = {message.who() for message in documents}
        gone = [hello for hello in hellos if hello.who() not in came and "declined" not in hello.fields]
        if gone:
            names = ["%s on %s" % (hello.fields.get("rank", "?"), hello.fields.get("host", "?")) for hello in gone]
            more = " and %d more" % (len(names) - 8) if len(names) > 8 else ""
            say("the report lacks rank %s%s: killed, or ended without MPI_Finalize" % (", ".join(names[:8]), more))


class Parts:
    """The ranks' parts of a report. They are kept until all have come; from when we may be ended ourselves before that,
    in a folder."""

    def __init__(self):
        self.bodies = []
        self.folder = None
        self.lock = threading.Lock()  # parts are taken by another thread

    def take(self, message):
        """A part that has come; its process waits until this returns."""
        with self.lock:
            self.bodies.append(message.body)
            try:
                if self.folder:
                    lay_down(self.folder, [message.body], len(self.bodies) - 1)
            except OSError:
                pass  # it is tried elsewhere when the command has ended

    def endangered(self):
        with self.lock:
            if self.folder:
                return
            self.folder = laid_down(self.bodies, [spool() or "."] + elsewhere())
        if self.folder:
            say("if no report follows, this makes one: attrcache-run --report --from " + self.folder)

    def end(self, wants, messages, _):
        """When the command has ended."""
        documents = [message for message in messages if message.what == "report"]
        wants.make([message.body for message in documents])
        wants.tell_missing([message for message in messages if message.what == "hello"], documents)
        if self.folder:
            shutil.rmtree(self.folder)
