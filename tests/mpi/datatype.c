/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Attributes of datatypes: values, dup, delayed free, predefined datatypes. */
#include "check.h"

static int copy(MPI_Datatype type, int keyval, void* extra_state, void* in, void* out, int* flag) {
  (void)type, (void)keyval, (void)extra_state;
  note("copy %ld;", (long)in);
  *(void**)out = (void*)((long)in + 100);
  *flag = 1;
  return MPI_SUCCESS;
}

static int del(MPI_Datatype type, int keyval, void* value, void* extra_state) {
  (void)type, (void)keyval, (void)extra_state;
  note("del %ld;", (long)value);
  return MPI_SUCCESS;
}

static long get(MPI_Datatype type, int keyval) {
  void* value = NULL;
  int flag = -1;
  CHECK_EQUAL(MPI_Type_get_attr(type, keyval, &value, &flag), MPI_SUCCESS);
  return flag ? (long)value : -1;
}

int main(int argc, char** argv) {
  MPI_Datatype type;
  MPI_Datatype dup;
  MPI_Datatype derived;
  int k[3];
  int dup_fn;
  int status;
  int i;
  MPI_Init(&argc, &argv);
  check_begin();
  for (i = 0; i < 3; ++i) CHECK_EQUAL(MPI_Type_create_keyval(copy, del, &k[i], NULL), MPI_SUCCESS);
  MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &dup_fn, NULL);

  MPI_Type_contiguous(3, MPI_INT, &type);
  CHECK_EQUAL(get(type, k[0]), -1);
  MPI_Type_set_attr(type, k[0], (void*)1);
  MPI_Type_set_attr(type, dup_fn, (void*)55);
  CHECK_EQUAL(get(type, k[0]), 1);
  MPI_Type_set_attr(type, k[0], (void*)2);
  CHECK_LOG("del 1;");
  CHECK_EQUAL(MPI_Type_dup(type, &dup), MPI_SUCCESS);
  CHECK_LOG("copy 2;");
  CHECK_EQUAL(get(dup, k[0]), 102);
  CHECK_EQUAL(get(dup, dup_fn), 55);
  CHECK_EQUAL(MPI_Type_delete_attr(dup, k[0]), MPI_SUCCESS);
  CHECK_LOG("del 102;");
  CHECK_EQUAL(get(dup, k[0]), -1);
  MPI_Type_free(&dup);
  CHECK_LOG("");

  /* A type that others are made of may die later than it is freed: the deletion comes once. */
  MPI_Type_vector(2, 1, 2, type, &derived);
  CHECK_EQUAL(get(derived, k[0]), -1);
  MPI_Type_set_attr(derived, k[1], (void*)5);
  MPI_Type_free(&type);
  MPI_Type_free(&derived);
  CHECK(strstr(check_log, "del 2;") != NULL);
  CHECK(strstr(check_log, "del 5;") != NULL);
  CHECK_EQUAL(strlen(check_log), strlen("del 2;del 5;"));
  check_log[0] = '\0';

  /* Handles come round again, without the attributes of their former owners. */
  for (i = 0; i < 20000; ++i) {
    MPI_Type_contiguous(i % 7 + 1, MPI_BYTE, &type);
    if (get(type, dup_fn) != -1) break;
    MPI_Type_set_attr(type, dup_fn, (void*)(long)i);
    if (get(type, dup_fn) != i) break;
    MPI_Type_free(&type);
  }
  CHECK_EQUAL(i, 20000);

  /* In the reverse order of setting (MPICH by itself keeps no order for datatypes). */
  if (served() || ON_OPENMPI) {
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_set_attr(type, k[2], (void*)1);
    MPI_Type_set_attr(type, k[0], (void*)2);
    MPI_Type_set_attr(type, k[1], (void*)3);
    MPI_Type_free(&type);
    CHECK_LOG("del 3;del 2;del 1;");
  }

  /* Predefined ones; and nobody's attribute is anybody else's. */
  MPI_Type_set_attr(MPI_INT, k[0], (void*)9);
  CHECK_EQUAL(get(MPI_INT, k[0]), 9);
  CHECK_EQUAL(get(MPI_DOUBLE, k[0]), -1);
  MPI_Type_delete_attr(MPI_INT, k[0]);
  CHECK_LOG("del 9;");

  for (i = 0; i < 3; ++i) CHECK_EQUAL(MPI_Type_free_keyval(&k[i]), MPI_SUCCESS);
  CHECK_EQUAL(k[0], MPI_KEYVAL_INVALID);
  MPI_Type_free_keyval(&dup_fn);
  status = check_report();
  MPI_Finalize();
  return status;
}
