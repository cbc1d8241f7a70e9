#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Serves the MPIs of this machine with interposers that were built elsewhere:
#
#   tests/mpi/field.sh LIBRARIES [MPI...]
#
# LIBRARIES is a folder with libattrcache_*.so, as CMake or Bazel leave them. An MPI is openmpi or mpich, or openmpi_abi
# or mpich_abi for their libraries with the standard ABI; by default, all that are installed. The checks of
# tools/check-mpi, and coexist.c, compiled by the MPI's compiler or with the standard ABI's header, show that one
# interposer serves all versions of an MPI. `tools/test` on that system runs this folder's other tests, with interposers
# built there. The last line says how many tests failed.

set -u

[[ -d ${1-} ]] || { echo "field.sh: give a folder of interposers" >&2 && exit 2; }
libraries=$(readlink -f -- "$1")
shift
cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.." || exit 2
source tests/mpi/environment.sh
scratch=$TMPDIR
export PYTHONDONTWRITEBYTECODE=1

failed=0 passed=0
report() { # MPI TEST STATUS FILE
  if (($3 == 0)); then
    passed=$((passed + 1))
    printf '%-12s %-28s %s\n' "$1" "$2" "$(tail -n 1 "$4" | sed 's/^passed: [^,:]*,* *//')"
    grep -h '^peer bug: ' "$4" | sort -u | sed 's/^/             /'
  else
    failed=$((failed + 1))
    printf '%-12s %-28s FAILED (%s)\n' "$1" "$2" "$3"
    tail -n 25 "$4" | cut -c-200 | sed 's/^/    /'
  fi
}

# Interposers of another interface must refuse to serve the process, and say so.
refuses() { # MPI
  local mpi=$1 other status=0
  : >"$scratch/output"
  for other in "$libraries"/libattrcache_{openmpi,mpich,mpi_abi}.so; do
    [[ $other != *_"$(interposer_of "$mpi")".so && -f $other ]] || continue
    # In a subshell, whose messages about crashes are dropped.
    (
      LD_PRELOAD=$other timeout 60 "$scratch/$mpi/coexist" >"$scratch/refused" 2>&1 </dev/null
      exit $?
    ) 2>/dev/null
    grep -q 'attrcache: this process runs another MPI' "$scratch/refused" || {
      status=1
      echo "$other says:"
      tail -n 5 "$scratch/refused"
    } >>"$scratch/output"
  done
  ((status != 0)) || echo "by interposers of other interfaces" >>"$scratch/output"
  report "$mpi" refuses "$status" "$scratch/output"
}

# Whether abi.h, with which the interposer is built, says the same as the MPI's own header of the standard ABI: values,
# sizes, and, as the compiler compares them, the types of functions.
abi_values() { # MPI
  local status=0 name theirs ours=lib/mpi/native/mpi_abi/abi.h
  theirs=$(abi_headers "${1%_abi}")/mpi.h
  {
    printf '#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n'
    for name in $(sed -n 's/^#define \(MPI_[A-Z_]*\) .*/\1/p; s/^  \(MPI_[A-Z_]*\) = .*/\1/p' "$ours"); do
      printf '  printf("%%s %%jd\\n", "%s", (intmax_t)(intptr_t)(%s));\n' "$name" "$name"
    done
    for name in $(sed -n '/MPI_Fint/d; s/^\(typedef .*[ *]\|} \)\(MPI_[A-Za-z]*\);$/\2/p' "$ours"); do
      printf '  printf("%%s %%zu\\n", "%s", sizeof(%s));\n' "$name" "$name"
    done
    echo '}'
  } >"$scratch/abi_values.c"
  for name in ours theirs; do
    cc -std=gnu11 -Wall -Werror -include stdint.h -include "${!name}" "$scratch/abi_values.c" -o "$scratch/abi_values" &&
      "$scratch/abi_values" >"$scratch/abi_values.$name" || status=1
  done >"$scratch/output" 2>&1
  diff "$scratch/abi_values.ours" "$scratch/abi_values.theirs" >>"$scratch/output" || status=1
  sed -n '/^typedef int(MPI_\(Comm\|Type\|Win\)_/p; /^int PMPI_/{:more; /;$/!{N; b more}; p}' "$ours" |
    cc -std=gnu11 -Wall -Werror -include "$theirs" -fsyntax-only -x c - >>"$scratch/output" 2>&1 || status=1
  echo "$(wc -l <"$scratch/abi_values.theirs") values and types" >>"$scratch/output"
  report "$1" abi_values "$status" "$scratch/output"
}

try() { # MPI
  local mpi=$1 library=$libraries/libattrcache_$(interposer_of "$1").so status=0
  mkdir -p "$scratch/$mpi"
  compile_mpi "$mpi" -std=gnu11 -O1 -g -Wno-deprecated-declarations -pthread tests/mpi/coexist.c \
    -o "$scratch/$mpi/coexist" -ldl || failed=$((failed + 1))
  bash tests/conformance/served_test.sh "$mpi" "$library" >"$scratch/output" 2>&1 </dev/null || status=$?
  report "$mpi" checks "$status" "$scratch/output"
  status=0
  bash tests/mpi/run.sh "$mpi" control "1 2" tools/attrcache-run "$library" "$scratch/$mpi/coexist" \
    >"$scratch/output" 2>&1 </dev/null || status=$?
  report "$mpi" coexist "$status" "$scratch/output"
  refuses "$mpi"
  [[ $mpi != *_abi ]] || abi_values "$mpi"
}

(($# > 0)) || set -- openmpi mpich openmpi_abi mpich_abi
for mpi in "$@"; do
  has_mpi "$mpi" || {
    echo "field.sh: $mpi is not installed"
    continue
  }
  choose_library "$mpi"
  "mpirun.$(mpi_of "$mpi")" --version 2>&1 | grep -E -m 1 -i 'open mpi|version' | sed "s/^ */$mpi: /"
  try "$mpi"
done
echo "field.sh: $passed passed, $failed failed"
((failed == 0 && passed > 0))
