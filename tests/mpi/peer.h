/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an MPI gets something wrong by itself, a test must not ask it of the interposer. It finds that out from the MPI,
 * each time it runs, and says so: "peer bug: MPICH 5.0.2: ...". run.sh passes these lines on, and tools/test shows them.
 * For shell scripts, environment.sh has the same.
 */
#ifndef ATTRCACHE_TESTS_MPI_PEER_H_
#define ATTRCACHE_TESTS_MPI_PEER_H_

#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* Says what is wrong with this MPI, on rank 0. */
__attribute__((unused)) static void peer_bug(const char* what) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  char name[64] = "";
  char version[64] = "";
  int length;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  MPI_Get_library_version(text, &length);
  /* "Open MPI v5.0.7, package: ..." or "MPICH Version:   5.0.2 ..." */
  if (sscanf(text, "Open MPI v%63[^, ]", version) == 1) {
    strcpy(name, "Open MPI");
  } else if (sscanf(text, "MPICH Version: %63[^ \n]", version) == 1) {
    strcpy(name, "MPICH");
  }
  printf("peer bug: %s %s: %s\n", name, version, what);
  fflush(stdout);
}

__attribute__((unused)) static void peer_ignores_error(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
}

/*
 * Whether functions return MPI_SUCCESS once an error handler of the user's has been called, as MPICH 5.0.2's do. It is
 * asked of a send to a rank that does not exist, which has nothing to do with attributes.
 */
__attribute__((unused)) static int peer_loses_codes(void) {
  static int loses = -1;
  MPI_Errhandler handler;
  MPI_Comm comm;
  if (loses >= 0) return loses;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_create_errhandler(peer_ignores_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  loses = MPI_Send(NULL, 0, MPI_INT, 7, 0, comm) == MPI_SUCCESS;
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
  if (loses) {
    peer_bug("functions return MPI_SUCCESS after an error handler of the program's, MPI_Send to no rank too");
  }
  return loses;
}

/* Whether a call has failed, as far as this MPI lets one see it where it has called a handler of the user's. */
__attribute__((unused)) static int peer_failed(int result) {
  return result != MPI_SUCCESS || peer_loses_codes();
}

#endif
