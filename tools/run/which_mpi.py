# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Which MPI a command runs, and where its launcher is among its words."""

import os
import re
import shlex
import shutil
import stat
import subprocess

import trust
from words import contents, die, say

# Open MPI's and MPICH's libraries, and those of MPIs that have the interface of one of them: Cray's
# (libmpi_cray.so.12, libmpi_gnu_123.so.12), Intel's and MVAPICH's (libmpi.so.12), IBM's.
ABI = re.compile(r"\blibmpi_abi\.so\b")
MPICH = re.compile(r"\blibmpich\w*\.so|\blibmpi(_\w+)?\.so\.12\b|\blibmpi\w*fort\w*\.so\.12\b")
OPENMPI = re.compile(r"\blibmpi(_ibm)?\.so\.|\blibopen-rte\.so|\blibprrte\.so")

OPENMPI_LAUNCHER = re.compile(r"orterun|prterun|prte|prun|ompi-.*|.*run\.openmpi|mpiexec\.openmpi")
MPICH_LAUNCHER = re.compile(r"mpiexec\.hydra|hydra_.*|mpiexec\.gforker|.*run\.mpich|mpiexec\.mpich")
# Names that several MPIs' launchers have.
UNCLEAR_LAUNCHER = re.compile(r"mpirun|mpiexec")
# Launchers before which attrcache-run can't stand, as far as their names are known.
OTHERS = ("aprun", "flux", "ibrun", "jsrun", "lrun", "mpirun_rsh", "mpiexec", "mpirun")


def clean_environment():
    return dict(os.environ, LD_PRELOAD="")


def output_of(command, **more):
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=clean_environment(),
            universal_newlines=True,
            errors="replace",
            **more
        ).stdout
    except OSError:
        return ""


def real_path(word):
    """The real file behind a command's name, or None."""
    found = shutil.which(word)
    return os.path.realpath(found) if found else None


def may_run(path):
    """Whether a program may be run to see what it is. What only stands among the words of a command, as in /tmp/*, may be
    another user's, and isn't to be run by us; what PATH leads to is the user's choice."""
    found = shutil.which(os.path.basename(path))
    return "/" not in path or bool(found) and os.path.realpath(found) == os.path.realpath(path) or not trust.others(path)


def first_bytes(path):
    try:
        with open(path, "rb") as file:
            return file.read(4096)
    except OSError:
        return b""


def libraries_of(path):
    """The output of ldd for a file. If the file names a dynamic linker of the system, that one prints it at less cost."""
    linker = re.search(rb"\0((?:/usr)?/lib\w*(?:/[\w+-][\w.+-]*)*/ld[\w.+-]*)\0", first_bytes(path))
    said = output_of([linker.group(1), "--list", path]) if linker else ""
    return said or output_of(["ldd", path])


def linked_mpi(path):
    """The MPI that a file is linked with, by its dynamic libraries: openmpi, mpich, mpi_abi or None."""
    if not first_bytes(path).startswith(b"\x7fELF"):
        return None
    libraries = libraries_of(path)
    if ABI.search(libraries):  # other MPI libraries may come along with it
        return "mpi_abi"
    if MPICH.search(libraries):
        return "mpich"
    return "openmpi" if OPENMPI.search(libraries) else None


def out_of_reach(path):
    """Why nothing can be preloaded into a program; None if no reason is known."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return None
    if mode & (stat.S_ISUID | stat.S_ISGID):
        return "is setuid or setgid"
    try:
        if "security.capability" in os.listxattr(path):
            return "has capabilities"
    except OSError:
        pass
    head = first_bytes(path)
    if head.startswith(b"\x7fELF") and "not a dynamic" in output_of(
        ["sh", "-c", 'ldd "$1" 2>&1', "sh", path]
    ):
        return "is linked statically"
    return None


def launcher_mpi(path):
    """The MPI whose launcher a file is, by its name or its --version; else None."""
    name = os.path.basename(path)
    if OPENMPI_LAUNCHER.fullmatch(name):
        return "openmpi"
    if MPICH_LAUNCHER.fullmatch(name):
        return "mpich"
    if not UNCLEAR_LAUNCHER.fullmatch(name):
        return None
    linked = linked_mpi(path)
    if linked:
        return linked
    # From version 5 on, Open MPI's is linked with none of its libraries.
    says = output_of([path, "--version"]) if may_run(path) else ""
    if "Open MPI" in says:
        return "openmpi"
    return "mpich" if "HYDRA" in says or "Intel(R) MPI" in says else None


def script_mpi(interpreter):
    """The MPI that the modules of a script's interpreter are linked with."""
    if not os.path.basename(interpreter).startswith("python") or not may_run(interpreter):
        return None
    # Python would also look into the working folder, where others may have put modules.
    asks = "import sys\nsys.path = [one for one in sys.path if one]\nimport importlib.util as u\ns = u.find_spec('mpi4py') and u.find_spec('mpi4py.MPI')\nprint(s.origin if s else '')"
    module = output_of([interpreter, "-c", asks]).strip()
    return linked_mpi(module) if module else None


def interpreter_of(path):
    """The interpreter that a script names in its first line, or None."""
    head = first_bytes(path)
    if not head.startswith(b"#!"):
        return None
    line = head[2:].split(b"\n")[0].replace(b"\0", b"").decode(errors="replace").split()
    if len(line) > 1 and os.path.basename(line[0]) == "env":
        return shutil.which(line[1])
    return line[0] if line else None


def program_mpi(path):
    mpi = linked_mpi(path) or script_mpi(path)
    if not mpi:
        interpreter = interpreter_of(path)
        mpi = script_mpi(interpreter) if interpreter else None
    return mpi


def launched_mpi(words):
    """The MPI of the first of a launcher's arguments that is linked with one. Programs may also be in a file of command
    lines."""
    last = ""
    for word in words:
        found = None
        if last in ("-app", "--app", "-config", "-configfile", "--configfile", "--multi-prog"):
            try:
                found = launched_mpi(shlex.split(contents(word), comments=True))
            except ValueError:
                pass
        if not found:
            path = real_path(word)
            found = program_mpi(path) if path and os.path.isfile(path) else None
        if found:
            return found
        last = word
    return None


class Command:
    """The parts of a command.

    words     the command
    launcher  the place of an MPI launcher among the words, or -1
    is_srun   whether that is Slurm's, which starts programs of any MPI
    mpi       the launcher's MPI, or the program's where there is no launcher, or None
    served    the MPI whose interposer is preloaded: the same one, or the standard ABI if the program is linked with it
    """

    def __init__(self, words, served):
        self.words = words
        self.launcher = -1
        self.is_srun = False
        self.mpi = None
        self.served = served
        # The first launcher or MPI program decides; wrappers such as timeout or env are neither.
        for i, word in enumerate(words):
            path = real_path(word)
            if not path or not os.path.isfile(path):
                continue
            if self._is_launcher(i, word, path):
                return
            found = program_mpi(path)
            if found:
                self.mpi = found
                self.served = self.served or found
                return
        self.mpi = self.served

    def _is_launcher(self, i, word, path):
        self.is_srun = "srun" in (os.path.basename(word), os.path.basename(path))
        # The name as given counts too: a link may name the MPI better than its target does.
        found = None if self.is_srun else launcher_mpi(path) or launcher_mpi(word)
        if not self.is_srun and not found:
            if os.path.basename(word) in OTHERS:
                die("%s is a launcher that is not known here: write %s ... attrcache-run ./program" % (word, word))
            return False
        self.launcher = i
        inside = launched_mpi(self.words[i + 1 :])
        if inside and self.served not in (None, "mpi_abi", inside):
            die("--mpi %s, but the program is linked with %s" % (self.served, inside))
        if self.is_srun:
            self.served = self.served or inside
            self.mpi = self.served
            return True
        self.mpi = found
        if inside not in (None, "mpi_abi", found):
            say("%s is a launcher of %s, but the program is linked with %s: each rank is on its own" % (word, found, inside))
        elif self.served not in (None, "mpi_abi", found):
            die("--mpi %s, but %s is a launcher of %s" % (self.served, word, found))
        self.served = self.served or inside or found
        return True
