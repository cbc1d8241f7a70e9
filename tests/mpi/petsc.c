/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * PETSc keeps its own communicator in an attribute of the user's and the user's in an attribute of
 * its own; each one's delete callback deletes the other's attribute. The output must be the same
 * as natively.
 */
#include <petscvec.h>

static int rank;

static Vec make(MPI_Comm comm, const char* name) {
  Vec v;
  PetscReal norm;
  VecCreateMPI(comm, 10, PETSC_DETERMINE, &v);
  VecSet(v, 2.0);
  VecNorm(v, NORM_2, &norm);
  printf("rank %d: %s: norm %.8f\n", rank, name, (double)norm);
  return v;
}

int main(int argc, char** argv) {
  Vec world;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PetscInitialize(&argc, &argv, NULL, NULL);
  world = make(PETSC_COMM_WORLD, "world");
  for (int round = 0; round < 5; ++round) {
    MPI_Comm dup;
    Vec v;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    v = make(dup, "dup");
    if (round % 2 == 0) VecDestroy(&v);
    MPI_Comm_free(&dup); /* in other rounds while PETSc's is still in use */
    if (round % 2 != 0) VecDestroy(&v);
  }
  VecDestroy(&world);
  PetscFinalize();
  printf("rank %d: done\n", rank);
  MPI_Finalize();
  return 0;
}
