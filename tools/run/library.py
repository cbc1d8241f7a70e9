# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Finds an interposer: where ATTRCACHE_LIBDIR says, else installed, else in a source tree."""

import os

import which_mpi


def find(here, command):
    """The library that serves a command, for the launcher in the folder `here`; None if there is none."""
    told = os.environ.get("ATTRCACHE_LIBDIR")
    for folder in [told] if told else [here, here + "/../lib", here + "/../lib/attrcache"]:
        path = os.path.join(folder, "libattrcache_%s.so" % command.served)
        if os.path.isfile(path):
            return path
    root = os.path.dirname(here)
    if told or not os.path.isfile(root + "/CMakeLists.txt") or not os.path.isdir(root + "/lib/mpi"):
        return None
    import built

    launcher = which_mpi.real_path(command.words[command.launcher]) if command.launcher >= 0 else None
    return built.find(root, command.served, launcher and os.path.dirname(launcher))


def missing(here, target):
    """Why there is none."""
    name = "libattrcache_%s.so" % target
    told = os.environ.get("ATTRCACHE_LIBDIR")
    if not told:
        return "there is no %s beside %s, and this is no source tree to build it in" % (name, here)
    try:
        os.listdir(told)
    except OSError as error:
        return "ATTRCACHE_LIBDIR=%s: %s" % (told, error.strerror)
    return "ATTRCACHE_LIBDIR=%s: there is no %s in it" % (told, name)
