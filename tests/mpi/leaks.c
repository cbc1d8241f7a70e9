// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// leaks         leaks 200 communicators at two places, and frees others, without any attribute
// leaks kept    frees one in vain, since its delete callback fails

#include <mpi.h>
#include <stdio.h>

static void by_dup(void) {
  MPI_Comm made;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
}
static void by_split(void) {
  MPI_Comm made;
  MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made);
}
static int fail(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  return MPI_ERR_OTHER;
}
static void kept(void) {
  MPI_Comm made;
  int keyval;
  MPI_Comm_dup(MPI_COMM_SELF, &made);
  MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, fail, &keyval, NULL);
  MPI_Comm_set_attr(made, keyval, NULL);
  MPI_Comm_free(&made);
  printf("%s\n", made == MPI_COMM_NULL ? "freed" : "kept");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1) kept();
  for (int i = 0; argc < 2 && i < 100; ++i) {
    MPI_Comm freed;
    by_dup();
    by_split();
    MPI_Comm_dup(MPI_COMM_SELF, &freed);
    MPI_Comm_free(&freed);
  }
  MPI_Finalize();
  return 0;
}
