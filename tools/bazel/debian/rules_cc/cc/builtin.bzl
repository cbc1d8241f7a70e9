# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Under other names, since a file that defines a name can't read the built-in one.

builtin_cc_common = cc_common
BuiltinCcInfo = CcInfo
