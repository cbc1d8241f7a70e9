# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Shows attrcache's tables and keyvals in gdb, in a running program or a core; the library needs no debug information.

  (gdb) source attrcache_gdb.py
  (gdb) print comm->attributes          an attrcache_table: its attributes, in the order of setting
  (gdb) print *comms                    an attrcache_kind: its keyvals, with their callbacks

No function of the program is called. The layouts are those of lib/table/table.h, lib/table/meta.h,
lib/keyval/entries.h and registry.h; tests/packaging/gdb_test.sh checks them.
"""

import struct

import gdb

TAGS = ("pointer", "int", "Fint", "Aint")
LANGUAGES = ("C", "Fortran (Fint)", "Fortran (Aint)", "raw")
SENTINELS = {0: "null", 1: "dup"}

# A table: the directory's address, a clock, three slots. The directory: a list of blocks, and the rest of the first leaf's
# slots. A block: the next one, how many leaves it has and how many were asked for, and these. A leaf: its slots, its number.
INLINE, LEAF, BLOCKS_AT, FIRST_SLOTS_AT, LEAVES_AT, LEAF_BYTES, NUMBER_AT = 3, 8, 80, 96, 16, 144, 128

# A registry: the chunks of entries, those of counters, the cursor, which says how many indices there are, the kind's number,
# its name, what its numbers are masked by, and where the definitions of predefined keyvals are.
FIRST_CHUNK, CHUNKS = 10, 22
CURSOR_AT = 2 * 8 * CHUNKS + 8
KIND_AT = CURSOR_AT + 8
NAME_AT, MASK_AT, PLACES_AT = KIND_AT + 8, KIND_AT + 16, KIND_AT + 128
PLACES = 48
# An entry has its word first, and further on the address of its keyval's record, which has the callbacks.
ENTRY, RECORD_AT, CALLBACKS_AT = 128, 24, 32


def words(address, count):
    memory = gdb.selected_inferior().read_memory(address, 8 * count)
    return struct.unpack("<%dQ" % count, bytes(memory))


def int32(address):
    return struct.unpack("<I", bytes(gdb.selected_inferior().read_memory(address, 4)))[0]


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def symbol(address):
    """A function's address, with its name if it has one."""
    if address in SENTINELS:
        return SENTINELS[address]
    name = gdb.execute("info symbol 0x%x" % address, to_string=True).strip()
    name = name.split(" in section")[0]
    return "0x%x" % address if name.startswith("No symbol") else "0x%x <%s>" % (address, name)


class Attribute:
    """An occupied slot; see meta.h for the bits."""

    def __init__(self, index, value, meta):
        self.keyval = (meta & 0x5FE0000F) | 0x40000000 | index << 4
        self.tag = meta >> 30 & 2 | meta >> 29 & 1
        self.value = value
        self.visible = bool(meta >> 30 & 1)
        self.deleting = bool(meta >> 8 & 1)
        self.read = not meta >> 9 & 3  # neither without delete_fn nor unheld
        self.order = (meta >> 4 & 0x7) << 32 | meta >> 32

    def __str__(self):
        if self.tag == 0:
            text = "0x%x" % self.value
        else:
            text = "%s %d" % (TAGS[self.tag], signed(self.value, 64 if self.tag == 3 else 32))
        if self.read:
            text += ", was borrowed or copied"
        if self.deleting:
            text += ", being deleted" + ("" if self.visible else " (hidden)")
        return text


def slots(address, first, count):
    content = words(address, 2 * count)
    for i in range(count):
        if content[2 * i + 1] != 0:
            yield Attribute(first + i, content[2 * i], content[2 * i + 1])


def attributes(table):
    yield from slots(table + 2 * 8, 0, INLINE)
    directory = words(table, 1)[0]
    if directory == 0:
        return
    yield from slots(directory + FIRST_SLOTS_AT, INLINE, LEAF - INLINE)
    block = words(directory + BLOCKS_AT, 1)[0]
    while block != 0:
        following, counts = words(block, 2)
        for at in range(min(counts & 0xFFFFFFFF, counts >> 32)):
            leaf = block + LEAVES_AT + at * LEAF_BYTES
            number = int32(leaf + NUMBER_AT)
            if number != 0:  # else it isn't in use as a leaf
                yield from slots(leaf, number * LEAF, LEAF)
        block = following


class TablePrinter:
    """attrcache_table."""

    def __init__(self, value):
        self.attributes = sorted(attributes(int(value.address)), key=lambda a: a.order)

    def to_string(self):
        return "%d attribute%s" % (len(self.attributes), "s" * (len(self.attributes) != 1))

    def children(self):
        for attribute in self.attributes:
            yield "0x%x" % attribute.keyval, str(attribute)


def described(callbacks):
    size_and_flags, language, copy, delete, extra = words(callbacks, 5)
    text = "copy %s, delete %s, extra_state 0x%x" % (symbol(copy), symbol(delete), extra)
    if language & 0xFFFFFFFF:
        text += ", " + LANGUAGES[language & 3]
    return text + ", once" * (size_and_flags >> 32 & 1)


def keyvals(registry):
    """Number and description of each."""
    chunks = words(registry, CHUNKS)
    mask = int32(registry + MASK_AT)
    for index in range(words(registry + CURSOR_AT, 1)[0] >> 22 & 0x3FFFF):
        # The stored address is where the entry of index 0 would be.
        chunk = chunks[(16 * index + (1 << FIRST_CHUNK)).bit_length() - 1]
        entry = chunk + index * ENTRY
        word = words(entry, 1)[0]
        if word >> 30 & 1:  # exists
            text = described(words(entry + RECORD_AT, 1)[0] + CALLBACKS_AT)
            yield word & 0xFFFFFFFF ^ mask, text + ", freed and still in use" * (word >> 46 & 1)
    for definition in words(registry + PLACES_AT, PLACES):
        if definition:
            yield int32(definition + 4), "predefined"  # behind its size


class KindPrinter:
    """attrcache_kind, which is a Registry inside."""

    def __init__(self, value):
        self.address = int(value.address)
        self.keyvals = list(keyvals(self.address))

    def to_string(self):
        name = words(self.address + NAME_AT, 1)[0]
        name = gdb.Value(name).cast(gdb.lookup_type("char").pointer()).string() if name else "kind"
        return "%s (kind %d), %d keyval%s" % (
            name, int32(self.address + KIND_AT) & 15, len(self.keyvals), "s" * (len(self.keyvals) != 1))

    def children(self):
        for number, text in self.keyvals:
            yield "0x%x" % number, text


def register():
    import gdb.printing
    printers = gdb.printing.RegexpCollectionPrettyPrinter("attrcache")
    printers.add_printer("table", "^attrcache_table$|^attrcache::Table$", TablePrinter)
    printers.add_printer("kind", "^attrcache_kind$|^attrcache::Registry$", KindPrinter)
    gdb.printing.register_pretty_printer(gdb.current_objfile(), printers, replace=True)


register()
