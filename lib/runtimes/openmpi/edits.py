#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Puts attrcache into the source of Open MPI: tools/embed calls it, when attrcache's own files are in place.

Our attribute.c, attribute_predefined.c and attribute.h replace theirs. The edits concern the places where objects
have their table, begin and end, and the calls that now pass the kind of object.
"""

import os
import sys

from source_tree import edit

HERE = os.path.dirname(os.path.abspath(__file__))
NEW_TABLE = "(attrcache_table) ATTRCACHE_TABLE_INIT"

BUILD_RULE = """
# attrcache, in one source file. It is C++, but needs no C++ runtime, and exports nothing.
attribute/attrcache.lo: $(srcdir)/attribute/attrcache.cc
\t$(AM_V_GEN)$(MKDIR_P) attribute && $(LIBTOOL) --silent --tag=CXX --mode=compile $(CXX) -std=c++20 $(CXXFLAGS) \\
\t\t-fno-exceptions -fno-rtti -I$(srcdir)/attribute -c -o $@ $(srcdir)/attribute/attrcache.cc
"""


def core(tree):
    """The library that has attributes: from 6.0 on, one below both libmpi and the library of the standard ABI."""
    return "libopen_mpi" if tree.file("ompi/attribute/Makefile.am").has(r"^libopen_mpi_la_SOURCES") else "lib@OMPI_LIBMPI_NAME@"


def function(tree, name):
    """The source of an MPI function in C; from 6.0 on a template, which makes one function for each of two ABIs."""
    path = "ompi/mpi/c/%s.c" % name
    return tree.file(path if tree.has(path) else path + ".in")


def files(tree):
    for name in ("attribute.h", "attribute_get.h", "attribute.c", "attribute_predefined.c", "../known_in_fortran.h",
                 "../proposed.c", "../proposed.h", "../as_set.h", "../error_class.h"):
        tree.add("ompi/attribute/" + os.path.basename(name), os.path.join(HERE, name))


def build(tree):
    """Makefile.in is edited as automake would make it, so that automake isn't needed."""
    library = core(tree)
    am = tree.file("ompi/attribute/Makefile.am")
    am.replace(r"^        attribute/attribute\.h$",
               "        attribute/attribute.h \\\n"
               "        attribute/known_in_fortran.h \\\n"
               "        attribute/proposed.h attribute/as_set.h attribute/error_class.h \\\n"
               "        attribute/attrcache/attrcache.h \\\n"
               "        attribute/attrcache/attrcache_inline.h")
    am.after(r"attribute_predefined\.c$", "\n" + library + "_la_LIBADD += attribute/attrcache.lo\n" + BUILD_RULE)
    tree.file("ompi/mpi/Makefile.am").after(r"^EXTRA_DIST \+?= ", "        attribute/attrcache.cc attribute/proposed.c \\")
    if not tree.has("ompi/Makefile.in"):  # in a clone, where it is yet to be made
        return
    made = tree.file("ompi/Makefile.in")
    made.after(r"^EXTRA_DIST = ", "\tattribute/attrcache.cc attribute/proposed.c \\")
    made.substitute(r"^headers = ",
                    "headers = attribute/known_in_fortran.h attribute/proposed.h attribute/as_set.h attribute/error_class.h "
                    "attribute/attrcache/attrcache.h attribute/attrcache/attrcache_inline.h ")
    made.substitute(r"^(%s_la_LIBADD = )" % library, r"\1attribute/attrcache.lo ")
    made.before(r"^%s\.la: " % library, BUILD_RULE.lstrip() + "\n")


def communicators(tree):
    header = tree.file("ompi/communicator/communicator.h")
    header.before(r'#include "ompi/errhandler/errhandler\.h"', '#include "ompi/attribute/attrcache/attrcache.h"')
    header.substitute(r"struct opal_hash_table_t +\*c_keyhash;", "attrcache_table            c_keyhash;")
    header.substitute(r"opal_hash_table_t \*attr,", "attrcache_table *attr,", count=2)

    comm = tree.file("ompi/communicator/comm.c")
    comm.substitute(r"opal_hash_table_t \*attr,", "attrcache_table *attr,", count=2)
    # Only a dup copies attributes (MPI-4.1, section 7.7.1): not MPI_Comm_create_group, nor the two below.
    comm.function("ompi_comm_create_group").substitute(r"comm->c_keyhash, (.*/\* attrs \*/)", r"NULL,            \1")
    # An intercommunicator has a duplicate of the local communicator inside, which asks for no remote group; MPI_Comm_idup asks
    # for one always.
    idup = comm.function("ompi_comm_idup_internal")
    idup.substitute(r"comm->c_keyhash, (.*/\* attrs \*/)", r"attributes,      \1")
    idup.after(r"\*newcomm = MPI_COMM_NULL;",
               "\n    attrcache_table *attributes = NULL == remote_group ? NULL : &comm->c_keyhash;")
    comm.substitute(r"comm->c_keyhash, (.*/\* attrs \*/)", r"&comm->c_keyhash,\1")
    for name in ("dist_graph_create", "dist_graph_create_adjacent"):
        tree.file("ompi/mca/topo/base/topo_base_%s.c" % name).substitute(
            r"ompi_comm_dup_with_info \(comm_old, ", "ompi_comm_create_w_info (comm_old, comm_old->c_local_group, ")
    make = comm.function("ompi_comm_set_nb")
    make.substitute(r"NULL != oldcomm->c_keyhash", "!attrcache_table_is_empty(&oldcomm->c_keyhash)")
    make.delete(r"ompi_attr_hash_init")
    make.substitute(r" newcomm->c_keyhash", " &newcomm->c_keyhash")
    # MPI_TAG_UB is there anyway.
    comm.function("ompi_comm_create_from_group").delete_block(r"^    /\*\s*$", r"true\);")
    free = comm.function("ompi_comm_free")
    free.substitute(r"NULL != \(\*comm\)->c_keyhash", "!attrcache_table_is_empty(&(*comm)->c_keyhash)")
    free.substitute(r"\*comm, \(\*comm\)->c_keyhash", "*comm, &(*comm)->c_keyhash")
    free.delete(r"OBJ_RELEASE\(\(\*comm\)->c_keyhash\)")
    tree.file("ompi/communicator/ft/comm_ft.c").substitute(
        r"comm->c_keyhash, (.*/\* attrs \*/)", r"&comm->c_keyhash,\1", count=2)

    init = tree.file("ompi/communicator/comm_init.c")
    init.delete(r"get a reference on the attributes subsys", count=2)
    init.delete(r"ompi_attr_get_ref\(\);", count=2)
    init.delete(r"release a reference to the attributes subsys")
    init.substitute(r"return ompi_attr_put_ref\(\);", "return OMPI_SUCCESS;")
    world = init.function("ompi_comm_init_mpi3")
    world.delete_block(r"We have to create a hash", r"ompi_attr_hash_init")
    world.delete_block(r"We can set MPI_COMM_SELF's keyhash", r"c_keyhash = NULL")
    finalize = init.function("ompi_comm_finalize")
    if finalize.has(r"Destroy the keyhash"):
        finalize.delete_block(r"Destroy the keyhash", r"c_keyhash = NULL")
    destruct = init.function("ompi_comm_destruct")
    if destruct.has(r"Release the attributes"):
        destruct.delete_block(r"Release the attributes", r"^    }")
    init.function("ompi_comm_construct").replace_block(
        r"A keyhash will be created", r"c_keyhash +=", "    comm->c_keyhash      = %s;" % NEW_TABLE)
    init.function("ompi_comm_destruct").after(
        r"for the reasons why\. \*/",
        "    /* Only communicators that were never freed, and are destroyed as\n"
        "       MPI ends, still have some. */\n"
        "    ompi_attr_abandon_all(COMM_ATTR, &comm->c_keyhash);")


def datatypes(tree):
    header = tree.file("ompi/datatype/ompi_datatype.h")
    header.before(r'#include "ompi/constants\.h"', '#include "ompi/attribute/attrcache/attrcache.h"')
    header.substitute(r"struct opal_hash_table_t \*d_keyhash; +/", "attrcache_table    d_keyhash;                /")
    tree.file("ompi/datatype/ompi_datatype_internal.h").substitute(
        r"\.d_keyhash = NULL, {0,16}", ".d_keyhash = ATTRCACHE_TABLE_INIT,")

    create = tree.file("ompi/datatype/ompi_datatype_create.c")
    create.function("__ompi_datatype_allocate").substitute(r"(d_keyhash +=) NULL", r"\1 " + NEW_TABLE)
    release = create.function("__ompi_datatype_release")
    release.delete_block(r"any pending attributes", r"^    }")
    release.before(r"^    if\( NULL != datatype->args \)",
                   "    /* First of all, as their callbacks may use the datatype. */\n"
                   "    if (!attrcache_table_is_empty(&datatype->d_keyhash)) {\n"
                   "        ompi_attr_end_datatype(datatype);\n"
                   "    }\n\n")
    release.after(r"^        datatype->args = NULL;",
                  "        /* The delete functions of these may have set attributes on it. */\n"
                  "        if (!attrcache_table_is_empty(&datatype->d_keyhash)) {\n"
                  "            ompi_attr_end_datatype(datatype);\n"
                  "        }")
    # If nothing else uses the datatype, its attributes are deleted while it has its reference, so that whatever callbacks
    # leave behind may go on using it.
    create.function("ompi_datatype_destroy").before(
        r"OBJ_RELEASE\(pData\);",
        "    if (OPAL_UNLIKELY(!attrcache_table_is_empty(&pData->d_keyhash))\n"
        "        && 1 == pData->super.super.obj_reference_count) {\n"
        "        ompi_attr_delete_all_finally(TYPE_ATTR, pData, &pData->d_keyhash);\n"
        "    }\n")
    create.function("ompi_datatype_duplicate").delete_block(r"Set the keyhash to NULL", r"d_keyhash = NULL")

    module = tree.file("ompi/datatype/ompi_datatype_module.c")
    module.replace(r"get a reference to the attributes subsys", "    /* datatypes are the first objects with attributes */")
    module.substitute(r"ompi_attr_get_ref\(\)", "ompi_attr_init()")
    if module.has(r"\.d_keyhash = NULL,"):
        module.substitute(r"\.d_keyhash = NULL,", ".d_keyhash = ATTRCACHE_TABLE_INIT,")
    module.delete(r"release a reference to the attributes subsys")
    module.substitute(r"return ompi_attr_put_ref\(\);", "return OMPI_SUCCESS;")

    dup = function(tree, "type_dup")
    dup.substitute(r"NULL != type->d_keyhash", "!attrcache_table_is_empty(&type->d_keyhash)")
    dup.delete(r"ompi_attr_hash_init")
    dup.after(r"^ +ompi_datatype_destroy\(newtype\);", "           *newtype = MPI_DATATYPE_NULL;")
    dup.substitute(r" type->d_keyhash,", " &type->d_keyhash,")
    dup.substitute(r" \(\*newtype\)->d_keyhash", " &(*newtype)->d_keyhash")


def windows(tree):
    header = tree.file("ompi/win/win.h")
    header.before(r'#include "ompi/errhandler/errhandler\.h"', '#include "ompi/attribute/attrcache/attrcache.h"')
    header.substitute(r"opal_hash_table_t \*w_keyhash;", "attrcache_table w_keyhash;")
    header.after(r"int32_t w_acc_order;",
                 "\n    /* The values of the predefined attributes. */\n"
                 "    void *w_base;\n"
                 "    MPI_Aint w_size;\n"
                 "    int w_disp_unit;\n"
                 "    int w_create_flavor;\n"
                 "    int w_model;")

    win = tree.file("ompi/win/win.c")
    win.delete(r"release a reference to the attributes subsys")
    win.substitute(r"return ompi_attr_put_ref\(\);", "return OMPI_SUCCESS;")
    win.function("ompi_win_init").delete_block(r"ompi_attr_get_ref\(\)", r"^    }")
    config = win.function("config_window")
    config.delete(r"^    int ret;")
    config.replace_block(
        r"MPI_WIN_BASE", r"MPI_WIN_MODEL",
        "    win->w_base = base;\n"
        "    win->w_size = (MPI_Aint) size;\n"
        "    win->w_disp_unit = (int) disp_unit;\n"
        "    win->w_create_flavor = flavor;\n"
        "    win->w_model = model;")
    config.delete(r"ret = ompi_attr_set_c\(WIN_ATTR")
    config.delete(r"if \(OMPI_SUCCESS != ret\) return ret;")
    win.function("ompi_win_free").replace(
        r"int ret = win->w_osc_module->osc_free\(win\);",
        "    int ret;\n\n"
        "    /* First of all, as their callbacks may use the window. */\n"
        "    ompi_attr_delete_all_finally(WIN_ATTR, win, &win->w_keyhash);\n\n"
        "    ret = win->w_osc_module->osc_free(win);")
    win.function("ompi_win_construct").substitute(r"w_keyhash = NULL", "w_keyhash = " + NEW_TABLE)
    win.function("ompi_win_destruct").delete_block(r"NULL != win->w_keyhash", r"^    }")


def beginning_and_end(tree):
    instance = tree.file("ompi/instance/instance.c")
    instance.function("ompi_mpi_instance_init_common").replace_block(
        r"Construct predefined keyvals", r"^    }", "    ompi_attr_take_predefined();")
    instance.function("ompi_mpi_instance_finalize").after(
        r"opal_mutex_lock \(&instance_lock\);",
        "    if (1 == ompi_instance_count) {\n"
        "        ompi_attr_delete_predefined_datatypes_attributes ();\n"
        "    }")
    tree.file("ompi/runtime/ompi_mpi_finalize.c").replace_block(
        r"NULL != ompi_mpi_comm_self\.comm\.c_keyhash", r"^    }",
        "    ompi_attr_delete_all_finally(COMM_ATTR, &ompi_mpi_comm_self,\n"
        "                                 &ompi_mpi_comm_self.comm.c_keyhash);\n"
        "    ompi_attr_delete_all_finally(COMM_ATTR, &ompi_mpi_comm_world,\n"
        "                                 &ompi_mpi_comm_world.comm.c_keyhash);\n"
        "    attrcache_proposed_end_all();")

    # MPI_LASTUSEDCODE is read where it changes.
    names = ["add_error_class", "add_error_code"]
    if tree.has("ompi/mpi/c/remove_error_class.c.in"):  # from 6.0 on
        names += ["remove_error_class", "remove_error_code"]
    for name in names:
        add = function(tree, name)
        add.delete(r"^    int rc;")
        add.delete_block(r"^    /\*$", r"\*/")
        add.delete_block(r"rc +=", r"^    }")
        add.delete(r'"ompi/attribute/attribute\.h"')


def ends(tree):
    """Where the attributes of sessions, files and the world end."""
    for name, end, place in (("session_finalize", "session", r"rc = ompi_mpi_instance_finalize \(session\);"),
                             ("file_close", "fh", r"rc = ompi_file_close\(fh\);")):
        file = function(tree, name)
        file.after(r'^#include "ompi/mpi/c/bindings\.h"$', '#include "ompi/attribute/proposed.h"')
        file.replace(place, "    const int ended = attrcache_proposed_end_%s(%s);\n" % (name.split("_")[0], end) +
                     place.replace("\\", "").replace("rc =", "    rc ="))
        file.before(r"OMPI_ERRHANDLER_RETURN ?\(rc, ",
                    "    if (OMPI_SUCCESS == rc && MPI_SUCCESS != ended) {\n"
                    "        return ended; /* raised already */\n"
                    "    }")
    tree.file("ompi/runtime/ompi_mpi_finalize.c").after(
        r'^#include "ompi/attribute/attribute\.h"$', '#include "ompi/attribute/proposed.h"', count=2)


def calls(tree):
    objects = {"comm": ("COMM_ATTR", "c_keyhash"), "type": ("TYPE_ATTR", "d_keyhash"), "win": ("WIN_ATTR", "w_keyhash")}
    for name, (kind, table) in objects.items():
        place = r"\(((?:c_)?%s->%s)," % (name, table)
        getters, deleters = ["%s_get_attr" % name], ["%s_delete_attr" % name]
        if name == "comm":
            getters.append("attr_get")
            deleters.append("attr_delete")
        for getter in getters:
            function(tree, getter).substitute(place, r"(%s, &\1," % kind)
            tree.file("ompi/mpi/fortran/mpif-h/%s_f.c" % getter).substitute(place, r"(%s, &\1," % kind)
        for deleter in deleters:
            function(tree, deleter).substitute(r" %s->%s," % (name, table), " &%s->%s," % (name, table))
    hcoll = "ompi/mca/coll/hcoll/coll_hcoll_dtypes.h"  # until 5.0
    if tree.has(hcoll):
        tree.file(hcoll).substitute(r"ompi_attr_get_c\(dtype->d_keyhash,", "ompi_attr_get_c(TYPE_ATTR, &dtype->d_keyhash,")


def getters(tree):
    """Most often the attribute is there; then a getter only checks its arguments and reads it. If attributes are in
    another library than the getters, it calls that."""
    if core(tree) == "libopen_mpi":
        return
    invalid = {"comm": "ompi_comm_invalid(comm)", "type": "NULL == type || MPI_DATATYPE_NULL == type",
               "win": "ompi_win_invalid(win)"}
    types = {"comm": ("Comm", "COMM_ATTR", "c_keyhash"), "type": ("Datatype", "TYPE_ATTR", "d_keyhash"),
             "win": ("Win", "WIN_ATTR", "w_keyhash")}
    for name, (handle, kind, table) in types.items():
        get = function(tree, "%s_get_attr" % name)
        get.substitute(r'"ompi/attribute/attribute\.h"', '"ompi/attribute/attribute_get.h"')
        mpi, arguments = "MPI_%s_get_attr" % name.capitalize(), "%s, %s_keyval, attribute_val, flag" % (name, name)
        get.substitute(r"^int %s ?\(" % mpi, "static __opal_attribute_noinline__ int get_checked(")
        get.after(r"^}", """
int %s(MPI_%s %s, int %s_keyval,
                      void *attribute_val, int *flag)
{
    if (OPAL_UNLIKELY(MPI_PARAM_CHECK
                      && (0 == ompi_instance_count || NULL == attribute_val || NULL == flag
                          || %s))) {
        return get_checked(%s);
    }
    if (OPAL_LIKELY(ATTRCACHE_INLINE_ASK
                    != ompi_attr_get_c_at_once(%s, &%s->%s, %s_keyval, attribute_val, flag))) {
        return MPI_SUCCESS;
    }
    return ompi_attr_%s_get_missed(%s);
}""" % (mpi, handle, name, name, invalid[name], arguments, kind, name, table, name, name, arguments))


def standard_abi(tree):
    """The library of the standard ABI, if there is one, calls users' functions through its own."""
    kinds = {"comm": "communicator", "type": "datatype", "win": "win"}
    for name, kind in kinds.items():
        create = function(tree, "%s_create_keyval" % name)
        if not create.has(r"OMPI_ABI_SRC"):
            return
        # MPI's own functions stay what they are, so that they aren't called, and copies keep the type set in Fortran.
        upper = name.upper()
        copy, delete = "copy_fn.attr_%s_copy_fn" % kind, "del_fn.attr_%s_delete_fn" % kind
        call = "((ompi_abi_wrapper_helper_t *) extra_state)->user_%%s_fn == ABI_C_MPI_%s_%%s" % upper
        create.replace(r"= ompi_abi_copy_attr_fn;", "    %s = %s ? MPI_%s_DUP_FN\n"
                       "        : %s ? MPI_%s_NULL_COPY_FN : ompi_abi_copy_attr_fn;" % (
                           copy, call % ("copy", "DUP_FN"), upper, call % ("copy", "NULL_COPY_FN"), upper))
        create.replace(r"= ompi_abi_delete_attr_fn;", "    %s = %s ? MPI_%s_NULL_DELETE_FN\n"
                       "        : ompi_abi_delete_attr_fn;" % (delete, call % ("delete", "NULL_DELETE_FN"), upper))
    # All communicators derived from MPI_COMM_WORLD have its predefined attributes.
    function(tree, "comm_get_attr").substitute(r" && MPI_COMM_WORLD == comm\)", ")")


if __name__ == "__main__":
    edit("ompi/include/mpi.h.in",
         (files, build, communicators, datatypes, windows, beginning_and_end, ends, calls, getters, standard_abi))
    made = os.path.join(sys.argv[1], "ompi/Makefile.in")
    if os.path.exists(made):
        os.utime(made)  # newer than what it is made from
