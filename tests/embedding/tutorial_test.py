#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Does what TUTORIAL.md says, word for word, and compares what its commands print with what it shows.

  tutorial_test.py PAGE LIBRARY     all but the section on MPI programs, with this libattrcache.a
  tutorial_test.py PAGE             that section, with the mpicc and mpirun on the PATH

A ```c or ```cpp block below a line "`NAME`:" is a file. A ```sh block is run; a ``` block behind it is what it prints. What
the page calls ATTRCACHE is a folder with links to the sources and to LIBRARY; its cmake does nothing there.
"""

import os
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^(?:`([\w.]+)`:\n)?```(\w*)\n(.*?)^```$", re.M | re.S)
MPI = "\n## In an MPI program\n"


def script(page, output):
    """The page's commands as one script; each block writes to OUTPUT/NUMBER. And what they are to print."""
    commands, expected = ["set -e"], []
    for name, language, text in BLOCK.findall(page):
        if name:
            commands.append("cat >%s <<'END'\n%sEND" % (name, text))
        elif language == "sh":
            commands.append("{\n%s} >%s/%d 2>&1" % (re.sub("^ATTRCACHE=.*", "", text, flags=re.M), output, len(expected)))
            expected.append("")
        else:
            expected[-1] = text
    return "\n".join(commands), expected


def main(path, library=None):
    with open(path) as file:
        page, middle, mpi = file.read().partition(MPI)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("bin", "sources", "sources/build", "user", "output"):
            os.mkdir(os.path.join(folder, name))
        links = {"bin/cmake": "/bin/true", "sources/lib": "lib", "sources/tools": "tools", "sources/build/libattrcache.a": library}
        for name, target in links.items():
            if target:
                os.symlink(os.path.abspath(target), os.path.join(folder, name))
        commands, expected = script(page if library else mpi, folder + "/output")
        environment = dict(os.environ, ATTRCACHE=folder + "/sources", PATH=folder + "/bin:" + os.environ["PATH"])
        failed = subprocess.run(["bash", "-c", commands], cwd=folder + "/user", env=environment).returncode != 0
        for number, text in enumerate(expected):
            output = "%s/output/%d" % (folder, number)
            printed = open(output).read() if os.path.exists(output) else "(It wasn't reached.)\n"
            if printed != text:
                failed = True
                print("FAILED: block %d of commands prints\n%s  and not\n%s" % (number + 1, printed, text))
    print("%d blocks of commands" % len(expected))
    return failed or len(expected) < (6 if library else 1) or not middle


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
