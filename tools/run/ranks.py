# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The second form, in which a launcher starts attrcache-run once for each rank: which rank this is, and one report of all."""

import os
import re
import socket
import time

import kept
import reports
from words import contents, say

# How long rank 0 waits for the others, which finalize MPI together with it (seconds).
PATIENCE = 5.0

# What launchers set: the rank, the number of ranks, and the variables that together name the job.
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
    """(rank, ranks or None), or None if we weren't started for one rank of several: there is a launcher in the command, or
    one rank in all (a shell of srun's), or we are in a batch script, which has a SLURM_PROCID but no step."""
    for rank, size, *_ in KNOWN if command.launcher < 0 else ():
        if number(rank) is not None and not (rank == "SLURM_PROCID" and "SLURM_STEP_ID" not in os.environ):
            return (number(rank), number(size)) if number(size) != 1 else None
    return None


def mark(rank):
    return "rank %d on %s" % (rank[0], socket.gethostname())


def hydra():
    """The port of the mpiexec whose proxy has started us, and the number of the program; None if none has."""
    process = os.getppid()
    while process > 1:
        words = contents("/proc/%d/cmdline" % process).split("\0")
        if "--control-port" in words and "--pgid" in words:
            return ".".join(words[words.index(name) + 1] for name in ("--control-port", "--pgid"))
        parent = re.search(r"^PPid:\s*(\d+)", contents("/proc/%d/status" % process), re.MULTILINE)
        process = int(parent.group(1)) if parent else 0
    return None


def job(size):
    """A name that all ranks of this job have, and no other running job; in a container there may be none."""
    for rank, _, *names in KNOWN:
        named = hydra() if rank == "PMI_RANK" else ".".join(os.environ.get(name, "") for name in names)
        if number(rank) is not None and named and all(name in os.environ for name in names):
            return named
    return "of%s" % size


class Parts(reports.Parts):
    """One rank's part of the report. The ranks' attrcache-runs put their parts into one folder that all of them see, each
    in a subfolder of its own. The rank that finds all ranks ended makes the report."""

    def __init__(self, wants, rank, size):
        self.wants, self.rank, self.size = wants, rank, size
        self.homeless = {}
        self.mark = mark((rank, size))
        self.folder = wants.folder("%s/%d" % (re.sub(r"[^\w.-]", "_", job(size)), rank)) if wants.any else kept.Folder()
        self.all = os.path.dirname(self.folder.path)
        self.made = os.path.join(self.all, "made")
        self._clear()
        if rank == 0 and wants.tell_job(self.all):
            self._is_first()

    def _clear(self):
        """Removes what an earlier job of the same name has left, which ended before this same report."""
        try:
            if self.rank == 0 and kept.has_data(self.folder.path):
                say("the report replaces that of an ended job, whose data are removed: " + self.all)
            self.folder.clear()
            if self.rank == 0:
                for name in os.listdir(self.all):
                    path = os.path.join(self.all, name)
                    if name == "made" or self.size and name.isdigit() and int(name) >= self.size:
                        kept.set_aside(path, self.wants.targets)
                        kept.remove(path)
        except OSError:
            pass  # there is nothing, or it is another user's

    def take(self, message):
        super().take(message)
        if message.what == "partial":
            self.endangered()

    def report_now(self):
        """Prints a line on one rank alone, because all may have got the signal."""
        if self.rank == 0 and self.folder.path:
            self.wants.make_of(self.all)

    def endangered(self):
        if self.folder.path and self._is_first():
            when = "%s was ended early, and the others may be. If no report follows, " % self.mark
            say(when + self.wants.makes_it(self.all))

    def _is_first(self):
        """One rank prints what makes the report, for all ranks that see the same folder."""
        try:
            os.close(os.open(os.path.join(self.all, "told"), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            return True
        except OSError:
            return False

    def end(self, messages, ended):
        if not self.wants.any:
            return
        if self.homeless or not self._mark_end():
            there = self.wants.laid_down(self.homeless) if self.homeless else None
            more = "; it is kept: " + self.wants.makes_it(there) if there else ""
            say("%s: the report lacks it: it can't be written to %s%s" % (self.mark, self.all or os.getcwd(), more))
            return
        size = self.size or max((message.number("size") for message in messages), default=-1)
        if size < 0 or not self._all_ended(size):
            if ended.code != 0 and self.rank != 0:
                self.endangered()
            return
        try:
            os.mkdir(self.made)
        except OSError:
            return  # another rank has made it
        names = {rank: "".join(kept.names(os.path.join(self.all, str(rank)))) for rank in range(size)}
        lacking = sum(".json" not in name and ".kept" not in name for name in names.values())
        if lacking == size:
            say("no report: no rank has handed anything over")
        elif not self.wants.make_of(self.all):
            return
        elif lacking:
            say("the report lacks %d of %d ranks: killed, or ended without MPI_Finalize" % (lacking, size))
        self.folder.path = self.all
        self.folder.remove()

    def _mark_end(self):
        try:
            self.folder.open("ended", "w").close()
            return True
        except OSError:
            return False

    def _all_ended(self, size):
        """Whether all ranks have ended; rank 0 waits for that for some time."""
        until = time.monotonic() + (PATIENCE if self.rank == 0 else 0)
        while True:
            try:
                there = sum(os.path.exists(os.path.join(self.all, name, "ended")) for name in os.listdir(self.all))
            except OSError:
                return False  # another rank has made the report
            if there >= size:
                return True
            if time.monotonic() >= until:
                break
            time.sleep(0.05)
        if self.rank == 0:
            said = "no report yet: of %d of %d ranks nothing has come to %s. Does every host see it? For what is there, "
            say(said % (size - there, size, self.all) + self.wants.makes_it(self.all))
        return False
