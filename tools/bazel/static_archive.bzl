# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Makes one .a from many cc_libraries, for which Bazel 4 has no rule.

load("@rules_cc//cc:action_names.bzl", "CPP_LINK_STATIC_LIBRARY_ACTION_NAME")
load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_common")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain")

def _static_archive_impl(ctx):
    toolchain = find_cc_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    archiver = cc_common.get_tool_for_action(
        feature_configuration = features,
        action_name = CPP_LINK_STATIC_LIBRARY_ACTION_NAME,
    )
    cc_info = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])

    # Takes the position-independent objects if there are any, because shared libraries need them.
    objects = []
    for linked in cc_info.linking_context.linker_inputs.to_list():
        for library in linked.libraries:
            objects += library.pic_objects or library.objects

    archive = ctx.actions.declare_file("lib{}.a".format(ctx.label.name))
    arguments = ctx.actions.args()
    arguments.add("rcsD")
    arguments.add(archive)
    arguments.add_all(objects)
    ctx.actions.run(
        executable = archiver,
        arguments = [arguments],
        inputs = depset(objects, transitive = [toolchain.all_files]),
        outputs = [archive],
        mnemonic = "StaticArchive",
    )
    return [DefaultInfo(files = depset([archive]), runfiles = ctx.runfiles([archive])), cc_info]

static_archive = rule(
    doc = "libNAME.a, with the objects of deps and of all below them. Depending on it is like depending on its deps.",
    implementation = _static_archive_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "_cc_toolchain": attr.label(default = "@rules_cc//cc:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
