/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Callbacks that use attributes themselves: that read, set and delete on the object they are called
 * for, on its twin, that delete each other's (as PETSc's inner and outer communicators do), that
 * make and free keyvals. Served only: natively some of it recurses without end.
 */
#include "check.h"

static int inner_key;
static int outer_key;
static int plain_key;

/* inner's attribute holds the outer communicator, outer's the inner one; who dies first tells the
 * other. */
static int del_link(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  MPI_Comm other;
  void* back = NULL;
  int flag = 0;
  const int other_key = keyval == inner_key ? outer_key : inner_key;
  (void)extra_state;
  memcpy(&other, &value, sizeof other);
  note("%s;", keyval == inner_key ? "inner" : "outer");
  CHECK_EQUAL(MPI_Comm_get_attr(other, other_key, &back, &flag), MPI_SUCCESS);
  if (flag) CHECK_EQUAL(MPI_Comm_delete_attr(other, other_key), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Comm_get_attr(comm, plain_key, &back, &flag), MPI_SUCCESS);
  return MPI_SUCCESS;
}

static int del_itself(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  int k;
  (void)value, (void)extra_state;
  note("itself;");
  CHECK_EQUAL(MPI_Comm_delete_attr(comm, keyval), MPI_SUCCESS);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &k, NULL);
  CHECK_EQUAL(MPI_Comm_set_attr(comm, k, &k), MPI_SUCCESS);
  MPI_Comm_delete_attr(comm, k);
  MPI_Comm_free_keyval(&k);
  return MPI_SUCCESS;
}

static int copy_and_use(MPI_Comm comm, int keyval, void* extra_state, void* in, void* out,
                        int* flag) {
  void* value = NULL;
  int there = 0;
  MPI_Comm scratch;
  (void)extra_state;
  CHECK_EQUAL(MPI_Comm_get_attr(comm, keyval, &value, &there), MPI_SUCCESS);
  CHECK(there && value == in);
  CHECK_EQUAL(MPI_Comm_set_attr(comm, plain_key, (void*)77), MPI_SUCCESS);
  MPI_Comm_dup(MPI_COMM_SELF, &scratch);
  MPI_Comm_set_attr(scratch, plain_key, (void*)1);
  MPI_Comm_free(&scratch);
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int del_and_set(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  (void)keyval, (void)extra_state;
  note("set %ld;", (long)value);
  /* attaches to a dying object: deleted too */
  if ((long)value == 1) CHECK_EQUAL(MPI_Comm_set_attr(comm, plain_key, (void*)2), MPI_SUCCESS);
  return MPI_SUCCESS;
}

static int free_own_keyval(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  (void)comm, (void)value, (void)extra_state;
  note("free;");
  CHECK_EQUAL(MPI_Comm_free_keyval(&keyval), MPI_SUCCESS);
  return MPI_SUCCESS;
}

static void link_up(MPI_Comm inner, MPI_Comm outer) {
  void* value = NULL;
  memcpy(&value, &outer, sizeof outer);
  MPI_Comm_set_attr(inner, inner_key, value);
  value = NULL;
  memcpy(&value, &inner, sizeof inner);
  MPI_Comm_set_attr(outer, outer_key, value);
}

int main(int argc, char** argv) {
  MPI_Comm inner;
  MPI_Comm outer;
  MPI_Comm comm;
  MPI_Comm dup;
  int k;
  int saved;
  int status;
  void* value;
  int flag;
  MPI_Init(&argc, &argv);
  check_begin();
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, del_link, &inner_key, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, del_link, &outer_key, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &plain_key, NULL);

  MPI_Comm_dup(MPI_COMM_SELF, &inner);
  MPI_Comm_dup(MPI_COMM_SELF, &outer);
  link_up(inner, outer);
  MPI_Comm_delete_attr(inner, inner_key);
  CHECK_LOG("inner;outer;");
  link_up(inner, outer);
  MPI_Comm_free(&outer);
  CHECK_LOG("outer;inner;");
  CHECK_EQUAL(MPI_Comm_get_attr(inner, inner_key, &value, &flag), MPI_SUCCESS);
  CHECK(!flag);
  MPI_Comm_free(&inner);
  CHECK_LOG("");

  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, del_itself, &k, NULL);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_attr(comm, k, NULL);
  MPI_Comm_delete_attr(comm, k);
  CHECK_LOG("itself;");
  MPI_Comm_set_attr(comm, k, NULL);
  MPI_Comm_free(&comm);
  CHECK_LOG("itself;");
  MPI_Comm_free_keyval(&k);

  MPI_Comm_create_keyval(copy_and_use, MPI_COMM_NULL_DELETE_FN, &k, NULL);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_attr(comm, k, &k);
  MPI_Comm_dup(comm, &dup);
  MPI_Comm_get_attr(dup, k, &value, &flag);
  CHECK(flag && value == &k);
  MPI_Comm_get_attr(comm, plain_key, &value, &flag);
  CHECK(flag && value == (void*)77);
  MPI_Comm_free(&comm);
  MPI_Comm_free(&dup);
  MPI_Comm_free_keyval(&k);

  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, del_and_set, &k, NULL);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_attr(comm, k, (void*)1);
  CHECK_EQUAL(MPI_Comm_free(&comm), MPI_SUCCESS);
  CHECK_LOG("set 1;");
  MPI_Comm_free_keyval(&k);

  /* a keyval freed already, and once more by its delete callback */
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_own_keyval, &k, NULL);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_attr(comm, k, NULL);
  saved = k;
  MPI_Comm_free_keyval(&k);
  CHECK_EQUAL(MPI_Comm_delete_attr(comm, saved), MPI_SUCCESS);
  CHECK_LOG("free;");
  MPI_Comm_free(&comm);

  MPI_Comm_free_keyval(&inner_key);
  MPI_Comm_free_keyval(&outer_key);
  MPI_Comm_free_keyval(&plain_key);
  status = check_report();
  MPI_Finalize();
  return status;
}
