# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# How the library, and all that compiles its inner headers, is compiled. Warnings and the language
# standard are in .bazelrc.

# -O2 in every build but debugging ones, so that tests see the code that ships, and those of sanitizers, which rewrite it
# anyway: at -Og they take a third of the time to compile that they take at -O1.
# -ftrivial-auto-var-init: except in the build that ships, uninitialized variables hold a pattern.
#   With -flifetime-dse=2, which g++ assumes from -O1 on, it catches memory that is used as an object without having become
#   one: newer compilers drop what was stored there before.
# -fomit-frame-pointer: Bazel's default keeps the frame pointer, which costs get three instructions.
# -ftls-model: g++ forgets the attribute of a declaration (platform/thread.h) at the definition.
# -mcx16: builds for ThreadSanitizer use the compiler's 16-byte atomics, which are calls without it.
COPTS = [
    "-fvisibility=hidden",
    "-ftls-model=initial-exec",
] + select({
    "//tools/bazel:dbg": ["-O0"],
    "//tools/bazel:sanitizer_fastbuild": [
        "-Og",
        "-ftrivial-auto-var-init=pattern",
    ],
    "//tools/bazel:opt": [
        "-O2",
        "-fomit-frame-pointer",
    ],
    "//conditions:default": [
        "-O2",
        "-ftrivial-auto-var-init=pattern",
    ],
}) + select({
    "@platforms//cpu:x86_64": ["-mcx16"],
    "//conditions:default": [],
})

# For the library itself, which needs no C++ runtime. An exception of a callback is caught in the program's C++: the
# unwinder passes through the library's frames in between (-funwind-tables: it needs their tables, also on processors
# where they aren't made by default).
CORE_COPTS = COPTS + [
    "-fno-exceptions",
    "-fno-rtti",
    "-funwind-tables",
]
