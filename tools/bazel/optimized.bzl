# SPDX-License-Identifier: Apache-2.0 OR MIT

def _to_opt_impl(_settings, _attr):
    return {"//command_line_option:compilation_mode": "opt"}

_to_opt = transition(
    implementation = _to_opt_impl,
    inputs = [],
    outputs = ["//command_line_option:compilation_mode"],
)

def _optimized_impl(ctx):
    made = ctx.attr.target[0][DefaultInfo]
    runfiles = ctx.runfiles(transitive_files = made.files).merge(made.default_runfiles)
    return [DefaultInfo(files = made.files, runfiles = runfiles)]

optimized = rule(
    doc = "The files of a target as -c opt builds them, in whatever mode the build is.",
    implementation = _optimized_impl,
    attrs = {
        "target": attr.label(cfg = _to_opt, mandatory = True),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)
