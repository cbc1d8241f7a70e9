/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A program that uses no attribute: init [thread|session] initializes MPI by MPI_Init, by
 * MPI_Init_thread or by a session.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  int provided;
#if MPI_VERSION >= 4
  if (strcmp(how, "session") == 0) {
    MPI_Session session;
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS) return 1;
    printf("0 checks passed\n");
    fflush(stdout);
    return MPI_Session_finalize(&session) != MPI_SUCCESS;
  }
#endif
  if (strcmp(how, "thread") == 0) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  } else {
    MPI_Init(&argc, &argv);
  }
  printf("0 checks passed\n");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
