/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A PETSc solve. PETSc keeps its own communicator in an attribute of the user's and the user's in
 * an attribute of its own; each one's delete callback deletes the other's attribute. The output
 * must be the same as natively.
 */
#include <petscksp.h>

static void solve(MPI_Comm comm, const char* name) {
  Mat a;
  Vec x;
  Vec b;
  KSP ksp;
  PetscInt i;
  PetscInt start;
  PetscInt end;
  PetscInt iterations;
  PetscReal norm;
  PetscMPIInt rank;
  const PetscInt n = 200;
  MPI_Comm_rank(comm, &rank);
  MatCreateAIJ(comm, PETSC_DECIDE, PETSC_DECIDE, n, n, 3, NULL, 2, NULL, &a);
  MatGetOwnershipRange(a, &start, &end);
  for (i = start; i < end; ++i) {
    if (i > 0) MatSetValue(a, i, i - 1, -1.0, INSERT_VALUES);
    if (i < n - 1) MatSetValue(a, i, i + 1, -1.0, INSERT_VALUES);
    MatSetValue(a, i, i, 2.0 + 0.01 * (double)i, INSERT_VALUES);
  }
  MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY);
  MatCreateVecs(a, &x, &b);
  VecSet(b, 1.0);
  KSPCreate(comm, &ksp);
  KSPSetOperators(ksp, a, a);
  KSPSetType(ksp, KSPCG);
  KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 1000);
  KSPSolve(ksp, b, x);
  KSPGetIterationNumber(ksp, &iterations);
  VecNorm(x, NORM_2, &norm);
  if (rank == 0) {
    printf("rank 0: %s: %d iterations, norm %.8f\n", name, (int)iterations, (double)norm);
  }
  KSPDestroy(&ksp);
  VecDestroy(&x);
  VecDestroy(&b);
  MatDestroy(&a);
}

int main(int argc, char** argv) {
  MPI_Comm dup;
  int rank;
  int size;
  int round;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  PetscInitialize(&argc, &argv, NULL, NULL);
  solve(PETSC_COMM_WORLD, "world");
  solve(PETSC_COMM_SELF, "self");
  for (round = 0; round < 5; ++round) {
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    solve(dup, "dup");
    if (round % 2 == 0) { /* the user's is freed while PETSc's is still in use */
      Vec v;
      VecCreateMPI(dup, 10, PETSC_DETERMINE, &v);
      MPI_Comm_free(&dup);
      VecDestroy(&v);
    } else {
      MPI_Comm_free(&dup);
    }
  }
  PetscFinalize();
  printf("rank %d: done\n", rank);
  MPI_Finalize();
  return 0;
}
