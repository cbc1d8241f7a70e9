/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Callbacks that fail, in every operation that runs them. A value below zero can't be deleted as
 * long as `stubborn` is set; one from 100 on can't be copied. What each MPI does with a failing
 * free differs, and stays so.
 */
#include "check.h"
#include "peer.h"

enum { kCode = 77 };
static int stubborn = 1;
static int handler_calls;
static int handler_code;

static void on_comm(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  ++handler_calls;
  handler_code = *code;
}
static void on_win(MPI_Win* win, int* code, ...) {
  (void)win;
  ++handler_calls;
  handler_code = *code;
}

static int copied(void* in, void* out, int* flag) {
  note("copy %ld;", (long)in);
  *(void**)out = in;
  *flag = 1;
  return (long)in >= 100 ? kCode : MPI_SUCCESS;
}
static int deleted(void* value) {
  note("del %ld;", (long)value);
  return (long)value < 0 && stubborn ? kCode : MPI_SUCCESS;
}
static int copy(MPI_Comm c, int k, void* e, void* in, void* out, int* flag) {
  (void)c, (void)k, (void)e;
  return copied(in, out, flag);
}
static int del(MPI_Comm c, int k, void* value, void* e) {
  (void)c, (void)k, (void)e;
  return deleted(value);
}
static int copy_type(MPI_Datatype t, int k, void* e, void* in, void* out, int* flag) {
  (void)t, (void)k, (void)e;
  return copied(in, out, flag);
}
static int del_type(MPI_Datatype t, int k, void* value, void* e) {
  (void)t, (void)k, (void)e;
  return deleted(value);
}
static int del_win(MPI_Win w, int k, void* value, void* e) {
  (void)w, (void)k, (void)e;
  return deleted(value);
}

/* The call failed, with that code, through the error handler, once. */
static void failed_with(int result, int code) {
  const int lost = result == MPI_SUCCESS && peer_loses_codes();
  const int garbled = !lost && (result != code || handler_code != code) && peer_garbles_codes();
  if (garbled) {
    CHECK(result != MPI_SUCCESS);
    CHECK(handler_code != MPI_SUCCESS);
  } else {
    if (!lost) CHECK_EQUAL(result, code);
    CHECK_EQUAL(handler_code, code);
  }
  CHECK_EQUAL(handler_calls, 1);
  handler_calls = 0;
}
/* The callback's own: a dup, a free. */
static void failed_with_code(int result) { failed_with(result, kCode); }
/* A set, a delete: there Open MPI has a code of its own. */
static void failed_to_delete(int result) {
  failed_with(result, ON_OPENMPI ? MPI_ERR_OTHER : kCode);
}

static long get(MPI_Comm comm, int k) {
  void* value = NULL;
  int flag;
  MPI_Comm_get_attr(comm, k, &value, &flag);
  return flag ? (long)value : -1000;
}

static void set_and_delete(MPI_Comm comm, int k) {
  MPI_Comm_set_attr(comm, k, (void*)-5);
  failed_to_delete(MPI_Comm_delete_attr(comm, k));
  CHECK_EQUAL(get(comm, k), -5);
  failed_to_delete(MPI_Comm_set_attr(comm, k, (void*)6));
  CHECK_EQUAL(get(comm, k), -5);
  stubborn = 0;
  CHECK_EQUAL(MPI_Comm_set_attr(comm, k, (void*)6), MPI_SUCCESS);
  stubborn = 1;
  CHECK_EQUAL(get(comm, k), 6);
  CHECK_EQUAL(MPI_Comm_delete_attr(comm, k), MPI_SUCCESS);
  CHECK_LOG("del -5;del -5;del -5;del 6;");
}

/* free: the one in the middle fails, then the oldest. */
static void free_comm(MPI_Errhandler handler, const int* k) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Comm_set_attr(comm, k[0], (void*)1);
  MPI_Comm_set_attr(comm, k[1], (void*)-2);
  MPI_Comm_set_attr(comm, k[2], (void*)3);
  if (ON_OPENMPI) { /* stops there; the communicator is as good as before, a second free goes on */
    failed_with_code(MPI_Comm_free(&comm));
    CHECK(comm != MPI_COMM_NULL);
    CHECK_LOG("del 3;del -2;");
    CHECK_EQUAL(get(comm, k[0]), 1);
    CHECK_EQUAL(get(comm, k[1]), -2);
    CHECK_EQUAL(get(comm, k[2]), -1000);
    stubborn = 0;
    CHECK_EQUAL(MPI_Comm_free(&comm), MPI_SUCCESS);
    stubborn = 1;
    CHECK_LOG("del -2;del 1;");
  } else { /* runs all, and heeds the last one alone; MPICH 5, any of them */
    if (HEEDS_ALL) {
      failed_with_code(MPI_Comm_free(&comm));
      CHECK(comm != MPI_COMM_NULL);
    } else {
      CHECK_EQUAL(MPI_Comm_free(&comm), MPI_SUCCESS);
      CHECK(comm == MPI_COMM_NULL);
    }
    CHECK_LOG("del 3;del -2;del 1;");
    if (HEEDS_ALL) CHECK_EQUAL(MPI_Comm_free(&comm), MPI_SUCCESS);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_attr(comm, k[0], (void*)-1);
    MPI_Comm_set_attr(comm, k[1], (void*)2);
    failed_with_code(MPI_Comm_free(&comm));
    CHECK(comm != MPI_COMM_NULL);
    CHECK_LOG("del 2;del -1;");
    CHECK_EQUAL(get(comm, k[0]), -1000);
    CHECK_EQUAL(MPI_Comm_free(&comm), MPI_SUCCESS);
  }
  CHECK(comm == MPI_COMM_NULL);
  CHECK_LOG("");
  CHECK_EQUAL(handler_calls, 0);
}

/* dup: two copied, then one fails. Nothing is left over. */
static void dup_comm(MPI_Errhandler handler, const int* k) {
  MPI_Comm comm;
  MPI_Comm dup = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Comm_set_attr(comm, k[0], (void*)1);
  MPI_Comm_set_attr(comm, k[1], (void*)2);
  MPI_Comm_set_attr(comm, k[2], (void*)100);
  MPI_Comm_set_attr(comm, k[3], (void*)4);
  failed_with_code(MPI_Comm_dup(comm, &dup));
  if (served()) CHECK_LOG("copy 1;copy 2;copy 100;del 2;del 1;");
  check_log[0] = '\0';
  CHECK_EQUAL(get(comm, k[0]), 1);
  CHECK_EQUAL(get(comm, k[3]), 4);
  MPI_Comm_free(&comm);
  CHECK_LOG("del 4;del 100;del 2;del 1;");
}

static void types(void) {
  MPI_Datatype type;
  MPI_Datatype dup = MPI_DATATYPE_NULL;
  int k[2];
  MPI_Type_create_keyval(copy_type, del_type, &k[0], NULL);
  MPI_Type_create_keyval(copy_type, del_type, &k[1], NULL);
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_set_attr(type, k[0], (void*)-1);
  failed_to_delete(MPI_Type_delete_attr(type, k[0]));
  failed_to_delete(MPI_Type_set_attr(type, k[0], (void*)2));
  CHECK_LOG("del -1;del -1;");
  MPI_Type_set_attr(type, k[1], (void*)100);
  CHECK(peer_failed(MPI_Type_dup(type, &dup)));
  CHECK_EQUAL(handler_calls, 1);
  handler_calls = 0;
  check_log[0] = '\0';
  /* The type goes, whatever the callbacks say. */
  CHECK_EQUAL(MPI_Type_free(&type), MPI_SUCCESS);
  if (served()) CHECK_LOG("del 100;del -1;");
  check_log[0] = '\0';
  CHECK(type == MPI_DATATYPE_NULL);
  MPI_Type_free_keyval(&k[0]);
  MPI_Type_free_keyval(&k[1]);
}

static void windows(MPI_Errhandler handler) {
  static int memory[4];
  MPI_Win win;
  int k;
  MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, handler);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, del_win, &k, NULL);
  MPI_Win_set_attr(win, k, (void*)-3);
  failed_to_delete(MPI_Win_delete_attr(win, k));
  CHECK_LOG("del -3;");
  if (ON_OPENMPI) {
    CHECK_EQUAL(MPI_Win_free(&win), MPI_SUCCESS);
  } else {
    failed_with_code(MPI_Win_free(&win));
    CHECK(win != MPI_WIN_NULL);
    CHECK_EQUAL(MPI_Win_free(&win), MPI_SUCCESS);
  }
  CHECK_LOG("del -3;");
  MPI_Win_free_keyval(&k);
}

int main(int argc, char** argv) {
  MPI_Errhandler on_errors;
  MPI_Errhandler on_win_errors;
  MPI_Comm comm;
  int k[4];
  int i;
  MPI_Init(&argc, &argv);
  check_begin();
  MPI_Comm_create_errhandler(on_comm, &on_errors);
  MPI_Win_create_errhandler(on_win, &on_win_errors);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, on_errors);
  for (i = 0; i < 4; ++i) MPI_Comm_create_keyval(copy, del, &k[i], NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  set_and_delete(comm, k[0]);
  MPI_Comm_free(&comm);
  types();
  windows(on_win_errors);
  free_comm(on_errors, k);
  dup_comm(on_errors, k);
  for (i = 0; i < 4; ++i) MPI_Comm_free_keyval(&k[i]);
  i = check_report();
  MPI_Finalize();
  return i;
}
