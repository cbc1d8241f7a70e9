#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# glibc_test.sh LIBRARY...: by the symbol versions that they need, the libraries start on any glibc from 2.31 on, and they
# need no other library that a container may lack.

set -u
status=0
for library in "$@"; do
  needs=$(objdump -T "$library" | grep -o 'GLIBC_[0-9.]*' | sort -uV)
  newest=$(tail -n 1 <<<"$needs")
  echo "$(basename "$library"): $newest"
  if [ -z "$needs" ] || [ "$(printf '%s\nGLIBC_2.31\n' "$needs" | sort -V | tail -n 1)" != GLIBC_2.31 ]; then
    echo "FAILED: $library needs $newest: $(objdump -T "$library" | grep -F "$newest")"
    status=1
  fi
  while read -r needed; do
    case $needed in
      libc.so.6 | libm.so.6 | libdl.so.2 | libpthread.so.0 | libgcc_s.so.1 | ld-linux*) ;;
      *) echo "FAILED: $library needs $needed" && status=1 ;;
    esac
  done < <(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
done
[ $# -gt 0 ] && exit "$status"
