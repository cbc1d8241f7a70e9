/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Keyvals made through PMPI_ names, as tools and some bindings make them, are MPI's own. MPI calls
 * their callbacks while it walks an object's attributes for a free or a dup. There, these
 * callbacks get and set attributes that attrcache keeps. MPI must not lose attributes by that, nor
 * keep any for the next object that has the same handle.
 */
#include "check.h"

enum { kRounds = 40, kOften = 12, kOthers = 14 };

static enum { kGet, kGetPredefined, kSet } what;

/* How often callbacks of attrcache's keyvals ran. */
static int deleted;
/* How often those of MPI's own did. */
static int copied;
static int called;

static int key_Comm, key_Type, key_Win;

static int round_;
#define NO_PREDEFINED(handle) 1

/* `new_object` makes an object of this kind without attributes; `predefined` is true if a get of a
 * predefined attribute of it succeeds, where the kind has one. */
#define KIND(Name, Handle, NAME, new_object, predefined)                              \
  static int count_##Name(Handle h, int k, void* value, void* e) {                    \
    (void)h, (void)k, (void)value, (void)e;                                           \
    ++deleted;                                                                        \
    return MPI_SUCCESS;                                                               \
  }                                                                                   \
  /* Delete callbacks of MPI's own keyvals. */                                        \
  static int use_##Name(Handle h, int k, void* value, void* e) {                      \
    (void)k, (void)value, (void)e;                                                    \
    ++called;                                                                         \
    for (int i = 0; i < kOften; ++i) {                                                \
      void* found;                                                                    \
      int flag;                                                                       \
      if (what == kGet) MPI_##Name##_get_attr(h, key_##Name, &found, &flag);          \
      if (what == kGetPredefined) (void)predefined(h);                                \
    }                                                                                 \
    if (what == kSet) MPI_##Name##_set_attr(h, key_##Name, (void*)1);                 \
    return MPI_SUCCESS;                                                               \
  }                                                                                   \
  static void free_##Name(int used) {                                                 \
    int other;                                                                        \
    PMPI_##Name##_create_keyval(MPI_##NAME##_NULL_COPY_FN, use_##Name, &other, NULL); \
    for (round_ = 1; round_ <= kRounds; ++round_) {                                   \
      Handle h;                                                                       \
      void* found;                                                                    \
      int flag = 1;                                                                   \
      new_object;                                                                     \
      CHECK_EQUAL(MPI_##Name##_get_attr(h, key_##Name, &found, &flag), MPI_SUCCESS);  \
      CHECK(!flag);                                                                   \
      CHECK(predefined(h));                                                           \
      PMPI_##Name##_set_attr(h, other, NULL);                                         \
      if (used) MPI_##Name##_set_attr(h, key_##Name, (void*)2);                       \
      MPI_##Name##_free(&h);                                                          \
    }                                                                                 \
    PMPI_##Name##_free_keyval(&other);                                                \
  }

static int ask_upper_bound(MPI_Comm comm) { /* only some communicators have one on Open MPI */
  void* found;
  int flag;
  return MPI_Comm_get_attr(comm, MPI_TAG_UB, &found, &flag) == MPI_SUCCESS;
}
static int has_its_size(MPI_Win win) {
  MPI_Aint* size = NULL;
  int flag = 0;
  MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
  return flag && *size == round_;
}
static char memory[kRounds];
KIND(Comm, MPI_Comm, COMM, MPI_Comm_split(MPI_COMM_SELF, 0, 0, &h), ask_upper_bound)
KIND(Type, MPI_Datatype, TYPE, MPI_Type_contiguous(2, MPI_INT, &h), NO_PREDEFINED)
KIND(Win, MPI_Win, WIN, MPI_Win_create(memory, round_, 1, MPI_INFO_NULL, MPI_COMM_SELF, &h),
     has_its_size)

static void free_objects(int used) {
  deleted = called = 0;
  free_Comm(used);
  free_Type(used);
  free_Win(used);
  CHECK_EQUAL(called, 3 * kRounds);
  CHECK_EQUAL(deleted, 3 * kRounds * ((used != 0) + (what == kSet)));
}

/* An object whose free failed stays in use, with what was set on it meanwhile. */
static int refused;
static int refuse_once(MPI_Comm c, int k, void* value, void* e) {
  (void)k, (void)value, (void)e;
  MPI_Comm_set_attr(c, key_Comm, (void*)3);
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
    CHECK_EQUAL(MPI_Comm_get_attr(comm, key_Comm, &found, &flag), MPI_SUCCESS);
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
    MPI_Comm_get_attr(c, key_Comm, &found, &there);
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
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_Comm, &key_Comm, NULL);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_Type, &key_Type, NULL);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_Win, &key_Win, NULL);
  for (int used = 0; used < 2; ++used) {
    for (what = kGet; what <= kSet; ++what) free_objects(used);
  }
  fail_to_free();
  dup_with_others();
  MPI_Comm_free_keyval(&key_Comm);
  MPI_Type_free_keyval(&key_Type);
  MPI_Win_free_keyval(&key_Win);
  check_report();
  MPI_Finalize();
  return 0;
}
