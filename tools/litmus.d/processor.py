# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the processors have in common: how a trace is cut to one operation, and how RISC-V and POWER write things."""


class Processor:
    objdump = []
    options = []
    skipped = (0,)

    # ---- the trace ----

    def flow(self, step):
        """A jump, "bl" or "blr" for a call, "ret" for a return; or None."""
        raise NotImplementedError

    def own_steps(self, steps):
        depth = 0
        for step in steps:
            yield step
            flow = self.flow(step)
            depth += (flow in ("bl", "blr")) - (flow == "ret")
            if depth < 0:
                return

    # ---- registers ----

    @staticmethod
    def is_zero(_register):
        return False

    @staticmethod
    def register(name, _width):
        return name

    result_register = staticmethod(lambda register: register)

    @staticmethod
    def initial(thread, register, value):
        return f"int64_t {thread}:{register}={value};"

    @staticmethod
    def add_constant(to, base, number):
        return f"addi {to},{base},{number}"

    @staticmethod
    def set_constant(to, number):
        return f"li {to},{number}"

    @staticmethod
    def show(step):
        return f"{step.mnemonic} {', '.join(step.operands)}"
