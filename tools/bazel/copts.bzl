# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Compiler flags of the library, and of all that compiles its inner headers. Those that only our own builds need, such as
# warnings, are in .bazelrc, which doesn't count where attrcache is another module's dependency.

# -O2, so that tests see the code that ships, in all builds but those for debugging and those of sanitizers, which rewrite
# the code anyway: these compile three times as fast with -Og as with -O1.
# -ftrivial-auto-var-init: except in the build that ships, uninitialized variables hold a pattern.
#   With -flifetime-dse=2, which g++ assumes from -O1 on, it catches memory that is used as an object before one is
#   constructed there: newer compilers drop earlier stores.
# -fomit-frame-pointer: Bazel's default keeps the frame pointer, which costs get three instructions.
# -ftls-model: g++ forgets the attribute of a declaration (platform/thread.h) at the definition.
COPTS = [
    "-std=c++20",
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
})

# For the library itself, which needs no C++ runtime. A callback's exception passes through the library's frames to the
# program that catches it; the unwinder needs their tables (-funwind-tables), which aren't the default on all processors.
CORE_COPTS = COPTS + [
    "-fno-exceptions",
    "-fno-rtti",
    "-funwind-tables",
]
