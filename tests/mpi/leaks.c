// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Leaks 200 communicators at two places, and frees others, without any attribute.

#include <mpi.h>

static void by_dup(void) {
  MPI_Comm made;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
}
static void by_split(void) {
  MPI_Comm made;
  MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 100; ++i) {
    MPI_Comm freed;
    by_dup();
    by_split();
    MPI_Comm_dup(MPI_COMM_SELF, &freed);
    MPI_Comm_free(&freed);
  }
  MPI_Finalize();
  return 0;
}
