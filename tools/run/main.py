# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs an MPI program with its attributes served by attrcache; tools/attrcache-run starts this."""

import argparse
import errno
import os
import re
import shutil
import socket
import subprocess
import sys

import trust

# Compiling our own modules takes most of the time at start, so bytecode is kept where nobody else can put any.
sys.pycache_prefix = hasattr(sys, "pycache_prefix") and trust.cached("bytecode") or None
sys.dont_write_bytecode = not sys.pycache_prefix

import kept
import launchers
import library
import ranks
import which_mpi
from words import contents, die

USAGE = """\
Usage: attrcache-run [OPTION]... [--] COMMAND [ARGUMENT]...
   or: LAUNCHER [ARGUMENT]... attrcache-run [OPTION]... PROGRAM [ARGUMENT]...
   or: attrcache-run --from WHERE [--report FILE] [--compare OLD.json] [--trace FILE]
   or: attrcache-run --left | --remove-left
   or: attrcache-run [--mpi NAME] --print [COMMAND]...

Runs COMMAND, an MPI program or a launcher with one, with attrcache's interposer preloaded into the ranks (not into the
launcher). The launcher and the libraries that the program is linked with tell which MPI it is, unless --mpi does. If ranks
weren't served, one line at the end says how many, which, and where.

COMMAND may contain the launchers of Open MPI and MPICH (and of MPIs derived from MPICH), and srun. Any other launcher
starts attrcache-run for each rank: that is the second form.

Options:
  --mpi NAME         openmpi, mpich, or mpi_abi: the program is linked with libmpi_abi.so.1, the standard ABI of
                     MPI-5.0, whichever MPI is behind that
  --require-served   exit with code 97 if the command succeeds, but not every rank was served
  --report           at the end, print what was done with attributes, and what was left behind, on standard error
  --report FILE      write that to FILE instead: as a page for browsers if its name ends in .html, as JSON if it ends in
                     .json, as text if it ends in .txt; --report=FILE takes any name. It may be repeated. In names, %j
                     stands for the batch job's number, %A and %a for an array's and its task's (Slurm), %h for the host,
                     %p for the process. While COMMAND runs, SIGURG (kill -URG) has attrcache-run write what was done
                     until then
  --compare OLD.json
                     say what changed since an earlier run, whose report is in OLD.json: in the pages, and below the text
  --trace FILE       write a timeline of callbacks and slow operations, with the findings as markers, to FILE, for
                     Perfetto (https://ui.perfetto.dev) or chrome://tracing
  --from WHERE       run nothing, but make reports from WHERE: a report in JSON, or a folder that a run has left. From a
                     folder it makes the reports that the run was to make, unless others are given. During the run, the
                     reports say what has been done so far
  --left             list what runs have left in this folder, or keep there while they run, each with the command that
                     makes its report
  --remove-left      remove what ended runs have left
  --print            print the path of the interposer, and run nothing
  --help             print this
  --version          print the version

Exit status:
  The command's; if a signal ended the command, attrcache-run ends by the same signal. Its own are:

  2    wrong usage, or the interposer wasn't found
  97   with --require-served: the command has succeeded, but not every rank was served
  126  the command can't be run
  127  the command wasn't found

Environment:
For attrcache-run, or for a program that has the interposer in LD_PRELOAD:

  ATTRCACHE_CHECK=1       warn on standard error of misuse of attributes that MPIs let pass, once for each place in the
                          program: attrcache-misuse(7) lists the kinds
  ATTRCACHE_VERBOSE=1     each process that initializes MPI says that it is served
  ATTRCACHE_LIBDIR        the folder of the interposers, if it isn't the installation's
  ATTRCACHE_PORTS         FIRST-LAST: the ports on which attrcache-run may listen for the ranks
  ATTRCACHE_TRACE_SLOW    how many microseconds an operation must take to be in the trace (10)
  ATTRCACHE_TRACE_EVENTS  how many events to keep of each rank (50000, and 500000 of all together)
  ATTRCACHE_REPORT        without attrcache-run: the folder in which each rank leaves its data for --from

Files:
  .attrcache-run.*        a folder beside the report with the ranks' data while they run. If anything is killed,
                          --from can use it. The next run that writes the same files removes it, and says so

Examples:
  attrcache-run mpirun -np 64 ./program

  attrcache-run --report run.html srun -n 64 ./program

  flux run -n 64 attrcache-run --report run.html ./program

  attrcache-run --from .attrcache-run.4711.86fbf2adfb0e4b2a --report run.txt
"""


class Parser(argparse.ArgumentParser):
    def error(self, message):
        die(message + " (--help lists the options)")


def parsed(arguments):
    parser = Parser(add_help=False, allow_abbrev=False, usage=argparse.SUPPRESS)
    parser.add_argument("--mpi", choices=["openmpi", "mpich", "mpi_abi"])
    parser.add_argument("--report", action="append", nargs="?", const="-", default=[])
    for name in ("--compare", "--from", "--trace"):
        parser.add_argument(name, dest=name[2:] + "_")
    for name in ("--print", "--require-served", "--version", "--left", "--remove-left"):
        parser.add_argument(name, action="store_true", dest=name[2:].replace("-", "_") + "_")
    parser.add_argument("-h", "--help", action="store_true")
    # Options end where the command begins; argparse would look for them in the command, too.
    own, rest = [], list(arguments)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        word = rest.pop(0)
        if word == "--":
            break
        own.append(word)
        if word in ("--mpi", "--compare", "--from", "--trace") and rest:
            if word in ("--compare", "--trace") and "/" not in rest[0] and not os.path.exists(rest[0]) and shutil.which(rest[0]):
                die("%s needs a file, but %s is a program: %s FILE %s ..." % (word, rest[0], word, rest[0]))
            own.append(rest.pop(0))
        elif word == "--report" and rest and rest[0].endswith((".html", ".json", ".txt")):
            own.append(rest.pop(0))
    wanted, unknown = parser.parse_known_args(own)
    if unknown:
        die("unknown option %s (--help lists them)" % unknown[0])
    for option, value in (("--compare", wanted.compare_), ("--from", wanted.from_)):
        if value == "":
            die(option + " needs a file")
    wanted.command = rest
    return wanted


def target(name, option):
    """The absolute path of a report or trace, because its writer may run in another folder."""
    if not name or (name == "-" and option != "--report"):
        die("%s needs a file: %s FILE" % (option, option))
    if name == "-":
        return name
    names = {"%j": kept.batch_job(), "%p": str(os.getpid()), "%h": socket.gethostname()}
    names.update({"%A": os.environ.get("SLURM_ARRAY_JOB_ID", ""), "%a": os.environ.get("SLURM_ARRAY_TASK_ID", "")})
    name = re.sub("%[jphAa]", lambda found: names[found.group()], name)
    if not os.path.isdir(os.path.dirname(name) or "."):
        die("%s=%s: there is no folder %s" % (option, name, os.path.dirname(name)))
    if os.path.isdir(name):
        die("%s=%s is a folder" % (option, name))
    if os.path.isfile(name) and os.access(name, os.X_OK):
        die("%s needs a file, but %s is a program" % (option, name))
    # It is written as a new file that takes its place.
    is_special = os.path.exists(name) and not os.path.isfile(name)
    new = name if is_special else "%s.%d" % (name, os.getpid())
    try:
        if not is_special:
            os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            os.unlink(new)
        elif not os.access(name, os.W_OK) or not {os.stat(name).st_uid, os.lstat(name).st_uid} <= {0, os.geteuid()}:
            # Another user's pipe would keep us waiting, or get the report; another user's link may lead to a disk.
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        die("%s=%s can't be written: %s" % (option, name, error.strerror))
    return os.path.abspath(name)


def version(here):
    """From a file of the installation, or as the sources' tools/version says."""
    installed = contents(os.path.dirname(__file__) + "/version")
    return installed or subprocess.check_output(here + "/version", universal_newlines=True).strip()


def must_exist(wanted):
    command = wanted.command[0]
    if shutil.which(command):
        return
    if os.path.exists(command):
        die(command + ": not a program, or not one that you may run", 126)
    is_report = wanted.report[-1:] == ["-"] and os.path.splitext(command)[1] and "/" not in command
    hint = " (a report's name ends in .html, .json or .txt; --report=%s takes any)" % command if is_report else ""
    die(command + ": command not found" + hint, 127)


def find_library(here, command, wanted):
    if not command.served:
        if not command.words:
            die("say which MPI (--mpi openmpi|mpich|mpi_abi), or give a command")
        must_exist(wanted)
        program = which_mpi.real_path(command.words[0])
        why = program and which_mpi.out_of_reach(program)
        if why:
            die("%s %s: nothing can be preloaded into it" % (command.words[0], why))
        die(
            "can't tell the MPI of '%s': neither a launcher of Open MPI or MPICH nor linked with them; say --mpi openmpi,"
            " --mpi mpich or --mpi mpi_abi" % " ".join(command.words)
        )
    found = library.find(here, command)
    if not found:
        return None
    written = trust.others(found)
    found = os.path.realpath(found)
    if written:
        die("%s isn't preloaded: other users may have written to %s" % (found, written))
    if not wanted.print_ and any(c in found for c in ": ;,@"):
        die("%s can't be preloaded: its path has a space, or one of : ; , @" % found)
    return found


def main(here, arguments):
    wanted = parsed(arguments)
    if wanted.help or wanted.version_:
        print("attrcache-run (attrcache) " + version(here) if wanted.version_ else USAGE.rstrip("\n"))
        return 0
    try:
        os.getcwd()
    except OSError as error:
        die("the working folder: " + error.strerror)
    wanted.report = [target(name, "--report") for name in wanted.report]
    wanted.trace_ = target(wanted.trace_, "--trace") if wanted.trace_ is not None else None
    if wanted.from_ is not None:
        import reports

        return reports.from_file(here, wanted)
    if wanted.left_ or wanted.remove_left_:
        import reports

        return reports.left(here, wanted)
    if not wanted.command and not wanted.print_:
        print(USAGE, end="", file=sys.stderr)
        return 2
    if wanted.command:
        words = [os.path.basename(wanted.command[0])] + wanted.command[1:2]
        for name in {words[0], " ".join(words)} & set(launchers.LATER):
            die("%s runs the command later: put attrcache-run into the job's script" % name)
    command = which_mpi.Command(wanted.command, wanted.mpi)
    file = find_library(here, command, wanted)
    if not file and (wanted.print_ or not ranks.mine(command)):
        die(library.missing(here, command.served))
    if wanted.print_:
        print(file)
        return 0
    must_exist(wanted)
    import running

    return running.run(here, command, wanted, file)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
