# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What instructions of AArch64 do, and how herd reads them."""

import collections
import dataclasses
import re

CONDITIONS = {"eq": "ne", "ne": "eq", "cs": "cc", "cc": "cs", "hi": "ls", "ls": "hi", "ge": "lt", "lt": "ge", "gt": "le",
              "le": "gt", "hs": "lo", "lo": "hs", "mi": "pl", "pl": "mi"}
RMWS = "(cas|ldadd|ldclr|ldset|ldeor|swp)"
RMW = re.compile(f"^{RMWS}(a|l|al|)$")
LOADS = {"ldr", "ldur", "ldrb", "ldrh", "ldar", "ldapr", "ldxr", "ldaxr", "ldp", "ldxp", "ldaxp", "ldrsw"}
STORES = {"str", "stur", "strb", "strh", "stlr", "stp"}
PAIRS = {"ldp", "ldxp", "ldaxp", "stp", "stxp", "stlxp"}
CONDITIONAL_STORES = {"stxr", "stlxr", "stxp", "stlxp"}
BARRIERS = {"dmb", "dsb", "isb"}
JUMPS = {"b", "bl", "ret", "blr", "br"}
ONLY_FLAGS = {"cmp", "cmn", "tst", "ccmp", "ccmn"}
SETS_FLAGS = ONLY_FLAGS | {"adds", "subs", "ands", "bics", "negs"}
USES_FLAGS = {"csel", "csinc", "csinv", "csneg", "cset", "csetm", "cinc", "ccmp", "ccmn", "adc", "sbc"}
NOTHING = {"nop", "bti", "paciasp", "autiasp", "hint", "adrp", "adr", "mrs", "prfm",
           "movi", "mvni"}  # constants in vectors, which initialize structs on the stack
# Instructions that herd knows by the same name, with the same operands.
SAME = {"add", "adds", "sub", "subs", "and", "ands", "orr", "eor", "lsl", "lsr", "asr", "cmp", "tst", "csel", "csinc", "cset",
        "mov", "bic", "mvn", "neg", "sxtw"}


class Inexpressible(Exception):
    pass


def signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


def name_of(operand):
    """w19 -> x19"""
    return "x" + operand[1:] if re.match(r"^w(\d+|zr)$", operand) else operand


def width_of(operand):
    return {"b": 1, "h": 2, "w": 4, "s": 4, "q": 16}.get(operand[0], 8)


def is_register(operand):
    return re.match(r"^([wx](\d+|zr)|sp|wsp)$", operand) is not None


def decimal(operand):
    """Immediates as herd reads them: in decimal, and with the highest of 64 bits set, negative."""
    def number(match):
        value = int(match.group(2), 16)
        return "#" + match.group(1) + str(value - (1 << 64) if value >> 63 else value)
    return re.sub(r"#(-?)0x([0-9a-f]+)", number, operand)


# A word that is read or written; `register` is what it is read into or written from.
Access = collections.namedtuple("Access", "address base index register")


@dataclasses.dataclass
class Decoded:
    reads: set = dataclasses.field(default_factory=set)
    writes: set = dataclasses.field(default_factory=set)
    accesses: list = dataclasses.field(default_factory=list)
    size: int = 8
    reserves: bool = False  # the load of an exchange
    is_store: bool = False  # or both
    flow: str = ""  # "branch": conditional. Else a jump, a call or a return
    barrier: str = ""  # as herd reads it


def states(lines):
    current = None
    for line in lines:
        if line.startswith(" PC="):
            if current:
                yield current
            current = {"pc": int(line[4:20], 16), "xzr": 0}
        if current is not None:
            if line.startswith("PSTATE="):
                current["nzcv"] = int(line[7:15], 16) >> 28
            for name, value in re.findall(r"(X\d\d|SP)=([0-9a-f]{16})", line):
                current["sp" if name == "SP" else "x" + str(int(name[1:]))] = int(value, 16)
    if current:
        yield current


def own_steps(steps):
    """The steps of the operation, up to its return."""
    depth = 0
    for step in steps:
        yield step
        depth += (step.mnemonic in ("bl", "blr")) - (step.mnemonic == "ret")
        if depth < 0:
            return

def is_vector(register):
    return re.match(r"^[bhsdqv]\d", register) is not None


def register(name, width):
    return ("X" if width == 8 else "W") + name[1:].upper()


def initial(thread, register, value):
    return f"int64_t {thread}:{register.upper()}={value};"


def show(step):
    return f"{step.mnemonic} {', '.join(step.operands)}"

def decode(step):
    m, ops = step.mnemonic, step.operands
    if m in NOTHING:
        return Decoded(writes={name_of(ops[0])} if ops and is_register(ops[0]) else set())
    if m in BARRIERS:
        return Decoded(barrier=f"{m.upper()} {ops[0].upper()}" if ops else m.upper())
    if m.startswith("b.") or m in ("cbz", "cbnz", "tbz", "tbnz"):
        return Decoded(flow="branch", reads={"nzcv"} if m.startswith("b.") else {name_of(ops[0])})
    if m in JUMPS:
        return Decoded(flow=m, writes={"x30"} if m in ("bl", "blr") else set())
    if m in LOADS or m in STORES or m in CONDITIONAL_STORES or RMW.match(m):
        return _decode_access(step)
    registers = [[name_of(r) for r in re.findall(r"\b(?:[wx](?:\d+|zr)|sp)\b", op)] for op in ops]
    flat = [r for op in registers for r in op]
    if m in ONLY_FLAGS:
        reads, writes = set(flat), {"nzcv"}
    else:
        if not flat:
            raise ValueError(f"unknown instruction: {show(step)}")
        reads, writes = set(flat[1:]), {flat[0]}
        if m in ("bfi", "bfxil", "movk", "bfm"):
            reads.add(flat[0])
        if m in SETS_FLAGS:
            writes.add("nzcv")
    if m in USES_FLAGS:
        reads.add("nzcv")
    return Decoded(reads=reads, writes=writes)


def _decode_access(step):
    m, ops = step.mnemonic, step.operands
    at = next(i for i, op in enumerate(ops) if op.startswith("["))
    inner = re.match(r"^\[([^\]]*)\](!?)$", ops[at])
    parts = [p.strip() for p in inner.group(1).split(",")]
    base, index, offset = name_of(parts[0]), None, 0
    if len(parts) > 1 and parts[1].startswith("#"):
        offset = int(parts[1][1:], 0)
    elif len(parts) > 1:
        index = name_of(parts[1])
        offset = step.regs[index] if not parts[1].startswith("w") else step.regs[index] & 0xffffffff
        if len(parts) > 2 and "#" in parts[2]:
            offset <<= int(parts[2].split("#")[1], 0)
    address = (step.regs[base] + offset) & (1 << 64) - 1
    data = [name_of(op) for op in ops[:at]]
    size = width_of(ops[at - 1])
    written_back = {base} if inner.group(2) or at + 1 < len(ops) else set()
    values = data[-2:] if m in PAIRS else data[-1:]
    accesses = [Access(address + size * i + word, base, index, r) for i, r in enumerate(values)
                for word in range(0, size, 8)]
    reads = {base} | ({index} if index else set())
    what = Decoded(accesses=accesses, size=size)
    if m in LOADS:
        what.reserves = "x" in m
        what.reads, what.writes = reads, set(values) | written_back
    elif RMW.match(m):
        what.is_store = True
        what.reads = reads | set(data)
        what.writes = {data[0]} if m.startswith("cas") else {data[1]}
    else:
        what.is_store = True
        what.reads = reads | set(values)
        what.writes = written_back | ({data[0]} if m in CONDITIONAL_STORES else set())
    return what

def _operand(step, op, thread):
    if is_register(op):
        return thread.source(step, name_of(op), width_of(op))
    number = re.fullmatch(r"#(-?0x[0-9a-f]+)", op)
    if number and not -(1 << 62) <= signed(int(number[1], 16)) < 1 << 62:  # herd can't read it
        return thread.constant(int(number[1], 16))
    return decimal(op).upper()


def compute(step, what, thread):
    m, ops = step.mnemonic, step.operands
    if "nzcv" in what.reads and "nzcv" not in thread.tainted:
        raise Inexpressible(f"{show(step)}: flags that don't depend on memory")
    if m == "ccmp":
        _ccmp(step, thread)
        return
    if m not in SAME:
        raise Inexpressible(f"{show(step)}: not known")
    sources = [_operand(step, op, thread) for op in (ops if m in ONLY_FLAGS else ops[1:])]
    if m not in ONLY_FLAGS:
        sources.insert(0, thread.destination(name_of(ops[0]), width_of(ops[0])))
    if m in SETS_FLAGS:
        thread.tainted.add("nzcv")
    thread.emit(f"{m.upper()} {','.join(sources)}")


def _ccmp(step, thread):
    """Compares what it compares if the condition holds, and otherwise two numbers whose comparison gives the given flags.
    (Equal ones set Z and C, where only Z may be given; no compiler lets CS or CC follow that.)
    """
    left, right, flags, condition = step.operands
    width = width_of(left)
    numbers = {0: (0, -1), 2: (1, 0), 4: (0, 0), 8: (0, 1)}.get(int(flags[1:], 0))
    if numbers is None:
        raise Inexpressible(f"{show(step)}: no two numbers compare like that")
    compared = []
    for operand, number in zip((left, right), numbers):
        wanted = _operand(step, operand, thread) if is_register(operand) else thread.constant(int(operand[1:], 0), width)
        otherwise = thread.constant(number, width) if number else thread.own("xzr", width)
        compared.append(thread.temp(thread.temporary(), width))
        thread.emit(f"CSEL {compared[-1]},{wanted},{otherwise},{condition.upper()}")
    thread.emit(f"CMP {','.join(compared)}")
    thread.tainted.add("nzcv")
    thread.notes.add("ccmp: as csel, csel and cmp, which give the same flags from the same registers and flags")


def branch(step, thread):
    m, ops = step.mnemonic, step.operands
    taken = step.next == step.target
    if m.startswith("b."):
        condition = CONDITIONS[m[2:]] if taken else m[2:]
        thread.emit(f"B.{condition.upper()} {thread.exit}")
        return
    if taken:
        m = {"cbz": "cbnz", "cbnz": "cbz", "tbz": "tbnz", "tbnz": "tbz"}[m]
    operands = [_operand(step, op, thread) for op in ops[:-1]]
    thread.emit(f"{m.upper()} {','.join(operands)},{thread.exit}")


def access(step, what, thread):
    m, ops = step.mnemonic, step.operands
    at = next(i for i, op in enumerate(ops) if op.startswith("["))
    first = what.accesses[0]
    place = f"[{thread.address(first.address)}]"
    for register in sorted({first.base, first.index} & thread.tainted):
        # For herd an address isn't a number: the one of the trace, with the dependency on what was read.
        nothing, there = (thread.temp(thread.temporary()) for _ in range(2))
        thread.emit(f"EOR {nothing},{thread.own(register)},{thread.own(register)}")
        thread.emit(f"ADD {there},{place[1:-1]},{nothing}")
        place = f"[{there}]"
        thread.notes.add("an address that is computed from what was read: that of the trace, which depends on it")
    if at + 1 < len(ops) or ops[at].endswith("!"):
        raise Inexpressible(f"{show(step)}: it writes an address back")
    data = ops[:at]
    if m == "ldp" and thread.memory.program.arch.single_load:
        m = "ldxp"
        thread.notes.add("ldp: as ldxp, which the model reads in one step, as FEAT_LSE2 reads ldp; each stlxp has its own ldaxp")
    if m in LOADS:
        to = [thread.destination(name_of(r), width_of(r)) for r in data]
        thread.emit(f"{m.upper()} {','.join(to)},{place}")
    elif RMW.match(m):
        if m.startswith("cas"):
            if name_of(data[0]) not in thread.tainted:
                thread.emit(f"MOV {thread.own(name_of(data[0]))},{thread.source(step, name_of(data[0]))}")
            value = _operand(step, data[1], thread)
            thread.emit(f"{m.upper()} {thread.destination(name_of(data[0]), width_of(data[0]))},{value},{place}")
        else:
            value = _operand(step, data[0], thread)
            thread.emit(f"{m.upper()} {value},{thread.destination(name_of(data[1]), width_of(data[1]))},{place}")
    elif m in CONDITIONAL_STORES:
        values = [_operand(step, r, thread) for r in data[1:]]
        status = thread.destination(name_of(data[0]), 4)
        thread.emit(f"{m.upper()} {status},{','.join(values)},{place}")
    else:
        values = [_operand(step, r, thread) for r in data]
        thread.emit(f"{m.upper()} {','.join(values)},{place}")


# What weakens an instruction: of each list, the first pattern that fits is replaced, by one instruction, several or none.
WEAKER = {
    "acquire": [(r"^LDAP?R ", "LDR "), (r"^LDAX", "LDX"), (r"^DMB ISHLD$", ""), (f"^{RMWS.upper()}A(L?) ", r"\1\2 ")],
    "release": [(r"^STLR ", "STR "), (r"^STLX", "STX"), (f"^{RMWS.upper()}(A?)L ", r"\1\2 ")],
    "atomicity": [(r"^LD(A?)XR ", r"LD\1R "), (r"^LDA?XP ", "LDP "),
                  (r"^ST(L?)XR (\w+),(.*)", r"MOV \2,#0\nST\1R \3"), (r"^STL?XP (\w+),(.*)", r"MOV \1,#0\nSTP \2"),
                  (r"^CAS\w* (\w+),(\w+),(.*)", r"MOV X30,\1\nLDR \1,\3\nCMP \1,X30\nCSEL X30,\2,\1,EQ\nSTR X30,\3")],
    # And what else orders a load after a store: store-release to LDAR, and CASAL.
    "fence": [(r"^DMB ISH$", ""), (r"^LDAR ", "LDAPR "), (r"^CASAL ", "CASA ")],
    "everything": [(r"^.*$", "")],
}


def weaken(text, what):
    """The instructions that are left of one."""
    for pattern, weaker in WEAKER[what]:
        if re.match(pattern, text):
            return re.sub(pattern, weaker, text).splitlines()
    return [text]


@dataclasses.dataclass
class Arch:
    name: str
    cpu: str
    options: list
    single_load: bool  # an LDP of 16 aligned bytes is one access


ARCHES = [
    Arch("aarch64", "cortex-a57", [], False),
    Arch("aarch64 LSE", "max", [], False),
    Arch("aarch64 LSE2", "max", ["-DATTRCACHE_LSE2"], True),
]
