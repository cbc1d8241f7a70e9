#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Loads a Spack recipe with a stand-in for Spack's directives, and prints what it says.

  spack_stand_in.py RECIPE git                  where the sources are
  spack_stand_in.py RECIPE MPI INCLUDE          the arguments for CMake, one a line; MPI: openmpi, mpich or none

It knows the directives that the recipe uses, and their keywords; others are errors, as they would be there.
"""

import importlib.util
import sys
import types

# Keywords that Spack takes, besides `when`.
DIRECTIVES = {
    "version": {"branch"},
    "variant": {"default", "description"},
    "depends_on": {"type"},
    "requires": {"policy", "msg"},
    "conflicts": {"msg"},
    "license": set(),
}


class CMakePackage:
    def define(self, name, value):
        if isinstance(value, bool):
            return f"-D{name}:BOOL={'ON' if value else 'OFF'}"
        return f"-D{name}:STRING={value}"


class Spec:
    def __init__(self, name="", include="", text=""):
        self.name, self.text = name, text
        self.prefix = types.SimpleNamespace(include=include)

    def satisfies(self, text):
        assert text in ("+mpi", "~mpi"), text
        return text == self.text

    def __getitem__(self, name):
        assert name == "mpi" and self.text == "+mpi", name
        return self.mpi


def directive(name):
    def call(*arguments, when=None, **keywords):
        assert arguments and all(isinstance(argument, str) for argument in arguments), name
        unknown = set(keywords) - DIRECTIVES[name]
        assert not unknown, f"{name}: unknown {unknown}"

    return call


def load(path):
    stand_in = types.ModuleType("spack.package")
    stand_in.CMakePackage = CMakePackage
    for name in DIRECTIVES:
        setattr(stand_in, name, directive(name))
    sys.modules["spack"] = types.ModuleType("spack")
    sys.modules["spack.package"] = stand_in
    spec = importlib.util.spec_from_file_location("recipe", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Attrcache


def main(recipe, what, include=""):
    package = load(recipe)
    if what == "git":
        print(package.git)
        return
    made = package()
    made.spec = Spec(text="~mpi" if what == "none" else "+mpi")
    made.spec.mpi = Spec(what, include)
    print("\n".join(made.cmake_args()))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main(*sys.argv[1:])
