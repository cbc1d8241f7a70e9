# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Whether we were started for one rank, by a launcher, and for which; from what launchers set."""

import os
import socket

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
