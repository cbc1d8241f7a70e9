#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# reproducers_test.sh MPI
#
# Every reproducer compiles by itself with the MPI's compilers, as far as this MPI has what it needs. The scripts for
# Fortran are run as far as linking, one for each interface; the C part of the others is compiled, too.

source tests/conformance/lib.sh
mpi=$1
export PYTHONDONTWRITEBYTECODE=1
version=$(printf '#include <mpi.h>\nMPI_VERSION MPI_SUBVERSION\n' | "mpicc.$mpi" -E -P -x c - | tail -n 1 | tr ' ' .)
mkdir "$work/programs"
python3 - "$work/programs" "$version" <<'END'
import os, sys
sys.path.insert(0, "tools/conformance")
import suite
version = tuple(int(n) for n in sys.argv[2].split("."))
header, seen, faces = suite.Header(alone=True), set(), set()
def possible(check):
    return check.since <= version and not (version < (4, 0) and "session" in " ".join(check.needs)) and \
        not (version < (5, 1) and "win_notification" in check.needs)
for check in (check for section in suite.read_sections() for check in section.checks if possible(check)):
    if check.face and check.face not in faces:
        faces.add(check.face)
        with open(os.path.join(sys.argv[1], check.name + ".sh"), "w") as file:
            file.write(suite.reproducer(check))
    name = check.name[:-len(check.face) - 1] if check.face else check.name
    if name in seen:
        continue
    seen.add(name)
    end = ".cc" if check.language == "c++" else ".c"
    with open(os.path.join(sys.argv[1], name + end), "w") as file:
        file.write(suite.standalone(check, header))
# The programs of whole sections, too, in which checks must not clash by their definitions.
for section in suite.read_sections():
    checks = [check for check in section.checks if possible(check) and check.face in (None, "f08")]
    end = ".cc" if section.file.endswith(".cc") else ".c"
    with open(os.path.join(sys.argv[1], "section-" + section.name + end), "w") as file:
        file.write(suite.program(checks))
print("%d programs" % len(seen))
END

# Each must be a program of its own: no undeclared names, nothing unused except in blocks of the header.
export mpi
compile_one() {
  case $1 in
    *.sh) MPICC=mpicc.$mpi MPIF90=mpif90.$mpi MPIRUN=true sh "$1" ;;
    *.cc) "mpicxx.$mpi" -fsyntax-only -Wno-deprecated-declarations "$1" ;;
    *) "mpicc.$mpi" -fsyntax-only -Wall -Werror -Wno-unused-function -Wno-deprecated-declarations "$1" ;;
  esac >"$1.log" 2>&1 || { echo "$1" && head -n 5 "$1.log"; }
}
export -f compile_one
find "$work/programs" -name '*.c' -o -name '*.sh' >"$work/list"
# Bindings of C++, where there are any.
echo '#include <mpi.h>
int main() { MPI::Comm::NULL_COPY_FN; }' >"$work/cxx.cc"
"mpicxx.$mpi" -fsyntax-only "$work/cxx.cc" 2>/dev/null && find "$work/programs" -name '*.cc' >>"$work/list"
(($(wc -l <"$work/list") > 200)) || fail "only $(wc -l <"$work/list") reproducers"
xargs -n 1 -P 2 bash -c 'compile_one "$1"' - <"$work/list" >"$work/failures"
[[ ! -s $work/failures ]] || fail "these don't compile: $(cat "$work/failures")"

# As the tool prints them.
tools/check-mpi --reproducer storm-own-keys-win >"$work/storm.c"
"mpicc.$mpi" "$work/storm.c" -o "$work/storm" -lpthread || fail "a storm doesn't compile"
echo "passed: $(wc -l <"$work/list") reproducers"
