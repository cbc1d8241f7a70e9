# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the tool knows of POWER.

herd's model of POWER has no 16-byte accesses (lqarx, stqcx.). What stands for an exchange of 16 bytes is an exchange of
meta and a plain store of value, with an lwsync between the two, once in either order: `order` is "value first" or
"meta first". In the real exchange both halves change at one instant, for every thread. An execution of it is one of either
stand-in, too: the one in which the two stores reach each thread directly after each other. (The lwsync in between adds
nothing to that: what the thread has read before it, it has read before the lwsync that begins a release, or by the
exchange itself, which the store of meta depends on.) So what can really happen must be possible with both; what is
impossible with either can't happen.
"""

import re

from decoded import Access, Decoded
from processor import Processor
from slicing import Inexpressible

LOADS = {"ld": 8, "lwz": 4, "lwa": 4, "lbz": 1, "lhz": 2, "ldx": 8, "lwzx": 4, "lwax": 4}
STORES = {"std": 8, "stw": 4, "stb": 1, "sth": 2, "stdx": 8, "stwx": 4, "stdu": 8}
RESERVED = {"ldarx": 8, "lwarx": 4, "lqarx": 16}
CONDITIONAL = {"stdcx.": 8, "stwcx.": 4, "stqcx.": 16}
BARRIERS = {"lwsync", "sync", "hwsync", "isync", "eieio"}
CONDITIONS = {"beq": "bne", "bne": "beq", "blt": "bge", "bge": "blt", "bgt": "ble", "ble": "bgt"}
COMPARES = {"cmpd", "cmpw", "cmpld", "cmplw", "cmpdi", "cmpwi", "cmpldi", "cmplwi"}
JUMPS = {"b": "b", "bl": "bl", "blr": "ret", "bctr": "br", "bctrl": "bl"}
SAME = {"and", "or", "xor", "add", "subf", "sub", "mr", "extsw", "addi", "ori", "xori", "neg", "nor", "clrldi"}


def is_register(operand):
    return re.match(r"^r\d+$", operand) is not None


class Power(Processor):
    herd = "PPC"
    triple = "powerpc64le-linux-gnu"
    skipped = (8,)
    model = "ppc.cat"
    general = [f"r{n}" for n in range(1, 32)]
    qemu = ["qemu-ppc64le"]

    def __init__(self, name, value_first):
        self.name, self.value_first = name, value_first

    # ---- the trace ----

    @staticmethod
    def states(lines):
        current = None
        for line in lines:
            if line.startswith("NIP "):
                if current:
                    yield current
                current = {"pc": int(line.split()[1], 16)}
            elif current is not None and line.startswith("GPR"):
                first = int(line[3:5])
                for n, value in enumerate(line[5:].split()):
                    current[f"r{first + n}"] = int(value, 16)
        if current:
            yield current

    def flow(self, step):
        return JUMPS.get(step.mnemonic)

    # ---- decoding ----

    def decode(self, step):
        m, ops = step.mnemonic.rstrip("+-"), step.operands
        if m in BARRIERS:
            return Decoded(barrier={"hwsync": "sync"}.get(m, m))
        if m in CONDITIONS:
            return Decoded(flow="branch", reads={ops[0] if len(ops) > 1 else "cr0"})
        if m in JUMPS:
            return Decoded(flow=JUMPS[m])
        if m in LOADS or m in STORES or m in RESERVED or m in CONDITIONAL:
            return self._decode_access(step)
        registers = [op for op in ops if is_register(op)]
        if m in COMPARES:
            return Decoded(reads=set(registers), writes={ops[0] if ops[0].startswith("cr") else "cr0"})
        what = Decoded(reads=set(registers[1:]), writes=set(registers[:1]))
        if m in ("rldimi", "rlwimi"):
            what.reads |= set(registers[:1])
        if m.endswith("."):
            what.writes.add("cr0")
        return what

    @staticmethod
    def _decode_access(step):
        m, ops = step.mnemonic, step.operands
        indexed = re.match(r"^(-?\d+)\((r\d+)\)$", ops[-1])
        if indexed:
            base, index, offset = indexed.group(2), None, int(indexed.group(1))
        else:
            base, index = ops[-2], ops[-1]
            offset = step.regs[index]
        address = ((0 if base in ("0", "r0") else step.regs[base]) + offset) & (1 << 64) - 1
        if base in ("0", "r0"):
            base, index = index, None
        data = ops[0]
        what = Decoded(reads={base} | ({index} if index else set()))
        size = {**LOADS, **STORES, **RESERVED, **CONDITIONAL}[m]
        what.size = size
        if size == 16:  # the upper half is in the first register: meta, on a little-endian machine
            low = "r" + str(int(data[1:]) + 1)
            what.accesses = [Access(address, base, index, low), Access(address + 8, base, index, data)]
        else:
            what.accesses = [Access(address, base, index, data)]
        values = {a.register for a in what.accesses}
        if m in LOADS or m in RESERVED:
            what.reserves = m in RESERVED
            what.writes = values
        else:
            what.is_store = True
            what.reads |= values
            what.writes = {"cr0"} if m in CONDITIONAL else {base} if m == "stdu" else set()
        return what

    # ---- emitting ----

    @staticmethod
    def _operand(step, op, thread):
        return thread.source(step, op) if is_register(op) else op

    def compute(self, step, what, thread):
        m, ops = step.mnemonic, step.operands
        if m in COMPARES:
            if ops[0].startswith("cr"):
                field, ops = ops[0], ops[1:]
            else:
                field = "cr0"
            left, right = self._operand(step, ops[0], thread), self._operand(step, ops[1], thread)
            if not is_register(ops[1]):
                right = thread.constant(int(right, 0) & (1 << 64) - 1)
            if m in ("cmpw", "cmpwi", "cmplw", "cmplwi") and left != right:
                width = [thread.temp(thread.temporary()) for _ in range(2)]
                thread.emit(f"clrldi {width[0]},{left},32")
                thread.emit(f"clrldi {width[1]},{right},32")
                left, right = width
            # The model has branches on one field only, and each branch here is on the field compared last.
            thread.tainted.add(field)
            thread.emit(f"cmpw {left},{right}")
            thread.last_field = field
            thread.orders = not m.startswith("cmpw") and not any(step.regs.get(op, 0) >> 63 for op in ops)
            thread.note("cmpd, cmpld, cmpdi, ...: as cmpw, which in the model compares all 64 bits; for equality, and for the "
                        "order of addresses and what isn't negative")
            return
        to_flags, name = m.endswith("."), m.rstrip(".")
        if name in ("srdi", "sldi", "rldicl", "rldicr", "rldic", "rlwinm", "clrrwi", "clrlwi", "rldimi", "rlwimi", "rotldi",
                    "slwi", "srwi", "andi", "andis", "oris", "xoris", "addis", "clrldi", "clrrdi", "rldcl"):
            self._bits(step, name, thread)
        elif name in SAME:
            sources = [self._operand(step, op, thread) for op in ops[1:]]
            thread.emit(f"{name} {thread.destination(ops[0])},{','.join(sources)}")
        else:
            raise Inexpressible(f"{self.show(step)}: not known")
        if to_flags:
            thread.emit(f"cmpwi {thread.own(ops[0])},0")
            thread.tainted.add("cr0")
            thread.last_field, thread.orders = "cr0", False

    def _bits(self, step, name, thread):
        """Shifts and masks: by division and multiplication by powers of two, and by and, which the model computes on 64 bits."""
        ops = step.operands
        source = self._operand(step, ops[1], thread)
        numbers = [int(op, 0) for op in ops[2:] if not is_register(op)]
        whole = (1 << 64) - 1
        rotate, begin, end, insert, word = 0, 0, 63, False, False
        if name == "srdi":
            rotate, begin = (64 - numbers[0]) % 64, numbers[0]
        elif name == "sldi":
            rotate, end = numbers[0], 63 - numbers[0]
        elif name in ("rldicl", "rldcl"):
            rotate, begin = numbers
        elif name == "clrldi":
            begin = numbers[0]
        elif name == "rldicr":
            rotate, end = numbers
        elif name == "clrrdi":
            end = 63 - numbers[0]
        elif name == "rldic":
            rotate, begin = numbers
            end = 63 - rotate
        elif name == "rldimi":
            rotate, begin = numbers
            end, insert = 63 - rotate, True
        elif name == "rotldi":
            rotate = numbers[0]
        elif name in ("rlwinm", "rlwimi"):
            rotate, begin, end = numbers[0], numbers[1] + 32, numbers[2] + 32
            word, insert = True, name == "rlwimi"
        elif name == "clrrwi":
            begin, end, word = 32, 63 - numbers[0], True
        elif name == "clrlwi":
            begin, word = 32 + numbers[0], True
        elif name == "slwi":
            rotate, begin, end, word = numbers[0], 32, 63 - numbers[0], True
        elif name == "srwi":
            rotate, begin, word = (32 - numbers[0]) % 32, 32 + numbers[0], True
        elif name in ("andi", "andis", "oris", "xoris", "addis"):
            number = numbers[0] << (16 if name.endswith("s") else 0)
            thread.emit(f"{name.rstrip('is') if name != 'addis' else 'add'} {thread.destination(ops[0])},{source},"
                        f"{thread.constant(number & whole)}")
            return
        mask = 0
        position = begin
        while True:
            mask |= 1 << (63 - position)
            if position == end:
                break
            position = (position + 1) % 64
        piece = thread.temp(thread.temporary())
        size = 32 if word else 64
        if word and begin > end:
            mask &= 0xffffffff  # the rotated word's own bits
        # Which bits of the source come to the mask by a shift left, and which by a shift right.
        left = mask & (whole << rotate) & whole
        right = mask & ((1 << rotate) - 1)
        if word:
            left, right = mask & (0xffffffff << rotate) & 0xffffffff, mask & ((1 << rotate) - 1)
        pieces = []
        if left or not right:
            thread.emit(f"and {piece},{source},{thread.constant(left >> rotate)}")
            if rotate:
                thread.emit(f"mullw {piece},{piece},{thread.constant(1 << rotate)}")
            pieces.append(piece)
        if right:
            other = thread.temp(thread.temporary())
            bits = right << (size - rotate)
            thread.emit(f"and {other},{source},{thread.constant(bits & whole & ~(1 << 63))}")
            thread.emit(f"divw {other},{other},{thread.constant(1 << (size - rotate))}")
            if bits >> 63:
                # The highest bit alone: division has a sign.
                sign = thread.temp(thread.temporary())
                thread.emit(f"and {sign},{source},{thread.constant(1 << 63)}")
                thread.emit(f"divw {sign},{sign},{thread.constant(whole ^ (1 << (size - rotate)) - 1)}")
                thread.emit(f"or {other},{other},{sign}")
            pieces.append(other)
        if len(pieces) == 2:
            thread.emit(f"or {pieces[0]},{pieces[0]},{pieces[1]}")
        if insert:
            rest = thread.temp(thread.temporary())
            thread.emit(f"and {rest},{self._operand(step, ops[0], thread)},{thread.constant(whole ^ mask)}")
            thread.emit(f"or {thread.destination(ops[0])},{rest},{pieces[0]}")
        else:
            thread.emit(f"mr {thread.destination(ops[0])},{pieces[0]}")
        thread.note("shifts and rotations: as and, mullw and divw by powers of two, which in the model compute on 64 bits")

    def branch(self, step, what, thread):
        m = step.mnemonic.rstrip("+-")
        field = next(iter(what.reads))
        if field != thread.last_field:
            raise Inexpressible(f"{self.show(step)}: it asks for another comparison than the last")
        if m not in ("beq", "bne") and not thread.orders:
            raise Inexpressible(f"{self.show(step)}: for equality alone")
        if step.target == step.pc + 4:  # cmpw, bne, isync: an acquire
            label = thread.label()
            thread.emit(f"{m} {label}")
            thread.emit(f"{label}:")
            return
        thread.emit(f"{CONDITIONS[m] if step.next == step.target else m} {thread.exit}")

    def access(self, step, what, thread):
        m = step.mnemonic
        for access in what.accesses:
            if {access.base, access.index} & thread.tainted:
                raise Inexpressible(f"{self.show(step)}: where it goes depends on memory")
        first = what.accesses[0]
        place = f"r0,{thread.address(first.address)}"
        if m in LOADS:
            thread.emit(f"ld {thread.destination(first.register)},0({thread.address(first.address)})")
        elif m in STORES:
            thread.emit(f"std {thread.source(step, first.register)},0({thread.address(first.address)})")
        elif m == "lqarx":
            meta = what.accesses[1]
            thread.emit(f"ld {thread.destination(first.register)},0({thread.address(first.address)})")
            thread.emit(f"lwarx {thread.destination(meta.register)},r0,{thread.address(meta.address)}")
        elif m == "stqcx.":
            meta = what.accesses[1]
            value = f"std {thread.source(step, first.register)},0({thread.address(first.address)})"
            change = f"stwcx. {thread.source(step, meta.register)},r0,{thread.address(meta.address)}"
            if self.value_first:
                for text in (value, "lwsync", change):
                    thread.emit(text)
            else:
                for text in (change, f"bne {thread.exit}", "lwsync", value):
                    thread.emit(text)
            thread.note("lqarx, stqcx.: as ldarx and stdcx. of meta, with a load and a store of value, once before and once "
                        "after it (ppc64le.py says why)")
        elif m in RESERVED:
            thread.emit(f"lwarx {thread.destination(first.register)},{place}")
        else:
            thread.emit(f"stwcx. {thread.source(step, first.register)},{place}")
        if m in CONDITIONAL:
            thread.tainted.add("cr0")
            thread.last_field, thread.orders = "cr0", False
        if m in ("ldarx", "stdcx."):
            thread.note("ldarx, stdcx.: as lwarx and stwcx., which in the model read and write the whole word")

    @staticmethod
    def move(thread, to, source):
        thread.emit(f"mr {to},{source}")

    # ---- what callers of the library do ----

    @staticmethod
    def store(thread, address, value, release=False):
        if release:
            thread.emit("lwsync")
        thread.emit(f"std {thread.constant(value)},0({thread.address(address)})")

    @staticmethod
    def load(thread, to, address, acquire=False):
        thread.emit(f"ld {to},0({thread.address(address)})")
        if acquire:
            label = thread.label()
            for text in (f"cmpw {to},{to}", f"bne {label}", f"{label}:", "isync"):
                thread.emit(text)

    @staticmethod
    def load_through(thread, to, pointer, address):
        thread.emit(f"xor {to},{pointer},{pointer}")
        thread.emit(f"ldx {to},{to},{thread.address(address)}")

    @staticmethod
    def full_fence(thread):
        thread.emit("sync")

    @staticmethod
    def leave_if_zero(thread, register):
        thread.emit(f"cmpwi {register},0")
        thread.emit(f"beq {thread.exit}")

    @staticmethod
    def done(thread, to):
        thread.emit(f"li {to},1")

    # ---- negative controls ----

    @staticmethod
    def weaken(text, what):
        name, _, rest = text.partition(" ")
        if what == "fence" and name == "sync":
            return None
        if what == "acquire" and name == "isync":
            return None
        if what == "release" and name == "lwsync":
            return None
        if what == "atomicity":
            value, place = rest.split(",", 1) if "," in rest else ("", "")
            if name == "lwarx":
                return f"ld {value},0({place.split(',')[1]})"
            if name == "stwcx.":
                return [f"std {value},0({place.split(',')[1]})", f"cmpw {value},{value}"]
        return text


ARCHES = [Power("ppc64le, value first", True), Power("ppc64le, meta first", False)]
