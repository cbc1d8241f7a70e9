# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Prints the binary interface that attrcache.h declares, from a program's debug information. For gdb:

  gdb -batch -ex 'py HEADER = ".../attrcache.h"' -x abi.py PROGRAM

PROGRAM defines a variable f_NAME of the type "pointer to NAME" for each function.
"""

import re

import gdb

text = open(HEADER, encoding="utf-8").read()  # noqa: F821


def members(name, kind):
    kind = kind.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_ENUM:
        print("enum %s: %d bytes" % (name, kind.sizeof))
        for field in kind.fields():
            print("  %s = %d" % (field.name, field.enumval))
    elif kind.code == gdb.TYPE_CODE_STRUCT and kind.fields():
        print("struct %s: %d bytes, aligned to %d" % (name, kind.sizeof, kind.alignof))
        for field in kind.fields():
            print("  %3d %s %s" % (field.bitpos // 8, field.type, field.name))
    else:
        print("type %s = %s" % (name, kind))


for name in sorted(set(re.findall(r"^typedef [^;{]*?\b(attrcache_\w+)(?=[ ;(\[{])", text, re.M))):
    members(name, gdb.lookup_type(name))
print("results")
for name in re.findall(r"^  (ATTRCACHE_(?:OK|ABSENT|ERR_\w+))", text, re.M):
    print("  %s = %d" % (name, int(gdb.parse_and_eval(name))))
for name in sorted(re.findall(r"^ATTRCACHE_API [^;(]*?(attrcache_\w+)\(", text, re.M)):
    print("function %s: %s" % (name, gdb.lookup_global_symbol("f_" + name).type.target()))
