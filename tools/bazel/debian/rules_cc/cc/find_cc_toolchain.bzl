# SPDX-License-Identifier: Apache-2.0 OR MIT

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

find_cc_toolchain = find_cpp_toolchain
