#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tools/embed, with an MPI of three files: its output appears in one step, the user's files stay whatever happens, and
# what can't succeed is refused before anything is configured.

set -euo pipefail
tool=$(readlink -f -- tools/embed)
work=$(mktemp -d /tmp/attrcache.XXXXXX)
trap 'rm -rf -- "$work"' EXIT
cd "$work"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

mkdir -p repository/tools/embed.d repository/lib/runtimes/toy source tmp
cp -- "$tool" repository/tools/embed
cat >repository/tools/amalgamate <<'END'
#!/bin/sh
mkdir -p "$1" && echo attrcache >"$1/attrcache.cc"
END
chmod +x repository/tools/amalgamate
cat >repository/lib/runtimes/toy/recipe.sh <<'END'
versions=(1.0)
package=toy suite=none library=src
packages=()
configure_options=(--toy)
find_version() { cat -- "$1/VERSION" 2>/dev/null || true; }
END
# $TOY says what goes wrong.
cat >repository/lib/runtimes/toy/edits.py <<'END'
import os, sys
if os.environ.get("TOY") == "edits":
    sys.exit("no such place")
if os.environ.get("TOY", "").startswith("fill:"):
    with open(os.environ["TOY"][5:], "w") as out:
        out.write("the user's")
END
echo 1.0 >source/VERSION
cat >source/configure <<'END'
#!/bin/sh
touch "$TOY_CONFIGURED"
for option; do case $option in --prefix=*) prefix=${option#--prefix=} ;; esac; done
cat >Makefile <<MAKE
all:
	case \$\$TOY in build) exit 1 ;; wait) echo >"\$\$TOY_BUILDING"; cat "\$\$TOY_NEVER" ;; esac
install:
	mkdir -p "\$(DESTDIR)$prefix/bin" && cp /bin/true "\$(DESTDIR)$prefix/bin/mpicc"
MAKE
END
chmod +x source/configure
mkfifo building never
export TMPDIR=$work/tmp TOY_CONFIGURED=$work/configured TOY_BUILDING=$work/building TOY_NEVER=$work/never

embed() {
  repository/tools/embed toy --source source "$@" >output 2>&1
}
# refused MESSAGE OPTION...: tools/embed must refuse, before it configures anything.
refused() {
  local message=$1
  shift
  rm -f configured
  ! embed "$@" || fail "not refused: $*"
  grep -qF -- "$message" output || fail "$*: not '$message', but: $(<output)"
  [[ ! -e configured ]] || fail "$*: refused only when it was configured"
}
# left_in FOLDER NAME...: the folder must have exactly these files.
left_in() {
  local folder=$1
  shift
  [[ $(ls -A -- "$folder" | xargs) == "$*" ]] || fail "in $folder there is $(ls -A -- "$folder" | xargs), not $*"
}

# ---- TREE ----
embed --tree a/b/tree || fail "--tree: $(<output)"
left_in a/b tree
left_in a/b/tree VERSION configure src

mkdir -p users/tree
! TOY=edits embed --tree users/tree || fail "edits that fail are no failure"
left_in users tree
left_in users/tree
# Meanwhile another process puts a file into TREE.
! TOY=fill:$work/users/tree/file embed --tree users/tree || fail "a TREE that isn't empty was replaced"
left_in users tree
left_in users/tree file
[[ $(<users/tree/file) == "the user's" ]] || fail "the user's file in TREE was changed"
refused "isn't an empty directory" --tree users/tree
refused "which is never changed" --tree source/tree
rm users/tree/file
embed --tree users/tree || fail "an empty TREE: $(<output)"
left_in users/tree VERSION configure src

# ---- Versions ----
mkdir -p versions
echo 2.0 >source/VERSION
refused "is toy 2.0" --tree versions/tree
! TOY=edits embed --any-version --tree versions/tree || fail "edits that fail are no failure"
left_in versions
embed --any-version --tree versions/tree || fail "another version: $(<output)"
left_in versions/tree VERSION configure src
echo 1.0 >source/VERSION

# ---- PREFIX ----
mv source/configure configure_of_a_release
refused "has no configure" --prefix "$work/clone"
embed --tree versions/clone || fail "a clone's tree: $(<output)"
mv configure_of_a_release source/configure

mkdir -p users/prefix
! TOY=build embed --prefix users/prefix || fail "a build that fails is no failure"
left_in users prefix tree
left_in users/prefix
TOY=wait repository/tools/embed toy --source source --prefix "$work/other/prefix" >output 2>&1 &
embedding=$!
read -r <building
kill -TERM "$embedding"
status=0
wait "$embedding" || status=$?
((status == 143)) || fail "interrupted, it ended with $status: $(<output)"
left_in other
embed --prefix users/prefix || fail "--prefix: $(<output)"
left_in users prefix tree
[[ -x users/prefix/bin/mpicc ]] || fail "mpicc is missing: $(<output)"

refused "can't be made" --prefix /proc/attrcache/prefix
refused "can't be made" --prefix /etc/passwd/prefix
refused "characters" --prefix "$work/a,b"
refused "never changed" --prefix "$work/source/prefix"
rm -f tmp/*.log # logs of failed runs
left_in tmp
echo "passed"
