# SPDX-License-Identifier: Apache-2.0 OR MIT

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", _static = "CPP_LINK_STATIC_LIBRARY_ACTION_NAME")

CPP_LINK_STATIC_LIBRARY_ACTION_NAME = _static
