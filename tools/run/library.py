# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Finds an interposer: installed, or in a source tree, where Bazel builds it if sources have changed."""

import glob
import os
import pwd
import shutil
import subprocess
import time

from which_mpi import clean_environment
from words import die, say

SOURCES = ("WORKSPACE", "MODULE.bazel", "BUILD", ".bazelrc", "lib", "tools/bazel")


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
    return built(root, name) or build(root, name, target)


def stamp_of(file):
    """The file that says when a library was built here, and into which file. Bazel would take seconds to find that there
    is nothing to do."""
    return file + ".asked-for"


def identity_of(file):
    status = os.stat(file)
    return "%d %d %d" % (status.st_ino, status.st_size, status.st_mtime_ns)


def changed_since(paths, moment):
    """Whether a file was changed, added or removed since. The time of its last change of any kind counts (ctime), not that
    of its contents (mtime), which copies and archives preserve."""

    def failed(_):
        raise OSError

    try:
        for path in paths:
            if os.stat(path).st_ctime_ns > moment:
                return True
            for folder, _, files in os.walk(path, onerror=failed) if os.path.isdir(path) else []:
                for file in [folder] + [os.path.join(folder, file) for file in files]:
                    if os.lstat(file).st_ctime_ns > moment:
                        return True
    except OSError:
        return True
    return False


def built(root, name):
    """The library, if it was built here and no source has changed since. The times of Bazel's outputs don't help: an output
    that is as before keeps its time."""
    folders = glob.glob(glob.escape(root) + "/bazel-out/*-opt/bin/lib/mpi")
    if len(folders) != 1:
        return None
    file = os.path.realpath(os.path.join(folders[0], name))
    stamp = stamp_of(file)
    try:
        with open(stamp) as told:
            if told.read() != identity_of(file):
                return None
        moment = os.stat(stamp).st_mtime_ns
    except OSError:
        return None
    sources = [os.path.join(root, source) for source in SOURCES]
    return None if changed_since(filter(os.path.exists, sources), moment) else file


def build(root, name, target):
    if not shutil.which("bazel"):
        die("building %s needs bazel (tools/setup installs it)" % name)
    environment = clean_environment()
    environment.setdefault("HOME", pwd.getpwuid(os.getuid()).pw_dir)  # Bazel refuses to start without

    def bazel(*arguments):
        return subprocess.run(
            ("bazel",) + arguments,
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if arguments[0] == "build" else subprocess.DEVNULL,
            universal_newlines=True,
        )

    where = bazel("info", "-c", "opt", "bazel-bin")
    if where.returncode != 0:
        die("bazel does not work here")
    file = os.path.realpath(os.path.join(where.stdout.strip(), "lib/mpi", name))
    if os.path.isfile(file):
        say("bringing %s up to date, which takes up to some minutes if sources have changed" % name)
    else:
        say("building %s, which takes some minutes the first time" % name)
    began = time.time() - 1  # file systems have coarse clocks
    done = bazel("build", "-c", "opt", "//lib/mpi:attrcache_" + target)
    if done.returncode != 0:
        die("%s\nattrcache-run: building %s failed" % (done.stdout.strip(), name))
    # Atomically, as another launcher may be reading it. If it can't be written, Bazel runs again next time.
    temporary = "%s.%d" % (stamp_of(file), os.getpid())
    try:
        with open(temporary, "w") as stamp:
            stamp.write(identity_of(file))
        os.utime(temporary, (began, began))
        os.replace(temporary, stamp_of(file))
    except OSError:
        if os.path.exists(temporary):
            os.unlink(temporary)
    return file
