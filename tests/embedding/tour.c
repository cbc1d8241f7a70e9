/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A program for the small MPI that tests everything it does with attributes: predefined ones,
 * copies, windows, errors, and the order of deletion at the end.
 */

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int checks, failures;
static char did[256];

#define CHECK(condition)                                                \
  do {                                                                  \
    ++checks;                                                           \
    if (!(condition)) {                                                 \
      ++failures;                                                       \
      printf("FAILED tour.c:%d: %s (%s)\n", __LINE__, #condition, did); \
    }                                                                   \
  } while (0)

static int note(const char* value) {
  strcat(did, value);
  return MPI_SUCCESS;
}
static int comm_gone(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)extra;
  return note(value);
}
static int win_gone(MPI_Win win, int keyval, void* value, void* extra) {
  void* base;
  int flag;
  (void)keyval, (void)extra;
  /* The attribute can still be read, as the standard requires. */
  if (MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag) != MPI_SUCCESS || !flag) {
    return MPI_ERR_OTHER;
  }
  return note(value);
}
static int refuse_copy(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)keyval, (void)extra, (void)in, (void)out, (void)flag;
  return 77;
}
static int refuse_delete(MPI_Comm comm, int keyval, void* value, void* angry) {
  (void)comm, (void)keyval, (void)value;
  return *(int*)angry ? 78 : MPI_SUCCESS;
}

static void predefined(void) {
  int* value;
  int flag, keyval = MPI_TAG_UB;
  MPI_Comm dup;
  CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag) == MPI_SUCCESS && flag);
  CHECK(*value == 32767);
  CHECK(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, value) == MPI_ERR_KEYVAL);
  CHECK(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB) == MPI_ERR_KEYVAL);
  CHECK(MPI_Comm_free_keyval(&keyval) == MPI_ERR_KEYVAL);
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  CHECK(MPI_Comm_get_attr(dup, MPI_TAG_UB, &value, &flag) == MPI_SUCCESS && flag);
  MPI_Comm_free(&dup);
  switch (MPI_TAG_UB) {
    case MPI_TAG_UB: /* it is a constant */
      break;
  }
  CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WIN_BASE, &value, &flag) == MPI_ERR_KEYVAL);
}

static void copies(void) {
  MPI_Comm comm, dup;
  void* value;
  int flag, keyval, unknown = 12345;
  char text[] = "t";
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  CHECK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, comm_gone, &keyval, NULL) == MPI_SUCCESS);
  CHECK(MPI_Comm_set_attr(comm, keyval, text) == MPI_SUCCESS);
  CHECK(MPI_Comm_dup(comm, &dup) == MPI_SUCCESS);
  CHECK(MPI_Comm_get_attr(dup, keyval, &value, &flag) == MPI_SUCCESS && flag && value == text);
  CHECK(MPI_Comm_get_attr(comm, unknown, &value, &flag) == MPI_ERR_KEYVAL);
  CHECK(MPI_Comm_get_attr(MPI_COMM_NULL, keyval, &value, &flag) == MPI_ERR_COMM);
  CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS && MPI_Comm_free(&dup) == MPI_SUCCESS);
  CHECK(strcmp(did, "tt") == 0);
  CHECK(MPI_Comm_free_keyval(&keyval) == MPI_SUCCESS && keyval == MPI_KEYVAL_INVALID);
}

static void windows(void) {
  MPI_Win win;
  char memory[64], text[] = "w";
  void* value;
  int flag, keyval;
  CHECK(MPI_Win_create(memory, 64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win) == MPI_SUCCESS);
  CHECK(MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag) == MPI_SUCCESS && value == memory);
  CHECK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag) == MPI_SUCCESS &&
        *(MPI_Aint*)value == 64);
  CHECK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &flag) == MPI_SUCCESS &&
        *(int*)value == 4);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, win_gone, &keyval, NULL);
  CHECK(MPI_Win_set_attr(win, keyval, text) == MPI_SUCCESS);
  CHECK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, text) == MPI_ERR_KEYVAL);
  MPI_Win_free_keyval(&keyval);
  did[0] = '\0';
  CHECK(MPI_Win_free(&win) == MPI_SUCCESS && win == MPI_WIN_NULL);
  CHECK(strcmp(did, "w") == 0);
}

static void failures_of_callbacks(void) {
  MPI_Comm comm, dup = MPI_COMM_NULL;
  int keyval, angry = 1;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_create_keyval(refuse_copy, refuse_delete, &keyval, &angry);
  MPI_Comm_set_attr(comm, keyval, NULL);
  CHECK(MPI_Comm_dup(comm, &dup) == 77 && dup == MPI_COMM_NULL);
  CHECK(MPI_Comm_free(&comm) == 78 && comm != MPI_COMM_NULL);
  angry = 0;
  CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
  MPI_Comm_free_keyval(&keyval);
}

int main(int argc, char** argv) {
  int keyval, another, size;
  char first[] = "1", second[] = "2", world[] = "w";
  CHECK(MPI_Init(&argc, &argv) == MPI_SUCCESS);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  predefined();
  copies();
  windows();
  failures_of_callbacks();
  MPI_Barrier(MPI_COMM_WORLD);

  /* MPI_COMM_SELF's attributes are deleted first, in the reverse order of setting. */
  did[0] = '\0';
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_gone, &another, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_gone, &keyval, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, world);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, first);
  MPI_Comm_set_attr(MPI_COMM_SELF, another, second);
  CHECK(MPI_Finalize() == MPI_SUCCESS);
  CHECK(strcmp(did, "21w") == 0);
  printf("%d checks: %s\n", checks, failures == 0 ? "passed" : "FAILED");
  return failures != 0;
}
