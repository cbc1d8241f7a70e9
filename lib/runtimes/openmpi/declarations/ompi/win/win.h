/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef STANDS_IN_FOR_WIN_H
#define STANDS_IN_FOR_WIN_H

#include "mpi.h"
#include "ompi/attribute/attrcache/attrcache.h"

/* With the members that edits.py adds. */
typedef struct ompi_win_t {
  attrcache_table w_keyhash;
  int w_f_to_c_index;
  void* w_base;
  MPI_Aint w_size;
  int w_disp_unit;
  int w_create_flavor;
  int w_model;
} ompi_win_t;

#endif
