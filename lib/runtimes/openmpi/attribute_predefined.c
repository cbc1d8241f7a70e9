/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The predefined attributes. None is stored in an object's table: each has a function that says
 * where the value is when it is read. So nothing is set when a window is made or an error code is
 * added, nothing is copied by a dup, and users' attributes have the first places of a table.
 *
 * Where they are:
 *   MPI_TAG_UB                                  on every communicator
 *   MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL,      on MPI_COMM_WORLD and all derived from it, while
 *   MPI_APPNUM, MPI_UNIVERSE_SIZE               there is a world
 *   MPI_LASTUSEDCODE, MPI_FT                    on MPI_COMM_WORLD
 *   MPI_WIN_*                                   on every window
 */

/* clang-format off: it comes first */
#include "ompi_config.h"
/* clang-format on */

#include <stddef.h>
#include <stdint.h>

#include "ompi/attribute/attribute.h"
#include "ompi/attribute/attribute_get.h"
#include "ompi/communicator/communicator.h"
#include "ompi/errhandler/errcode.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/runtime/ompi_rte.h"
#include "ompi/runtime/params.h"
#include "ompi/win/win.h"

/* C gets addresses of copies, so that nothing that a program writes there changes what Open MPI
 * works with. */
int ompi_attr_tag_ub;

void ompi_attr_take_predefined(void) { ompi_attr_tag_ub = mca_pml.pml_max_tag; }

/* What doesn't change as long as there is a world. */
static struct {
  bool there;
  int host, io, wtime_is_global, appnum, universe_size, ft;
} world;

static const void* on_all_communicators(const attrcache_table* table, void* value) {
  (void)table;
  return value;
}

static const void* on_communicators_of_the_world(const attrcache_table* table, void* value) {
  const ompi_communicator_t* comm =
      (const ompi_communicator_t*)((const char*)table - offsetof(ompi_communicator_t, c_keyhash));

  return world.there && comm->instance == ompi_mpi_comm_world.comm.instance ? value : NULL;
}

static const void* on_the_world(const attrcache_table* table, void* value) {
  return world.there && table == &ompi_mpi_comm_world.comm.c_keyhash ? value : NULL;
}

/* The only one that changes: each get makes the copy anew. */
static const void* last_used_code(const attrcache_table* table, void* code) {
  static int copy;

  if (NULL == on_the_world(table, code)) {
    return NULL;
  }
  __atomic_store_n(&copy, __atomic_load_n((const int*)code, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
  return &copy;
}

/* `distance` is that from a window's table to the member with the value. */
static const void* in_the_window(const attrcache_table* table, void* distance) {
  return (const char*)table + (intptr_t)distance;
}
#define IN_THE_WINDOW(member) \
  ((void*)((intptr_t)offsetof(ompi_win_t, member) - (intptr_t)offsetof(ompi_win_t, w_keyhash)))

static int define(attrcache_kind* kind, int number, attrcache_tag tag,
                  attrcache_compute_fn* compute, void* context) {
  const attrcache_predefined predefined = {
      .size = sizeof predefined,
      .number = number,
      .tag = tag,
      .where = ATTRCACHE_COMPUTED,
      .compute = compute,
      .context = context,
  };

  return ATTRCACHE_OK == attrcache_keyval_define(kind, &predefined) ? OMPI_SUCCESS
                                                                    : OMPI_ERR_OUT_OF_RESOURCE;
}

int ompi_attr_define_predefined(attrcache_kind* communicators, attrcache_kind* windows) {
  static const struct {
    int number;
    attrcache_compute_fn* compute;
    int* value;
  } of_communicators[] = {
      {MPI_TAG_UB, on_all_communicators, &ompi_attr_tag_ub},
      {MPI_HOST, on_communicators_of_the_world, &world.host},
      {MPI_IO, on_communicators_of_the_world, &world.io},
      {MPI_WTIME_IS_GLOBAL, on_communicators_of_the_world, &world.wtime_is_global},
      {MPI_APPNUM, on_communicators_of_the_world, &world.appnum},
      {MPI_UNIVERSE_SIZE, on_communicators_of_the_world, &world.universe_size},
      {MPI_LASTUSEDCODE, last_used_code, &ompi_mpi_errcode_lastused},
      {MPI_FT, on_the_world, &world.ft},
  };
  static const struct {
    int number;
    attrcache_tag tag;
    void* distance;
  } of_windows[] = {
      {MPI_WIN_BASE, ATTRCACHE_AS_POINTER, IN_THE_WINDOW(w_base)},
      {MPI_WIN_SIZE, ATTRCACHE_AS_AINT, IN_THE_WINDOW(w_size)},
      {MPI_WIN_DISP_UNIT, ATTRCACHE_AS_INT, IN_THE_WINDOW(w_disp_unit)},
      {MPI_WIN_CREATE_FLAVOR, ATTRCACHE_AS_INT, IN_THE_WINDOW(w_create_flavor)},
      {MPI_WIN_MODEL, ATTRCACHE_AS_INT, IN_THE_WINDOW(w_model)},
  };
  int ret = OMPI_SUCCESS;

  for (size_t i = 0; OMPI_SUCCESS == ret && i < sizeof of_communicators / sizeof *of_communicators;
       ++i) {
    ret = define(communicators, of_communicators[i].number, ATTRCACHE_AS_INT,
                 of_communicators[i].compute, of_communicators[i].value);
  }
  for (size_t i = 0; OMPI_SUCCESS == ret && i < sizeof of_windows / sizeof *of_windows; ++i) {
    ret = define(windows, of_windows[i].number, of_windows[i].tag, in_the_window,
                 of_windows[i].distance);
  }
  return ret;
}

int ompi_attr_set_predefined_keyvals_for_wm(void) {
  world.host = MPI_PROC_NULL;
  world.io = MPI_ANY_SOURCE;
  world.wtime_is_global = 0;
  world.appnum = (int)ompi_process_info.app_num;
  world.universe_size = (int)ompi_process_info.univ_size;
#if OPAL_ENABLE_FT_MPI
  world.ft = ompi_ftmpi_enabled;
#endif
  world.there = true;
  return OMPI_SUCCESS;
}

void ompi_attr_delete_predefined_keyvals_for_wm(void) { world.there = false; }

/* Included here, so that automake sees no new file. The tests' stand-in for mpi.h has no files. */
#ifdef MPI_FILE_NULL
#include "ompi/attribute/proposed.c"
#endif
