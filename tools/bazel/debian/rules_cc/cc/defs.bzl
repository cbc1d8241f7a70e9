# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Stands in for rules_cc, which Bazel's own tool packages load. The rules themselves are built into
# Bazel 4; rules_cc merely adds a tag to them, which says that they were not named directly.

load(":builtin.bzl", "BuiltinCcInfo", "builtin_cc_common")

_TAG = "__CC_RULES_MIGRATION_DO_NOT_USE_WILL_BREAK__"

cc_common = builtin_cc_common
CcInfo = BuiltinCcInfo

def _tagged(attributes):
    tagged = dict(attributes)
    tagged["tags"] = (tagged.get("tags") or []) + [_TAG]
    return tagged

def cc_library(**attributes):
    native.cc_library(**_tagged(attributes))

def cc_binary(**attributes):
    native.cc_binary(**_tagged(attributes))

def cc_test(**attributes):
    native.cc_test(**_tagged(attributes))

def cc_import(**attributes):
    native.cc_import(**_tagged(attributes))

def cc_toolchain(**attributes):
    native.cc_toolchain(**_tagged(attributes))

def cc_toolchain_suite(**attributes):
    native.cc_toolchain_suite(**_tagged(attributes))
