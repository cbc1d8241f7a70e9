/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef STANDS_IN_FOR_COMMUNICATOR_H
#define STANDS_IN_FOR_COMMUNICATOR_H

#include "mpi.h"
#include "ompi/attribute/attrcache/attrcache.h"

typedef struct ompi_communicator_t {
  int c_f_to_c_index;
  attrcache_table c_keyhash;
  void* instance;
} ompi_communicator_t;

typedef struct ompi_predefined_communicator_t {
  ompi_communicator_t comm;
} ompi_predefined_communicator_t;
extern ompi_predefined_communicator_t ompi_mpi_comm_world;

#endif
