/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * All the misuse that ATTRCACHE_CHECK=1 warns of, each in a function of its own, and correct code
 * that looks like misuse. The program prints the warnings that it expects, one "expect SORT
 * FUNCTION" for each; misuse_test.sh compares. "misuse early" and "get_early" call before
 * MPI_Init, "late" and "get_late" after MPI_Finalize, and "misuse nested" frees an object that is
 * being freed: these runs fail. "misuse threads" misuses in several threads at once.
 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>

#include "attrcache/mpix.h"
#include "check.h"

/* Never inlined or cloned, so that the warning has the function's name. */
#define PLACE __attribute__((noipa)) static

/* Before MPI_Init there may be a session, if the MPI has them: then no warning is expected. */
static int silent;
static void expect(const char* sort, const char* function) {
  if (silent) printf("nothing to expect of ");
  printf("expect %s %s\n", sort, function);
}
#define EXPECT(sort) expect((sort), __func__)
/* Not unrolled: one place. */
#define TWICE for (volatile int i = 0; i < 2; ++i)
#define WARNS(sort, call) \
  do {                    \
    TWICE call;           \
    EXPECT(sort);         \
  } while (0)

static MPI_Comm comm;
static MPI_Datatype type;
static MPI_Win win;
static void* value;
static int flag;

PLACE int nothing(MPI_Comm c, int k, void* v, void* e) {
  (void)c, (void)k, (void)v, (void)e;
  return MPI_SUCCESS;
}

static int make(void) {
  int k;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, nothing, &k, NULL);
  return k;
}
static void drop(int k) { MPI_Comm_free_keyval(&k); }

/* ---- Keyvals ---- */

PLACE void use_invalid(void) {
  int k = MPI_KEYVAL_INVALID;
  WARNS("invalid-keyval", MPI_Comm_get_attr(comm, MPI_KEYVAL_INVALID, &value, &flag));
  WARNS("invalid-keyval", MPI_Type_set_attr(type, MPI_KEYVAL_INVALID, NULL));
  WARNS("invalid-keyval", MPI_Win_delete_attr(win, MPI_KEYVAL_INVALID));
  WARNS("invalid-keyval", MPI_Comm_free_keyval(&k));
  WARNS("unknown-keyval", MPI_Comm_set_attr(comm, 0x4000fff0, NULL));
}

PLACE void use_stale(void) {
  const int k = make();
  drop(k);
  WARNS("stale-keyval", MPI_Comm_get_attr(comm, k, &value, &flag));
  WARNS("stale-keyval", MPI_Comm_set_attr(comm, k, NULL));
  WARNS("stale-keyval", MPI_Attr_delete(comm, k));
}

/* The warnings name this function (misuse_test.sh). */
PLACE void set_if_absent(void) {
  const int k = make();
  WARNS("invalid-keyval",
        MPIX_Comm_set_attr_if_absent(comm, MPI_KEYVAL_INVALID, NULL, NULL, &flag));
  WARNS("null-handle", MPIX_Comm_set_attr_if_absent(MPI_COMM_NULL, k, NULL, NULL, &flag));
  MPI_Comm_set_attr(comm, k, NULL);
  drop(k);
  WARNS("set-on-freed", MPIX_Comm_set_attr_if_absent(comm, k, NULL, NULL, &flag));
  MPI_Comm_delete_attr(comm, k);
  WARNS("stale-keyval", MPIX_Comm_set_attr_if_absent(comm, k, NULL, NULL, &flag));
}

PLACE void free_twice(void) {
  const int in_use = make();
  int copy = in_use;
  int k = make();
  drop(k);
  WARNS("freed-twice", MPI_Comm_free_keyval(&k));
  MPI_Comm_set_attr(comm, in_use, NULL);
  drop(in_use);
  MPI_Comm_free_keyval(&copy);
  EXPECT("freed-twice");
  MPI_Comm_delete_attr(comm, in_use);
}

PLACE void use_wrong_kind(void) {
  int k = make();
  WARNS("wrong-kind", MPI_Type_get_attr(type, k, &value, &flag));
  WARNS("wrong-kind", MPI_Win_set_attr(win, k, NULL));
  WARNS("wrong-kind", MPI_Type_delete_attr(type, k));
  WARNS("wrong-kind", MPI_Win_free_keyval(&k));
  drop(k);
  WARNS("wrong-kind", MPI_Comm_get_attr(comm, MPI_WIN_BASE, &value, &flag));
  WARNS("wrong-kind", MPI_Type_get_attr(type, MPI_TAG_UB, &value, &flag));
}

PLACE void change_predefined(void) {
  int k = MPI_TAG_UB;
  WARNS("predefined", MPI_Comm_set_attr(comm, MPI_TAG_UB, NULL));
  WARNS("predefined", MPI_Win_delete_attr(win, MPI_WIN_SIZE));
  WARNS("predefined", MPI_Comm_free_keyval(&k));
}

/* Open MPI has them on no communicator but MPI_COMM_WORLD and its duplicates. */
PLACE void ask_one_without(void) {
  TWICE MPI_Comm_get_attr(MPI_COMM_SELF, MPI_TAG_UB, &value, &flag);
  if (!flag) EXPECT("not-on-this-one");
  MPI_Attr_get(MPI_COMM_SELF, MPI_TAG_UB, &value, &flag);
  if (!flag) EXPECT("not-on-this-one");
}

PLACE void use_null_handles(void) {
  const int k = make();
  WARNS("null-handle", MPI_Comm_get_attr(MPI_COMM_NULL, k, &value, &flag));
  WARNS("null-handle", MPI_Attr_get(MPI_COMM_NULL, MPI_TAG_UB, &value, &flag));
  WARNS("null-handle", MPI_Comm_set_attr(MPI_COMM_NULL, k, NULL));
  WARNS("null-handle", MPI_Comm_delete_attr(MPI_COMM_NULL, k));
  drop(k);
}

/* ---- Attributes ---- */

PLACE void set_on_freed(void) {
  const int k = make();
  MPI_Comm_set_attr(comm, k, NULL);
  drop(k);
  WARNS("set-on-freed", MPI_Comm_set_attr(MPI_COMM_WORLD, k, NULL));
  MPI_Comm_delete_attr(MPI_COMM_WORLD, k);
  MPI_Comm_delete_attr(comm, k);
}

PLACE void delete_absent(void) {
  const int k = make();
  MPI_Comm_set_attr(comm, k, NULL);
  for (volatile int i = 0; i < 3; ++i) MPI_Comm_delete_attr(comm, k);
  EXPECT("delete-absent");
  drop(k);
}

PLACE void* other_thread(void* k) {
  WARNS("wrong-thread", MPI_Comm_set_attr(comm, *(int*)k, NULL));
  return NULL;
}
static void use_wrong_thread(void) {
  const int k = make();
  int level;
  pthread_t thread;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_SERIALIZED) {
    pthread_create(&thread, NULL, other_thread, (void*)&k);
    pthread_join(thread, NULL);
    MPI_Comm_delete_attr(comm, k);
  }
  drop(k);
}

/* ---- Callbacks ---- */

PLACE int copy_without_flag(MPI_Comm c, int k, void* e, void* in, void* out, int* f) {
  (void)c, (void)k, (void)e, (void)in, (void)out, (void)f;
  return MPI_SUCCESS;
}
PLACE int copy_with_odd_flag(MPI_Comm c, int k, void* e, void* in, void* out, int* f) {
  (void)c, (void)k, (void)e;
  *(void**)out = in;
  *f = -1;
  return MPI_SUCCESS;
}
PLACE int copy_without_value(MPI_Comm c, int k, void* e, void* in, void* out, int* f) {
  (void)c, (void)k, (void)e, (void)in, (void)out;
  *f = 1;
  return MPI_SUCCESS;
}
PLACE int copy_an_int(MPI_Comm c, int k, void* e, void* in, void* out, int* f) {
  (void)c, (void)k, (void)e, (void)in;
  *(int*)out = 1234;
  *f = 1;
  return MPI_SUCCESS;
}
PLACE int copy_with_bad_code(MPI_Comm c, int k, void* e, void* in, void* out, int* f) {
  (void)c, (void)k, (void)e, (void)in, (void)out, (void)f;
  return -7;
}
static int added_code; /* in MPICH, larger than MPI_LASTUSEDCODE */
PLACE int copy_with_added_code(MPI_Comm c, int k, void* e, void* in, void* out, int* f) {
  (void)c, (void)k, (void)e, (void)in, (void)out, (void)f;
  return added_code;
}

/* The value that a dup copies, or -1 for none. */
static long copied_by(MPI_Comm_copy_attr_function* copy_fn) {
  long result = -1;
  int k;
  MPI_Comm_create_keyval(copy_fn, nothing, &k, NULL);
  MPI_Comm_set_attr(comm, k, (void*)(intptr_t)55);
  TWICE {
    MPI_Comm dup;
    if (MPI_Comm_dup(comm, &dup) != MPI_SUCCESS) continue;
    MPI_Comm_get_attr(dup, k, &value, &flag);
    result = flag ? (long)(intptr_t)value : -1;
    MPI_Comm_free(&dup);
  }
  MPI_Comm_delete_attr(comm, k);
  drop(k);
  return result;
}
/* The check must not change the outcome. */
static void copy(void) {
  CHECK_EQUAL(copied_by(copy_without_flag), -1);
  expect("flag-not-set", "copy_without_flag");
  CHECK_EQUAL(copied_by(copy_with_odd_flag), 55);
  expect("flag-odd", "copy_with_odd_flag");
  CHECK_EQUAL(copied_by(copy_without_value), 0);
  expect("value-not-set", "copy_without_value");
  CHECK_EQUAL(copied_by(copy_with_bad_code), -1);
  expect("callback-code", "copy_with_bad_code");
  MPI_Add_error_class(&added_code);
  MPI_Add_error_code(added_code, &added_code);
  CHECK_EQUAL(copied_by(copy_with_added_code), -1);
  CHECK_EQUAL(copied_by(copy_an_int), 1234);
  CHECK_EQUAL(copied_by(MPI_COMM_DUP_FN), 55);
  CHECK_EQUAL(copied_by(MPI_COMM_NULL_COPY_FN), -1);
}

/* ---- The end ---- */

PLACE void leave_keyvals(void) {
  int k;
  WARNS("keyval-not-freed", MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, nothing, &k, NULL));
  WARNS("keyval-not-freed",
        MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &k, NULL));
}

PLACE void leave_attributes(void) {
  int k;
  MPI_Comm dup;
  MPI_Datatype left;
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, nothing, &k, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_set_attr(dup, k, NULL);
  MPI_Comm_free_keyval(&k);
  EXPECT("attributes-left");
  MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &k, NULL);
  MPI_Type_contiguous(2, MPI_INT, &left);
  MPI_Type_set_attr(left, k, NULL);
  MPI_Type_free_keyval(&k);
  EXPECT("attributes-left");
}

/* ---- Correct code ---- */

/* Two attributes delete each other, as PETSc's do. */
static int pair_keys[2];
PLACE int delete_partner(MPI_Comm c, int k, void* v, void* e) {
  (void)v, (void)e;
  return MPI_Comm_delete_attr(c, pair_keys[k == pair_keys[0]]);
}

static void do_right(void) {
  int k;
  MPI_Comm dup;
  MPI_Comm_get_attr(comm, MPI_TAG_UB, &value, &flag);
  CHECK(flag);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag); /* it may be absent */
  if (win != MPI_WIN_NULL) {
    MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag);
    CHECK(flag);
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  for (int i = 0; i < 2; ++i) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_partner, &pair_keys[i], NULL);
    MPI_Comm_set_attr(dup, pair_keys[i], NULL);
  }
  MPI_Comm_delete_attr(dup, pair_keys[0]);
  MPI_Comm_free(&dup);
  drop(pair_keys[0]);
  drop(pair_keys[1]);
  /* MPI_INT can't be freed. */
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &k, NULL);
  MPI_Type_set_attr(MPI_INT, k, NULL);
  MPI_Type_set_attr(MPI_DOUBLE_INT, k, NULL);
  MPI_Type_free_keyval(&k);
}

PLACE void call_outside_init_finalize(void) {
  int k;
  EXPECT("outside-init-finalize");
  fflush(stdout);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, nothing, &k, NULL);
}

PLACE void get_outside_init_finalize(void) {
  EXPECT("outside-init-finalize");
  fflush(stdout);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
}

/* Several threads come to the same places at once. */
static int stale_for_threads;
static pthread_barrier_t together;
PLACE void* use_stale_too(void* unused) {
  pthread_barrier_wait(&together);
  for (volatile int i = 0; i < 200; ++i) {
    void* got;
    int there;
    MPI_Comm_get_attr(comm, stale_for_threads, &got, &there);
    MPI_Comm_set_attr(comm, stale_for_threads, NULL);
  }
  return unused;
}
static void use_in_threads(void) {
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  stale_for_threads = make();
  drop(stale_for_threads);
  pthread_barrier_init(&together, NULL, THREADS);
  for (int t = 0; t < THREADS; ++t) pthread_create(&threads[t], NULL, use_stale_too, NULL);
  for (int t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL);
  expect("stale-keyval", "use_stale_too");
  expect("stale-keyval", "use_stale_too");
}

static int nested;
PLACE int free_what_is_freed(MPI_Comm c, int k, void* v, void* e) {
  (void)k, (void)v, (void)e;
  return nested++ == 0 ? MPI_Comm_free(&c) : MPI_SUCCESS;
}
static void free_nested(void) {
  int k;
  MPI_Comm dup;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_what_is_freed, &k, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_set_attr(dup, k, NULL);
  drop(k);
  expect("freed-in-its-delete", "free_what_is_freed");
  fflush(stdout);
  MPI_Comm_free(&dup);
}

/* MPI makes the keyvals that attrcache has no numbers for. They all work. */
static void make_many(int keyvals[], int count) {
  for (int i = 0; i < count; ++i) keyvals[i] = make();
}
static void exhaust_keyvals(void) {
  enum { MOST = 131008, MORE = 3 };
  int* const keyvals = malloc((MOST + MORE) * sizeof *keyvals);
  MPI_Comm dup;
  make_many(keyvals, MOST + MORE);
  expect("keyvals-exhausted", "make");
  for (int i = MOST - 1; i < MOST + MORE; ++i) {
    CHECK_EQUAL(MPI_Comm_set_attr(comm, keyvals[i], &keyvals[i]), MPI_SUCCESS);
    MPI_Comm_get_attr(comm, keyvals[i], &value, &flag);
    CHECK(flag && value == &keyvals[i]);
  }
  CHECK_EQUAL(MPI_Comm_dup(comm, &dup), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Comm_free(&dup), MPI_SUCCESS);
  for (int i = MOST - 1; i < MOST + MORE; ++i)
    CHECK_EQUAL(MPI_Comm_delete_attr(comm, keyvals[i]), MPI_SUCCESS);
  for (int i = 0; i < MOST + MORE; ++i) CHECK_EQUAL(MPI_Comm_free_keyval(&keyvals[i]), MPI_SUCCESS);
  free(keyvals);
}

/* To name a line takes processes. The program hears nothing of these, whatever SIGCHLD is to it. */
static volatile sig_atomic_t children_ended;
static void count_child(int number) { children_ended += number == SIGCHLD; }

int main(int argc, char** argv) {
  static int memory[2];
  const char* what = argc > 1 ? argv[1] : "";
  int status;
  int level;
  if (strstr(what, "early") != NULL) {
    silent = dlsym(RTLD_DEFAULT, "PMPI_Session_init") != NULL;
    check_report();
    strcmp(what, "early") == 0 ? call_outside_init_finalize() : get_outside_init_finalize();
  }
  MPI_Init_thread(&argc, &argv,
                  strcmp(what, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  check_begin();
  signal(SIGCHLD, strcmp(what, "threads") == 0 ? SIG_IGN : count_child);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Type_contiguous(2, MPI_INT, &type);
  /* Open MPI's one-sided components may not do threads. */
  win = MPI_WIN_NULL;
  if (level < MPI_THREAD_MULTIPLE) {
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  }
  do_right();
  if (*what == '\0') {
    use_invalid();
    use_stale();
    set_if_absent();
    free_twice();
    use_wrong_kind();
    change_predefined();
    ask_one_without();
    use_null_handles();
    set_on_freed();
    delete_absent();
    use_wrong_thread();
    copy();
    leave_keyvals();
    leave_attributes();
  }
  if (strcmp(what, "exhaust") == 0) exhaust_keyvals();
  if (strcmp(what, "threads") == 0 && level == MPI_THREAD_MULTIPLE) use_in_threads();
  if (win != MPI_WIN_NULL) MPI_Win_free(&win);
  MPI_Type_free(&type);
  MPI_Comm_free(&comm);
  CHECK(children_ended == 0);
  status = check_report();
  if (strcmp(what, "nested") == 0) free_nested();
  MPI_Finalize();
  if (strcmp(what, "late") == 0) call_outside_init_finalize();
  if (strcmp(what, "get_late") == 0) get_outside_init_finalize();
  return status;
}
