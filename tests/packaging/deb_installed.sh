#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The life of the Debian packages on a system: builds them from HEAD twice, with the same result and no error or warning
# from lintian, installs them, has MPI programs served by them, and removes them. It installs and removes packages of the
# machine that it runs on, so run it in a root file system of its own:
#
#   tools/on trixie tests/packaging/deb_installed.sh

set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.."
export DEBIAN_FRONTEND=noninteractive
packages=(attrcache-mpi libattrcache-dev libattrcache1)
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
apt() { # COMMAND...
  apt-get -q -y "$@" </dev/null >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    fail "apt-get $*"
  }
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

apt update
apt install --no-install-recommends lintian debhelper build-essential cmake python3 libgtest-dev libopenmpi-dev \
  libmpich-dev openmpi-bin mpich
tools/package deb --check
# A second build, elsewhere and later, makes the same packages; it skips the tests, which change nothing.
DEB_BUILD_OPTIONS=nocheck tools/package deb --to build/again
for package in build/packages/*.deb; do
  cmp "$package" "build/again/${package##*/}" || fail "a second build of $package differs"
done
apt install ./build/packages/*.deb
bash tests/packaging/installed.sh
files=$(dpkg -L "${packages[@]}" | sort -u)
for library in $(grep '/libattrcache\.so\.[0-9]*$' <<<"$files"); do
  needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  [[ $needed == libc.so.6 ]] || fail "$library needs $needed"
done
apt purge "${packages[@]}"
for package in "${packages[@]}"; do
  ! dpkg-query -W "$package" >"$log" 2>&1 || fail "$package is still known: $(cat "$log")"
done
# Other packages may have the same folders.
while read -r file; do
  [[ $file != *attrcache* || ! -e $file ]] || fail "$file is still there"
done <<<"$files"
echo "passed: built, clean, installed, serving and removed on Debian $(cat /etc/debian_version)"
