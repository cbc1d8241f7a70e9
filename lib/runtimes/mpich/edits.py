#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Puts attrcache into MPICH's source: tools/embed calls it, when attrcache's own files are in place."""

import os
import subprocess
import sys

from source_tree import edit

HERE = os.path.dirname(os.path.abspath(__file__))

# How attrcache's one source file is compiled. By the C compiler, which knows C++ where its C++ half is installed: so
# configure needs no C++ compiler, and nothing of C++ is linked.
RULE = """
src/mpi/attr/attrcache.lo: $(top_srcdir)/src/mpi/attr/attrcache/attrcache.cc
\t@$(MKDIR_P) src/mpi/attr
\t$(AM_V_CC)$(LIBTOOL) $(AM_V_lt) --tag=CC --mode=compile $(CC) -x c++ -std=c++20 -O2 -fno-exceptions -fno-rtti \\
\t\t-funwind-tables -fvisibility=hidden -c -o $@ $(top_srcdir)/src/mpi/attr/attrcache/attrcache.cc
"""


def files(tree):
    for name in ("mpir_attr.h", "mpir_attr_fortran.h"):
        tree.add("src/include/" + name, os.path.join(HERE, name))
    for name in ("attr_impl.c", "attrutil.c"):
        tree.add("src/mpi/attr/" + name, os.path.join(HERE, name))
    for name in ("proposed.c", "proposed.h", "as_set.h", "error_class.h"):
        tree.add("src/mpi/attr/" + name, os.path.join(HERE, "..", name))
    # Included by a file of the same compiler and library, so that automake needn't know of it.
    tree.file("src/mpi/attr/dup_fn.c").after(r'^#include "mpiimpl\.h"$', '#include "proposed.c"')
    name = "keyvals_in_fortran.h" if as_fortran(tree) else "attr_proxy.c"
    tree.add("src/binding/fortran/mpif_h/" + name, os.path.join(HERE, name))
    tree.add("src/binding/fortran/mpif_h/known_in_fortran.h", os.path.join(HERE, "../known_in_fortran.h"))


def as_fortran(tree):
    """Whether Fortran sets and reads attributes by functions of its own (5.1), not by a parameter."""
    return tree.has("src/binding/c/binding_api.txt") and tree.file("src/binding/c/binding_api.txt").has(r"^MPIX_Comm_get_attr_as_fortran:$")


def build(tree):
    # What our files need to know about the source.
    flags = "-I$(top_srcdir)/src/mpi/attr/attrcache"
    if as_fortran(tree):
        flags += " -DMPIR_ATTR_AS_FORTRAN"
    if tree.file("src/include/mpir_datatype.h").has(r"\bMPIR_num_pairtypes;"):
        flags += " -DMPIR_ATTR_PAIRTYPES"
    makefile = tree.file("src/mpi/attr/Makefile.mk")
    makefile.after(r"^    src/mpi/attr/dup_fn\.c", "\nAM_CPPFLAGS += " + flags + "\n"
                   "pmpi_convenience_libs += src/mpi/attr/attrcache.lo\n" + RULE)
    if not tree.has("Makefile.in"):  # in a clone, where it is yet to be made
        return
    # What automake would make of that. So automake isn't needed.
    generated = tree.file("Makefile.in")
    generated.substitute(r"^pmpi_convenience_libs = ", "pmpi_convenience_libs = src/mpi/attr/attrcache.lo ")
    generated.substitute(r"^AM_CPPFLAGS = ", "AM_CPPFLAGS = " + flags + " ")
    generated.after(r"^\.NOEXPORT:$", RULE)


def bindings(tree):
    """MPI's functions are generated. attrcache checks the keyvals itself, and needs no lock."""
    api = tree.file("src/binding/c/attr_api.txt")
    free_has_body = api.has(r"^    MPIR_free_keyval\(")  # until 5.0; from then on it doesn't get the keyval's address
    locked = ["create_keyval", "delete_attr", "free_keyval", "set_attr"]
    if api.has(r"^    \.skip: Fortran$"):
        api.substitute(r"^    \.skip: Fortran$", "    .skip: Fortran, global_cs", count=4)
    else:
        locked.append("get_attr")
    for kind in ("Comm", "Type", "Win"):
        lower = kind.lower()
        body = ("    mpi_errno = MPIR_%s_free_keyval_impl(%s_keyval);\n"
                "    if (mpi_errno)\n"
                "        goto fn_fail;" % (kind, lower))
        if free_has_body:
            api.replace_block(r"^    MPIR_free_keyval\(%s_keyval_ptr\);" % lower, r"^    \*%s_keyval = " % lower, body)
        else:
            api.replace_block(r"^MPI_%s_free_keyval:$" % kind, r"^    \.desc:",
                              "MPI_%s_free_keyval:\n"
                              "    .desc: Frees an attribute's keyval\n"
                              "{\n%s\n}" % (kind, body))
        for name in locked:
            api.after(r"^MPI_%s_%s:$" % (kind, name), "    .skip: global_cs")
        if as_fortran(tree):
            for name in ("create_keyval_x", "get_attr_as_fortran", "set_attr_as_fortran"):
                tree.file("src/binding/c/binding_api.txt").after(r"^MPIX_%s_%s:$" % (kind, name), "    .skip: global_cs")

    c = tree.file("maint/local_python/binding_c.py")
    c.delete_block(r"_\(set_attr.*\|delete_attr\|free_keyval\)\$', func_name", r"do_handle_ptr = 1")
    c.replace_block(r"^    elif kind == 'KEYVAL':$", r"MPIR_ERRTEST_KEYVAL_PERM",
                    "    elif kind == 'KEYVAL':\n"
                    "        # attrcache checks it\n"
                    "        G.err_codes['MPI_ERR_KEYVAL'] = 1\n")
    # MPI_COMM_NULL_COPY_FN and its kin are null pointers, for MPIX_Comm_create_keyval_x as well.
    c.substitute(r"mpi_\(keyval_create\|", "mpix?_(keyval_create|")


def ends(tree):
    """Where the attributes of sessions, files and MPI's world end: in the bindings, outside of any critical section."""
    init = tree.file("src/binding/c/init_api.txt")
    init.replace_block(r"^MPI_Session_finalize:$", r"^    \.skip: ", """MPI_Session_finalize:
    .desc: Finalize an MPI Session
    .skip: ThreadSafe, global_cs
{
    int ended = MPIR_Attr_end_session(*session);
    mpi_errno = MPIR_Session_finalize_impl(session_ptr);
    if (mpi_errno)
        goto fn_fail;
    *session = MPI_SESSION_NULL;
    mpi_errno = ended;
}""")
    init.replace_block(r"^MPI_Finalize:$", r"^    \.skip: ", """MPI_Finalize:
    .desc: Terminates MPI execution environment
    .skip: ThreadSafe, global_cs
{
    int ended;
    mpi_errno = MPIR_Attr_end_world(&ended);
    if (mpi_errno)
        goto fn_fail;
    mpi_errno = MPIR_Finalize_impl();
    if (mpi_errno)
        goto fn_fail;
    mpi_errno = ended;
}""")
    if tree.has("src/binding/c/io_api.txt"):
        tree.file("src/binding/c/io_api.txt").replace_block(r"^MPI_File_close:$", r"^    \.desc: ", """MPI_File_close:
    .desc: Closes a file
{
    int ended;
    MPIR_Ext_cs_exit();
    ended = MPIR_Attr_end_file(fh);
    MPIR_Ext_cs_enter();
    mpi_errno = MPIR_File_close_impl(fh);
    if (mpi_errno)
        goto fn_fail;
    mpi_errno = ended;
}""")
        return
    close = tree.file("src/mpi/romio/mpi-io/close.c")
    close.after(r'^#include "mpioimpl\.h"$', "\nint MPIR_Attr_end_file(const void *handle);")
    close = close.function("MPI_File_close")
    close.before(r"^    ROMIO_THREAD_CS_ENTER\(\);", "    const int ended = MPIR_Attr_end_file(fh);\n")
    close.substitute(r"return error_code;", "return ended ? ended : error_code;")


def fortran(tree):
    """Distinguishes MPI_KEYVAL_CREATE's functions from those that get address-sized values."""
    f77 = tree.file("maint/local_python/binding_f77.py")
    header = tree.file("src/binding/fortran/mpif_h/mpi_fortimpl.h")
    if as_fortran(tree):
        f77.replace_block(r"^    elif RE\.match\(r'MPI_Keyval_create\$'", r"c_arg_list_B\.append\(\"F77_COMM\"\)",
                          "    elif RE.match(r'MPI_Keyval_create$', func['name'], re.IGNORECASE):\n"
                          "        c_func_name = \"MPII_Keyval_create_mpi1\"")
        header.before(r"^int MPII_Comm_create_keyval\(",
                      "int MPII_Keyval_create_mpi1(F90_CopyFunction * copy_fn, F90_DeleteFunction * delete_fn,\n"
                      "                            int *keyval_out, void *extra_state);")
        proxies = tree.file("src/binding/fortran/mpif_h/user_proxy.c")
        for name in ("MPII_Keyval_create", "F77_attr_delete_proxy", "F77_attr_copy_proxy"):
            proxies.delete_function(name)
        proxies.replace_block(r"^struct F77_attr_state \{", r"^\};", '#include "keyvals_in_fortran.h"')
        return
    f77.replace(r"MPII_Keyval_set_f90_proxy",
                "                            standard = 'f77' if re.match(r'MPI_Keyval_create$', func['name'], re.IGNORECASE) else 'f90'\n"
                "                            end_list_common.append(\"    MPII_Keyval_set_%s_proxy((int) *%s);\" % (standard, p['name']))\n")
    header.after(r"^void MPII_Keyval_set_f90_proxy", "void MPII_Keyval_set_f77_proxy(int keyval);")
    interface = tree.file("src/include/mpii_f77interface.h")
    interface.delete(r"MPII_Keyval_set_fortran90\(int\);")
    interface.replace(r"MPII_Keyval_set_fortran\(int\);",
                      "typedef void MPII_Attr_fn(void);\n"
                      "MPICH_API_PUBLIC void MPII_Keyval_set_fortran(int keyval, int of_mpi1,\n"
                      "                                              MPII_Attr_fn *(*known)(MPII_Attr_fn *));")


def headers(tree):
    tree.file("src/include/mpir_comm.h").replace(r"^    MPIR_Attribute \*attributes;", "    MPIR_Attr_table attributes;")
    tree.file("src/include/mpir_win.h").replace(r"^    MPIR_Attribute \*attributes;", "    MPIR_Attr_table attributes;")
    datatype = tree.file("src/include/mpir_datatype.h")
    datatype.replace(r"^    struct MPIR_Attribute \*attributes;", "    MPIR_Attr_table attributes;")
    # When its last reference is released, an object ends whatever its delete functions return, since its handle is gone.
    # They may use it, and would then themselves release the last reference; so there is one more meanwhile. If they
    # leave behind something that still uses the object, such as a request, that releases it later.
    datatype.delete(r"^        int lmpi_errno = MPI_SUCCESS; +\\$")
    datatype.replace_block(
        r"^     if \(MPIR_Process\.attr_free && datatype_ptr->attributes\) \{ ", r"^     \} +\\$",
        "        if (!MPIR_Attr_is_empty(&(datatype_ptr)->attributes)) {             \\\n"
        "            MPIR_Object_add_ref(datatype_ptr);                              \\\n"
        "            MPIR_Attr_delete_finally(MPIR_ATTR_TYPE, (datatype_ptr)->handle, \\\n"
        "                                     &(datatype_ptr)->attributes);          \\\n"
        "            MPIR_Object_release_ref((datatype_ptr), &inuse_);               \\\n"
        "        }                                                                   \\")
    datatype.replace_block(r"^        if \(lmpi_errno == MPI_SUCCESS\) \{", r"^        \} +\\$",
                           "        if (!inuse_)                                                        \\\n"
                           "            MPIR_Datatype_free(datatype_ptr);                               \\")
    datatype.delete_block(r"^/\* This routine is used to install an attribute free routine", r"^void MPII_Datatype_attr_finalize")
    tree.file("src/include/mpir_process.h").delete_block(r"Attribute dup functions", r"\* function \*/$")
    tree.file("src/include/mpir_pointers.h").delete(r"^#define MPII_Keyval_valid_ptr")
    objects = tree.file("src/include/mpir_objects.h")
    objects.delete_block(r"^/\* Keyvals have a special format\.", r"^    \}$")
    err = tree.file("src/include/mpir_err.h")
    err.delete_block(r"^#define MPIR_ERRTEST_KEYVAL\(", r"^    \}$")
    err.delete_block(r"^#define MPIR_ERRTEST_KEYVAL_PERM\(", r"^    \}$")


def initialization(tree):
    attrs = tree.file("src/mpi/init/local_proc_attrs.c")
    attrs.replace_block(r"Set the functions used to duplicate attributes", r"MPIR_Process\.attr_free = 0",
                        "    mpi_errno = MPIR_Attr_init();\n    MPIR_ERR_CHECK(mpi_errno);")
    attrs.function("MPII_init_local_proc_attrs").replace(
        r"^    return mpi_errno;", "  fn_exit:\n    return mpi_errno;\n  fn_fail:\n    goto fn_exit;")
    attrs.function("MPII_init_tag_ub").before(r"^    return MPI_SUCCESS;", "    MPIR_Attr_take_predefined();\n")


def communicators(tree):
    builtin = tree.file("src/mpi/comm/builtin_comms.c").function("finalize_builtin_comm")
    builtin.substitute(r"if \(MPIR_Process\.attr_free && comm->attributes\)", "if (!MPIR_Attr_is_empty(&comm->attributes))")
    builtin.substitute(r"MPIR_Process\.attr_free\(comm->handle, ", "MPIR_Attr_delete_finally(MPIR_ATTR_COMM, comm->handle, ")
    builtin.delete(r"comm->attributes = 0;")

    # All attributes are deleted while both communicators exist; the edit above deletes what callbacks attach meanwhile.
    tree.file("src/mpi/comm/builtin_comms.c").function("MPIR_finalize_builtin_comms").before(
        r"^    if \(MPIR_Process\.comm_self\) \{",
        "    mpi_errno = MPIR_Attr_delete_from_predefined_objects();\n"
        "    MPIR_ERR_CHECK(mpi_errno);\n")

    # Attributes are copied to the new communicator's table once it exists. So a copy function that fails on one
    # process no longer leaves the others waiting for it. In MPI_Comm_idup the communicator has no context yet, and
    # couldn't be freed: there the attributes are copied before, and moved to it once it is complete.
    impl = tree.file("src/mpi/comm/comm_impl.c")
    util = tree.file("src/mpi/comm/commutil.c")
    dup = (util.function("MPII_Comm_dup") if util.has(r"^int MPII_Comm_dup\(")
           else impl.function("MPIR_Comm_dup_with_info_impl"))
    dup.delete(r"^    MPIR_Attribute \*new_attributes = 0;")
    dup.delete_block(r"Copy attributes, executing the attribute copy functions", r"^    }$")
    dup.replace(r"\(\*newcomm_ptr\)->attributes = new_attributes;",
                "    /* Copy attributes, executing the attribute copy functions */\n"
                "    if (!MPIR_Attr_is_empty(&comm_ptr->attributes)) {\n"
                "        mpi_errno = MPIR_Attr_copy_all(MPIR_ATTR_COMM, comm_ptr->handle, &comm_ptr->attributes,\n"
                "                                       (*newcomm_ptr)->handle, &(*newcomm_ptr)->attributes);\n"
                "        if (mpi_errno) {\n"
                "            MPIR_Comm_release(*newcomm_ptr);\n"
                "            *newcomm_ptr = NULL;\n"
                "            goto fn_fail;\n"
                "        }\n"
                "    }")
    dup = impl.function("MPIR_Comm_idup_with_info_impl")
    dup.replace(r"^    MPIR_Attribute \*new_attributes = 0;",
                "    MPIR_Attr_table new_attributes;\n"
                "    const int has_attributes = !MPIR_Attr_is_empty(&comm_ptr->attributes);")
    dup.delete_block(r"This accesses the attribute dup function", r"\*/$")
    dup.replace(r"if \(MPIR_Process\.attr_dup\) \{",
                "    if (has_attributes) {\n        MPIR_Attr_init_table(&new_attributes);")
    dup.replace(r"MPIR_Process\.attr_dup\(",
                "        mpi_errno = MPIR_Attr_copy_all(MPIR_ATTR_COMM, comm_ptr->handle, &comm_ptr->attributes,\n"
                "                                       comm_ptr->handle, &new_attributes);")
    for step in (r"MPII_Comm_copy_data\(", r"MPIR_Comm_copy_stream\("):
        if dup.has(step):
            dup.after(step,
                      "    if (mpi_errno && has_attributes)\n"
                      "        MPIR_Attr_delete_finally(MPIR_ATTR_COMM, comm_ptr->handle, &new_attributes);")
    dup.replace(r"\(\*newcommp\)->attributes = new_attributes;",
                "    if (has_attributes) {\n"
                "        attrcache_table_move(MPIR_Attr_kinds[MPIR_ATTR_COMM], &new_attributes, &(*newcommp)->attributes);\n"
                "    }")

    util.function("MPII_Comm_init").replace(r"^    comm_p->attributes = NULL;", "    MPIR_Attr_init_table(&comm_p->attributes);")
    for name in ("MPII_Comm_copy", "MPII_Comm_copy_data"):
        util.function(name).delete_block(r"Start with no attributes on this communicator", r"newcomm_ptr->attributes = 0;")
    delete = util.function("MPIR_Comm_delete_internal")
    delete.substitute(r"if \(MPIR_Process\.attr_free && comm_ptr->attributes\)", "if (!MPIR_Attr_is_empty(&comm_ptr->attributes))")
    delete.substitute(r"MPIR_Process\.attr_free\(comm_ptr->handle, ", "MPIR_Attr_delete_all(MPIR_ATTR_COMM, comm_ptr->handle, ")
    delete.delete(r"Do this only if the attribute functions are defined")

    topology = tree.file("src/mpi/topo/topoutil.c")
    put = topology.function("MPIR_Topology_put")
    put.delete(r"MPII_Keyval \*keyval_ptr;")
    put.delete(r"MPII_Keyval_get_ptr\(")
    put.substitute(r"MPIR_Comm_set_attr_impl\(comm_ptr, keyval_ptr, ", "MPIR_Comm_set_attr_impl(comm_ptr, MPIR_Topology_keyval, ")
    finalize = topology.function("MPIR_Topology_finalize")
    finalize.delete(r"MPII_Keyval \*keyval_ptr;")
    finalize.delete(r"MPII_Keyval_get_ptr\(")
    finalize.replace(r"MPIR_free_keyval\(keyval_ptr\)", "        MPIR_Comm_free_keyval_impl(&MPIR_Topology_keyval);")
    finalize.delete(r"MPIR_Topology_keyval = MPI_KEYVAL_INVALID;")


def datatypes(tree):
    new = "MPIR_Attr_init_table(&%s->attributes);"
    pairs = "src/mpi/datatype/type_create_pairtype.c"
    if tree.has(pairs):  # from 5.0 on they are made by MPICH's functions for all datatypes
        tree.file(pairs).substitute(r"new_dtp->attributes = NULL;", new % "new_dtp")
    tree.file("src/mpi/datatype/typerep/src/typerep_flatten.c").substitute(
        r"(datatype_ptr|\(\*datatype_ptr\))->attributes = 0;", new % r"\1")
    util = tree.file("src/mpi/datatype/typeutil.c")
    # From 5.0.2 on, predefined ones are made in a function of their own.
    makers = 2 if util.has(r"^MPIR_Datatype \*MPIR_Datatype_alloc_predefined\(void\)$") else 1
    util.substitute(r"new_dtp->attributes = NULL;", new % "new_dtp", count=makers)
    util.delete_function("MPII_Datatype_attr_finalize")
    util.delete_function("datatype_attr_finalize_cb")
    util.delete(r"^static int datatype_attr_finalize_cb\(void \*dummy\);")
    util.delete_block(r"^/\* If an attribute is added to a predefined type", r"in Finalize \*/$")

    create = tree.file("src/mpi/datatype/type_create.c")
    create.substitute(r"new_dtp->attributes = NULL;", new % "new_dtp")
    dup = create.function("MPIR_Type_dup_impl")
    dup.delete_block(r"This accesses the attribute dup function", r"\*/$")
    dup.substitute(r"if \(MPIR_Process\.attr_dup\)", "if (!MPIR_Attr_is_empty(&old_dtp->attributes))")
    dup.delete(r"new_dtp->attributes = 0;")
    dup.replace(r"MPIR_Process\.attr_dup\(",
                "        mpi_errno = MPIR_Attr_copy_all(MPIR_ATTR_TYPE, oldtype, &old_dtp->attributes, new_handle,\n"
                "                                       &new_dtp->attributes);")


    # Datatypes of MPI_Type_create_f90_real and its kin are freed as MPI ends: without their attributes, before.
    f90 = "src/mpi/datatype/create_f90.c"  # from 5.0 on
    f90 = tree.file(f90 if tree.has(f90) else "src/binding/fortran/use_mpi/create_f90_util.c")
    f90.before(r"^static int MPIR_FreeF90Datatypes\(void", """static void delete_attributes_of_f90_types(void)
{
    for (int i = 0; i < nAlloc; i++) {
        MPIR_Datatype *dptr;
        MPIR_Datatype_get_ptr(f90Types[i].d, dptr);
        MPIR_Attr_delete_from_type(dptr);
    }
}

""")
    f90.before(r"MPIR_Add_finalize\(MPIR_FreeF90Datatypes, 0, 2\);",
               "        MPIR_Attr_delete_from_f90_types = delete_attributes_of_f90_types;")


def windows(tree):
    free = tree.file("src/binding/c/rma_api.txt")
    free.substitute(r"if \(MPIR_Process\.attr_free && win_ptr->attributes\)", "if (!MPIR_Attr_is_empty(&win_ptr->attributes))")
    free.substitute(r"MPIR_Process\.attr_free\(win_ptr->handle, ", "MPIR_Attr_delete_all(MPIR_ATTR_WIN, win_ptr->handle, ")
    tree.file("src/mpid/ch4/src/mpidig_win.c").substitute(r"win->attributes = NULL;", "MPIR_Attr_init_table(&win->attributes);")
    tree.file("src/mpid/ch3/src/mpid_rma.c").substitute(r"\(\*win_ptr\)->attributes = NULL;", "MPIR_Attr_init_table(&(*win_ptr)->attributes);")
    tree.file("src/mpid/ch3/src/ch3u_port.c").substitute(r"intercomm->attributes +=? ?NULL;", "MPIR_Attr_init_table(&intercomm->attributes);")


def threads(tree):
    """Threadcomms, from 5.0 on: in a parallel region each thread has its own attributes. The list of a thread's
    threadcomms moves as it grows, so it has the address of a table."""
    if not tree.has("src/mpi/threadcomm/threadcomm_impl.c"):
        return
    tree.file("src/include/mpir_threadcomm.h").replace(r"^    MPIR_Attribute \*attributes;", "    MPIR_Attr_table *attributes;")
    impl = tree.file("src/mpi/threadcomm/threadcomm_impl.c")
    dup = impl.function("MPIR_Threadcomm_dup_impl")
    dup.after(r"tmp_comm\.threadcomm = NULL;",
              "        MPIR_Attr_init_table(&tmp_comm.attributes);     /* the original's stay where they are */")
    # If that fails, there is no new communicator for any thread. A callback may start a threadcomm, which moves what p
    # points to.
    dup.before(r"/\* bcast to all threads \*/",
               "        if (!MPIR_Attr_is_empty(&comm->attributes)) {\n"
               "            mpi_errno = MPIR_Attr_copy_all(MPIR_ATTR_COMM, comm->handle, &comm->attributes,\n"
               "                                           newcomm->handle, &newcomm->attributes);\n"
               "            p = MPIR_threadcomm_get_tls(threadcomm);\n"
               "            if (mpi_errno) {\n"
               "                newcomm->threadcomm->kind = MPIR_THREADCOMM_KIND__PERSIST;      /* of no region yet */\n"
               "                MPIR_Threadcomm_free_impl(newcomm);\n"
               "                newcomm = NULL;\n"
               "            }\n"
               "        }")
    dup.before(r"MPIR_Threadcomm_start_impl\(newcomm\)",
               "    if (!newcomm) {\n"
               "        if (!mpi_errno)\n"
               "            MPIR_ERR_SET(mpi_errno, MPI_ERR_OTHER, \"**other\");\n"
               "        goto fn_fail;\n"
               "    }")
    finish = impl.function("MPIR_Threadcomm_finish_impl", count=2)
    # Its delete functions may start another threadcomm, which moves what p points to. If one fails, the others don't
    # wait for this thread for ever.
    finish.replace_block(r"if \(MPIR_Process\.attr_free && p->attributes\)", r"^    }$",
                         "    MPIR_Attr_table *attributes = p->attributes;\n"
                         "    if (attributes) {\n"
                         "        if (!MPIR_Attr_is_empty(attributes))\n"
                         "            mpi_errno = MPIR_Attr_delete_finally(MPIR_ATTR_COMM, comm->handle, attributes);\n"
                         "        MPL_free(attributes);\n"
                         "    }")
    impl.function("MPIR_Threadcomm_start_impl", count=2).after(
        r"^    p->tid = tid;",
        "    p->attributes = MPL_malloc(sizeof *p->attributes, MPL_MEM_OTHER);\n"
        "    MPIR_ERR_CHKANDJUMP(!p->attributes, mpi_errno, MPI_ERR_OTHER, \"**nomem\");\n"
        "    MPIR_Attr_init_table(p->attributes);")
    # A threadcomm that stays because a delete function has failed can be freed again.
    impl.function("MPIR_Threadcomm_free_impl", count=2).after(
        r"^    mpi_errno = MPIR_Comm_free_impl\(comm\);", "    if (mpi_errno)\n        comm->threadcomm = threadcomm;")


if __name__ == "__main__":
    edit("src/include/mpi.h.in",
         (files, build, bindings, ends, fortran, headers, initialization, communicators, datatypes, windows, threads))
    for generator in ("gen_binding_c.py", "gen_binding_f77.py"):
        subprocess.run([sys.executable, "maint/" + generator], cwd=sys.argv[1], check=True)
