# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs checks, and judges what they print."""

import concurrent.futures
import dataclasses
import os
import re

import mpi as mpi_module
import suite


@dataclasses.dataclass
class Result:
    """The result of one check, with its details."""

    check: suite.Check
    result: str  # pass, fail, not applicable or open
    detail: str = ""
    expected: str = ""
    seen: str = ""
    seconds: float = 0.0


class Runner:
    def __init__(self, an_mpi):
        self.mpi = an_mpi
        self.lacks = {}  # a Fortran interface or c++: why it can't be checked

    def not_applicable(self, check):
        """Why a check can't be made, or None."""
        an_mpi = self.mpi
        if check.since > an_mpi.version:
            return "MPI-%d.%d has this, this MPI is %d.%d" % (*check.since, *an_mpi.version)
        for feature in check.needs:
            if feature not in an_mpi.features and feature not in ("attr_put", "f08"):
                return mpi_module.FEATURES[feature][0]
        if check.threads and an_mpi.level < 3:
            return "it provides %s" % mpi_module.LEVELS[an_mpi.level]
        if check.ranks > an_mpi.ranks:
            return "it needs %d ranks, the launcher starts %d" % (check.ranks, an_mpi.ranks)
        if "attr_put" in check.needs and check.face == "f08":
            return "mpi_f08 has no MPI-1 names"
        if "f08" in check.needs and check.face != "f08":
            return "only mpi_f08 has this"
        return self.lacks.get(check.face or check.language)

    # ---- Compiling ----

    def prepare_languages(self, checks):
        """Which Fortran interfaces and C++ bindings there are."""
        an_mpi = self.mpi
        if not an_mpi.mpif90:
            self.lacks.update(dict.fromkeys(suite.FACES, "no Fortran compiler was given (--mpif90)"))
        elif any(check.face for check in checks):
            source = os.path.join(an_mpi.folder, an_mpi.write("fortran.F90", suite.fortran()))
            for face, (number, name) in suite.FACES.items():
                modules = os.path.join(an_mpi.folder, face)
                os.makedirs(modules, exist_ok=True)
                code, text, _ = mpi_module.run(
                    an_mpi.mpif90 + ["-DFACE=%d" % number, "-g", "-c", source, "-o", "fortran.o"], 300, modules)
                if code != 0:
                    self.lacks[face] = "no %s: %s" % (name, mpi_module.telling_line(text))
        if not an_mpi.mpicxx:
            self.lacks["c++"] = "no C++ compiler was given (--mpicxx)"
        elif any(check.language == "c++" for check in checks):
            probe = an_mpi.write("bindings.cc", "#include <mpi.h>\nint main() { int k = MPI::Comm::Create_keyval("
                                 "MPI::Comm::NULL_COPY_FN, MPI::Comm::NULL_DELETE_FN, 0);"
                                 " MPI::Comm::Free_keyval(k); }\n")
            if an_mpi.compile(an_mpi.mpicxx, probe, "bindings"):
                self.lacks["c++"] = "it has no C++ bindings"

    def compile(self, check):
        """The output of the compiler if it fails."""
        an_mpi, name = self.mpi, check.name
        text = suite.program(check, an_mpi.timeout)
        if check.language == "c++":
            return an_mpi.compile(an_mpi.mpicxx, an_mpi.write(name + ".cc", text), name)
        source = an_mpi.write(name + ".c", text)
        flags = ["-Wno-deprecated-declarations", "-Werror=implicit-function-declaration"]
        if not check.face:
            return an_mpi.compile(an_mpi.mpicc, source, name, *flags)
        wrong = an_mpi.compile(an_mpi.mpicc, source, name + ".o", "-c", *flags)
        return wrong or an_mpi.compile(an_mpi.mpif90, name + ".o", name, os.path.join(check.face, "fortran.o"))

    # ---- Running ----

    def run_check(self, check):
        why = self.not_applicable(check)
        if why:
            return Result(check, "not applicable", why)
        broken = self.compile(check)
        if broken:
            return self.judged(check, "that it compiles", mpi_module.telling_line(broken), 0.0)
        code, text, took = self.mpi.launch(check.name, seconds=self.mpi.timeout + 20)
        failed = re.search(r"FAILED at line (\d+): expected (.*?); seen (.*)", text)
        skipped = re.search(r"rank \d+ of \d+: not applicable: (.*)", text)
        if skipped and not failed:
            return Result(check, "not applicable", skipped.group(1), seconds=took)
        if check.kind == "open":
            said = list(dict.fromkeys(re.findall(r"rank \d+ of \d+: open: (.*)", text)))
            said += [failed.group(3)] if failed else []
            return Result(check, "open", "; ".join(said) or self.how_it_ended(code, text), seconds=took)
        if failed:
            return self.judged(check, failed.group(2), failed.group(3), took)
        if len(re.findall(r"rank \d+ of \d+: passed", text)) == self.mpi.ranks:
            return Result(check, "pass", seconds=took)
        return self.judged(check, "that the program ends well", self.how_it_ended(code, text), took)

    @staticmethod
    def judged(check, expected, seen, seconds):
        if check.kind == "open":
            return Result(check, "open", seen, seconds=seconds)
        return Result(check, "fail", "", expected, seen, seconds)

    @staticmethod
    def how_it_ended(code, text):
        if code is None:
            return "that it hangs"
        line = mpi_module.telling_line("\n".join(l for l in text.splitlines() if not re.search(r"rank \d+ of \d+: ", l)))
        return "that it ends with exit code %d: %s" % (code, line)

    def run_all(self, checks, jobs, progress):
        """A Result for each check, in their order."""
        self.prepare_languages(checks)
        with concurrent.futures.ThreadPoolExecutor(max_workers=jobs) as pool:
            running = [pool.submit(self.run_check, check) for check in checks]
            try:
                for future in concurrent.futures.as_completed(running):
                    progress(future.result())
            except KeyboardInterrupt:
                for future in running:
                    future.cancel()
                raise
        return [future.result() for future in running]
