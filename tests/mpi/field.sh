#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Serves the MPIs of this machine by interposers that were built elsewhere:
#
#   tests/mpi/field.sh [--only=TEST,...] [--np="1 2"] LIBRARIES [MPI...]
#
# LIBRARIES is a folder with libattrcache_*.so, as CMake or Bazel leave them. An MPI is openmpi or mpich, or what
# one of them has for the standard ABI, openmpi_abi or mpich_abi; all that are here, if none is named. The programs of
# this folder are compiled by the MPI's compilers, or with the standard ABI's header, and each is run as run.sh says; all
# checks of tools/check-mpi are made, too. The last line says how many tests failed. It is what shows that one interposer serves all versions of an MPI.

set -u

np="1 2" only=
while [[ ${1-} == --* ]]; do
  case $1 in
    --np=*) np=${1#--np=} ;;
    --only=*) only=,${1#--only=}, ;;
    *)
      sed -n '4,/^$/s/^# \?//p' "${BASH_SOURCE[0]}"
      [[ $1 == --help ]]
      exit
      ;;
  esac
  shift
done
[[ -d ${1-} ]] || { echo "field.sh: it wants a folder of interposers" >&2 && exit 2; }
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
    tail -n "${FIELD_LINES:-25}" "$4" | cut -c-200 | sed 's/^/    /'
  fi
}

# ---- Compiling ----

compile() { # MPI TARGET FLAGS... SOURCES...
  local mpi=$1 target=$2
  shift 2
  compile_mpi "$mpi" -std=gnu11 -O1 -g -Wno-deprecated-declarations -pthread "$@" -o "$scratch/$mpi/$target" -ldl
}
compile_cxx() { # MPI TARGET SOURCE
  case $1 in
    *_abi) g++ -O1 -g -isystem "$(abi_headers "${1%_abi}")" "$3" -o "$scratch/$1/$2" "$(abi_library "${1%_abi}")" ;;
    *) "mpicxx.$1" -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -O1 -g "$3" -o "$scratch/$1/$2" ;;
  esac
}

# ---- Running ----

wanted() { # TEST
  [[ -z $only || $only == *",$1,"* ]]
}
# A test of run.sh, by the name of its program unless another is given after a colon.
run() { # MPI NAME[:PROGRAM] MODE NPS ARGUMENT...
  local mpi=$1 name=${2%:*} program=${2#*:} mode=$3 nps=$4 status=0
  shift 4
  wanted "$name" || return
  [[ -e $scratch/$mpi/$program ]] || return
  bash tests/mpi/run.sh "$mpi" "$mode" "$nps" tools/attrcache-run \
    "$libraries/libattrcache_$(interposer_of "$mpi").so" "$scratch/$mpi/$program" "$@" \
    >"$scratch/output" 2>&1 </dev/null || status=$?
  report "$mpi" "$name" "$status" "$scratch/output"
}

# Interposers of another interface must not take the process for theirs, and say so.
refuses() { # MPI
  local mpi=$1 other status=0
  wanted refuses || return
  : >"$scratch/output"
  for other in "$libraries"/libattrcache_{openmpi,mpich,mpi_abi}.so; do
    [[ $other != *_"$(interposer_of "$mpi")".so && -f $other ]] || continue
    # In a shell of its own, whose remarks on crashes nobody needs.
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
  wanted abi_values || return
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

# The scripts that check more than one program's output.
script() { # MPI NAME ARGUMENT...
  local mpi=$1 name=$2 status=0
  shift 2
  wanted "$name" || return
  bash "tests/mpi/${name}_test.sh" "$mpi" "$@" >"$scratch/output" 2>&1 </dev/null || status=$?
  report "$mpi" "$name" "$status" "$scratch/output"
}

try() { # MPI
  local mpi=$1 name
  mkdir -p "$scratch/$mpi"
  for name in coexist endings foreign init misuse raising report; do
    compile "$mpi" "$name" "tests/mpi/$name.c" || failed=$((failed + 1))
  done
  compile "$mpi" fixed_address -no-pie -fno-pic tests/mpi/fixed_address.c || failed=$((failed + 1))
  compile "$mpi" opened_module -shared -fPIC tests/mpi/opened_module.c || failed=$((failed + 1))
  cc -O1 tests/mpi/opened_late.c -o "$scratch/$mpi/opened_late" -ldl || failed=$((failed + 1))
  compile "$mpi" tool -shared -fPIC tests/mpi/tool.c || failed=$((failed + 1))
  compile "$mpi" tool_for_attributes -shared -fPIC -DWRAP_ATTRIBUTES tests/mpi/tool.c || failed=$((failed + 1))
  compile_cxx "$mpi" exception tests/mpi/exception.cc || failed=$((failed + 1))

  # What standard and MPIs say of attributes, in C, Fortran and C++.
  if wanted checks; then
    local status=0
    bash tests/conformance/served_test.sh "$mpi" "$libraries/libattrcache_$(interposer_of "$mpi").so" \
      >"$scratch/output" 2>&1 </dev/null || status=$?
    report "$mpi" checks "$status" "$scratch/output"
  fi
  run "$mpi" coexist control "$np"
  for name in foreign raising; do run "$mpi" "$name" served "$np"; done
  run "$mpi" raising_threads:raising served 1 threads
  run "$mpi" fixed_address control 1
  run "$mpi" opened_late control "$np" "$scratch/$mpi/opened_module"
  for name in tool tool_for_attributes; do
    run "$mpi" "$name:coexist" control "$np" "--preload=$scratch/$mpi/$name"
  done
  run "$mpi" exception served 1

  refuses "$mpi"
  [[ $mpi != *_abi ]] || abi_values "$mpi"

  local library
  library=$libraries/libattrcache_$(interposer_of "$mpi").so
  script "$mpi" endings "$library" "$scratch/$mpi/endings" none world-return world-handler self-handler object-handler \
    world-return,fatal-object
  script "$mpi" init tools/attrcache-run "$library" "$scratch/$mpi/tool" "$scratch/$mpi/init"
  local more=(early get_early get_late late many nested threads)
  script "$mpi" misuse tools/attrcache-run "$library" \
    "$scratch/$mpi/misuse" "${more[@]/#/$scratch/$mpi/misuse }" -- "$scratch/$mpi/coexist"
  script "$mpi" report tools/attrcache-run "$libraries/libattrcache_$(interposer_of "$mpi").so" \
    "$scratch/$mpi/report" tests/mpi/report_check.py \
    "$scratch/$mpi/coexist" "$scratch/$mpi/exception"
}

mpis=()
for mpi in "${@:-openmpi mpich openmpi_abi mpich_abi}"; do
  for one in $mpi; do
    if has_mpi "$one"; then
      mpis+=("$one")
    elif (($# > 0)); then
      echo "field.sh: $one is not here" >&2
      exit 2
    fi
  done
done
export HOME=${HOME:-/tmp}
for mpi in ${mpis[@]+"${mpis[@]}"}; do
  choose_library "$mpi"
  "mpirun.$(mpi_of "$mpi")" --version 2>&1 | grep -E -m 1 -i 'open mpi|version' | sed "s/^ */$mpi: /"
  try "$mpi"
done
if has_mpi openmpi && has_mpi mpich && wanted launcher && [[ " ${mpis[*]} " == *" openmpi "* && " ${mpis[*]} " == *" mpich "* ]]; then
  unset LD_LIBRARY_PATH
  status=0
  bash tests/mpi/launcher_test.sh tools/attrcache-run "$libraries"/libattrcache_{openmpi,mpich,mpi_abi}.so \
    "$scratch"/{openmpi,mpich}/coexist >"$scratch/output" 2>&1 </dev/null || status=$?
  report both launcher "$status" "$scratch/output"
fi
echo "field.sh: $passed passed, $failed failed"
((failed == 0 && passed > 0))
