#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Runs an MPI program with its attributes served by attrcache: --help says how.

set -u

usage() {
  cat <<'END'
usage: attrcache-run [--mpi NAME] [--report[=FILE]] [--compare OLD.json] [--trace=FILE] [--] COMMAND [ARGUMENT...]
       attrcache-run --from RUN.json [--report=FILE.html] [--compare OLD.json] [--trace=FILE]
       attrcache-run [--mpi NAME] [--report] --print [COMMAND...]

Runs COMMAND, an MPI program or an MPI launcher with one, with attrcache's interposer preloaded into the
ranks (not into the launcher), and returns its exit code. Which MPI it is, is found from the launcher and from the
libraries that the program is linked with, unless --mpi says it.

  --mpi NAME       openmpi, mpich, or mpi_abi: the program is linked with libmpi_abi.so.1, the standard ABI of MPI-5.0,
                   whichever of them that is
  --report         at the end, print what was done with attributes, and what was left behind, on rank 0's
                   standard error
  --report=FILE    write that to FILE instead: as a page for browsers if its name ends in .html, as JSON if it ends in
                   .json, else as text; may be given several times
  --compare OLD.json
                   say what changed since an earlier run, whose report is in OLD.json: in the pages, and below the text
  --from RUN.json  run nothing: write the pages and the comparison of a run whose report is in RUN.json, and its trace
                   in the FILE of --trace
  --trace=FILE     write a timeline of callbacks and slow operations to FILE, for chrome://tracing or Perfetto
  --print          print the path of the interposer library, and run nothing
  --help           print this

The interposer is taken from $ATTRCACHE_LIBDIR, from beside this script, or from ../lib beside it; in a source
tree it is built with Bazel if sources have changed, which takes some minutes the first time.
A page is one file that needs no network, and contains the command. Pages and comparisons need Python 3.
With ATTRCACHE_VERBOSE=1 in the environment every process that initializes MPI says that it is served.
With ATTRCACHE_CHECK=1 it warns on stderr, once for each place in the program, of misuse of attributes that MPIs let
pass: stale keyvals, wrong kinds, double frees, callbacks that set no flag, lost errors, leaks, and more.
For reports and traces another build of it is used. They may also be asked for in the environment, where more can
be said: ATTRCACHE_REPORT (files separated by colons; - is standard error), ATTRCACHE_TRACE (a file),
ATTRCACHE_TRACE_SLOW (microseconds from which on an operation is in the trace; 10), ATTRCACHE_TRACE_EVENTS
(how many are kept per rank; 50000, and 500000 on all together), ATTRCACHE_REPORT_WAIT (seconds that ranks wait for each
other at the end; 300).
END
}

die() {
  printf 'attrcache-run: %s\n' "$1" >&2
  exit 2
}

here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")

# ---- Which MPI ----

# The real file behind a command's name; empty if there is none.
real_path() {
  local found
  found=$(type -P -- "$1") && readlink -f -- "$found"
}

# The MPI that a file is linked with, from its dynamic libraries: openmpi, mpich, mpi_abi or nothing.
linked_mpi() {
  local libraries
  libraries=$(LD_PRELOAD='' ldd "$1" 2>/dev/null) || return 0
  case $libraries in
    *libmpi_abi.so.*) echo mpi_abi ;; # which may bring others along
    *libmpich.so* | *libmpi.so.12* | *libmpifort.so.12*) echo mpich ;;
    *libmpi.so.* | *libopen-rte.so* | *libprrte.so*) echo openmpi ;;
  esac
}

# The MPI whose launcher a file is.
launcher_mpi() {
  case ${1##*/} in
    orterun | prterun | prte | prun | ompi-* | *run.openmpi | mpiexec.openmpi) echo openmpi ;;
    mpiexec.hydra | hydra_* | mpiexec.gforker | *run.mpich | mpiexec.mpich) echo mpich ;;
    mpirun | mpiexec)
      local linked
      linked=$(linked_mpi "$1")
      # Open MPI's of version 5 on is linked with none of its libraries; it says its name.
      [ -n "$linked" ] || case $(LD_PRELOAD='' "$1" --version 2>/dev/null </dev/null) in
        *'Open MPI'*) linked=openmpi ;;
        *HYDRA*) linked=mpich ;;
      esac
      printf '%s' "$linked"
      ;;
  esac
}

# Likewise of a script: the MPI that the modules or programs which it runs are linked with.
script_mpi() {
  local interpreter=$1 module
  case ${interpreter##*/} in
    python*)
      module=$("$interpreter" -c 'import importlib.util as u
s = u.find_spec("mpi4py.MPI") if u.find_spec("mpi4py") else None
print(s.origin if s else "")' 2>/dev/null) || return 0
      [ -z "$module" ] || linked_mpi "$module"
      ;;
  esac
}

# The interpreter that a script names in its first line.
interpreter_of() {
  local line words
  IFS= read -r line <"$1" 2>/dev/null || return 0
  case $line in '#!'*) ;; *) return 0 ;; esac
  read -ra words <<<"${line#'#!'}"
  if [ "${words[0]##*/}" = env ] && [ ${#words[@]} -gt 1 ]; then
    type -P -- "${words[1]}"
  else
    echo "${words[0]}"
  fi
}

program_mpi() {
  local mpi
  mpi=$(linked_mpi "$1")
  [ -n "$mpi" ] || mpi=$(script_mpi "$1")
  if [ -z "$mpi" ]; then
    local interpreter
    interpreter=$(LC_ALL=C interpreter_of "$1" 2>/dev/null | tr -d '\0')
    [ -z "$interpreter" ] || mpi=$(script_mpi "$interpreter")
  fi
  printf '%s' "$mpi"
}

# Walks over the words of the command. Sets `launcher` to the place of an MPI launcher among them, or -1, and `mpi` to
# whose it is, or to the MPI of the program where there is none; the first word that tells decides, and wrappers such as
# timeout or env tell nothing. Sets `served`, if that is still open, to the interposer: the MPI's, but that of the
# standard ABI if the program is linked with it, which is another question than whose launcher starts it.
launcher=-1
examine_words() {
  local i=0 word path found
  for word in "$@"; do
    if path=$(real_path "$word") && [ -n "$path" ] && [ -f "$path" ]; then
      # The name as given counts too: a link may name the MPI better than its target does.
      found=$(launcher_mpi "$path")
      [ -n "$found" ] || found=$(launcher_mpi "$word")
      if [ -n "$found" ]; then
        launcher=$i
        mpi=$found
        case ${served:=$(launched_mpi "${@:i+2}")} in
          '') served=$found ;;
          mpi_abi | "$found") ;;
          *) die "--mpi $served, but $word is a launcher of $found" ;;
        esac
        return
      fi
      found=$(program_mpi "$path")
      if [ -n "$found" ]; then
        mpi=$found
        : "${served:=$found}"
        return
      fi
    fi
    i=$((i + 1))
  done
  mpi=$served
}

# What a launcher's arguments say of the program: mpi_abi, or nothing. The first that is linked with an MPI decides.
# Programs may also stand in a file of command lines.
launched_mpi() {
  local word last='' path found words
  for word in "$@"; do
    found=
    case $last in
      -app | --app | -configfile)
        words=()
        [ ! -r "$word" ] || read -r -d '' -a words <"$word"
        found=$(launched_mpi ${words[@]+"${words[@]}"})
        ;;
      *) ! path=$(real_path "$word") || [ ! -f "$path" ] || found=$(program_mpi "$path") ;;
    esac
    case $found in
      mpi_abi) echo mpi_abi && return ;;
      ?*) return ;;
    esac
    last=$word
  done
}

must_exist() { # COMMAND
  type -P -- "$1" >/dev/null && return
  [ ! -e "$1" ] || die "$1: no program, or none that you may run"
  die "$1: command not found"
}

# ---- Where the library is ----

library() { # MPI or MPI_report
  local name=libattrcache_$1.so folder
  for folder in "${ATTRCACHE_LIBDIR-}" "$here" "$here/../lib" "$here/../lib/attrcache"; do
    if [ -n "$folder" ] && [ -f "$folder/$name" ]; then
      readlink -f -- "$folder/$name"
      return
    fi
  done
  local root=$here/..
  [ -f "$root/WORKSPACE" ] && [ -f "$root/lib/mpi/BUILD" ] ||
    die "there is no $name beside $here, and this is no source tree to build it in"
  local built
  built=$(built_library "$root" "$name") && printf '%s\n' "$built" && return
  build_library "$root" "$name" "$1"
}

# Where Bazel puts optimized libraries, by its link in the source tree; the same from whatever folder it is seen.
optimized_outputs() { # ROOT
  readlink -f -- "$1"/bazel-out/*-opt/bin/lib/mpi 2>/dev/null
}

# Beside a library that this script had built: when that was, and of which file it says so. Bazel would need seconds to
# find out that there is nothing to do.
stamp_of() { # FILE
  printf '%s.asked-for' "$1"
}

identity_of() { # FILE
  stat -L -c '%i %s %y' -- "$1"
}

# The library, if it was built here and no source was changed, added or removed since; else fails. What
# counts is when a file was last changed in any way (ctime), not the time that it bears (mtime), which
# copies and archives preserve. The times of Bazel's outputs say nothing: one that comes out as before
# keeps its time.
built_library() { # ROOT NAME
  local folder file stamp source sources=()
  folder=$(optimized_outputs "$1") || return
  file=$folder/$2
  stamp=$(stamp_of "$file")
  [ -f "$file" ] && [ -f "$stamp" ] && [ "$(<"$stamp")" = "$(identity_of "$file")" ] || return
  for source in WORKSPACE MODULE.bazel BUILD .bazelrc lib tools/bazel; do
    [ ! -e "$1/$source" ] || sources+=("$1/$source")
  done
  [ -z "$(find -H "${sources[@]}" -newercm "$stamp" -print -quit 2>&1)" ] || return
  printf '%s\n' "$file"
}

# Has Bazel build it, and prints where it is.
build_library() { # ROOT NAME TARGET
  local root=$1 name=$2 bin file log began
  command -v bazel >/dev/null || die "building $name needs bazel (tools/setup installs it)"
  export HOME="${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}" # Bazel refuses to start without
  bin=$(cd "$root" && LD_PRELOAD='' bazel info -c opt bazel-bin 2>/dev/null) || die "bazel does not work here"
  file=$bin/lib/mpi/$name
  if [ -f "$file" ]; then
    printf 'attrcache-run: bringing %s up to date, which takes up to some minutes if sources have changed\n' "$name" >&2
  else
    printf 'attrcache-run: building %s, which takes some minutes the first time\n' "$name" >&2
  fi
  # A second early: clocks of file systems tick coarsely.
  began=$(($(date +%s) - 1))
  if ! log=$(cd "$root" && LD_PRELOAD='' bazel build -c opt "//lib/mpi:attrcache_$3" 2>&1); then
    printf '%s\n' "$log" >&2
    die "building $name failed"
  fi
  # As a whole or not at all: another launcher may be reading it. Where it can't be written, Bazel is asked again.
  local stamp temporary
  stamp=$(stamp_of "$file")
  temporary=$stamp.$$
  {
    identity_of "$file" >"$temporary" && touch -d "@$began" "$temporary" && mv -f "$temporary" "$stamp"
  } 2>/dev/null || rm -f "$temporary"
  printf '%s\n' "$file"
}

# ---- The command line ----

# Where a report or trace goes, as the ranks see it: they may run elsewhere.
target() {
  case $1 in
    '') die "$2 wants a file: $2=FILE" ;;
    *:*) die "$2=$1: the name may have no colon" ;;
    -) [ "$2" = --report ] || die "$2 wants a file" ;;
    *)
      [ -d "$(dirname -- "$1")" ] || die "$2=$1: there is no folder $(dirname -- "$1")"
      [ ! -d "$1" ] || die "$2=$1 is a folder"
      ;;
  esac
  case $1 in - | /*) printf '%s' "$1" ;; *) printf '%s' "$PWD/$1" ;; esac
}

# The value of an option that is given as --NAME VALUE or --NAME=VALUE.
value_of() { # WHAT ARGUMENT...
  case $2 in
    *=?*) printf '%s' "${2#*=}" ;;
    *=) die "${2%=} wants $1" ;;
    *)
      [ $# -gt 2 ] && [ -n "$3" ] || die "$2 wants $1"
      printf '%s' "$3"
      ;;
  esac
}

mpi=
served=
print=no
report=
pages=()
compare=
from=
add_report() { # FILE
  case $1 in
    /*.html) pages+=("$1") ;;
    *.html) pages+=("$PWD/$1") ;;
    *) report=${report:+$report:}$1 ;;
  esac
}
IFS=: read -ra targets <<<"${ATTRCACHE_REPORT-}"
for file in ${targets[@]+"${targets[@]}"}; do [ -z "$file" ] || add_report "$file"; done
trace=${ATTRCACHE_TRACE-}
while [ $# -gt 0 ]; do
  case $1 in
    --mpi)
      [ $# -gt 1 ] || die "--mpi wants openmpi, mpich or mpi_abi"
      served=$2
      shift 2
      ;;
    --mpi=*)
      served=${1#--mpi=}
      shift
      ;;
    --report | --report=*)
      file=-
      [ "$1" = --report ] || file=$(target "${1#--report=}" --report) || exit
      add_report "$file"
      shift
      ;;
    --compare | --compare=*)
      compare=$(value_of 'the JSON report of an earlier run' "$@") || exit
      case $1 in *=*) shift ;; *) shift 2 ;; esac
      ;;
    --from | --from=*)
      from=$(value_of 'the JSON report of a run' "$@") || exit
      case $1 in *=*) shift ;; *) shift 2 ;; esac
      ;;
    --trace | --trace=*)
      trace=$(target "$(case $1 in *=*) echo "${1#--trace=}" ;; esac)" --trace) || exit
      shift
      ;;
    --print)
      print=yes
      shift
      ;;
    --help | -h)
      usage
      exit 0
      ;;
    --)
      shift
      break
      ;;
    -*) die "unknown option $1 (--help lists them)" ;;
    *) break ;;
  esac
done
case $served in '' | openmpi | mpich | mpi_abi) ;; *) die "unknown MPI '$served': openmpi, mpich or mpi_abi" ;; esac

# ---- Pages and comparisons ----

# What makes them, from the report as JSON.
page_maker() {
  local file
  command -v python3 >/dev/null || die "pages and comparisons need python3"
  for file in "$here/report/report_page.py" "$here/../share/attrcache/report/report_page.py"; do
    [ ! -f "$file" ] || { readlink -f -- "$file" && return; }
  done
  die "there is no report/report_page.py beside $here, which makes pages and comparisons"
}

maker=()
if [ "$print" = no ] && [ -n "${pages[*]-}$compare$from" ]; then
  maker_file=$(page_maker) || exit
  # Without what users have for Python: another version's modules, say.
  maker=(python3 -E -s -B "$maker_file")
  for file in ${pages[@]+"${pages[@]}"}; do maker+=(--page "$file"); done
  [ -z "$compare" ] || maker+=(--compare "$compare")
fi
if [ -n "$from" ]; then
  [ $# -eq 0 ] || die "--from runs nothing, but there is a command: $*"
  [ -z "$report" ] || die "--from makes pages (--report=FILE.html) and comparisons only"
  [ -n "${pages[*]-}$compare" ] || die "--from wants --report=FILE.html or --compare OLD.json"
  [ -z "$trace" ] || [ -f "$trace" ] || die "--trace=$trace: there is no such file"
  LD_PRELOAD='' exec "${maker[@]}" --data "$from" ${trace:+--trace "$trace"}
fi

if [ $# -eq 0 ] && [ "$print" = no ]; then
  usage >&2
  exit 2
fi

examine_words "$@"
if [ -z "$served" ]; then
  [ $# -gt 0 ] || die "say which MPI (--mpi openmpi|mpich|mpi_abi), or give a command"
  must_exist "$1"
  die "can't tell the MPI of '$*': neither a launcher of Open MPI or MPICH nor linked with them; say --mpi openmpi, --mpi mpich or --mpi mpi_abi"
fi

build=$served
[ -z "$report$trace${pages[*]-}$compare" ] || build=${served}_report
so=$(library "$build") || exit
if [ "$print" = yes ]; then
  printf '%s\n' "$so"
  exit 0
fi

# ---- The command ----

case $so in *[:\ ]*) die "$so can't be preloaded: LD_PRELOAD takes no path with a space or a colon" ;; esac
must_exist "$1"

# After what is preloaded already: tools that wrap MPI's functions stay in front of us.
after() { printf '%s' "${1:+$1:}$so"; }
preload=$(after "${LD_PRELOAD-}")

# Also after what the words of the command preload.
command=() before='' last='' in_env=no
for word in "$@"; do
  case $word in
    env | */env) in_env=yes ;;
    -* | *=*) ;;
    *) [ "$last" = -u ] || in_env=no ;;
  esac
  case $before,$last,$word in
    -env,LD_PRELOAD,* | -genv,LD_PRELOAD,*) word=$(after "$word") ;;
    *,-x,LD_PRELOAD) word=LD_PRELOAD=$preload ;;
    *,-x,LD_PRELOAD=*) word=LD_PRELOAD=$(after "${word#*=}") ;;
    *,LD_PRELOAD=*)
      if [ "$in_env" = no ]; then
        : # an argument like others
      elif [ ${#command[@]} -lt "$launcher" ]; then
        preload=$(after "${word#*=}") # the launcher's, from which ranks would inherit it
      else
        word=LD_PRELOAD=$(after "${word#*=}")
      fi
      ;;
  esac
  command+=("$word")
  before=$last last=$word
done

# The ranks write the data of pages and comparisons beside what is made of them, since they may run elsewhere. The maker
# runs the command, and takes the data away again.
start() { # COMMAND...
  [ ${#maker[@]} -gt 0 ] || exec "$@"
  exec "${maker[@]}" --run "$@"
}
if [ ${#maker[@]} -gt 0 ]; then
  beside=${pages[0]-$PWD/attrcache}
  IFS=: read -ra targets <<<"$report"
  for file in ${targets[@]+"${targets[@]}"}; do
    case $file in *.json) ;; *) maker+=(--text "$file") ;; esac
  done
  data=$(dirname -- "$beside")/.$(basename -- "$beside").$$
  report=${report:+$report:}$data.json
  maker+=(--data "$data.json")
  if [ -n "${pages[*]-}" ]; then
    if [ -n "$trace" ]; then maker+=(--keep-trace); else trace=$data.trace; fi
    maker+=(--trace "$trace")
  fi
fi
[ -z "$report" ] || export ATTRCACHE_REPORT=$report
[ -z "$trace" ] || export ATTRCACHE_TRACE=$trace
if [ "$launcher" -lt 0 ]; then
  # A program by itself, or something that starts its ranks with this environment.
  if [ ${#maker[@]} -gt 0 ]; then maker+=(--preload "$preload"); else export LD_PRELOAD=$preload; fi
  start "${command[@]}"
fi

# What the ranks are to have in their environment, wherever they run.
given=("LD_PRELOAD=$preload")
for name in VERBOSE CHECK REPORT TRACE TRACE_SLOW TRACE_EVENTS REPORT_WAIT; do
  name=ATTRCACHE_$name
  [ -z "${!name-}" ] || given+=("$name=${!name}")
done
pass=()
for setting in "${given[@]}"; do
  if [ "$mpi" = openmpi ]; then
    pass+=(-x "$setting")
  else
    pass+=(-genv "${setting%%=*}" "${setting#*=}")
  fi
done
# Open MPI takes -x or a list of its own, but not both.
list=$(IFS=';' && printf '%s' "${given[*]}")
case $mpi,${OMPI_MCA_mca_base_env_list:+set},${command[*]} in
  openmpi,set,* | openmpi,*\ mca_base_env_list\ *) pass=() ;;
esac
[ -z "${OMPI_MCA_mca_base_env_list-}" ] || export OMPI_MCA_mca_base_env_list="$OMPI_MCA_mca_base_env_list;$list"

# A file of command lines for Open MPI's launcher, with -x in each; values but the first are in the launcher's
# environment.
application_file() {
  local settings=("${given[0]}") line
  for setting in "${given[@]:1}"; do settings+=("${setting%%=*}"); done
  while IFS= read -r line || [ -n "$line" ]; do
    [[ $line =~ ^[[:space:]]*(#|$) ]] || line="$(printf -- '-x %s ' "${settings[@]}")$line"
    printf '%s\n' "$line"
  done
}

words=("${command[@]:0:launcher+1}" ${pass[@]+"${pass[@]}"})
last=
for word in "${command[@]:launcher+1}"; do
  case $mpi,$last in
    openmpi,mca_base_env_list) word="$word;$list" ;;
    openmpi,-app | openmpi,--app)
      if [ -r "$word" ] && [ ${#pass[@]} -gt 0 ]; then
        exec {lines}< <(application_file <"$word")
        word=/dev/fd/$lines
      fi
      ;;
  esac
  words+=("$word")
  # For each program of an MPMD command line; MPICH's -genv is for all.
  [ "$mpi:$word" != openmpi:: ] || words+=(${pass[@]+"${pass[@]}"})
  last=$word
done
start "${words[@]}"
