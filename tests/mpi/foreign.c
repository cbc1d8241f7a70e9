/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Callbacks of keyvals that aren't attrcache's, since they were made by the PMPI_ name, as tools
 * and some bindings do. MPI calls them while it walks an object's attributes for a free or a dup.
 * There they get and set what is attrcache's: that must not make MPI lose attributes, nor leave any
 * for the next object that has the same handle.
 */
#include "check.h"

enum { kRounds = 40, kOften = 12, kOthers = 14 };

static enum { kGet, kGetPredefined, kSet } what;

/* Of the keyvals that attrcache serves: how often their callbacks ran. */
static int deleted;
/* Of the others. */
static int copied;
static int called;

static int comm_key, type_key, win_key;

static int count_comm(MPI_Comm c, int k, void* value, void* e) {
  (void)c, (void)k, (void)value, (void)e;
  ++deleted;
  return MPI_SUCCESS;
}
static int count_type(MPI_Datatype t, int k, void* value, void* e) {
  (void)t, (void)k, (void)value, (void)e;
  ++deleted;
  return MPI_SUCCESS;
}
static int count_win(MPI_Win w, int k, void* value, void* e) {
  (void)w, (void)k, (void)value, (void)e;
  ++deleted;
  return MPI_SUCCESS;
}

/* The others' delete callbacks. */
static int use_comm(MPI_Comm c, int k, void* value, void* e) {
  (void)k, (void)value, (void)e;
  ++called;
  for (int i = 0; i < kOften; ++i) {
    void* found;
    int flag;
    if (what == kGet) MPI_Comm_get_attr(c, comm_key, &found, &flag);
    if (what == kGetPredefined) MPI_Comm_get_attr(c, MPI_TAG_UB, &found, &flag);
  }
  if (what == kSet) MPI_Comm_set_attr(c, comm_key, (void*)1);
  return MPI_SUCCESS;
}
static int use_type(MPI_Datatype t, int k, void* value, void* e) {
  (void)k, (void)value, (void)e;
  ++called;
  for (int i = 0; i < kOften; ++i) {
    void* found;
    int flag;
    if (what == kGet) MPI_Type_get_attr(t, type_key, &found, &flag);
  }
  if (what == kSet) MPI_Type_set_attr(t, type_key, (void*)1);
  return MPI_SUCCESS;
}
static int use_win(MPI_Win w, int k, void* value, void* e) {
  (void)k, (void)value, (void)e;
  ++called;
  for (int i = 0; i < kOften; ++i) {
    void* found;
    int flag;
    if (what == kGet) MPI_Win_get_attr(w, win_key, &found, &flag);
    if (what == kGetPredefined) MPI_Win_get_attr(w, MPI_WIN_SIZE, &found, &flag);
  }
  if (what == kSet) MPI_Win_set_attr(w, win_key, (void*)1);
  return MPI_SUCCESS;
}

/* Each object is to be new: nothing is attached to it, and a window's size is its own. */
static void free_objects(int used) {
  static char memory[kRounds];
  int other_comm, other_type, other_win;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, use_comm, &other_comm, NULL);
  PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, use_type, &other_type, NULL);
  PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, use_win, &other_win, NULL);
  deleted = called = 0;
  for (int i = 0; i < kRounds; ++i) {
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Win win;
    MPI_Aint* size = NULL;
    void* found;
    int flag = 1;
    MPI_Comm_split(MPI_COMM_SELF, 0, 0, &comm);
    CHECK_EQUAL(MPI_Comm_get_attr(comm, comm_key, &found, &flag), MPI_SUCCESS);
    CHECK(!flag);
    PMPI_Comm_set_attr(comm, other_comm, NULL);
    if (used) MPI_Comm_set_attr(comm, comm_key, (void*)2);
    MPI_Comm_free(&comm);

    flag = 1;
    MPI_Type_contiguous(2, MPI_INT, &type);
    CHECK_EQUAL(MPI_Type_get_attr(type, type_key, &found, &flag), MPI_SUCCESS);
    CHECK(!flag);
    PMPI_Type_set_attr(type, other_type, NULL);
    if (used) MPI_Type_set_attr(type, type_key, (void*)2);
    MPI_Type_free(&type);

    flag = 1;
    MPI_Win_create(memory, i + 1, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    CHECK_EQUAL(MPI_Win_get_attr(win, win_key, &found, &flag), MPI_SUCCESS);
    CHECK(!flag);
    CHECK_EQUAL(MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag), MPI_SUCCESS);
    CHECK(flag && *size == i + 1);
    PMPI_Win_set_attr(win, other_win, NULL);
    if (used) MPI_Win_set_attr(win, win_key, (void*)2);
    MPI_Win_free(&win);
  }
  CHECK_EQUAL(called, 3 * kRounds);
  CHECK_EQUAL(deleted, 3 * kRounds * ((used != 0) + (what == kSet)));
  PMPI_Comm_free_keyval(&other_comm);
  PMPI_Type_free_keyval(&other_type);
  PMPI_Win_free_keyval(&other_win);
}

/* An object whose free has failed goes on, with what was set on it meanwhile. */
static int refused;
static int refuse_once(MPI_Comm c, int k, void* value, void* e) {
  (void)k, (void)value, (void)e;
  MPI_Comm_set_attr(c, comm_key, (void*)3);
  return refused++ == 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}
static void fail_to_free(void) {
  MPI_Comm comm;
  int other;
  deleted = 0;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse_once, &other, NULL);
  MPI_Comm_split(MPI_COMM_SELF, 0, 0, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  PMPI_Comm_set_attr(comm, other, NULL);
  MPI_Comm_free(&comm);
  if (comm != MPI_COMM_NULL) {
    void* found = NULL;
    int flag = 0;
    CHECK_EQUAL(MPI_Comm_get_attr(comm, comm_key, &found, &flag), MPI_SUCCESS);
    CHECK(flag && found == (void*)3);
    CHECK_EQUAL(deleted, 0);
    MPI_Comm_free(&comm);
  }
  CHECK(deleted >= 1);
  PMPI_Comm_free_keyval(&other);
}

static int copy_and_get(MPI_Comm c, int k, void* e, void* in, void* out, int* flag) {
  void* found;
  int there;
  (void)k, (void)e;
  ++copied;
  for (int i = 0; i < kOften; ++i) {
    MPI_Comm_get_attr(c, comm_key, &found, &there);
    MPI_Comm_get_attr(c, MPI_TAG_UB, &found, &there);
  }
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static void dup_with_others(void) {
  int others[kOthers];
  MPI_Comm comm, dup;
  MPI_Comm_split(MPI_COMM_SELF, 0, 0, &comm);
  for (int i = 0; i < kOthers; ++i) {
    PMPI_Comm_create_keyval(copy_and_get, MPI_COMM_NULL_DELETE_FN, &others[i], NULL);
    PMPI_Comm_set_attr(comm, others[i], (void*)1);
  }
  MPI_Comm_dup(comm, &dup);
  CHECK_EQUAL(copied, kOthers);
  for (int i = 0; i < kOthers; ++i) {
    void* found;
    int flag = 0;
    PMPI_Comm_get_attr(dup, others[i], &found, &flag);
    CHECK(flag);
  }
  MPI_Comm_free(&dup);
  MPI_Comm_free(&comm);
  for (int i = 0; i < kOthers; ++i) PMPI_Comm_free_keyval(&others[i]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  check_begin();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_comm, &comm_key, NULL);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_type, &type_key, NULL);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_win, &win_key, NULL);
  for (int used = 0; used < 2; ++used) {
    what = kGet;
    free_objects(used);
    what = kGetPredefined;
    free_objects(used);
    what = kSet;
    free_objects(used);
  }
  fail_to_free();
  dup_with_others();
  MPI_Comm_free_keyval(&comm_key);
  MPI_Type_free_keyval(&type_key);
  MPI_Win_free_keyval(&win_key);
  check_report();
  MPI_Finalize();
  return 0;
}
