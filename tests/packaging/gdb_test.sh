#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# gdb shows tables and keyvals of a running program, though the library has no symbols but the exported ones.

source tests/packaging/lib.sh

strip -o "$work/libattrcache.so.1" libattrcache.so.1
gcc -g -Ilib/include "$here/gdb_program.c" "$work/libattrcache.so.1" -Wl,-rpath,"$work" -o "$work/program"
# Some sandboxes forbid gdb to switch address space randomization off.
gdb -nx -batch -ex 'set startup-with-shell off' -ex 'set width 0' \
  -ex "source tools/gdb/attrcache_gdb.py" -ex 'break stop_here' -ex run -ex 'echo \n' \
  -ex 'print near_table' -ex 'print far_table' -ex 'print empty_table' -ex 'print *sessions' \
  -ex 'print -elements 2 -- *communicators' \
  "$work/program" 2>&1 | sed -n 's/0x[0-9a-f]* <\(copy_it\|delete_it\)>/<\1>/g; s/^\$[0-9]* = //p' >"$work/shown"

diff - "$work/shown" <<'END' || fail "expected (<) and shown (>) differ"
2 attributes = {0x40000013 = Aint 9, 0x40000003 = 0x1234, was borrowed or copied}
2 attributes = {0x4000bb70 = 0xfa4, 0x40000280 = 0x1eaf}
0 attributes
session (kind 3), 3 keyvals = {0x40000003 = copy <copy_it>, delete <delete_it>, extra_state 0x77, 0x40000013 = copy <copy_it>, delete <delete_it>, extra_state 0x77, Fortran (Aint), freed and still in use, 0x1f5 = predefined}
communicator (kind 0), 3000 keyvals = {0x40000000 = copy null, delete null, extra_state 0x0, 0x40000010 = copy null, delete null, extra_state 0x0...}
END
echo "passed"
