/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * MPIX_Comm_set_attr_if_absent (attrcache/mpix.h) fails as MPI_Comm_set_attr does, through the same
 * error handler, and changes nothing then.
 */
#include <mpi.h>
#include <stdio.h>

#include "attrcache/mpix.h"

static int last_class, failures;

static void note_class(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  MPI_Error_class(*code, &last_class);
}

static void expect(const char* what, int right) {
  if (!right) printf("FAILED: %s (the error's class is %d)\n", what, last_class);
  failures += !right;
}

int main(int argc, char** argv) {
  int keyval, flag = 7, value, other;
  void* present = &other;
  MPI_Errhandler handler;

  MPI_Init(&argc, &argv);
  if (MPIX_Comm_set_attr_if_absent == NULL) return MPI_Finalize();
  MPI_Comm_create_errhandler(note_class, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPIX_Comm_create_keyval_once(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, NULL, &keyval, NULL);

  MPIX_Comm_set_attr_if_absent(MPI_COMM_SELF, MPI_KEYVAL_INVALID, &value, &present, &flag);
  expect("an invalid keyval", last_class == MPI_ERR_KEYVAL);
  MPIX_Comm_set_attr_if_absent(MPI_COMM_SELF, keyval, &value, &present, NULL);
  expect("no flag", last_class == MPI_ERR_ARG);
  MPIX_Comm_set_attr_if_absent(MPI_COMM_NULL, keyval, &value, &present, &flag);
  expect("no communicator", last_class == MPI_ERR_COMM);
  expect("they change nothing", flag == 7 && present == &other);

  MPIX_Comm_set_attr_if_absent(MPI_COMM_SELF, keyval, &value, &present, &flag);
  expect("the first attaches", flag == 1 && present == &other);
  MPIX_Comm_set_attr_if_absent(MPI_COMM_SELF, keyval, &other, &present, &flag);
  expect("the second finds it", flag == 0 && present == &value);
  flag = 7;
  MPIX_Comm_set_attr_if_absent(MPI_COMM_SELF, keyval, &other, NULL, &flag);
  expect("nobody asks what is there", flag == 0);
  MPI_Finalize();
  return failures;
}
