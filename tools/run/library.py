# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Finds an interposer: installed, or in a source tree, where Bazel builds it or brings it up to date."""

import os
import pwd
import shutil
import subprocess

from which_mpi import clean_environment
from words import die, say


def missing(here, target):
    return "there is no libattrcache_%s.so beside %s, and this is no source tree to build it in" % (target, here)


def find(here, target):
    """The library of an MPI, for the launcher in the folder `here`; None if there is none."""
    name = "libattrcache_%s.so" % target
    folders = [os.environ.get("ATTRCACHE_LIBDIR"), here, here + "/../lib", here + "/../lib/attrcache"]
    for folder in folders:
        if folder and os.path.isfile(os.path.join(folder, name)):
            return os.path.realpath(os.path.join(folder, name))
    root = os.path.dirname(here)
    if not os.path.isfile(root + "/WORKSPACE") or not os.path.isfile(root + "/lib/mpi/BUILD"):
        return None
    return build(root, name, target)


def build(root, name, target):
    if not shutil.which("bazel"):
        die("building %s needs bazel (tools/setup installs it)" % name)
    environment = clean_environment()
    environment.setdefault("HOME", pwd.getpwuid(os.getuid()).pw_dir)  # Bazel refuses to start without

    def bazel(*arguments):
        return subprocess.Popen(
            ("bazel",) + arguments,
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if arguments[0] == "build" else subprocess.DEVNULL,
            universal_newlines=True,
        )

    building = bazel("build", "-c", "opt", "//lib/mpi:attrcache_" + target)
    try:
        said, _ = building.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        say("building %s, which may take some minutes" % name)
        said, _ = building.communicate()
    if building.returncode != 0:
        die("%s\nattrcache-run: building %s failed" % (said.strip(), name))
    where, _ = bazel("info", "-c", "opt", "bazel-bin").communicate()
    return os.path.realpath(os.path.join(where.strip(), "lib/mpi", name))
