# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The folder that collects the ranks' data: what they hand over, and what they count while they run. It survives the ranks
(lib/mpi/handover/kept.h) and us: whatever is killed, `attrcache-run --from` finds all that is in the folder.

Its name is .attrcache-run.JOB.TOKEN, where JOB is the batch system's, and it lies beside the report.
"""

import errno
import fcntl
import itertools
import os
import re
import socket
import stat
import time

import trust
from words import say

PREFIX = ".attrcache-run."
OWNER = "owner"  # a file that stays locked while we run; it says what the run is to make of the data
# All that runs put into their folders, but for subfolders (ranks.py).
CONTENT = re.compile(r"owner|told|ended|.*\.\d*\.\d*\.(json|kept|hello|spawned|partial|report)(\.part)?", re.DOTALL)
# Variables in which batch systems name the job.
JOBS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID", "JOB_ID")


def batch_job():
    """The name of the batch job that we run in; "" if there is none."""
    return next((os.environ[name] for name in JOBS if os.environ.get(name)), "")


def is_first(mark):
    """Whether nobody has asked this before, as far as that can be remembered: for as long as there are fewer than 1000 others,
    and never for root."""
    folder = trust.cached("told")
    try:
        path = os.path.join(folder, "lines")
        lines = content(path, 1 << 20).decode().splitlines() if os.path.lexists(path) else []
        if folder and mark not in lines:
            with open(path + ".new", "w") as file:
                file.write("\n".join(lines[-999:] + [mark, ""]))
            os.replace(path + ".new", path)
        return not folder or mark not in lines
    except (OSError, ValueError):
        return True


def places(targets):
    """Places for the folder, the best first: with the reports, where other hosts are likely to see it, and where there may
    be room if there is none elsewhere."""
    found = [os.path.dirname(name) for name in targets if name.startswith("/") and not name.startswith("/dev/")]
    return found + [os.getcwd(), os.environ.get("HOME", "/"), os.environ.get("TMPDIR", "/tmp"), "/dev/shm"]


def is_ours(path):
    """Whether a file or folder (or a descriptor) belongs to this user and isn't a link, nor a folder that others may write
    to: others may put theirs where all may write."""
    try:
        there = os.fstat(path) if isinstance(path, int) else os.lstat(path)
    except OSError:
        return False
    is_shared = stat.S_ISDIR(there.st_mode) and there.st_mode & 0o022
    return there.st_uid == os.geteuid() and not stat.S_ISLNK(there.st_mode) and not is_shared


def names(folder):
    """What is in a folder: nothing if somebody has removed it, or its name."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def content(path, most):
    """What is in a file: not in a link, nor in a pipe, which could keep us waiting. Raises OSError or ValueError."""
    with open(path, "rb", opener=lambda name, how: os.open(name, how | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:
        there = os.fstat(file.fileno())
        if not stat.S_ISREG(there.st_mode) or there.st_size > most:
            raise ValueError(path)
        return file.read(most)


def make(path):
    """Makes a folder for this user alone, and its parents from the one with PREFIX on. Raises OSError."""
    above = os.path.dirname(path)
    if PREFIX in above:
        make(above)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not is_ours(path):
            raise PermissionError(errno.EPERM, "another user's", path) from None


def has_data(folder):
    """Whether a report could be made of what is in a folder."""
    return any(name.endswith((".json", ".kept", ".report")) for _, _, names in os.walk(folder) for name in names)


def set_aside(path, targets):
    """Moves away what an earlier job of the same name has left for another report, as from .attrcache-run.JOB/0 to
    .attrcache-run.JOB.1/0."""
    if not has_data(path) or targets and owner(path)["targets"] == list(targets):
        return
    job, rank = os.path.split(path)
    for i in itertools.count(1):
        there = os.path.join("%s.%d" % (job, i), rank)
        if not os.path.lexists(there):
            make(there)  # an empty folder, which is replaced
            os.rename(path, there)
            make(path)
            say("an earlier job with the same name has left what makes its report; it is now in " + os.path.dirname(there))
            return


def remove(folder):
    """Removes a run's folder; says whether it did. Where others may write, they can give its name to another folder of this
    user's: that one stays, and so does what no run has put there."""
    try:
        if not is_ours(folder) or not all(CONTENT.fullmatch(name) for _, _, names in os.walk(folder) for name in names):
            return False
        for _, folders, names, at in os.fwalk(folder, topdown=False):
            for name in filter(CONTENT.fullmatch, names):
                os.unlink(name, dir_fd=at)
            for name in folders:
                os.rmdir(name, dir_fd=at)
        os.rmdir(folder)
        return True
    except OSError:
        return False


class Folder:
    """A folder in the first place that allows it; `path` is "" if none does, or if it has no name. It is written by its
    descriptor, whatever others put in its place."""

    def __init__(self, name="", targets=(), owner=None):
        self.path = ""
        self.targets = targets
        self.lock = self.at = None
        for place in places(targets) if name else ():
            path = os.path.join(place, PREFIX + name)
            try:
                make(path)
                set_aside(path, targets)
                self.at = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
                if not is_ours(self.at):
                    self.at = os.close(self.at)
                    continue
                # Unbuffered: on a full disk, what is left in a buffer would make close() fail, too.
                self.lock = self.open(OWNER, "wb", 0)
                self.lock.write(repr(owner).encode())
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                if self.lock is None:
                    if self.at is not None:
                        self.at = os.close(self.at)
                    continue  # otherwise the disk is full or has no locks, and ranks may send their data
            self.path = path
            return

    def open(self, name, mode, buffering=-1):
        """Opens a file in it to be written. Raises OSError."""
        if self.at is None:  # else it would be the working folder
            raise FileNotFoundError(errno.ENOENT, "no folder", name)
        return open(
            name, mode, buffering, opener=lambda name, how: os.open(name, how | os.O_NOFOLLOW, 0o600, dir_fd=self.at)
        )

    def add(self, process, body):
        """Adds what a process has handed over. Raises OSError."""
        name = process + ".json"
        with self.open(name + ".part", "wb") as file:
            file.write(body)
        os.rename(name + ".part", name, src_dir_fd=self.at, dst_dir_fd=self.at)

    def clear(self):
        """Removes what is in it, but for its owner. Raises OSError."""
        for name in os.listdir(self.at) if self.path else ():
            if name != OWNER:
                os.unlink(name, dir_fd=self.at)

    def has(self, process, suffix="json"):
        return os.path.exists(os.path.join(self.path, process + "." + suffix))

    def remove(self):
        """Removes it, and what earlier runs that should have made the same reports have left, as these are there now. What
        could still be reported is mentioned."""
        if not self.path:
            return
        remove(self.path)
        if self.lock:
            self.lock.close()
        for path in left(os.path.dirname(self.path)):
            theirs = owner(path)["targets"]
            if not has_data(path) or theirs and set(theirs) <= set(self.targets):
                had_data = has_data(path)
                if remove(path) and had_data:
                    say("the report replaces that of an ended run, whose data are removed: " + path)


def left(place, running=False):
    """The folders in a place that runs have left which have ended; or of all that may still run, too."""
    paths = [os.path.join(place, name) for name in names(place) if name.startswith(PREFIX)]
    return [path for path in paths if is_ours(path) and (running or ended(path))]


def owner(folder):
    """The task of the run that made a folder: its words, the options of report.py, and the files that these name.
    Empty for another user's folder, which could name files of ours."""
    none = {"words": [], "options": [], "targets": [], "job": ""}
    for there, _, names in os.walk(folder):
        try:
            if OWNER in names and is_ours(there) and is_ours(os.path.join(there, OWNER)):
                import ast

                text = content(os.path.join(there, OWNER), 1 << 24).decode()
                return dict(none, **ast.literal_eval(text))
        except (OSError, ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            pass
    return none


def runs(host, process, file):
    """Whether a process may still run. On another host, we assume so for a day."""
    if host == socket.gethostname():
        return os.path.exists("/proc/" + process)
    return os.stat(file).st_mtime > time.time() - 86400


def ended(folder):
    """Whether no process uses the folder any more, as far as that can be seen from here."""
    locks = []
    try:
        for there, _, names in os.walk(folder):
            for name in names:
                host, _, process = name.rpartition(".")[0].rpartition(".")[0].rpartition(".")
                if name == OWNER:
                    locks.append(open(os.path.join(there, name)))
                    fcntl.flock(locks[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
                elif name.endswith(".kept") and runs(host, process, os.path.join(there, name)):
                    return False
    except OSError:
        return False
    finally:
        for lock in locks:
            lock.close()
    return bool(locks)
