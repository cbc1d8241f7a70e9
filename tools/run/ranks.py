# SPDX-License-Identifier: Apache-2.0 OR MIT
"""For whom a launcher has started us, once for each rank: which rank that is, and one report of all ranks."""

import os
import re
import shutil
import socket
import time

import reports
from words import say

# How long rank 0 waits for the others, which have finalized MPI with it (seconds).
PATIENCE = 5.0

# What launchers set: the rank, the number of ranks, and what together names the job, the same for all of its ranks.
KNOWN = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MPISPAWN_MPIRUN_HOST", "MPIRUN_ID"),
    ("PALS_RANKID", "PALS_SIZE", "PALS_APID"),
    ("FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_JOB_ID"),
    ("JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "LSB_JOBID", "PMIX_NAMESPACE"),
    ("ALPS_APP_PE", "PMI_SIZE", "ALPS_APP_ID"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID", "SLURM_STEP_ID"),
    ("PMIX_RANK", None, "PMIX_NAMESPACE"),
)


def number(name):
    value = os.environ.get(name or "", "")
    return int(value) if value.isdigit() else None


def mine(command):
    """(rank, ranks or None), or None if it wasn't one rank that we were started for: there is a launcher in the
    command, or one rank in all (a shell of srun's), or a batch script, which has a SLURM_PROCID, but no step."""
    for rank, size, *_ in KNOWN if command.launcher < 0 else ():
        if number(rank) is not None and not (rank == "SLURM_PROCID" and "SLURM_STEP_ID" not in os.environ):
            return (number(rank), number(size)) if number(size) != 1 else None
    return None


def mark(rank):
    return "rank %d on %s" % (rank[0], socket.gethostname())


def hydra():
    """Where the mpiexec listens whose proxy has started us, and which of its programs this is; None if none has."""
    process = os.getppid()
    try:
        while process > 1:
            with open("/proc/%d/cmdline" % process) as file:
                words = file.read().split("\0")
            if "--control-port" in words and "--pgid" in words:
                return ".".join(words[words.index(name) + 1] for name in ("--control-port", "--pgid"))
            with open("/proc/%d/stat" % process) as file:
                process = int(file.read().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        pass
    return None


def job(size):
    """A name that all ranks of this job have, and no other job that runs; from a container none may be seen."""
    for rank, _, *names in KNOWN:
        named = hydra() if rank == "PMI_RANK" else ".".join(os.environ.get(name, "") for name in names)
        if number(rank) is not None and named and all(name in os.environ for name in names):
            return named
    return "of%s" % size


class Parts:
    """The part of the report of one rank of several, whose attrcache-runs bring theirs together in a folder that all of
    them see: RANK-PID.json as soon as it has come, since a launcher that ends a job ends us, too, and RANK.ended. Who
    sees all of these makes the report."""

    def __init__(self, rank, size):
        self.rank, self.size = rank, size
        self.mark = mark((rank, size))
        self.folder = os.path.abspath(
            os.path.join(reports.spool(), ".attrcache-ranks." + re.sub(r"[^\w.-]", "_", job(size)))
        )
        self.made = os.path.join(self.folder, "made")
        self.taken = set()
        self.unwritten = []  # the parts that can't be there
        self.error = None
        # An earlier job's of the same name, which was ended before its report.
        try:
            for name in os.listdir(self.folder):
                whose = int(re.match(r"\d*", name).group() or 0) if name != "made" else -1
                if whose == rank or (rank == 0 and size and whose >= size):
                    os.unlink(os.path.join(self.folder, name))
            if rank == 0:
                os.rmdir(self.made)
        except OSError:
            pass  # there is none, or it is somebody else's

    def take(self, message):
        """A part that has come; its process waits until this returns."""
        self.taken.add(message.who())
        try:
            self._write("%d-%s.json" % (self.rank, message.fields.get("pid", "")), message.body)
        except OSError as error:
            self.unwritten.append(message.body)
            self.error = error
        if b'"partial":true' in message.body[:1000]:
            self.tell_once()

    def endangered(self):
        """We may be ended soon."""
        self.tell_once()

    def tell_once(self):
        """One rank says this for all, as far as they see the same folder."""
        try:
            os.makedirs(self.folder, exist_ok=True)
            os.close(os.open(os.path.join(self.folder, "told"), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except OSError:
            return
        say(
            "%s was ended early, and the others may be. If no report follows, this makes one of what they have handed "
            "over: attrcache-run --report --from %s" % (self.mark, self.folder)
        )

    def _write(self, name, data):
        os.makedirs(self.folder, exist_ok=True)
        path = os.path.join(self.folder, name)
        with open(path + ".making", "wb") as file:
            file.write(data)
        os.rename(path + ".making", path)

    def end(self, wants, messages, ended):
        """When this rank has ended."""
        for message in messages:
            if message.what == "report" and message.who() not in self.taken:
                self.take(message)
        try:
            self._write("%d.ended" % self.rank, b"")
        except OSError as error:
            self.error = error
        if self.error:
            there = reports.laid_down(self.unwritten, reports.elsewhere()) if self.unwritten else None
            say(
                "%s: the report lacks it: %s: %s%s"
                % (self.mark, self.folder, self.error.strerror, "; it is kept: " + there if there else "")
            )
            return
        size = self.size or max((message.number("size") for message in messages), default=-1)
        if size < 0 or not self._all_ended(size):
            if ended.code != 0:
                self.tell_once()
            return
        try:
            os.mkdir(self.made)
            came = {name.partition("-")[0] for name in os.listdir(self.folder) if name.endswith(".json")}
        except OSError:
            return  # another one has made it
        if not came:
            say("no report: no rank has handed anything over")
        elif not wants.make_of(self.folder):
            return
        lacking = size - len(came)
        if came and lacking:
            say("the report lacks %d of %d ranks: killed, or ended without MPI_Finalize" % (lacking, size))
        shutil.rmtree(self.folder, ignore_errors=True)

    def _all_ended(self, size):
        """Whether all have, for which rank 0 waits some time."""
        until = time.monotonic() + (PATIENCE if self.rank == 0 else 0)
        while True:
            try:
                there = sum(name.endswith(".ended") for name in os.listdir(self.folder))
            except OSError:
                return False  # another one has made the report
            if there >= size:
                return True
            if time.monotonic() >= until:
                break
            time.sleep(0.05)
        if self.rank == 0:
            say(
                "no report yet: of %d of %d ranks nothing has come to %s. Does every host see it? "
                "attrcache-run --report --from %s makes one of what is there"
                % (size - there, size, self.folder, self.folder)
            )
        return False
