# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# `bazel mod tidy` alone would run it, but Bazel's tools load this file in every build.

buildozer_binary = module_extension(implementation = lambda _context: None)
