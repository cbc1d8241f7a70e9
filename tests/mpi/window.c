/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Attributes of windows; the predefined ones, readable until the end. */
#include "check.h"

static int memory[4];
static int k[3];

static int del(MPI_Win win, int keyval, void* value, void* extra_state) {
  void* base = NULL;
  void* other = NULL;
  int flag = 0;
  (void)keyval, (void)extra_state;
  note("del %ld;", (long)value);
  CHECK_EQUAL(MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag), MPI_SUCCESS);
  CHECK(flag && base == memory);
  /* Another attribute, set earlier, is still there. */
  if (keyval == k[2]) {
    CHECK_EQUAL(MPI_Win_get_attr(win, k[0], &other, &flag), MPI_SUCCESS);
    CHECK(flag && other == (void*)1);
  }
  return MPI_SUCCESS;
}

static void check_predefined(MPI_Win win) {
  int round;
  for (round = 0; round < 20; ++round) { /* asked of MPI first, answered from the cache later */
    void* value = NULL;
    int flag = 0;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag);
    CHECK(flag && value == memory);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag);
    CHECK(flag && *(MPI_Aint*)value == sizeof memory);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &flag);
    CHECK(flag && *(int*)value == 4);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag);
    CHECK(flag && *(int*)value == MPI_WIN_FLAVOR_CREATE);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &flag);
    CHECK(flag && (*(int*)value == MPI_WIN_UNIFIED || *(int*)value == MPI_WIN_SEPARATE));
  }
}

int main(int argc, char** argv) {
  MPI_Win win;
  MPI_Win second;
  void* value;
  int flag;
  int status;
  int i;
  MPI_Init(&argc, &argv);
  check_begin();
  for (i = 0; i < 3; ++i) {
    CHECK_EQUAL(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, del, &k[i], NULL), MPI_SUCCESS);
  }
  MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &second);
  check_predefined(win);
  CHECK_EQUAL(MPI_Win_set_attr(win, k[0], (void*)7), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Win_set_attr(win, k[0], (void*)1), MPI_SUCCESS);
  CHECK_LOG("del 7;");
  CHECK_EQUAL(MPI_Win_get_attr(win, k[0], &value, &flag), MPI_SUCCESS);
  CHECK(flag && value == (void*)1);
  CHECK_EQUAL(MPI_Win_get_attr(second, k[0], &value, &flag), MPI_SUCCESS);
  CHECK(!flag);
  CHECK_EQUAL(MPI_Win_set_attr(win, k[1], (void*)2), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Win_delete_attr(win, k[1]), MPI_SUCCESS);
  CHECK_LOG("del 2;");
  if (served() || ON_OPENMPI) { /* MPICH by itself keeps no order for windows */
    CHECK_EQUAL(MPI_Win_set_attr(win, k[2], (void*)3), MPI_SUCCESS);
  }
  check_predefined(win);
  CHECK_EQUAL(MPI_Win_free(&win), MPI_SUCCESS);
  CHECK_LOG(served() || ON_OPENMPI ? "del 3;del 1;" : "del 1;");
  CHECK_EQUAL(MPI_Win_free(&second), MPI_SUCCESS);
  CHECK_LOG("");

  /* A window without memory: its base is a null pointer. */
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (i = 0; i < 20; ++i) {
    value = &i;
    CHECK_EQUAL(MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag), MPI_SUCCESS);
    CHECK(flag && value == MPI_BOTTOM);
  }
  MPI_Win_free(&win);

  for (i = 0; i < 3; ++i) CHECK_EQUAL(MPI_Win_free_keyval(&k[i]), MPI_SUCCESS);
  status = check_report();
  MPI_Finalize();
  return status;
}
