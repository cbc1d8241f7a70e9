# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Tests for Open MPI, for tests/runtimes/run. Open MPI's own source has none on attributes, dup, sessions or finalize, so
# the folder given is test/mpi of MPICH's source, whose tests ask nothing that is MPICH's own. They are compiled here, one
# by one, as their configure knows only MPICH. Names, ranks and arguments are those of MPICH's testlist files. Two are left
# out: attr/fkeyvaltype, whose library uses functions that Open MPI no longer has, and init/exitst2, which is to fail.

# FOLDER PROGRAM RANKS [ARGUMENT...]; a program of the same name may be in two folders.
SUITE_TESTS=(
  "attr attr2type 1" "attr attrdeleteget 1" "attr attrend 1" "attr attrend 4" "attr attrend2 1" "attr attrend2 5"
  "attr attrerr 1" "attr attrerrcomm 1" "attr attrerrtype 1" "attr attric 4" "attr attrorder 1"
  "attr attrordercomm 1" "attr attrordertype 1" "attr attrt 2" "attr baseattr2 1" "attr baseattrcomm 1"
  "attr fkeyval 1" "attr fkeyvalcomm 1" "attr keyval_double_free 1"
  "attr keyval_double_free_comm 1" "attr keyval_double_free_type 1" "attr keyval_double_free_win 1"
  "comm cmfree 4" "comm comm_idup 2" "comm comm_idup_mul 2" "comm comm_info 2" "comm commcreate1 4" "comm ctxalloc 2"
  "comm dup 2" "comm dupic 4" "datatype tfree 2" "datatype typefree 1" "errors/attr keyvalmis 1"
  "init attrself 1" "init finalized 1" "init initstat 1"
  "rma attrorderwin 1" "rma baseattrwin 1" "rma fkeyvalwin 1" "rma win_info 4"
  "threads/comm ctxdup 2" "threads/comm dup_leak_test 2 -iter=12345"
)

own_tests() {
  local line folder program ranks arguments status flags objects=() part
  mkdir -p "$scratch/suite"
  {
    for part in STDLIB_H STDIO_H STRING_H STDARG_H UNISTD_H SYS_TIME_H SYS_RESOURCE_H GETRUSAGE MPI_WIN_CREATE; do
      echo "#define HAVE_$part 1"
    done
    echo '#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX'
  } >"$scratch/suite/mpitestconf.h"
  flags=(-w -O1 -pthread -I"$scratch/suite" -I"$SUITE/include")
  for part in mtest mtest_common mtest_thread; do
    build "$part.o" mpicc "${flags[@]}" -c "$SUITE/util/$part.c" || { result own:util 1 "$scratch/compiler" && return; }
    objects+=("$scratch/$which/$part.o")
  done
  for line in "${SUITE_TESTS[@]}"; do
    read -r folder program ranks arguments <<<"$line"
    wanted "own:$folder/$program" || continue
    build suite mpicc "${flags[@]}" "$SUITE/$folder/$program.c" "${objects[@]}" -lm ||
      { result "own:$folder/$program:$ranks" 1 "$scratch/compiler" && continue; }
    status=0
    # shellcheck disable=SC2086 # words, or nothing
    (timeout -k 5 180 "$here/bin/mpirun" -np "$ranks" "$scratch/$which/suite" $arguments) >"$scratch/output" 2>&1 </dev/null ||
      status=$?
    grep -q 'No Errors' "$scratch/output" || status=1
    result "own:$folder/$program:$ranks" "$status" "$scratch/output"
  done
}
