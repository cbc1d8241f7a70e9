#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# launcher_test.sh RUN OPENMPI-LIBRARY MPICH-LIBRARY ABI-LIBRARY OPENMPI-PROGRAM MPICH-PROGRAM: what tools/attrcache-run
# makes of its command line.

set -u

run=$(readlink -f -- "$1")
openmpi_library=$(readlink -f -- "$2") mpich_library=$(readlink -f -- "$3") abi_library=$(readlink -f -- "$4")
openmpi_program=$(readlink -f -- "$5") mpich_program=$(readlink -f -- "$6")

source tests/mpi/environment.sh
export ATTRCACHE_VERBOSE=1 ATTRCACHE_TEST_SERVED=1
unset LD_PRELOAD

# All libraries in one folder, as they are when installed.
mkdir "$TMPDIR/lib"
ln -s "$openmpi_library" "$TMPDIR/lib/libattrcache_openmpi.so"
ln -s "$mpich_library" "$TMPDIR/lib/libattrcache_mpich.so"
ln -s "$abi_library" "$TMPDIR/lib/libattrcache_mpi_abi.so"
export ATTRCACHE_LIBDIR=$TMPDIR/lib
cd / || exit 1

# finds EXPECTED ARGUMENT...: --print says which library.
finds() {
  local expected=$1 got
  shift
  got=$("$run" --print "$@" 2>&1 || true)
  [ "$got" = "$expected" ] || fail "--print $*: $got"
}
finds "$openmpi_library" --mpi openmpi
finds "$mpich_library" --mpi=mpich
finds "$mpich_library" mpiexec.hydra -n 1 true
finds "$openmpi_library" timeout 10 mpirun.openmpi true
finds "$mpich_library" env A=B "$mpich_program"
if /usr/bin/python3 -c 'import mpi4py' 2>/dev/null; then
  finds "$openmpi_library" /usr/bin/python3 -c 'pass'
fi
printf '#!/bin/sh\nexec "$@"\n' >"$TMPDIR/wrapper" && chmod +x "$TMPDIR/wrapper"
finds "$mpich_library" "$TMPDIR/wrapper" mpirun.mpich true

# refuses CODE TEXT ARGUMENT...: it ends with this code, and a clear message.
refuses() {
  local code=$1 text=$2 message
  shift 2
  message=$("$run" "$@" 2>&1)
  [ $? = "$code" ] && [[ $message == *"$text"* && $message != *Traceback* ]] || fail "$*: $message"
}
refuses 2 "can't tell the MPI of 'ls'" ls
refuses 2 "--mpi" ls
refuses 127 "not found" /no/such/program
refuses 126 "/etc/passwd: not a program" /etc/passwd
refuses 126 "/etc/passwd: not a program" --mpi=openmpi /etc/passwd
refuses 127 "--report=run.htm takes any" --report run.htm "$mpich_program"
refuses 2 "--trace needs a file, but mpirun.mpich is a program" --trace mpirun.mpich -np 2 "$mpich_program"
refuses 2 "is a launcher of openmpi" --mpi mpich mpirun.openmpi -np 1 true
refuses 2 "lam" --mpi lam true
echo '{' >"$TMPDIR/bad.json"
refuses 2 "bad.json is no JSON" --report="$TMPDIR/no.html" --compare="$TMPDIR/bad.json" "$mpich_program"
refuses 2 "argument --compare: expected one argument" --compare
refuses 2 "--compare needs" --compare= "$mpich_program"
refuses 2 "argument --from: expected one argument" --from
refuses 2 "--from runs nothing" --from "$TMPDIR/bad.json" --report=no.html "$mpich_program"
refuses 2 "--from needs --report" --from "$TMPDIR/bad.json"
refuses 2 "there is no such file" --from "$TMPDIR/bad.json" --report="$TMPDIR/no.html" --trace="$TMPDIR/none.trace"
refuses 2 "--report needs a file" --report= "$mpich_program"
refuses 2 "is a program" --trace "$mpich_program"
refuses 2 "is a program" --report="$mpich_program" "$mpich_program"
refuses 2 "--trace needs a file" --trace=- "$mpich_program"
refuses 2 "is a folder" --report=/tmp "$mpich_program"
refuses 2 "there is no folder /no/such" --report=/no/such/file "$mpich_program"
"$run" >/dev/null 2>&1
[ $? = 2 ] || fail "no arguments"
"$run" --help | grep -q Usage || fail "--help"

# The command's exit code; a process without MPI runs as it would by itself.
"$run" --mpi openmpi bash -c 'exit 7'
[ $? = 7 ] || fail "exit code"
"$run" --mpi mpich bash -c 'ulimit -c 0; kill -SEGV $$' 2>/dev/null
[ $? = 139 ] || fail "the signal that ended it"
[ "$(echo text | "$run" --mpi mpich cat)" = text ] || fail "standard input"
# A signal is passed on, and the command decides what it does.
"$run" --mpi mpich bash -c 'trap "exit 5" TERM; touch "$0"; while :; do sleep 0.1; done' "$TMPDIR/trapped" &
until [ -f "$TMPDIR/trapped" ]; do sleep 0.1; done
kill -TERM $!
wait $!
[ $? = 5 ] || fail "SIGTERM isn't passed on"
[ "$("$run" --mpi mpich bash -c 'echo "$LD_PRELOAD"')" = "$mpich_library" ] || fail "LD_PRELOAD"
[ "$(LD_PRELOAD='' "$run" --mpi mpich ls -d /)" = / ] || fail "ls under the library"

# Served: alone, with a launcher, and each program of an MPMD line; the launcher itself isn't preloaded.
serves() { # HOW-MANY COMMAND...
  local expected=$1 output count
  shift
  output=$(timeout 60 "$run" "$@" 2>&1 </dev/null)
  # Launchers may join two ranks' lines.
  count=$(grep -o 'attrcache\[[0-9]*\]: serving' <<<"$output" | wc -l)
  [ "$count" = "$expected" ] || fail "$*: $count served; $output"
  count=$(grep -o 'checks passed' <<<"$output" | wc -l)
  [ "$count" = "$expected" ] || fail "$*: $count passed; $output"
}
# The same, unless the MPI itself can't run it.
serves_if_native() { # HOW-MANY openmpi|mpich WHAT COMMAND...
  local expected=$1 mpi=$2 what=$3
  shift 3
  peer_bug "$mpi" "$what" native "$expected" "$@" || serves "$expected" "$@"
}
native() { # HOW-MANY COMMAND...
  local expected=$1
  shift
  [ "$(ATTRCACHE_TEST_SERVED=0 timeout 60 "$@" | grep -o 'checks passed' | wc -l)" = "$expected" ]
}
# Programs that use no attribute (init.c, init.F90), in C and Fortran, by each function that initializes MPI; and silence.
for folder in "$(dirname "$openmpi_program")" "$(dirname "$mpich_program")"; do
  for program in init init_mpifh init_mpi_f08; do
    for how in "" thread; do
      serves 2 "mpirun.$(basename "$folder")" -np 2 "$folder/$program" $how
    done
  done
done
serves 1 mpirun.mpich -np 1 "$(dirname "$mpich_program")/init" session # Open MPI's interposer overrides no MPI_Session_init
for silence in 0 ''; do
  output=$(ATTRCACHE_VERBOSE=$silence "$run" "$mpich_program" 2>&1)
  [[ $output == *passed && $output != *attrcache* ]] || fail "ATTRCACHE_VERBOSE=$silence: $output"
done
serves 1 "$mpich_program"
serves 1 "$openmpi_program"
serves 2 mpirun.mpich -np 2 "$mpich_program"
serves 2 mpirun.openmpi -np 2 "$openmpi_program"
several="mpirun of several programs does not run them"
serves_if_native 2 openmpi "$several" mpirun.openmpi -np 1 "$openmpi_program" : -np 1 "$openmpi_program"
serves 2 mpirun.mpich -np 1 "$mpich_program" : -np 1 "$mpich_program"
# The launchers' options for environment and hosts.
echo "localhost slots=2" >"$TMPDIR/hosts"
for options in "-x A=B" "--host localhost:2" "--hostfile $TMPDIR/hosts"; do
  # shellcheck disable=SC2086 # words
  serves_if_native 2 openmpi "mpirun $options" mpirun.openmpi $options -n 2 "$openmpi_program"
done
serves_if_native 2 openmpi "$several" mpirun.openmpi -x A=B -np 1 "$openmpi_program" : -x C=D -np 1 "$openmpi_program"
echo "localhost:2" >"$TMPDIR/hosts"
for options in "-genv A B" "-env A B" "-hosts localhost" "-f $TMPDIR/hosts"; do
  # shellcheck disable=SC2086 # words
  serves 2 mpirun.mpich $options -n 2 "$mpich_program"
done
serves 2 timeout 50 mpirun.openmpi -np 2 "$TMPDIR/wrapper" "$openmpi_program"
# Also where the launcher has another environment than we, and where command lines are in a file.
serves 2 env -u ATTRCACHE_VERBOSE mpirun.openmpi -np 2 "$openmpi_program"
serves 2 env -u ATTRCACHE_VERBOSE mpirun.mpich -np 2 "$mpich_program"
printf '# two programs\n\n-np 1 %s\n  -np 1 %s' "$openmpi_program" "$openmpi_program" >"$TMPDIR/lines"
serves_if_native 2 openmpi "$several" mpirun.openmpi --app "$TMPDIR/lines"
serves_if_native 2 openmpi "$several" mpirun.openmpi --mca mca_base_env_list "A=B" --app "$TMPDIR/lines"
OMPI_MCA_mca_base_env_list=A=B serves_if_native 2 openmpi "$several" \
  mpirun.openmpi -np 1 "$openmpi_program" : -np 1 "$openmpi_program"
# What a site or user has configured for Open MPI to pass on.
mkdir -p "$TMPDIR/.openmpi"
echo 'mca_base_env_list = A=B' >"$TMPDIR/.openmpi/mca-params.conf"
HOME=$TMPDIR serves 2 mpirun.openmpi -np 2 "$openmpi_program"
HOME=$TMPDIR serves 2 sh -c '"$@"' "$openmpi_program" mpirun.openmpi -np 2 "$openmpi_program"
rm -r "$TMPDIR/.openmpi"
echo '-mca mca_base_env_list "A=B;C=D"' >"$TMPDIR/tune"
said=$("$run" mpirun.openmpi --tune "$TMPDIR/tune" -np 2 "$openmpi_program" 2>&1)
[[ $? = 2 && $said == *"/tune names mca_base_env_list: write mpirun ... attrcache-run ./program" ]] || fail "--tune: $said"
# Another host is reached by ssh: no command line has the secret, nor have those here.
cat >"$TMPDIR/ssh" <<'END'
#!/bin/bash
shift
echo "$*" >>"$TMPDIR/hosts.log"
exec env -i PATH="$PATH" HOME="$HOME" TMPDIR="$TMPDIR" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 sh -c "$*"
END
cat >"$TMPDIR/leaks" <<'END'
#!/bin/bash
secret=${ATTRCACHE_LAUNCHER%%@*}
[ "${#secret}" = 32 ] || echo "FAILED: ATTRCACHE_LAUNCHER is $ATTRCACHE_LAUNCHER"
for file in /proc/[0-9]*/cmdline "$TMPDIR/hosts.log"; do
  [ ! -f "$file" ] || words=$({ tr '\0' ' ' <"$file"; } 2>/dev/null)
  [[ $words != *"$secret"* ]] || echo "FAILED: the secret is in $words"
done
exec "$@"
END
chmod +x "$TMPDIR/ssh" "$TMPDIR/leaks"
keeps() { # COMMAND... that runs 2 ranks
  local output
  rm -f "$TMPDIR/hosts.log"
  output=$(timeout 60 "$run" "$@" 2>&1 </dev/null)
  [[ $(grep -o 'checks passed' <<<"$output" | wc -l) = 2 && $output != *FAILED* && -s $TMPDIR/hosts.log ]] || fail "$*: $output"
}
remote=(mpirun.openmpi --mca plm_rsh_agent "$TMPDIR/ssh" --host 127.0.0.2:2 -np 2)
if ! peer_bug openmpi "mpirun doesn't reach 127.0.0.2" native 2 "${remote[@]}" "$openmpi_program"; then
  keeps "${remote[@]}" "$TMPDIR/leaks" "$openmpi_program"
  keeps "${remote[@]}" --mca mca_base_env_list "A=B" "$TMPDIR/leaks" "$openmpi_program"
  keeps sh -c '"$@"' "$openmpi_program" "${remote[@]}" "$TMPDIR/leaks" "$openmpi_program"
fi
printf -- '-n 1 %s\n-n 1 %s\n' "$mpich_program" "$mpich_program" >"$TMPDIR/lines"
serves_if_native 2 mpich "mpirun -configfile does not run all lines" mpirun.mpich -configfile "$TMPDIR/lines"

# Whatever the command preloads by itself comes in front.
preloads() { # MPI COMMAND... that prints its LD_PRELOAD
  local expected=libm.so.6:$openmpi_library got
  [ "$1" = openmpi ] || expected=libm.so.6:$mpich_library
  got=$("$run" --mpi "$@" 2>&1 | grep -v '^attrcache-run: served')
  [ "$got" = "$expected" ] || fail "$*: LD_PRELOAD is $got"
}
show=(-np 1 printenv LD_PRELOAD)
preloads openmpi mpirun.openmpi -x LD_PRELOAD=libm.so.6 "${show[@]}"
preloads openmpi env LD_PRELOAD=libm.so.6 mpirun.openmpi "${show[@]}"
preloads openmpi mpirun.openmpi -np 1 env LD_PRELOAD=libm.so.6 printenv LD_PRELOAD
preloads mpich mpirun.mpich -genv LD_PRELOAD libm.so.6 "${show[@]}"
preloads mpich mpirun.mpich -env LD_PRELOAD libm.so.6 "${show[@]}"
preloads mpich env -u HOSTNAME A=B LD_PRELOAD=libm.so.6 printenv LD_PRELOAD
LD_PRELOAD=libm.so.6 preloads openmpi mpirun.openmpi -x LD_PRELOAD "${show[@]}"
[ "$("$run" --mpi mpich echo LD_PRELOAD=a)" = LD_PRELOAD=a ] || fail "an argument"

# An attrcache-run within that of another MPI serves its program.
serves 1 --mpi openmpi sh -c '"$@"' sh "$run" "$mpich_program"

# Nothing is loaded, or run to see what it is, that another user may have written: a library, bytecode, Python's modules in
# the working folder, a program among the words.
mkdir -p "$TMPDIR/open/attrcache" "$TMPDIR/open/mpi4py" "$TMPDIR/open/importlib"
cp -L "$mpich_library" "$TMPDIR/open/libattrcache_mpich.so"
for harm in "chmod o+w $TMPDIR/open" "chmod o+w $TMPDIR/open/libattrcache_mpich.so" "chown 12345 $TMPDIR/open"; do
  if [[ $harm != chown* || $(id -u) = 0 ]]; then
    $harm
    ATTRCACHE_LIBDIR=$TMPDIR/open refuses 2 "isn't preloaded: other users may have written to $TMPDIR/open" --mpi mpich true
    chmod o-w "$TMPDIR/open" "$TMPDIR/open/libattrcache_mpich.so" && chown "$(id -u)" "$TMPDIR/open"
  fi
done
# A link there may lead to any library, and a file there may be replaced before a launcher reads it.
if [ "$(id -u)" = 0 ]; then
  mkdir "$TMPDIR/foreign" "$TMPDIR/fake"
  ln -s "$mpich_library" "$TMPDIR/foreign/libattrcache_mpich.so"
  chown 12345 "$TMPDIR/foreign"
  ATTRCACHE_LIBDIR=$TMPDIR/foreign refuses 2 "other users may have written to $TMPDIR/foreign" --mpi mpich true
  mkdir -m 1777 "$TMPDIR/sticky"
  ln -s "$mpich_library" "$TMPDIR/sticky/libattrcache_mpich.so"
  ATTRCACHE_LIBDIR=$TMPDIR/sticky finds "$mpich_library" --mpi mpich
  chown -h 12345 "$TMPDIR/sticky/libattrcache_mpich.so"
  ATTRCACHE_LIBDIR=$TMPDIR/sticky refuses 2 "other users may have written to $TMPDIR/sticky/lib" --mpi mpich true
  printf '#!/bin/sh\nshift 2\nwhile [ "$1" != --app ]; do shift; done\necho "$2"\ncat "$2"\n' >"$TMPDIR/fake/mpirun.openmpi"
  chmod +x "$TMPDIR/fake/mpirun.openmpi"
  echo '-np 1 the_program' >"$TMPDIR/fake/lines"
  message=$(PATH=$TMPDIR/fake:$PATH TMPDIR=$TMPDIR/foreign "$run" mpirun.openmpi --app "$TMPDIR/fake/lines" 2>&1)
  [[ $message == /tmp/.attrcache-tmp.*"-np 1 the_program"* ]] || fail "a temporary folder of another's: $message"
fi
for file in mpi4py/__init__ importlib/__init__ importlib/util; do echo 'print("HARM", flush=True)' >"$TMPDIR/open/$file.py"; done
printf '#!/bin/sh\necho HARM >"%s/harm"\n' "$TMPDIR" >"$TMPDIR/open/mpirun"
ln "$TMPDIR/open/mpirun" "$TMPDIR/open/python3"
chmod 777 "$TMPDIR/open" "$TMPDIR/open/mpirun"
message=$(cd "$TMPDIR/open" && "$run" --print /usr/bin/python3 /dev/null 2>&1)
[[ $message != *HARM* ]] || fail "modules in the working folder: $message"
"$run" --print "$TMPDIR/wrapper" "$TMPDIR/open/mpirun" "$TMPDIR/open/python3" >/dev/null 2>&1
[ ! -e "$TMPDIR/harm" ] || fail "a program of another user's was run"
# Bytecode: root leaves and takes none, others only in a folder of theirs alone.
XDG_CACHE_HOME=$TMPDIR/open "$run" --version >/dev/null
[ -z "$(find "$TMPDIR/open/attrcache" -name '*.pyc')" ] || fail "bytecode in a folder that others may write to"
if [ "$(id -u)" != 0 ]; then
  mkdir "$TMPDIR/mine"
  XDG_CACHE_HOME=$TMPDIR/mine "$run" --version >/dev/null
  [ -n "$(find "$TMPDIR/mine/attrcache" -name '*.pyc')" ] || fail "no bytecode in a folder of ours alone"
fi

# The wrong library refuses.
message=$(LD_PRELOAD=$openmpi_library "$mpich_program" 2>&1)
[[ $message == *"another MPI"* ]] || fail "the wrong library: $message"

# A program for the standard ABI is known by the library that it is linked with, whichever launcher starts it. Debian 12 has
# no MPI with that interface, so this library has no more than the names by which an interface is told.
cat >"$TMPDIR/abi.c" <<'END'
int PMPI_Abi_get_version(int* version, int* subversion) { return (*version = 1) - 1 + (*subversion = 0); }
char ompi_mpi_comm_world[8], MPIR_Dup_fn[8]; /* which the interposers of other interfaces look for */
int MPI_Comm_create_keyval(void* copy_fn, void* delete_fn, int* keyval, void* extra_state) {
  return copy_fn == delete_fn && keyval == extra_state;
}
END
cat >"$TMPDIR/program.c" <<'END'
int MPI_Comm_create_keyval(void* copy_fn, void* delete_fn, int* keyval, void* extra_state);
int main(void) { return MPI_Comm_create_keyval(0, 0, 0, 0) != 1; }
END
cc -shared -fPIC -Wl,-soname,libmpi_abi.so.1 "$TMPDIR/abi.c" -o "$TMPDIR/libmpi_abi.so.1" &&
  cc "$TMPDIR/program.c" -o "$TMPDIR/abi_program" "$TMPDIR/libmpi_abi.so.1" -Wl,-rpath,"$TMPDIR" ||
  fail "no program for the standard ABI"
"$TMPDIR/abi_program" || fail "the program for the standard ABI"
finds "$abi_library" "$TMPDIR/abi_program"
finds "$abi_library" --mpi mpi_abi
finds "$abi_library" mpirun.openmpi -np 2 "$TMPDIR/abi_program" argument
finds "$abi_library" mpirun.mpich -np 2 "$TMPDIR/abi_program" "$mpich_program"
finds "$mpich_library" mpirun.mpich -np 2 "$mpich_program" "$TMPDIR/abi_program"
finds "$abi_library" mpirun.openmpi -np 2 "$TMPDIR/wrapper" "$TMPDIR/abi_program"
finds "$abi_library" --mpi=mpi_abi mpirun.mpich -np 2 "$TMPDIR/unknown"
printf -- '-n 1 %s\n' "$TMPDIR/abi_program" >"$TMPDIR/lines"
finds "$abi_library" mpirun.mpich -configfile "$TMPDIR/lines"
for library in "$openmpi_library" "$mpich_library"; do
  message=$(LD_PRELOAD=$library "$TMPDIR/abi_program" 2>&1)
  [[ $message == *"another MPI"* ]] || fail "the standard ABI, served by $library: $message"
done
message=$(LD_PRELOAD=$abi_library "$mpich_program" 2>&1)
[[ $message == *"another MPI"* ]] || fail "the library of the standard ABI: $message"

# ATTRCACHE_LIBDIR, if it is wrong: never another library instead.
mkdir "$TMPDIR/empty"
for wrong in "/nowhere: No such file" "$openmpi_program: Not a directory" "$TMPDIR/empty: there is no libattrcache_mpich.so in it"; do
  ATTRCACHE_LIBDIR=${wrong%%:*} refuses 2 "attrcache-run: ATTRCACHE_LIBDIR=$wrong" --mpi mpich --print
done

# A source tree: the newest library that is built there; else CMake, which is a script here, builds it. Bazel is never started.
unset ATTRCACHE_LIBDIR
tree=$TMPDIR/tree
mkdir -p "$tree"/{tools,lib/mpi/mpich,lib/runtimes/mpich} "$TMPDIR/bin"
cp -R "$(dirname -- "$run")/run" "$run" "$tree/tools"
touch -d '1 hour ago' "$tree"/{CMakeLists.txt,lib/mpi/mpich/a.cc,lib/runtimes/mpich/b.cc}
cat >"$TMPDIR/bin/cmake" <<END
#!/bin/sh
echo "\$*" >>'$TMPDIR/typed'
[ "\$1" != --build ] || { [ "\$5" = attrcache_mpich ] && cp '$mpich_library' "\$2"; } || { echo 'a message of the compiler' && exit 1; }
END
printf '#!/bin/sh\ntouch %q\n' "$TMPDIR/bazel_started" >"$TMPDIR/bin/bazel"
chmod +x "$TMPDIR"/bin/*
in_tree() { # EXPECTED-LIBRARY EXPECTED-LINE [MPI]
  local said
  said=$(PATH=$TMPDIR/bin:$PATH "$tree/tools/attrcache-run" --mpi "${3-mpich}" --print 2>"$TMPDIR/line")
  [[ $said == "${1:+$tree/$1/libattrcache_mpich.so}" && $(<"$TMPDIR/line") == *"$2"* && ( -n $2 || ! -s $TMPDIR/line ) ]] ||
    fail "in a source tree: '$said' with '$(<"$TMPDIR/line")', not '$1' with '$2'"
}
in_tree build/run "building libattrcache_mpich.so by CMake in $tree/build/run,"
in_tree build/run ''
in_tree '' $'a message of the compiler\nattrcache-run: building libattrcache_openmpi.so failed' openmpi
touch -d '1 hour' "$tree/lib/mpi/mpich/a.cc"
in_tree build/run "by CMake in $tree/build/run,"
touch -d 'now' "$tree"/lib/{mpi/mpich/a.cc,runtimes/mpich/b.cc}
in_tree build/run "by CMake in $tree/build/run,"
touch "$tree/lib/runtimes/mpich/b.cc" # no source of the library's
in_tree build/run ''
(($(grep -c '^--build' "$TMPDIR/typed") == 4)) || fail "cmake was started for: $(<"$TMPDIR/typed")"
# What users build themselves is theirs to renew.
for folder in build build/demo mine bazel-out/k8-opt/bin/lib/mpi; do
  mkdir -p "$tree/$folder" && cp "$mpich_library" "$tree/$folder"
  touch "$tree/$folder/CMakeCache.txt" "$tree/$folder/libattrcache_mpich.so"
  in_tree "$folder" ''
done
for folder in bazel-out/k8-fastbuild-tsan/bin/lib/mpi other; do # a sanitizer's; of no build
  mkdir -p "$tree/$folder" && cp "$mpich_library" "$tree/$folder"
done
touch -d '1 hour' "$tree/lib/mpi/mpich/a.cc"
in_tree bazel-out/k8-opt/bin/lib/mpi "older than lib/mpi/mpich/a.cc; this renews it: bazel build -c opt //lib/mpi:attrcache_mpich"
touch "$tree/build/libattrcache_mpich.so"
in_tree build "older than lib/mpi/mpich/a.cc; this renews it: cmake --build build --parallel --target attrcache_mpich"
[ ! -e "$TMPDIR/bazel_started" ] || fail "Bazel was started"

[ "$failures" = 0 ] && echo "passed"
exit "$((failures != 0))"
