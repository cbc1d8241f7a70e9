# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The command line of check-mpi."""

import argparse
import datetime
import json
import os
import shutil
import sys
import tempfile

import mpi as mpi_module
import outcome
import report
import suite

DESCRIPTION = """\
Checks how an MPI caches attributes: compiles small programs with its compiler, runs each of them by its launcher in a
process of its own, and says which rules of the MPI standard hold, from creating keyvals to races between threads.

There are checks of what the standard demands in so many words; of what it implies (threads' calls take effect as if they
ran in some order, and callbacks may call attribute functions); of what it leaves open, where the result is what this MPI
does; and of proposals, if the MPI implements them. Sections are those of MPI-4.1. Bounded storms look for races: to see
none doesn't prove that there is none.

It needs Python 3.8 or later and nothing of attrcache but its own folder, unless --served is given."""

EPILOG = """\
exit code: 0 if everything that the standard demands passes; 1 if not; 2 for bad input

example: %(prog)s --mpicc mpicc.mpich --mpirun "mpirun.mpich -np 2" --mpif90 mpif90.mpich --html mpich.html"""


def parser(tool):
    p = argparse.ArgumentParser(prog=tool, description=DESCRIPTION, epilog=EPILOG,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--mpicc", metavar="C", help="the MPI's C compiler, with options if need be (quoted)")
    p.add_argument("--mpirun", metavar="RUN", help='its launcher with the number of ranks, such as "mpirun -np 2"')
    p.add_argument("--mpif90", metavar="F", help="its Fortran compiler; without it, Fortran isn't checked")
    p.add_argument("--mpicxx", metavar="C++", help="its C++ compiler, for the C++ bindings, where it has them")
    p.add_argument("--served", action="store_true", help="run the programs under attrcache-run")
    p.add_argument("--called", metavar="WORD",
                   help="the name of this run in tables, such as embedded (default: native, or served with --served)")
    p.add_argument("--only", metavar="SECTION", action="append", default=[],
                   help="a section, or a check; can be given several times")
    p.add_argument("--jobs", metavar="N", type=int, default=os.cpu_count() or 1,
                   help="how many programs run at a time (default: one for each processor)")
    p.add_argument("--timeout", metavar="S", type=int, default=60,
                   help="seconds after which a program counts as hanging (default: %(default)s)")
    p.add_argument("--html", metavar="FILE", help="write a page, too")
    p.add_argument("--json", metavar="FILE", help="write the results as JSON, too")
    p.add_argument("--list", action="store_true", help="list the sections and checks, and exit")
    p.add_argument("--reproducer", metavar="CHECK",
                   help="print a program of this check alone, and exit: C, or a shell script where Fortran is "
                        "needed; its exit code is 0 if the check passes")
    return p


def chosen(sections, only):
    """The checks that --only names."""
    everything = [check for section in sections for check in section.checks]
    if not only:
        return everything
    known = {section.name for section in sections} | {check.name for check in everything}
    for name in only:
        if name not in known:
            raise mpi_module.BadInput("there is no section and no check %s (--list lists them)" % name)
    return [check for check in everything if check.section in only or check.name in only]


def find_launcher(home):
    """attrcache-run, installed beside this tool, or in the source tree."""
    for name in (os.path.join(home, "attrcache-run"), shutil.which("attrcache-run")):
        if name and os.access(name, os.X_OK):
            return name
    raise mpi_module.BadInput("--served: there is no attrcache-run beside this tool nor in $PATH")


def writable(option, path):
    """Fails now rather than after the run."""
    if path:
        try:
            with open(path, "a", encoding="utf-8"):
                pass
        except OSError as error:
            raise mpi_module.BadInput("%s: %s: %s" % (option, path, error.strerror)) from None


def check_mpi(arguments, sections, home, tool):
    for option in ("mpicc", "mpirun"):
        if not getattr(arguments, option):
            raise mpi_module.BadInput("--%s is needed (--help says more)" % option)
    if arguments.jobs < 1 or arguments.timeout < 1:
        raise mpi_module.BadInput("--jobs and --timeout need a number of at least 1")
    checks = chosen(sections, arguments.only)
    writable("--html", arguments.html)
    writable("--json", arguments.json)
    arguments.served_by = [find_launcher(home)] if arguments.served else []
    with tempfile.TemporaryDirectory(prefix="check-mpi.") as folder:
        needs = {feature for check in checks for feature in check.needs} | {"standard_abi"}
        an_mpi = mpi_module.Mpi(arguments, folder, needs)
        date = datetime.date.today().isoformat()
        print(report.headline(report.to_data(an_mpi, [], arguments, date)) + "\n", flush=True)
        shown = sys.stderr.isatty()
        done = []

        def progress(result):
            done.append(result)
            if shown:
                sys.stderr.write("\r\033[K%d of %d: %s" % (len(done), len(checks), result.check.name))
                sys.stderr.flush()

        results = outcome.Runner(an_mpi).run_all(checks, arguments.jobs, progress)
        if shown:
            sys.stderr.write("\r\033[K")
    data = report.to_data(an_mpi, results, arguments, date)
    print(report.to_text(data, sections, tool), end="")
    for path, text in ((arguments.json, json.dumps(data, indent=1)), (arguments.html, report.to_html(data, sections))):
        if path:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    return 1 if data["counts"]["demanded"]["fail"] else 0


def main(home, tool):
    """home: the folder of the tool that was called, where attrcache-run may be."""
    arguments = parser(tool).parse_args()
    sections = suite.read_sections()
    try:
        if arguments.list:
            for section in sections:
                print("%s: %s" % (section.name, section.title))
                for check in section.checks:
                    print("  %-34s %-9s %-8s %s" % (check.name, check.kind, check.number, check.rule))
            return 0
        if arguments.reproducer:
            for check in (check for section in sections for check in section.checks):
                if check.name == arguments.reproducer:
                    print(suite.reproducer(check), end="")
                    return 0
            raise mpi_module.BadInput("there is no check %s (--list lists them)" % arguments.reproducer)
        return check_mpi(arguments, sections, home, tool)
    except mpi_module.BadInput as error:
        print("%s: %s" % (tool, error), file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the reader has seen enough
        return 0
    except KeyboardInterrupt:
        return 130
