# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Stands in for rules_cc, which Bazel's own tool packages load. The rules themselves are built into Bazel 4.

load(":builtin.bzl", "BuiltinCcInfo", "builtin_cc_common")

cc_common = builtin_cc_common
CcInfo = BuiltinCcInfo

cc_library = native.cc_library
cc_binary = native.cc_binary
cc_test = native.cc_test
cc_import = native.cc_import
cc_toolchain = native.cc_toolchain
cc_toolchain_suite = native.cc_toolchain_suite
