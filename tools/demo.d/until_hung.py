# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs a command until it ends or hangs: until_hung.py PROCESSOR-SECONDS STILL-SECONDS COMMAND...

It hangs if its processes have used PROCESSOR-SECONDS, or if for STILL-SECONDS no thread of theirs ran or waited for a
processor; never because a busy machine is slow. The exit code is the command's, 128 + N after signal N, and 124 if it hung.
"""

import glob
import os
import signal
import subprocess
import sys
import time

POLLS = 4  # a second
ticks = os.sysconf("SC_CLK_TCK")


def look(session):
    """(whether a thread runs or could run, processor seconds) of a session's processes."""
    active, used = False, 0
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            if os.getsid(int(path.split("/")[2])) != session:
                continue
            for thread in glob.glob(path[:-4] + "task/*/stat"):
                with open(thread) as file:
                    fields = file.read().rpartition(")")[2].split()
                active = active or fields[0] not in "StTZX"
                used += int(fields[11]) + int(fields[12])
        except (OSError, ValueError):
            active = True  # it has just ended
    return active, used / ticks


def hangs(process, most, still):
    quiet, before = 0, 0
    while process.poll() is None:
        active, used = look(process.pid)
        # What only looks around from time to time, as launchers do, is still.
        if active or used - before > 0.05:
            quiet, before = 0, used
        quiet += 1
        if used > most or quiet > still * POLLS:
            return True
        time.sleep(1 / POLLS)
    return False


most, still = map(float, sys.argv[1:3])
command = subprocess.Popen(sys.argv[3:], start_new_session=True)
hung = hangs(command, most, still)
if hung:
    os.killpg(command.pid, signal.SIGKILL)
code = command.wait()
sys.exit(124 if hung else code if code >= 0 else 128 - code)
