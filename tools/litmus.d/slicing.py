# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes the threads of a litmus test from the traced instructions.

Kept, as the compiler made it: every access to memory that threads share, every barrier, and every computation and every
branch that depends on a value that was read from such memory. A branch that goes where it went in the trace continues;
otherwise it leaves the test, by the label at the thread's end. So the tests have no loops. A retry would only add loads,
and an execution that the model allows with them is allowed without them, too.

The following is left out. It can only make the model allow more, because there are fewer events and dependencies:
  * computations that depend on nothing that was read from the memory in question: their registers start with the results;
  * every access to words other than slots, the cell of a borrow and the callers' shared data: reference counts and the
    table's clock, although their read-modify-writes order things, too; and fields that are never written. The values read
    there are constants, and exchanges succeed as in the trace;
  * the stack: a value that is kept there stays in a register, which the model orders in the same way as a store and a
    load by the same thread.
"""

import re

import aarch64
from aarch64 import Inexpressible, signed


class Memory:
    """The words that the threads of one test share, and their names."""

    def __init__(self, program, before):
        self.program = program
        self.before = program.operations[before].memory
        self.touched = set()

    def shared(self, address):
        return self.program.region_of(address) is not None

    def in_question(self, address):
        region = self.program.region_of(address)
        return region is not None and not region.name.startswith("heap") and not (
            region.name == "table" and address - region.start < 16)

    def place(self, address):
        """(symbol, offset, words) of an address."""
        region = self.program.region_of(address)
        offset = address - region.start
        if region.name == "table":
            if offset < 16:
                return ("directory", "clock")[offset // 8], offset % 8, 1
            return f"slot{(offset - 16) // 16}", offset % 16, 2
        if region.size == 8:
            return region.name, offset, 1
        return f"{region.name}_{offset // 16}", offset % 16, 2

    def declarations(self):
        """The initial memory, as declarations for herd. Values that are addresses for their users are numbers here."""
        lines = {}
        for address in sorted(self.touched):
            symbol, offset, words = self.place(address)
            start = address - offset
            values = [str(signed(self.before.get(at, 0))) for at in range(start, start + 8 * words, 8)]
            lines[symbol] = f"int64_t {symbol}[{words}]={{{','.join(values)}}};" if words > 1 else f"int64_t {symbol}={values[0]};"
        return [lines[name] for name in sorted(lines)]


class Thread:
    """The code of one thread. Operands are written <...> until registers are assigned."""

    def __init__(self, memory, number):
        self.memory, self.number = memory, number
        self.lines = []  # (tag, text)
        self.tainted = set()  # registers that depend on shared memory
        self.cells = {}  # {private address: temporary}, where such a value is kept
        self.notes = set()
        self.results = {}  # {name: temporary}
        self.tag = ""
        self._temporaries = 0

    def emit(self, text):
        self.lines.append((self.tag, text))

    def move(self, to, source):
        self.emit(f"MOV {to},{source}")

    def temporary(self):
        self._temporaries += 1
        return f"t{self._temporaries}"

    @property
    def exit(self):
        return f"E{self.number}"

    def own(self, register, width=8):
        return f"<r:{register}:{width}>"

    def constant(self, value, width=8):
        return f"<k:{value & (1 << 64) - 1:x}:{width}>"

    def address(self, value):
        self.memory.touched.add(value & ~7)
        return f"<a:{value:x}:8>"

    def temp(self, name, width=8):
        return f"<t:{name}:{width}>"

    def source(self, step, register, width=8):
        """An operand that is read: the register, or a constant."""
        if register in self.tainted or register == "xzr":
            return self.own(register, width)
        return self.constant(step.regs[register], width)

    def destination(self, register, width=8):
        if register != "xzr":
            self.tainted.add(register)
        return self.own(register, width)

    def clean(self, registers):
        self.tainted.difference_update(registers)

    # ---- following an operation ----

    def begin(self, operation, tag):
        """The steps of an operation and what each does. The caller calls follow() for each of them."""
        self.tag = tag
        self.tainted.clear()
        self.cells.clear()
        return [(step, aarch64.decode(step)) for step in aarch64.own_steps(operation.steps)]

    def follow(self, step, what, kept=True):
        """An access that isn't kept has the result that it had in the trace. That leaves out events, too."""
        touched = what.reads & self.tainted
        if what.barrier:
            self.emit(what.barrier)
        elif what.flow:
            if what.flow == "branch" and touched:
                aarch64.branch(step, self)
        elif not what.accesses:
            if touched:
                aarch64.compute(step, what, self)
            else:
                self.clean(what.writes)
        elif not self.memory.shared(what.accesses[0].address):
            self._private(step, what)
        elif not self.memory.in_question(what.accesses[0].address):
            if any(a.base in self.tainted for a in what.accesses):
                raise Inexpressible(f"{aarch64.show(step)}: where it goes depends on a slot")
            self.clean(what.writes)
        elif not kept:
            self.clean(what.writes)
        elif any(aarch64.is_vector(a.register) for a in what.accesses):
            raise Inexpressible(f"{aarch64.show(step)}: shared memory by vectors")
        else:
            aarch64.access(step, what, self)

    def _private(self, step, what):
        """The stack, the thread's own memory, and the program's constants."""
        for access in what.accesses:
            if what.is_store:
                if access.register in self.tainted:
                    cell = self.temporary()
                    self.move(self.temp(cell), self.own(access.register))
                    self.cells[access.address] = cell
                else:
                    self.cells.pop(access.address, None)
            elif access.address in self.cells:
                if aarch64.is_vector(access.register):
                    raise Inexpressible(f"{aarch64.show(step)}: what shared memory decides, in a vector")
                self.move(self.destination(access.register), self.temp(self.cells[access.address]))
            else:
                self.clean({access.register})
        self.clean(set(what.writes) - {a.register for a in what.accesses})

    # ---- assigning registers ----

    def finish(self):
        """[(tag, instruction)], [initial register], {result: register}

        The compiler's registers stay. Constants and temporaries get others, for as long as they are needed, since
        the code has no loops.
        """
        place = re.compile(r"<([rkat]):([^:>]+):(\d+)>")
        last_line = len(self.lines)
        spans = {}  # {(kind, name): [first line, last line]}
        for at, (_, text) in enumerate(self.lines):
            for kind, name, _ in place.findall(text):
                spans.setdefault((kind, name), [at, at])[1] = at
        for where in self.results.values():  # 0 if the thread leaves earlier
            spans[place.match(where).group(1, 2)] = [-1, last_line]
        busy = {r: [] for r in [f"x{n}" for n in range(30)]}
        for (kind, name), span in spans.items():
            if kind == "r" and name in busy:
                busy[name].append(span)

        def take(first, last):
            for register, taken in busy.items():
                if all(last < a or b < first for a, b in taken):
                    taken.append([first, last])
                    return register
            return None

        given, initial, prologue, inserted = {}, [], [], {}

        def give(key, first, last):
            given[key] = take(first, last)
            if given[key] is None:
                raise Inexpressible(f"thread {self.number} needs more registers than there are")
            return given[key]

        # First what must be there from the start.
        pointers, numbers, bases = [], [], {}
        for key, (first, last) in sorted(spans.items(), key=lambda item: item[1]):
            if key[0] == "k":
                numbers.append((key, first, last, signed(int(key[1], 16))))
            elif key[0] == "a":
                symbol, offset, _ = self.memory.place(int(key[1], 16))
                pointers.append((key, last, symbol, offset))
        for key, (first, last) in spans.items():
            if key[0] == "t" and first < 0:
                give(key, first, last)
        for key, last, symbol, number in pointers:
            if number != 0 and symbol not in bases:
                plain = [k for k, _, s, n in pointers if s == symbol and n == 0]
                if not plain:
                    bases[symbol] = take(-1, -1)
                    initial.append(aarch64.initial(self.number, bases[symbol], symbol))
            given_register = give(key, -1, last)
            if number == 0:
                initial.append(aarch64.initial(self.number, given_register, symbol))
                bases[symbol] = given_register
        for key, last, symbol, number in pointers:
            if number != 0:
                prologue.append(("", f"ADD {given[key].upper()},{bases[symbol].upper()},#{number}"))
        for key, first, last, number in numbers:
            given[key] = take(-1, last)
            if given[key] is not None:
                initial.append(aarch64.initial(self.number, given[key], str(number)))
        for key, first, last, number in numbers:
            if given[key] is None:
                register = give(key, first, last)
                inserted.setdefault(first, []).append(f"MOV {register.upper()},#{number}")
        for key, (first, last) in sorted(spans.items(), key=lambda item: item[1]):
            if key[0] == "t" and key not in given:
                give(key, first, last)

        def operand(match):
            kind, name, width = match.group(1), match.group(2), int(match.group(3))
            return aarch64.register(name if kind == "r" else given[kind, name], width)

        lines = []
        for at, (tag, text) in enumerate(self.lines):
            lines += [("", more) for more in inserted.get(at, [])]
            lines.append((tag, place.sub(operand, text)))
        results = {}
        for name, where in self.results.items():
            results[name] = f"{self.number}:{place.sub(operand, where)}"
        return prologue + lines, initial, results
