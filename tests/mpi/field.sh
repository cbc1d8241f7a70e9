#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Serves the MPIs of this machine with interposers that were built elsewhere:
#
#   tests/mpi/field.sh LIBRARIES [MPI...]
#
# LIBRARIES is a folder with libattrcache_*.so, as CMake or Bazel leave them. An MPI is openmpi or mpich, or openmpi_abi
# or mpich_abi for their libraries with the standard ABI; by default, all that are installed. The checks of
# tools/check-mpi, compiled by the MPI's compiler or with the standard ABI's header, show that one interposer serves all
# versions of an MPI. `tools/test` on that system runs this folder's other tests, with interposers built there. The last
# line says how many MPIs failed.

set -u

[[ -d ${1-} ]] || { echo "field.sh: give a folder of interposers" >&2 && exit 2; }
libraries=$(readlink -f -- "$1")
shift
cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.." || exit 2
source tests/mpi/environment.sh
export PYTHONDONTWRITEBYTECODE=1

# Whether abi.h, with which the interposer is built, says the same as the MPI's own header of the standard ABI: values,
# sizes, and, as the compiler compares them, the types of functions.
abi_values() { # MPI
  local name theirs ours=lib/mpi/native/mpi_abi/abi.h
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
  } >"$TMPDIR/abi_values.c"
  for name in ours theirs; do
    cc -std=gnu11 -Wall -Werror -include stdint.h -include "${!name}" "$TMPDIR/abi_values.c" -o "$TMPDIR/abi_values" &&
      "$TMPDIR/abi_values" >"$TMPDIR/abi_values.$name" || return 1
  done
  diff "$TMPDIR/abi_values.ours" "$TMPDIR/abi_values.theirs" || return 1
  sed -n '/^typedef int(MPI_\(Comm\|Type\|Win\)_/p; /^int PMPI_/{:more; /;$/!{N; b more}; p}' "$ours" |
    cc -std=gnu11 -Wall -Werror -include "$theirs" -fsyntax-only -x c - || return 1
  echo "$1: $(wc -l <"$TMPDIR/abi_values.theirs") values and types of abi.h"
}

(($# > 0)) || set -- openmpi mpich openmpi_abi mpich_abi
tried=0
for mpi in "$@"; do
  has_mpi "$mpi" || {
    echo "field.sh: $mpi is not installed"
    continue
  }
  tried=$((tried + 1))
  bash tests/conformance/served_test.sh "$mpi" "$libraries/libattrcache_$(interposer_of "$mpi").so" </dev/null || fail "checks"
  [[ $mpi != *_abi ]] || abi_values "$mpi" || fail "abi_values"
done
echo "field.sh: $tried MPIs, $failures failed"
((failures == 0 && tried > 0))
