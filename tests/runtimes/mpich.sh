# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# MPICH's own tests, for tests/runtimes/run. The folder given is test/mpi of a build: of `tools/embed mpich --keep DIR`, it is
# DIR/build/test/mpi, and the source lies beside it in DIR/mpich. Its compilers are those of the prefix of that build.
# MPICH 5 makes no such folder: there, an empty one in which DIR/mpich/test/mpi/configure --with-mpi=PREFIX CC=PREFIX/bin/mpicc
# (and CXX, F77 and FC likewise, FFLAGS and FCFLAGS with -fallow-argument-mismatch) has run.

# By folders; in brackets, which of a folder's tests (an extended regular expression), if not all.
MPICH_TESTS=(
  attr
  errors/attr
  init
  comm "[dup|free|ctx]"
  datatype "[typefree|tfree|simple_commit|typename|contents]"
  rma "[win_info|baseattrwin|fkeyvalwin|attrorderwin|window_creation|wincall|win_shared_create|attr]"
  topo "[cart|graph|topo|dims]"
  threads/comm
  threads/init
  session
  impls/mpich/threads/threadcomm

  cxx/attr
  f77/attr
  f90/attr
  f08/attr
)

own_tests() {
  local i folder filter list line program rest ranks status source
  source=$(sed -n 's/^top_srcdir = //p' "$SUITE/Makefile" | head -n 1)
  source=$(cd "$SUITE" && readlink -f -- "$source")
  make -s -C "$SUITE/util" >"$scratch/output" 2>&1 </dev/null || true
  for ((i = 0; i < ${#MPICH_TESTS[@]}; i++)); do
    folder=${MPICH_TESTS[i]} filter=.
    [[ ${MPICH_TESTS[i + 1]-} != \[* ]] || { i=$((i + 1)) && filter=${MPICH_TESTS[i]:1:-1}; }
    list=$SUITE/$folder/testlist
    [[ -f $list ]] || list=$source/$folder/testlist
    [[ -f $list && -f $SUITE/$folder/Makefile ]] || continue
    while read -r program ranks rest; do
      [[ -n $program && $program != \#* && $program =~ $filter ]] || continue
      [[ ! -d $SUITE/$folder/$program ]] || continue
      [[ $rest != *xfail=* ]] || continue
      wanted "own:$folder/$program" || continue
      own_test "$folder" "$program" "$ranks" "$rest"
    done < <(sort -u "$list")
  done
}

# Passed is, for MPICH's own script as well, what ends well and says "No Errors" and nothing else.
own_test() { # FOLDER PROGRAM RANKS REST-OF-THE-LINE
  local name="own:$1/$2" status=0 arguments=() word variables=() expected=0
  for word in $4; do
    case $word in
      arg=*) arguments+=("${word#arg=}") ;;
      env=*) variables+=("${word#env=}") ;;
      resultTest=TestStatus*) expected=any ;;
      resultTest=TestErrFatal*) return ;;
    esac
  done
  [[ " ${names[*]-} " != *" $name "* || -z ${results[$which $name]-} ]] || name="$name:$3"
  make -s -C "$SUITE/$1" "$2" >"$scratch/output" 2>&1 </dev/null || { result "$name" 1 "$scratch/output" && return; }
  (cd "$SUITE/$1" && env ${variables[@]+"${variables[@]}"} timeout -k 5 180 "$here/bin/mpirun" -np "${3:-2}" "./$2" \
    ${arguments[@]+"${arguments[@]}"}) >"$scratch/output" 2>&1 </dev/null || status=$?
  if [[ $expected == any ]]; then
    status=$((status == 0)) # it must not
  else
    grep -qiE '^ *(No Errors|Test passed)' "$scratch/output" || status=1
  fi
  result "$name" "$status" "$scratch/output"
}
