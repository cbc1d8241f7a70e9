/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Attributes of communicators: values, callbacks, and every path that copies or ends a
 * communicator. */
#include "check.h"

static int extra;

static int copy(MPI_Comm comm, int keyval, void* extra_state, void* in, void* out, int* flag) {
  (void)comm, (void)keyval;
  CHECK(extra_state == &extra);
  note("copy %ld;", (long)in);
  if ((long)in == 13) { /* not to be copied */
    *flag = 0;
    return MPI_SUCCESS;
  }
  *(void**)out = (void*)((long)in + 100);
  *flag = 1;
  return MPI_SUCCESS;
}

static int del(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  (void)comm, (void)keyval;
  CHECK(extra_state == &extra);
  note("del %ld;", (long)value);
  return MPI_SUCCESS;
}

static long get(MPI_Comm comm, int keyval) {
  void* value = (void*)-7;
  int flag = -1;
  CHECK_EQUAL(MPI_Comm_get_attr(comm, keyval, &value, &flag), MPI_SUCCESS);
  CHECK(flag == 0 || flag == 1);
  return flag ? (long)value : -1;
}

static void values(int k) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  CHECK_EQUAL(get(comm, k), -1);
  CHECK_EQUAL(MPI_Comm_set_attr(comm, k, (void*)1), MPI_SUCCESS);
  CHECK_EQUAL(get(comm, k), 1);
  CHECK_EQUAL(get(MPI_COMM_SELF, k), -1);
  CHECK_LOG("");
  CHECK_EQUAL(MPI_Comm_set_attr(comm, k, (void*)2), MPI_SUCCESS);
  CHECK_LOG("del 1;");
  CHECK_EQUAL(MPI_Comm_delete_attr(comm, k), MPI_SUCCESS);
  CHECK_LOG("del 2;");
  CHECK_EQUAL(get(comm, k), -1);
  CHECK_EQUAL(MPI_Comm_set_attr(comm, k, NULL), MPI_SUCCESS);
  CHECK_EQUAL(get(comm, k), 0);
  CHECK_EQUAL(MPI_Comm_free(&comm), MPI_SUCCESS);
  CHECK_LOG("del 0;");
  CHECK(comm == MPI_COMM_NULL);
}

static void mpi1_names(void) {
  int k = MPI_KEYVAL_INVALID;
  int flag = 0;
  void* value = NULL;
  CHECK_EQUAL(MPI_Keyval_create(copy, del, &k, &extra), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Attr_put(MPI_COMM_WORLD, k, (void*)5), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Attr_get(MPI_COMM_WORLD, k, &value, &flag), MPI_SUCCESS);
  CHECK(flag && value == (void*)5);
  CHECK_EQUAL(get(MPI_COMM_WORLD, k), 5); /* one keyval, either name */
  CHECK_EQUAL(MPI_Attr_delete(MPI_COMM_WORLD, k), MPI_SUCCESS);
  CHECK_LOG("del 5;");
  CHECK_EQUAL(MPI_Keyval_free(&k), MPI_SUCCESS);
  CHECK_EQUAL(k, MPI_KEYVAL_INVALID);
}

typedef enum { kDup, kIdup, kDupWithInfo } Dup;

static MPI_Comm duplicate(MPI_Comm comm, Dup how) {
  MPI_Comm copied = MPI_COMM_NULL;
  MPI_Request request;
  switch (how) {
    case kDup:
      CHECK_EQUAL(MPI_Comm_dup(comm, &copied), MPI_SUCCESS);
      break;
    case kIdup:
      CHECK_EQUAL(MPI_Comm_idup(comm, &copied, &request), MPI_SUCCESS);
      CHECK_EQUAL(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
      break;
    case kDupWithInfo:
      CHECK_EQUAL(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &copied), MPI_SUCCESS);
      break;
  }
  return copied;
}

/* One attribute copied as another value, one as it is, one not, by its copy_fn's or its keyval's
 * wish. */
static void dup_of(MPI_Comm original, Dup how, int disconnect, int changed, int dup_fn,
                   int null_fn) {
  MPI_Comm comm;
  MPI_Comm copied;
  MPI_Comm_dup(original, &comm);
  MPI_Comm_set_attr(comm, changed, (void*)7);
  MPI_Comm_set_attr(comm, dup_fn, (void*)8);
  MPI_Comm_set_attr(comm, null_fn, (void*)9);
  CHECK_LOG("");
  copied = duplicate(comm, how);
  CHECK_LOG("copy 7;");
  CHECK_EQUAL(get(copied, changed), 107);
  CHECK_EQUAL(get(copied, dup_fn), 8);
  CHECK_EQUAL(get(copied, null_fn), -1);
  CHECK_EQUAL(get(comm, changed), 7);
  MPI_Comm_set_attr(comm, changed, (void*)13);
  CHECK_LOG("del 7;");
  {
    MPI_Comm second = duplicate(comm, how);
    CHECK_LOG("copy 13;");
    CHECK_EQUAL(get(second, changed), -1);
    CHECK_EQUAL(get(second, dup_fn), 8);
    MPI_Comm_free(&second);
    CHECK_LOG("");
  }
  if (disconnect) {
    CHECK_EQUAL(MPI_Comm_disconnect(&copied), MPI_SUCCESS);
  } else {
    CHECK_EQUAL(MPI_Comm_free(&copied), MPI_SUCCESS);
  }
  CHECK_LOG("del 107;");
  CHECK_EQUAL(MPI_Comm_free(&comm), MPI_SUCCESS);
  CHECK_LOG("del 13;");
}

/* A duplicate that nobody ever asks for its attributes, duplicated and freed. */
static void untouched(int k) {
  MPI_Comm a;
  MPI_Comm b;
  MPI_Comm c;
  MPI_Comm_dup(MPI_COMM_SELF, &a);
  MPI_Comm_set_attr(a, k, (void*)1);
  MPI_Comm_dup(a, &b);
  MPI_Comm_dup(b, &c);
  MPI_Comm_free(&b);
  MPI_Comm_free(&a);
  CHECK_EQUAL(get(c, k), 201);
  MPI_Comm_free(&c);
  CHECK_LOG("copy 1;copy 101;del 101;del 1;del 201;");
}

/* These make communicators without attributes. */
static void not_copied(int k) {
  MPI_Comm comm;
  MPI_Comm made;
  MPI_Group group;
  int dims[1] = {1};
  int periods[1] = {0};
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_attr(comm, k, (void*)1);

  MPI_Comm_split(comm, 0, 0, &made);
  CHECK_EQUAL(get(made, k), -1);
  MPI_Comm_free(&made);
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
  CHECK_EQUAL(get(made, k), -1);
  MPI_Comm_free(&made);
  MPI_Comm_group(comm, &group);
  MPI_Comm_create(comm, group, &made);
  CHECK_EQUAL(get(made, k), -1);
  MPI_Comm_free(&made);
  if (!ON_OPENMPI) { /* by itself it makes a dup when the group is everybody */
    MPI_Comm_create_group(comm, group, 0, &made);
    CHECK_EQUAL(get(made, k), -1);
    MPI_Comm_free(&made);
  }
  MPI_Group_free(&group);
  MPI_Cart_create(comm, 1, dims, periods, 0, &made);
  CHECK_EQUAL(get(made, k), -1);
  MPI_Comm_free(&made);
  CHECK_LOG("");
  MPI_Comm_free(&comm);
  CHECK_LOG("del 1;");
}

static void intercommunicator(int changed, int dup_fn, int null_fn) {
  MPI_Comm local;
  MPI_Comm inter;
  MPI_Comm merged;
  int size;
  const int low = check_rank % 2 == 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) return;
  MPI_Comm_split(MPI_COMM_WORLD, low, 0, &local);
  MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, low ? 1 : 0, 3, &inter);
  dup_of(inter, kDup, 0, changed, dup_fn, null_fn);
  MPI_Comm_set_attr(inter, changed, (void*)4);
  MPI_Intercomm_merge(inter, low, &merged);
  CHECK_EQUAL(get(merged, changed), -1);
  MPI_Comm_free(&merged);
  CHECK_LOG("");
  MPI_Comm_free(&inter);
  CHECK_LOG("del 4;");
  MPI_Comm_free(&local);
}

/* Freed keyvals live on in their attributes. */
static void freed_keyval(void) {
  MPI_Comm comm;
  MPI_Comm copied;
  int k;
  int saved;
  MPI_Comm_create_keyval(copy, del, &k, &extra);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_attr(comm, k, (void*)3);
  saved = k;
  CHECK_EQUAL(MPI_Comm_free_keyval(&k), MPI_SUCCESS);
  CHECK_EQUAL(k, MPI_KEYVAL_INVALID);
  CHECK_EQUAL(get(comm, saved), 3);
  MPI_Comm_dup(comm, &copied);
  CHECK_EQUAL(get(copied, saved), 103);
  MPI_Comm_free(&comm);
  MPI_Comm_free(&copied);
  CHECK_LOG("copy 3;del 3;del 103;");
}

/* Freed in the reverse order of setting. */
static void order(const int* keyvals, int n) {
  MPI_Comm comm;
  int i;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  for (i = n - 1; i >= 0; --i) MPI_Comm_set_attr(comm, keyvals[i], (void*)(long)i);
  MPI_Comm_free(&comm);
  CHECK_LOG("del 0;del 1;del 2;del 3;del 4;");
}

/* More attributes than any first allocation holds. */
static void many(void) {
  enum { kMany = 200 };
  int k[kMany];
  MPI_Comm comm;
  MPI_Comm copied;
  int i;
  for (i = 0; i < kMany; ++i) {
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &k[i], NULL);
  }
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  for (i = 0; i < kMany; i += 2) MPI_Comm_set_attr(comm, k[i], (void*)(long)(1000 + i));
  MPI_Comm_dup(comm, &copied);
  for (i = 0; i < kMany; ++i) CHECK_EQUAL(get(copied, k[i]), i % 2 == 0 ? 1000 + i : -1);
  MPI_Comm_free(&comm);
  for (i = 0; i < kMany; ++i) CHECK_EQUAL(get(copied, k[i]), i % 2 == 0 ? 1000 + i : -1);
  MPI_Comm_free(&copied);
  for (i = 0; i < kMany; ++i) MPI_Comm_free_keyval(&k[i]);
}

int main(int argc, char** argv) {
  int k[5];
  int dup_fn;
  int null_fn;
  int i;
  MPI_Init(&argc, &argv);
  check_begin();
  for (i = 0; i < 5; ++i) {
    CHECK_EQUAL(MPI_Comm_create_keyval(copy, del, &k[i], &extra), MPI_SUCCESS);
  }
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &dup_fn, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &null_fn, NULL);
  values(k[0]);
  mpi1_names();
  for (i = 0; i < 6; ++i) {
    dup_of(MPI_COMM_WORLD, (Dup)(i / 2), i % 2, k[0], dup_fn, null_fn);
    dup_of(MPI_COMM_SELF, (Dup)(i / 2), i % 2, k[0], dup_fn, null_fn);
  }
  untouched(k[1]);
  not_copied(k[2]);
  intercommunicator(k[0], dup_fn, null_fn);
  freed_keyval();
  order(k, 5);
  many();
  for (i = 0; i < 5; ++i) CHECK_EQUAL(MPI_Comm_free_keyval(&k[i]), MPI_SUCCESS);
  MPI_Comm_free_keyval(&dup_fn);
  MPI_Comm_free_keyval(&null_fn);
  i = check_report();
  MPI_Finalize();
  return i;
}
