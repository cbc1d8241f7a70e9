# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the tool knows of RISC-V."""

import re

from decoded import Access, Decoded
from processor import Processor
from slicing import Inexpressible

LOADS = {"ld": 8, "lw": 4, "lwu": 4, "lh": 2, "lhu": 2, "lb": 1, "lbu": 1}
STORES = {"sd": 8, "sw": 4, "sh": 2, "sb": 1}
RESERVED = re.compile(r"^(lr|sc)\.([wd])(\.aq|\.rl|\.aqrl|)$")
AMO = re.compile(r"^amo(add|swap|and|or|xor)\.([wd])(\.aq|\.rl|\.aqrl|)$")
BRANCHES = {"beq": "bne", "bne": "beq", "blt": "bge", "bge": "blt", "bltu": "bgeu", "bgeu": "bltu"}
WITH_ZERO = {"beqz": ("beq", False), "bnez": ("bne", False), "bltz": ("blt", False), "bgez": ("bge", False),
             "bgtz": ("blt", True), "blez": ("bge", True)}
SWAPPED = {"bgt": "blt", "ble": "bge", "bgtu": "bltu", "bleu": "bgeu"}
JUMPS = {"j": "b", "jr": "br", "ret": "ret", "jal": "bl", "jalr": "bl", "tail": "b", "call": "bl"}
# What objdump shows, and what herd calls it with a register and with a number.
SAME = {"add": "addi", "addi": "addi", "and": "andi", "andi": "andi", "or": "ori", "ori": "ori", "xor": "xori", "xori": "xori",
        "sll": "slli", "slli": "slli", "srl": "srli", "srli": "srli", "sub": None, "addw": "addiw", "addiw": "addiw",
        "subw": None, "sllw": "slliw", "slliw": "slliw"}


def is_register(operand):
    return operand == "zero" or re.match(r"^x\d+$", operand) is not None


def name_of(operand):
    return "x0" if operand == "zero" else operand


def as_number(text):
    return int(text, 0)


class RiscV(Processor):
    herd = "RISCV"
    triple = "riscv64-linux-gnu"
    objdump = ["-M", "numeric"]
    model = "riscv.cat"
    general = [f"x{n}" for n in range(1, 32)]
    qemu = ["qemu-riscv64"]

    def __init__(self, name):
        self.name = name

    # ---- the trace ----

    @staticmethod
    def states(lines):
        current = None
        for line in lines:
            if line.startswith(" pc "):
                if current:
                    yield current
                current = {"pc": int(line.split()[1], 16)}
            elif current is not None:
                for name, value in re.findall(r"(x\d+)/\S+\s+([0-9a-f]{16})", line):
                    current[name] = int(value, 16)
        if current:
            yield current

    def flow(self, step):
        flow = JUMPS.get(step.mnemonic)
        if flow == "br" and step.operands and step.operands[0] in ("x1", "x5"):
            return "ret"
        if flow == "bl" and step.operands and step.operands[0] in ("x0", "zero"):
            return "b"
        return flow

    # ---- registers ----

    @staticmethod
    def is_zero(register):
        return register == "x0"

    @staticmethod
    def zero(_width):
        return "x0"

    # ---- decoding ----

    def decode(self, step):
        m, ops = step.mnemonic, step.operands
        if m in ("nop", "auipc", "lui", "li"):
            return Decoded(writes={name_of(ops[0])} if ops else set())
        if m == "fence" or m == "fence.tso":
            # Devices (i and o) are no part of the model.
            kinds = [re.sub("[io]", "", k) for k in ops] if ops else ["rw", "rw"]
            return Decoded(barrier=m if m != "fence" else f"fence {kinds[0]},{kinds[1]}")
        if m in BRANCHES or m in WITH_ZERO or m in SWAPPED:
            return Decoded(flow="branch", reads={name_of(op) for op in ops if is_register(op)})
        if m in JUMPS:
            return Decoded(flow=self.flow(step), writes={"x1"} if JUMPS[m] == "bl" else set())
        if m in LOADS or m in STORES or RESERVED.match(m) or AMO.match(m):
            return self._decode_access(step)
        registers = [name_of(op) for op in ops if is_register(op)]
        return Decoded(reads=set(registers[1:]), writes=set(registers[:1]))

    @staticmethod
    def _decode_access(step):
        m, ops = step.mnemonic, step.operands
        offset, base = re.match(r"^(-?\w*)\((\w+)\)$", ops[-1]).groups()
        base = name_of(base)
        address = (step.regs[base] + (as_number(offset) if offset else 0)) & (1 << 64) - 1
        data = [name_of(op) for op in ops[:-1]]
        what = Decoded(reads={base})
        if m in LOADS or m.startswith("lr."):
            what.reserves = m.startswith("lr.")
            what.writes = {data[0]}
            what.accesses = [Access(address, base, None, data[0])]
            what.size = LOADS.get(m, 4 if m.startswith("lr.w") else 8)
        else:
            what.is_store = True
            what.accesses = [Access(address, base, None, data[-1])]
            what.reads |= {data[-1]}
            what.writes = set() if m in STORES else {data[0]}
            what.size = STORES.get(m, 4 if ".w" in m else 8)
        return what

    # ---- emitting ----

    def _operand(self, step, op, thread):
        return thread.source(step, name_of(op)) if is_register(op) else str(as_number(op))

    def compute(self, step, what, thread):
        m, ops = step.mnemonic, step.operands
        if m in SAME:
            sources = [self._operand(step, op, thread) for op in ops[1:]]
            name = SAME[m] if not is_register(ops[-1]) else m
            if m == "srl" and is_register(ops[-1]):
                raise Inexpressible(f"{self.show(step)}: not known")
            thread.emit(f"{name} {thread.destination(name_of(ops[0]))},{','.join(sources)}")
        elif m == "mv":
            thread.emit(f"mv {thread.destination(name_of(ops[0]))},{self._operand(step, ops[1], thread)}")
        elif m == "sext.w":
            thread.emit(f"sext.w {thread.destination(name_of(ops[0]))},{self._operand(step, ops[1], thread)}")
        elif m in ("sra", "srai") and not is_register(ops[2]) and as_number(ops[2]) == 32:
            piece = thread.temp(thread.temporary())
            thread.emit(f"srli {piece},{self._operand(step, ops[1], thread)},32")
            thread.emit(f"sext.w {thread.destination(name_of(ops[0]))},{piece}")
            thread.note("srai by 32: as srli and sext.w, which compute the same from the same register")
        elif m in ("seqz", "snez"):
            piece = thread.temp(thread.temporary())
            source = self._operand(step, ops[1], thread)
            for text in (f"sub {piece},x0,{source}", f"or {piece},{piece},{source}", f"slt {piece},{piece},x0"):
                thread.emit(text)
            thread.emit(f"xori {thread.destination(name_of(ops[0]))},{piece},{int(m == 'seqz')}")
            thread.note("seqz, snez: as sub, or, slt and xori, which compute the same from the same register")
        elif m == "not":
            thread.emit(f"xori {thread.destination(name_of(ops[0]))},{self._operand(step, ops[1], thread)},-1")
        elif m in ("sltu", "slt", "sltz", "sltiu", "srliw", "sraiw", "srai", "sra", "neg"):
            raise Inexpressible(f"{self.show(step)}: herd doesn't compute it")
        else:
            raise Inexpressible(f"{self.show(step)}: not known")

    def branch(self, step, what, thread):
        m, ops = step.mnemonic, step.operands
        operands = [self._operand(step, op, thread) for op in ops[:-1]]
        if m in WITH_ZERO:
            m, swap = WITH_ZERO[m]
            operands = ["x0"] + operands if swap else operands + ["x0"]
        elif m in SWAPPED:
            m, operands = SWAPPED[m], operands[::-1]
        if step.next == step.target:
            m = BRANCHES[m]
        if m.endswith("u"):
            if any(step.regs.get(name_of(op), 0) >> 63 for op in ops[:-1]):
                raise Inexpressible(f"{self.show(step)}: herd doesn't compare without signs")
            m = m[:-1]
            thread.note("bltu and its kin: as blt, for addresses and what isn't negative")
        thread.emit(f"{m} {','.join(operands)},{thread.exit}")

    def access(self, step, what, thread):
        m, ops = step.mnemonic, step.operands
        first = what.accesses[0]
        if first.base in thread.tainted:
            offset = re.match(r"^(-?\w*)\(", ops[-1]).group(1)
            place = f"{as_number(offset) if offset else 0}({thread.source(step, first.base)})"
        else:
            place = f"0({thread.address(first.address)})"
        if m in LOADS or m.startswith("lr."):
            thread.emit(f"{m} {thread.destination(name_of(ops[0]))},{place}")
        elif m in STORES:
            thread.emit(f"{m} {self._operand(step, ops[0], thread)},{place}")
        else:
            value = self._operand(step, ops[1], thread)
            to = thread.destination(name_of(ops[0]))
            if AMO.match(m) and to == "x0":
                to = thread.temp(thread.temporary())
            thread.emit(f"{m} {to},{value},{place[1:] if place.startswith('0(') else place}")

    @staticmethod
    def move(thread, to, source):
        thread.emit(f"mv {to},{source}")

    # ---- what callers of the library do ----

    @staticmethod
    def store(thread, address, value, release=False):
        if release:
            thread.emit("fence rw,w")
        thread.emit(f"sd {thread.constant(value)},0({thread.address(address)})")

    @staticmethod
    def load(thread, to, address, acquire=False):
        thread.emit(f"ld {to},0({thread.address(address)})")
        if acquire:
            thread.emit("fence r,rw")

    @staticmethod
    def load_through(thread, to, pointer, address):
        base = thread.temp(thread.temporary())
        thread.emit(f"xor {to},{pointer},{pointer}")
        thread.emit(f"add {base},{thread.address(address)},{to}")
        thread.emit(f"ld {to},0({base})")

    @staticmethod
    def full_fence(thread):
        thread.emit("fence rw,rw")

    @staticmethod
    def leave_if_zero(thread, register):
        thread.emit(f"beq {register},x0,{thread.exit}")

    @staticmethod
    def done(thread, to):
        thread.emit(f"li {to},1")

    # ---- negative controls ----

    @staticmethod
    def weaken(text, what):
        """The instruction without what makes it acquire, release, or be one step; None: it is left out.

        Fences stand behind what acquires and before what releases; one that does both is left out for either.
        """
        name, _, rest = text.partition(" ")
        if what == "fence" and text == "fence rw,rw":
            return None
        if what == "acquire":
            if name == "fence" and rest in ("r,rw", "rw,rw", "r,r"):
                return None
            name = name.replace(".aqrl", ".rl").replace(".aq", "") if "." in name else name
        elif what == "release":
            if name == "fence" and rest in ("rw,w", "rw,rw", "w,w"):
                return None
            name = re.sub(r"\.aqrl$", ".aq", re.sub(r"\.rl$", "", name))
        elif what == "atomicity":
            found = RESERVED.match(name)
            if found and found.group(1) == "lr":
                return f"l{found.group(2)} {rest}"
            if found:
                status, value, place = rest.split(",", 2)
                return [f"s{found.group(2)} {value},{place if place[0] != '(' else '0' + place}", f"li {status},0"]
        return f"{name} {rest}" if rest else name


ARCHES = [RiscV("riscv64")]
