/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Errors that end the program, one per argument: it says "abort: about to" and must not get past
 * the call, whether served or not.
 */
#include "check.h"

static int k = MPI_KEYVAL_INVALID;

static int del(MPI_Comm c, int key, void* value, void* e) {
  (void)c, (void)key, (void)value, (void)e;
  return 77;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  void* value = NULL;
  int flag = 0;
  printf("abort: about to %s\n", what);
  fflush(stdout);
  if (strcmp(what, "create_before_init") == 0) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &k, NULL);
    printf("abort: survived\n");
  }
  if (strcmp(what, "get_before_init") == 0) {
    MPI_Comm_get_attr(MPI_COMM_WORLD, 0x40000000, &value, &flag);
    printf("abort: survived\n");
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &k, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, k, &k);
  if (strcmp(what, "use_null_handle") == 0) {
    MPI_Comm_get_attr(MPI_COMM_NULL, k, &value, &flag);
    printf("abort: survived\n");
  }
  if (strcmp(what, "give_null_pointer") == 0) {
    MPI_Comm_get_attr(MPI_COMM_WORLD, k, NULL, &flag);
    printf("abort: survived\n");
  }
  if (strcmp(what, "use_invalid_keyval") == 0) {
    MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, NULL);
    printf("abort: survived\n");
  }
  if (strcmp(what, "fail_to_delete") == 0) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, del, &k, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, k, NULL);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, k);
    printf("abort: survived\n");
  }
  if (strcmp(what, "fail_at_finalize") == 0) {
    /* The oldest attribute there, whose delete callback is the last to run. */
    int last;
    MPI_Comm_delete_attr(MPI_COMM_WORLD, k);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, del, &last, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, last, NULL);
  }
  MPI_Finalize();
  if (strcmp(what, "create_after_finalize") == 0) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &k, NULL);
    printf("abort: survived\n");
  }
  if (strcmp(what, "fail_at_finalize") == 0) { /* which Open MPI forgets, but it is finalized */
    printf("abort: finalized\n");
    fflush(stdout);
  }
  if (strcmp(what, "get_after_finalize") == 0 || strcmp(what, "fail_at_finalize") == 0) {
    MPI_Comm_get_attr(MPI_COMM_WORLD, k, &value, &flag);
    printf("abort: survived\n");
  }
  if (strcmp(what, "set_after_finalize") == 0) {
    MPI_Comm_set_attr(MPI_COMM_WORLD, k, NULL);
    printf("abort: survived\n");
  }
  fflush(stdout);
  return 0;
}
