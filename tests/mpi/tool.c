/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A tool that is preloaded before attrcache, wraps MPI functions, and passes calls on to PMPI_
 * names, as such tools do. It keeps an attribute of its own on MPI_COMM_SELF, to report at the end.
 * With WRAP_ATTRIBUTES it wraps one of the attribute functions, but not those that make keyvals:
 * attrcache must leave communicators to MPI then.
 */
#include <mpi.h>
#include <stdio.h>

static int sets;
static int dups;

static int report(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  (void)comm, (void)keyval, (void)value, (void)extra_state;
  printf("tool: %d sets, %d dups\n", sets, dups);
  fflush(stdout);
  return MPI_SUCCESS;
}

int MPI_Init(int* argc, char*** argv) {
  const int result = PMPI_Init(argc, argv);
  int k;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, report, &k, NULL);
  PMPI_Comm_set_attr(MPI_COMM_SELF, k, NULL);
  PMPI_Comm_free_keyval(&k);
  return result;
}

#ifdef WRAP_ATTRIBUTES
int MPI_Comm_set_attr(MPI_Comm comm, int keyval, void* value) {
  ++sets;
  return PMPI_Comm_set_attr(comm, keyval, value);
}
#endif

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* dup) {
  ++dups;
  return PMPI_Comm_dup(comm, dup);
}
