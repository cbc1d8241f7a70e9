/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A program for the small MPI that looks inside: the first three attributes of a user cost no memory
 * on any object, though MPI has predefined ones there, too.
 */

#include <stdio.h>

#include "runtime.h"

static int failures;

/* The first word of a table points to the memory that it has beside its 64 bytes. */
static void expect_memory(const char* what, const attrcache_table* table, int has) {
  if ((table->opaque[0] != 0) == has) return;
  printf("FAILED: %s: %s memory beside its table\n", what, has ? "no" : "it has");
  ++failures;
}

int main(int argc, char** argv) {
  int comm_keyvals[4], win_keyvals[4], type_keyvals[4], flag;
  char memory[64], value[] = "value";
  void* base;
  MPI_Comm comm;
  MPI_Win win;
  MPI_Datatype type;
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 4; ++i) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_keyvals[i], NULL);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &win_keyvals[i], NULL);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_keyvals[i], NULL);
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Win_create(memory, 64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Type_contiguous(3, MPI_INT, &type);
  for (int i = 0; i < 4; ++i) {
    expect_memory("a communicator", &comm->attributes, 0);
    expect_memory("a window", &win->attributes, 0);
    expect_memory("a datatype", &type->attributes, 0);
    MPI_Comm_set_attr(comm, comm_keyvals[i], value);
    MPI_Win_set_attr(win, win_keyvals[i], value);
    MPI_Type_set_attr(type, type_keyvals[i], value);
    if (MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag) != MPI_SUCCESS || base != memory) {
      printf("FAILED: MPI_WIN_BASE\n");
      ++failures;
    }
  }
  /* The fourth is what takes some. */
  expect_memory("a communicator", &comm->attributes, 1);
  expect_memory("a window", &win->attributes, 1);
  expect_memory("a datatype", &type->attributes, 1);
  MPI_Type_free(&type);
  MPI_Win_free(&win);
  MPI_Comm_free(&comm);
  for (int i = 0; i < 4; ++i) {
    MPI_Comm_free_keyval(&comm_keyvals[i]);
    MPI_Win_free_keyval(&win_keyvals[i]);
    MPI_Type_free_keyval(&type_keyvals[i]);
  }
  MPI_Finalize();
  printf(failures == 0 ? "passed\n" : "FAILED\n");
  return failures != 0;
}
