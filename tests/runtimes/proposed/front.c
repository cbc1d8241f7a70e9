/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Stands in for an MPI with lib/runtimes/proposed.c inside: linked in front of MPICH, it makes the
 * calls that an embedding makes, and gives one communicator a table, MPI_COMM_SELF.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>

#include "attrcache/attrcache.h"
#include "proposed.h"

static attrcache_kind* communicators;

__attribute__((constructor)) static void begin(void) {
  const attrcache_keyval_numbers numbers = {0xa0000000u,
                                            MPI_KEYVAL_INVALID}; /* as in MPICH's embedding */
  const attrcache_domain_options options = {.size = sizeof options, .numbers = &numbers};
  attrcache_domain* domain;

  if (attrcache_domain_create(&options, &domain) != ATTRCACHE_OK ||
      attrcache_proposed_begin(domain) != ATTRCACHE_OK ||
      attrcache_kind_of(domain, ATTRCACHE_COMMUNICATOR, &communicators) != ATTRCACHE_OK) {
    abort();
  }
}

int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag) {
  static attrcache_table of_self;
  int (*const mpichs)(MPI_Comm, int, void*, int*) =
      (int (*)(MPI_Comm, int, void*, int*))dlsym(RTLD_NEXT, "PMPI_Comm_get_attr");

  if (comm != MPI_COMM_SELF || keyval != ATTRCACHE_PROPOSED_TABLE) {
    return mpichs(comm, keyval, value, flag);
  }
  *flag = attrcache_get(communicators, &of_self, keyval, value) == ATTRCACHE_OK;
  return MPI_SUCCESS;
}

#define ENDED(first, last)              \
  const int ended = first, code = last; \
  return ended != MPI_SUCCESS ? ended : code

int MPI_Session_finalize(MPI_Session* session) {
  ENDED(attrcache_proposed_end_session(session), PMPI_Session_finalize(session));
}
int MPI_File_close(MPI_File* file) {
  ENDED(attrcache_proposed_end_file(file), PMPI_File_close(file));
}
int MPI_Finalize(void) { ENDED(attrcache_proposed_end_all(), PMPI_Finalize()); }
