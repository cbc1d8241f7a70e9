# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What an instruction does, as far as slicing.py needs to know."""

import collections
import dataclasses

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
