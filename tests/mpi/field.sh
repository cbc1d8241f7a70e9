#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Serves the MPIs of this machine by interposers that were built elsewhere:
#
#   tests/mpi/field.sh [--only=TEST,...] [--np="1 2"] LIBRARIES [MPI...]
#
# LIBRARIES is a folder with libattrcache_*.so, as tools/install or Bazel leave them. An MPI is openmpi or mpich, or what
# one of them has for the standard ABI, openmpi_abi or mpich_abi; all that are here, if none is named. The programs of
# this folder are compiled by the MPI's compilers, or with the standard ABI's header, and each is run as run.sh says. The
# last line says how many tests failed. It is what shows that one interposer serves all versions of an MPI.

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

# The library of an MPI for the standard ABI, and the folder of a header for it.
abi_library() { # MPI
  local file
  for file in /usr/lib/*/"libmpi_abi_$1.so".*; do [[ ! -f $file ]] || printf '%s\n' "$file"; done | head -n 1
}
abi_headers() { # MPI
  local folder
  for folder in /usr/lib/*/"mpi_abi_$1/include" /usr/lib/*/"$1/include/standard_abi"; do
    [[ ! -f $folder/mpi.h ]] || printf '%s\n' "$folder"
  done | head -n 1
}

has() { # MPI
  case $1 in
    *_abi) [[ -n $(abi_library "${1%_abi}") && -n $(abi_headers "${1%_abi}") ]] ;;
    *) command -v "mpicc.$1" >/dev/null && command -v "mpirun.$1" >/dev/null ;;
  esac
}

# Sessions came with MPI-4.0; Open MPI 5.0, which is MPI-3.1 by its version, has them too.
has_sessions() { # MPI
  local flags=()
  case $1 in
    *_abi) flags=(cc -isystem "$(abi_headers "${1%_abi}")") ;;
    *) flags=("mpicc.$1") ;;
  esac
  echo "MPI_Session session;" | "${flags[@]}" -include mpi.h -fsyntax-only -x c - 2>/dev/null
}

compile() { # MPI TARGET FLAGS... SOURCES...
  local mpi=$1 target=$scratch/$1/$2 flags=(-std=gnu11 -O1 -g -Wno-deprecated-declarations -pthread)
  shift 2
  case $mpi in
    # Their compilers' wrappers, where there are any, know nothing of this.
    *_abi) cc "${flags[@]}" -isystem "$(abi_headers "${mpi%_abi}")" "$@" -o "$target" "$(abi_library "${mpi%_abi}")" -ldl ;;
    *) "mpicc.$mpi" "${flags[@]}" "$@" -o "$target" -ldl ;;
  esac
}
compile_cxx() { # MPI TARGET SOURCE
  case $1 in
    *_abi) g++ -O1 -g -isystem "$(abi_headers "${1%_abi}")" "$3" -o "$scratch/$1/$2" "$(abi_library "${1%_abi}")" ;;
    *) "mpicxx.$1" -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -O1 -g "$3" -o "$scratch/$1/$2" ;;
  esac
}
compile_fortran() { # MPI INTERFACE NUMBER
  local flags=(-cpp -ffree-line-length-none -fallow-argument-mismatch -O0 -g -J "$scratch/$1" "-DFORTRAN_INTERFACE=$3")
  "mpicc.$1" "-DFORTRAN_INTERFACE=$3" -O1 -g -c tests/mpi/fortran_c.c -o "$scratch/$1/fortran_c.o" &&
    "mpif90.$1" "${flags[@]}" tests/mpi/fortran.F90 "$scratch/$1/fortran_c.o" -o "$scratch/$1/fortran_$2"
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

# The demo's storms, which the MPIs lose by themselves: what they say is shown.
storm() { # MPI same|own
  local status=0 native=0
  wanted "storm_$2" || return
  (
    timeout -k 3 60 "$scratch/$1/storm" "$2" >"$scratch/native" 2>&1 </dev/null
    exit $?
  ) 2>/dev/null || native=$?
  ATTRCACHE_LIBDIR=$libraries ATTRCACHE_VERBOSE=1 timeout -k 3 120 tools/attrcache-run --mpi "$(interposer_of "$1")" "$scratch/$1/storm" "$2" \
    >"$scratch/output" 2>&1 </dev/null || status=$?
  grep -q '^attrcache\[.*serving' "$scratch/output" || status=99
  {
    printf 'served: %s; native: ' "$(grep -E -m 1 '^(done|HUNG)' "$scratch/output")"
    ((native <= 3)) && grep -E -m 1 '^(done|HUNG)' "$scratch/native" || echo "exit $native"
  } >>"$scratch/output"
  report "$1" "storm_$2" "$status" "$scratch/output"
}

# The MPI's own launcher, with the library found out from the command: its options for environment, hosts, several
# programs, and files of command lines. What the launcher can't do natively either is said, and not asked.
launches() { # MPI
  local mpi=$1 mpirun program=$scratch/$1/coexist status=0 runs=0
  local -a same
  mpirun=mpirun.$(mpi_of "$mpi")
  wanted launches || return
  : >"$scratch/output"
  run_two() { # WHAT COMMAND...
    local what=$1 output
    shift
    if peer_bug "$(mpi_of "$mpi")" "$what" two "$@" >>"$scratch/output"; then return; fi
    runs=$((runs + 1))
    output=$(ATTRCACHE_LIBDIR=$libraries ATTRCACHE_VERBOSE=1 ATTRCACHE_TEST_SERVED=1 \
      timeout 100 tools/attrcache-run "$@" 2>&1 </dev/null)
    (($(grep -c '^attrcache\[[0-9]*\]: serving' <<<"$output") == 2)) &&
      (($(grep -c 'checks passed$' <<<"$output") == 2)) && return
    status=1
    printf 'FAILED: %s:\n%s\n' "$*" "$output" >>"$scratch/output"
  }
  two() { (($(ATTRCACHE_TEST_SERVED=0 timeout 100 "$@" 2>/dev/null | grep -c 'checks passed$') == 2)); }
  same=(-np 1 "$program")
  run_two "-np" "$mpirun" -np 2 "$program"
  run_two "-n" "$mpirun" -n 2 "$program"
  run_two "a wrapper" "$mpirun" -np 2 bash -c 'exec "$@"' bash "$program"
  run_two "several programs" "$mpirun" "${same[@]}" : "${same[@]}"
  printf -- '-np 1 %s\n-np 1 %s\n' "$program" "$program" >"$scratch/lines"
  case $mpirun in
    *openmpi)
      run_two "-x" "$mpirun" -x A=B -np 2 "$program"
      run_two "--host" "$mpirun" --host localhost:2 -np 2 "$program"
      echo "localhost slots=2" >"$scratch/hosts"
      run_two "--hostfile" "$mpirun" --hostfile "$scratch/hosts" -np 2 "$program"
      run_two "--app" "$mpirun" --app "$scratch/lines"
      run_two "-x, several programs" "$mpirun" -x A=B "${same[@]}" : -x C=D "${same[@]}"
      ;;
    *)
      run_two "-genv" "$mpirun" -genv A B -np 2 "$program"
      run_two "-env" "$mpirun" -np 2 -env A B "$program"
      run_two "-hosts" "$mpirun" -hosts localhost -np 2 "$program"
      echo "localhost:2" >"$scratch/hosts"
      run_two "-f" "$mpirun" -f "$scratch/hosts" -np 2 "$program"
      run_two "-configfile" "$mpirun" -configfile "$scratch/lines"
      run_two "-genv, several programs" "$mpirun" -genv A B "${same[@]}" : "${same[@]}"
      ;;
  esac
  echo "$runs command lines" >>"$scratch/output"
  report "$mpi" launches "$status" "$scratch/output"
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

# Whether the values that the interposer was built with are those of this header.
abi_values() { # MPI
  local status=0 header
  wanted abi_values || return
  for header in ours theirs; do
    local flags=(-isystem "$(abi_headers "${1%_abi}")" -include mpi.h)
    [[ $header == theirs ]] || flags=(-include lib/mpi/native/mpi_abi/abi.h)
    cc -std=gnu11 -Wall -Werror "${flags[@]}" tests/mpi/abi_values.c -o "$scratch/abi_values" &&
      "$scratch/abi_values" >"$scratch/abi_values.$header" || status=1
  done >"$scratch/output" 2>&1
  diff "$scratch/abi_values.ours" "$scratch/abi_values.theirs" >>"$scratch/output" || status=1
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

C_PROGRAMS=(abort coexist communicator datatype endings errors failing finalize foreign init misuse objects predefined raising
  reentrant report sessions threads window)

try() { # MPI
  local mpi=$1 name number interface
  mkdir -p "$scratch/$mpi"
  for name in "${C_PROGRAMS[@]}"; do
    [[ $name != sessions ]] || has_sessions "$mpi" || continue
    compile "$mpi" "$name" "tests/mpi/$name.c" || failed=$((failed + 1))
  done
  compile "$mpi" fixed_address -no-pie -fno-pic tests/mpi/fixed_address.c || failed=$((failed + 1))
  compile "$mpi" opened_module -shared -fPIC tests/mpi/opened_module.c || failed=$((failed + 1))
  cc -O1 tests/mpi/opened_late.c -o "$scratch/$mpi/opened_late" -ldl || failed=$((failed + 1))
  compile "$mpi" tool -shared -fPIC tests/mpi/tool.c || failed=$((failed + 1))
  compile "$mpi" tool_for_attributes -shared -fPIC -DWRAP_ATTRIBUTES tests/mpi/tool.c || failed=$((failed + 1))
  compile "$mpi" storm -O2 tools/demo.d/storm.c || failed=$((failed + 1))
  compile_cxx "$mpi" exception tests/mpi/exception.cc || failed=$((failed + 1))

  for name in coexist communicator datatype errors failing window; do run "$mpi" "$name" control "$np"; done
  run "$mpi" objects control "${np##* }"
  for name in foreign raising reentrant threads; do run "$mpi" "$name" served "$np"; done
  run "$mpi" raising_threads:raising served 1 threads
  for name in finalize predefined; do run "$mpi" "$name" same "$np"; done
  for name in create_before_init get_before_init use_null_handle give_null_pointer use_invalid_keyval fail_to_delete \
    fail_at_finalize create_after_finalize get_after_finalize set_after_finalize; do
    run "$mpi" "$name:abort" abort 1 "$name"
  done
  run "$mpi" sessions control 1
  run "$mpi" sessions_kept:sessions served 1 kept
  run "$mpi" sessions_after:sessions control 1 after
  run "$mpi" sessions_outlives:sessions control 1 outlives
  run "$mpi" fixed_address control 1
  run "$mpi" opened_late control "$np" "$scratch/$mpi/opened_module"
  for name in tool tool_for_attributes; do
    run "$mpi" "$name:communicator" control "$np" "--preload=$scratch/$mpi/$name"
  done
  run "$mpi" exception served 1
  for name in same own; do storm "$mpi" "$name"; done

  refuses "$mpi"
  launches "$mpi"
  case $mpi in
    *_abi) abi_values "$mpi" ;; # has no Fortran
    *)
      number=0
      for interface in mpifh use_mpi mpi_f08; do
        number=$((number + 1))
        if wanted "fortran_$interface" && command -v "mpif90.$mpi" >/dev/null; then
          compile_fortran "$mpi" "$interface" "$number" >"$scratch/output" 2>&1 ||
            report "$mpi" "fortran_$interface" "not compiled" "$scratch/output"
          run "$mpi" "fortran_$interface" control "$np"
        fi
      done
      ;;
  esac

  local library
  library=$libraries/libattrcache_$(interposer_of "$mpi").so
  script "$mpi" endings "$library" "$scratch/$mpi/endings" none world-return world-handler self-handler object-handler \
    world-return,fatal-object
  script "$mpi" init tools/attrcache-run "$library" "$scratch/$mpi/tool" "$scratch/$mpi/init"
  local more=(early get_early get_late late many nested threads) right=(coexist communicator datatype objects reentrant window)
  script "$mpi" misuse tools/attrcache-run "$library" \
    "$scratch/$mpi/misuse" "${more[@]/#/$scratch/$mpi/misuse }" -- "${right[@]/#/$scratch/$mpi/}"
  right=(coexist communicator datatype errors exception failing reentrant threads window)
  script "$mpi" report tools/attrcache-run "$libraries/libattrcache_$(interposer_of "$mpi").so" \
    "$scratch/$mpi/report" tests/mpi/report_check.py "${right[@]/#/$scratch/$mpi/}"
}

mpis=()
for mpi in "${@:-openmpi mpich openmpi_abi mpich_abi}"; do
  for one in $mpi; do
    if has "$one"; then
      mpis+=("$one")
    elif (($# > 0)); then
      echo "field.sh: $one is not here" >&2
      exit 2
    fi
  done
done
export HOME=${HOME:-/tmp}
for mpi in ${mpis[@]+"${mpis[@]}"}; do
  # Which of the two libraries a program for the standard ABI finds.
  case $mpi in
    *_abi)
      mkdir -p "$scratch/$mpi/lib"
      ln -sf "$(abi_library "${mpi%_abi}")" "$scratch/$mpi/lib/libmpi_abi.so.1"
      export LD_LIBRARY_PATH=$scratch/$mpi/lib
      ;;
    *) unset LD_LIBRARY_PATH ;;
  esac
  "mpirun.$(mpi_of "$mpi")" --version 2>&1 | grep -E -m 1 -i 'open mpi|version' | sed "s/^ */$mpi: /"
  try "$mpi"
done
if has openmpi && has mpich && wanted launcher && [[ " ${mpis[*]} " == *" openmpi "* && " ${mpis[*]} " == *" mpich "* ]]; then
  unset LD_LIBRARY_PATH
  status=0
  bash tests/mpi/launcher_test.sh tools/attrcache-run "$libraries"/libattrcache_{openmpi,mpich,mpi_abi}.so \
    "$scratch"/{openmpi,mpich}/coexist >"$scratch/output" 2>&1 </dev/null || status=$?
  report both launcher "$status" "$scratch/output"
fi
echo "field.sh: $passed passed, $failed failed"
((failed == 0 && passed > 0))
