#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Compiles the library and the interposers without a warning, with each compiler that tools/setup --platforms installs;
# and the library for systems that can't run here, without calls that only glibc or Linux has.

set -euo pipefail
PATH=/usr/bin:/bin
export HOME=${HOME:-/tmp} # without one, Open MPI's mpicc prints nothing
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
warnings=(-Wall -Wextra -Werror)
core=(-std=c++20 -O2 -fno-exceptions -fno-rtti -fvisibility=hidden -fPIC)

# Stands in for musl, FreeBSD and macOS: no membarrier, no affinity, no thread-local memory in reserve. The object must then
# need nothing beyond POSIX.
tools/amalgamate "$scratch" >/dev/null
for pair in "" -DATTRCACHE_PAIR_TWO_STEP -DATTRCACHE_PAIR_TWO_WORDS; do
  g++ "${core[@]}" "${warnings[@]}" $pair -U__linux__ -DATTRCACHE_NO_AFFINITY -DATTRCACHE_NO_INITIAL_EXEC \
    -c "$scratch/attrcache.cc" -o "$scratch/bare.o"
  needed=$(nm -u "$scratch/bare.o" | sed 's/.* //' | sort | xargs)
  for name in $needed; do
    case $name in
      free | malloc | aligned_alloc | memmove | memset | memcpy | nanosleep | sysconf | sched_yield) ;;
      pthread_key_create | pthread_key_delete | pthread_setspecific) ;;
      _GLOBAL_OFFSET_TABLE_ | __tls_get_addr | __cpu_model | __stack_chk_fail) ;; # the compiler's own
      *)
        echo "FAILED: without Linux's calls, the library still needs $name"
        exit 1
        ;;
    esac
  done
  echo "built without Linux's calls${pair:+, $pair}"
done

built=0
for compiler in g++-{11..16} clang++-{13..21}; do
  command -v "$compiler" >/dev/null || continue
  "$compiler" "${core[@]}" "${warnings[@]}" -c "$scratch/attrcache.cc" -o "$scratch/o.o"
  for mpi in openmpi mpich mpi_abi; do
    includes=()
    if [[ $mpi != mpi_abi ]]; then
      readarray -t includes < <("mpicc.$mpi" -show | tr ' ' '\n' | sed -n 's/^-I/-isystem/p')
    fi
    for source in lib/mpi/*/*.cc "lib/mpi"/*/"$mpi"/*.cc; do
      [[ -e $source && ! ($mpi == mpi_abi && $source == */entry_fortran.cc) ]] || continue
      "$compiler" -std=c++20 -O1 -fvisibility=hidden -fPIC "${warnings[@]}" -Ilib -Ilib/include "${includes[@]}" \
        "-DATTRCACHE_${mpi^^}" -c "$source" -o "$scratch/o.o"
    done
  done
  echo "no warning: $("$compiler" --version | head -n 1)"
  built=$((built + 1))
done
((built >= 2)) || {
  echo "FAILED: only $built compilers are there"
  exit 1
}
echo "platform compilers, builds: $built passed"
