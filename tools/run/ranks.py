# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Whether we were started for one rank, by a launcher, and for which; from what launchers set."""

import os
import re
import shutil
import socket
import time

from words import say

# How long rank 0 waits for the parts of the others, which have finalized MPI with it (seconds).
PATIENCE = 5.0

# (rank, ranks, a name of the job that all of them have)
KNOWN = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "PMI_ID"),
    ("PALS_RANKID", "PALS_SIZE", "PALS_APID"),
    ("FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_JOB_ID"),
    ("JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "LSB_JOBID"),
    ("ALPS_APP_PE", "PMI_SIZE", "ALPS_APP_ID"),
    ("PMI_RANK", "PMI_SIZE", None),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", None),
    ("PMIX_RANK", None, "PMIX_NAMESPACE"),
)


def number(name):
    value = os.environ.get(name or "", "")
    return int(value) if value.isdigit() else None


def mine():
    """(rank, ranks or None), or None if no launcher started us. A batch script has a SLURM_PROCID, but no step."""
    for rank, size, _ in KNOWN:
        if number(rank) is not None and not (rank == "SLURM_PROCID" and "SLURM_STEP_ID" not in os.environ):
            return number(rank), number(size)
    return None


def mark():
    """Which rank speaks, and where; None if we are none."""
    found = mine()
    return "rank %d on %s" % (found[0], socket.gethostname()) if found else None


def job():
    """A name that all ranks of this job have, and no other job; None if there is none."""
    for rank, _, name in KNOWN:
        if number(rank) is not None and name and name in os.environ:
            return os.environ[name]
    if "SLURM_STEP_ID" in os.environ:
        return "%s.%s" % (os.environ.get("SLURM_JOB_ID"), os.environ["SLURM_STEP_ID"])
    try:  # Hydra's proxy, which has started us, was told where its mpiexec listens
        with open("/proc/%d/cmdline" % os.getppid()) as file:
            words = file.read().split("\0")
        return "%s.%s" % tuple(words[words.index(name) + 1] for name in ("--control-port", "--pgid"))
    except (OSError, ValueError):
        return None


def come(folder, size, wait):
    """The parts that have come to a folder, when all have, or else after so many seconds."""
    until = time.monotonic() + wait
    while True:
        there = [one for one in os.listdir(folder) if one.endswith(".json")]
        if len(there) >= size or time.monotonic() >= until:
            return there
        time.sleep(0.05)


def bring_together(wants, documents):
    """One report of all ranks, each of which has one like us. Each leaves its rank's documents in a folder that all of
    them see, and who sees all of them there makes the report. A rank's that has ended without one is empty."""
    rank, size = mine()
    name = job()
    size = size or max((message.number("size") for message in documents), default=None)
    if name is None or size is None or size == 1:
        wants.make([message.body for message in documents], os.getcwd())
        return
    folder = os.path.abspath(".attrcache-ranks." + re.sub(r"[^\w.-]", "_", name))
    own = os.path.join(folder, "%d.json" % rank)
    found = []
    try:
        os.makedirs(folder, exist_ok=True)
        with open(own + ".part", "wb") as file:
            file.write(documents[-1].body if documents else b"")
        os.rename(own + ".part", own)
        there = come(folder, size, PATIENCE if rank == 0 else 0)
        if len(there) < size:
            if rank == 0:
                say(
                    "no report yet: of %d of %d ranks nothing has come to %s. Does every host see it? "
                    "attrcache-run --from makes one of what is there" % (size - len(there), size, folder)
                )
            return
        os.mkdir(os.path.join(folder, "made"))  # by one only
        for one in there:
            with open(os.path.join(folder, one), "rb") as file:
                found.append(file.read())
    except (FileExistsError, FileNotFoundError):
        return  # another one has made it
    except OSError as error:
        say("%s: the report lacks it: %s: %s" % (mark(), error.filename or own, error.strerror))
        return
    wants.make([document for document in found if document], os.getcwd())
    lacking = found.count(b"")
    if lacking:
        say("the report lacks %d of %d ranks: killed, or ended without MPI_Finalize" % (lacking, size))
    shutil.rmtree(folder, ignore_errors=True)
