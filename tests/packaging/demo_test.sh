#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tools/demo in a fresh tree, not as root, and the commands after it.

source tests/packaging/lib.sh
cp -RL BUILD CMakeLists.txt README.md bench lib tests tools "$work"
as_user=()
if ((EUID == 0)); then
  chown -R nobody "$work"
  as_user=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
fi
cd "$work"
user() {
  "${as_user[@]}" env HOME="$work" "$@"
}

user tools/demo >output 2>&1 || fail "$(<output)"
cat output
[[ $(tail -n 1 output) == "tools/demo: everything held"* ]] || fail "its last line"
(($(grep -c ' served  *each value was deleted once$' output) == 4)) || fail "not 4 served storms"
user bash tests/packaging/commands.sh . output || fail "the commands after it"

# What it hasn't built, CMake builds, and only that.
said=$(user tools/attrcache-run --mpi mpi_abi --print 2>&1) || fail "$said"
[[ $said == "attrcache-run: building libattrcache_mpi_abi.so by CMake in $work/build/run,"*$'\n'"$work/build/run/libattrcache_mpi_abi.so" ]] ||
  fail "$said"
[[ $(cd build/run && echo *.so*) == libattrcache_mpi_abi.so ]] || fail "built: $(ls build/run)"
# That build compiles all sources as one, where GCC may inline what keeps its own return address (mpi/native/stack_place.h).
objdump -dC build/run/libattrcache_mpi_abi.so >code
for name in Refusal NestedCall FreeingCall; do grep -q "call.*::$name::$name(" code || fail "$name's constructor is inlined"; done

# A compiler that gives no mpi.h, nor anything else.
mkdir bare
for tool in bash env sed grep cat mkdir rm mktemp dirname readlink tail nproc sort; do ln -s "/usr/bin/$tool" bare; done
user env PATH="$work/bare" tools/demo >output 2>&1 && fail "it shows something without a compiler"
for what in "a compiler for C++20" cmake make python3; do
  grep -q "^  missing: $what.*: nothing can be built" output || fail "no line on $what: $(<output)"
done
echo "passed"
