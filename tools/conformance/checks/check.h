/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The code that checks share. This file isn't included: the tool copies from it the blocks that a
 * check uses (a block ends at an empty line), so that a reproducer holds nothing else. In blocks
 * and checks, Xxx, XXX and xxx stand for each kind of object: MPI_Xxx_set_attr is
 * MPI_Comm_set_attr, MPI_Type_set_attr and MPI_Win_set_attr.
 */

#define _GNU_SOURCE 1
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 4
#include <pthread.h>
#include <sched.h>
#include <time.h>

static int failures, skipped, rank, ranks = 1;

/* Writes the line whole and at once, so that a later crash can't swallow it. */
static void fail(int line, const char* expected, const char* format, ...) {
  char seen[500];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(seen, sizeof seen, format, arguments);
  va_end(arguments);
  if (__sync_fetch_and_add(&failures, 1) >= 5) return;
  dprintf(1, "FAILED at line %d: expected %s; seen %s\n", line, expected, seen);
}

/* A program that hangs or crashes says so. */
static void ends_badly(int signal_number) {
  fail(0, "that the program ends",
       signal_number == SIGALRM ? "that it hangs" : "that it crashes, by signal %d", signal_number);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}
static void catch_signals(void) {
  signal(SIGALRM, ends_badly);
  signal(SIGSEGV, ends_badly);
  signal(SIGBUS, ends_badly);
  signal(SIGABRT, ends_badly);
}

static void set_up(void) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

/* The verdict, unless the check can't be made here. */
static void tell_verdict(void) {
  if (skipped) return;
  dprintf(1, "rank %d of %d: %s\n", rank, ranks, failures ? "failed" : "passed");
}

/* EXPECT(condition, "what is expected", "what was seen, as for printf", ...) */
#define EXPECT(condition, expected, ...)                     \
  do {                                                       \
    if (!(condition)) fail(__LINE__, expected, __VA_ARGS__); \
  } while (0)

#define EXPECT_EQ(actual, wanted) \
  EXPECT((long)(actual) == (long)(wanted), "that " #actual " is " #wanted, "%ld", (long)(actual))

/* A call of MPI that must succeed. */
#define CALL(call) expect_success(__LINE__, "MPI_SUCCESS of " #call, call)
static void expect_success(int line, const char* expected, int code) {
  char message[MPI_MAX_ERROR_STRING + 1] = "";
  int length;
  if (code == MPI_SUCCESS) return;
  MPI_Error_string(code, message, &length);
  message[strcspn(message, "\n")] = '\0';
  fail(line, expected, "error %d (%.200s)", code, message);
}

/* A call of MPI that must fail. */
#define FAILS(call) EXPECT((call) != MPI_SUCCESS, "an error of " #call, "MPI_SUCCESS")

/* What this MPI does where the standard leaves it open. */
#define OPEN(format, ...) \
  dprintf(1, "rank %d of %d: open: " format "\n", rank, ranks, ##__VA_ARGS__)

/* Why a check can't run on this MPI, or with this number of ranks. Return after it. */
#define NOT_APPLICABLE(reason)                                              \
  do {                                                                      \
    dprintf(1, "rank %d of %d: not applicable: %s\n", rank, ranks, reason); \
    skipped = 1;                                                            \
  } while (0)

/* What callbacks did, as text: "delete 3;delete 2;". */
static char notes[4000];
static void note(const char* format, ...) {
  const size_t used = strlen(notes);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(notes + used, sizeof notes - used, format, arguments);
  va_end(arguments);
}

#define EXPECT_NOTES(wanted)                                                                \
  do {                                                                                      \
    EXPECT(strcmp(notes, wanted) == 0, "these callbacks: \"" wanted "\"", "\"%s\"", notes); \
    notes[0] = '\0';                                                                        \
  } while (0)

/* The result of a call: its error class by name, or success. */
static const char* outcome(int code) {
  static char text[100];
  int c = -1;
  if (code == MPI_SUCCESS) return "succeeds";
  if (MPI_Error_class(code, &c) != MPI_SUCCESS) return "returns no valid error code";
  if (c == MPI_ERR_KEYVAL) return "returns MPI_ERR_KEYVAL";
  if (c == MPI_ERR_ARG) return "returns MPI_ERR_ARG";
  if (c == MPI_ERR_OTHER) return "returns MPI_ERR_OTHER";
  if (c == MPI_ERR_INTERN) return "returns MPI_ERR_INTERN";
  if (c == MPI_ERR_COMM) return "returns MPI_ERR_COMM";
  snprintf(text, sizeof text, "returns an error of class %d", c);
  return text;
}

/* What is proposed, where an MPI has it, by kinds: comm type win. */
int MPIX_Xxx_create_keyval_x(MPI_Xxx_copy_attr_function* copy, MPI_Xxx_delete_attr_function* del,
                             void (*destructor)(void*), int* keyval, void* extra_state)
    __attribute__((weak));
int MPIX_Xxx_create_keyval_once(MPI_Xxx_copy_attr_function* copy, MPI_Xxx_delete_attr_function* del,
                                void (*destructor)(void*), int* keyval, void* extra_state)
    __attribute__((weak));

int MPIX_Xxx_set_attr_if_absent(MPI_Xxx object, int keyval, void* value, void* present, int* flag)
    __attribute__((weak));

/* Of other kinds: session file. */
int MPIX_Xxx_create_keyval(int (*del)(MPI_Xxx, int, void*, void*), int* keyval, void* extra_state)
    __attribute__((weak));
int MPIX_Xxx_create_keyval_once(int (*del)(MPI_Xxx, int, void*, void*), void (*destructor)(void*),
                                int* keyval, void* extra_state) __attribute__((weak));
int MPIX_Xxx_free_keyval(int* keyval) __attribute__((weak));
int MPIX_Xxx_set_attr(MPI_Xxx object, int keyval, void* value) __attribute__((weak));
int MPIX_Xxx_get_attr(MPI_Xxx object, int keyval, void* value, int* flag) __attribute__((weak));
int MPIX_Xxx_delete_attr(MPI_Xxx object, int keyval) __attribute__((weak));

/* A new object to hang attributes on. */
static MPI_Comm new_comm(void) {
  MPI_Comm comm = MPI_COMM_NULL;
  CALL(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  CALL(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  return comm;
}

static MPI_Datatype new_type(void) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  CALL(MPI_Type_contiguous(2, MPI_INT, &type));
  return type;
}

static MPI_Session new_session(void) {
  MPI_Session session = MPI_SESSION_NULL;
  CALL(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  CALL(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN));
  return session;
}
static int finish_session(MPI_Session* session) { return MPI_Session_finalize(session); }
/* A session outlives MPI_Finalize. A program that ends without finalizing it isn't correct: MPICH's
 * launcher then takes the process for crashed, and its last output may be lost. */
static int outlived_session(MPI_Session* session) { return MPI_Session_finalize(session); }

static MPI_File new_file(void) {
  static int count;
  char name[200];
  MPI_File file = MPI_FILE_NULL;
  const char* folder = getenv("TMPDIR");
  snprintf(name, sizeof name, "%s/file-%ld-%d", folder ? folder : "/tmp", (long)getpid(), count++);
  CALL(MPI_File_open(MPI_COMM_SELF, name,
                     MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &file));
  return file;
}
static int finish_file(MPI_File* file) { return MPI_File_close(file); }
static int outlived_file(MPI_File* file) {
  (void)file; /* MPI_Finalize ended it */
  return MPI_SUCCESS;
}

/* A session's communicator of this process alone; the session is made, too. */
static MPI_Comm session_comm(MPI_Session* session) {
  MPI_Group group;
  MPI_Comm comm = MPI_COMM_NULL;
  CALL(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session));
  CALL(MPI_Group_from_session_pset(*session, "mpi://SELF", &group));
  CALL(MPI_Comm_create_from_group(group, "check", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  CALL(MPI_Group_free(&group));
  return comm;
}

/* If there are no windows here, the check ends. */
static int window_memory[4];
static MPI_Win new_win(void) {
  MPI_Win win = MPI_WIN_NULL;
  if (MPI_Win_create(window_memory, sizeof window_memory, sizeof(int), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &win) != MPI_SUCCESS) {
    NOT_APPLICABLE("MPI_Win_create fails");
    MPI_Finalize();
    exit(0);
  }
  CALL(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  return win;
}

/* The value that is attached, or -1 if none is. */
#define ABSENT (-1)

static long get_xxx(MPI_Xxx object, int keyval) {
  void* value = NULL;
  int flag = -1;
  CALL(MPI_Xxx_get_attr(object, keyval, &value, &flag));
  return flag ? (long)value : ABSENT;
}

/* Callbacks that note their value. What is copied is the value + 100; that of 13 is not copied. */
static int copy_xxx(MPI_Xxx object, int keyval, void* extra_state, void* in, void* out, int* flag) {
  note("copy %ld;", (long)in);
  *flag = (long)in != 13;
  if (*flag) *(void**)out = (void*)((long)in + 100);
  return MPI_SUCCESS;
}

static int refuse_copy_xxx(MPI_Xxx object, int keyval, void* extra_state, void* in, void* out,
                           int* flag) {
  *flag = 0;
  return MPI_ERR_OTHER;
}

/* What a copy callback returns that copies the value as it is. */
static int copied_as_is(void* in, void* out, int* flag) {
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete_xxx(MPI_Xxx object, int keyval, void* value, void* extra_state) {
  note("delete %ld;", (long)value);
  return MPI_SUCCESS;
}

static int delete_failing_xxx(MPI_Xxx object, int keyval, void* value, void* extra_state) {
  note("fail %ld;", (long)value);
  return MPI_ERR_OTHER;
}

/* Destructors of extra_state. */
static void note_end(void* extra_state) { note("end %ld;", (long)extra_state); }

static void use_variable(void* keyval) {
  note("end %s;", *(int*)keyval == MPI_KEYVAL_INVALID ? "invalid" : "valid");
  *(int*)keyval = 7; /* as if its memory were freed, and another's */
}

/* Whether callbacks that fail do so. */
static int refusing = 1;

/* A delete callback that fails for the value 13 as long as refusing is true. */
static int refuse_xxx(MPI_Xxx object, int keyval, void* value, void* extra_state) {
  note("delete %ld;", (long)value);
  return (long)value == 13 && refusing ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int keyval_xxx(MPI_Xxx_copy_attr_function* copy, MPI_Xxx_delete_attr_function* del) {
  int keyval = MPI_KEYVAL_INVALID;
  CALL(MPI_Xxx_create_keyval(copy, del, &keyval, NULL));
  return keyval;
}

/* The value of a predefined attribute, or NULL if there is none. */
static int* predefined(MPI_Comm comm, int keyval) {
  int flag = 0, *value = NULL;
  CALL(MPI_Comm_get_attr(comm, keyval, &value, &flag));
  return flag ? value : NULL;
}

/* The object has an attribute; so has its duplicate. Both are freed. */
static void use_once_xxx(MPI_Xxx object) { /* kinds: comm type */
  MPI_Xxx duplicate;
  int keyval = keyval_xxx(copy_xxx, delete_xxx);
  EXPECT_EQ(get_xxx(object, keyval), ABSENT);
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)1));
  EXPECT_EQ(get_xxx(object, keyval), 1);
  CALL(MPI_Xxx_dup(object, &duplicate));
  EXPECT_EQ(get_xxx(duplicate, keyval), 101);
  CALL(MPI_Xxx_free(&duplicate));
  CALL(MPI_Xxx_free(&object));
  EXPECT_NOTES("copy 1;delete 101;delete 1;");
  CALL(MPI_Xxx_free_keyval(&keyval));
}

/* A session with attributes, from its beginning to its end. */
static void one_session(void) {
  MPI_Session session;
  MPI_Comm comm = session_comm(&session);
  const int* tag_ub = predefined(comm, MPI_TAG_UB);
  EXPECT(tag_ub != NULL && *tag_ub >= 32767, "MPI_TAG_UB, at least 32767", "another, or none");
  use_once_comm(comm);
  use_once_type(new_type());
  CALL(MPI_Session_finalize(&session));
}

/* A key with that delete callback; and one whose callback runs once, even if it fails.
 * (kinds: comm win type) */
static int deleting_xxx(int (*del)(MPI_Xxx, int, void*, void*)) {
  return keyval_xxx(MPI_XXX_NULL_COPY_FN, del);
}
static void once_xxx(int (*del)(MPI_Xxx, int, void*, void*), void (*destructor)(void*), int* keyval,
                     void* extra_state) {
  CALL(MPIX_Xxx_create_keyval_once(MPI_XXX_NULL_COPY_FN, del ? del : MPI_XXX_NULL_DELETE_FN,
                                   destructor, keyval, extra_state));
}

/* A key with that delete callback; and one whose callback runs once, even if it fails.
 * (kinds: session file) */
static int deleting_xxx(int (*del)(MPI_Xxx, int, void*, void*)) {
  int keyval = MPI_KEYVAL_INVALID;
  CALL(MPIX_Xxx_create_keyval(del, &keyval, NULL));
  return keyval;
}
static void once_xxx(int (*del)(MPI_Xxx, int, void*, void*), void (*destructor)(void*), int* keyval,
                     void* extra_state) {
  CALL(MPIX_Xxx_create_keyval_once(del, destructor, keyval, extra_state));
}

/* A new object with three attributes, of which the one with that index refuses to be deleted. */
static MPI_Xxx refusing_xxx(int index) {
  MPI_Xxx object = new_xxx();
  int i;
  for (i = 0; i < 3; ++i) {
    int keyval = keyval_xxx(MPI_XXX_NULL_COPY_FN, refuse_xxx);
    CALL(MPI_Xxx_set_attr(object, keyval, (void*)(i == index ? 13L : i)));
  }
  return object;
}

/* Attaches a value to MPI_COMM_SELF, and returns its key. */
static int on_self(MPI_Comm_delete_attr_function* del, long value) {
  int keyval = keyval_comm(MPI_COMM_NULL_COPY_FN, del);
  CALL(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, (void*)value));
  return keyval;
}

/* An error handler of an object, and what it was last called with. */
static int times_handled, code_handled;

static MPI_Xxx handled_xxx;
static void handle_xxx(MPI_Xxx* object, int* code, ...) {
  handled_xxx = *object;
  code_handled = *code;
  ++times_handled;
}
static void handle_errors_of_xxx(MPI_Xxx object) {
  MPI_Errhandler handler;
  CALL(MPI_Xxx_create_errhandler(handle_xxx, &handler));
  CALL(MPI_Xxx_set_errhandler(object, handler));
}

static void expect_handled(int code) {
  EXPECT_EQ(times_handled, code != MPI_SUCCESS);
  if (times_handled > 0) EXPECT_EQ(code_handled, code);
}

/* The code of an error in a call on a datatype. */
static int fail_on_type(void) {
  MPI_Datatype type = new_type();
  int keyval = keyval_type(MPI_TYPE_NULL_COPY_FN, refuse_type), code;
  handle_errors_of_comm(MPI_COMM_SELF);
  handle_errors_of_comm(MPI_COMM_WORLD);
  CALL(MPI_Type_set_attr(type, keyval, (void*)13));
  code = MPI_Type_delete_attr(type, keyval);
  refusing = 0;
  return code;
}

/* What erroneous calls do. */
static void try_xxx(MPI_Xxx object, int keyval) {
  void* value;
  int flag;
  OPEN("get %s", outcome(MPI_Xxx_get_attr(object, keyval, &value, &flag)));
  OPEN("set %s", outcome(MPI_Xxx_set_attr(object, keyval, (void*)1)));
  OPEN("delete %s", outcome(MPI_Xxx_delete_attr(object, keyval)));
}

/* Calls that may be made at no time. */
static int try_to_create(void) {
  int keyval = MPI_KEYVAL_INVALID;
  return MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
}

static int try_to_get(void) {
  void* value;
  int flag = 0;
  return MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
}

/* Attributes with the values 1 to 4, set in another order than their keyvals were created in. */
static void set_four_xxx(MPI_Xxx object) {
  const int order[] = {2, 0, 3, 1};
  int keyvals[4], i;
  for (i = 0; i < 4; ++i) keyvals[i] = keyval_xxx(MPI_XXX_NULL_COPY_FN, delete_xxx);
  for (i = 0; i < 4; ++i) CALL(MPI_Xxx_set_attr(object, keyvals[order[i]], (void*)(long)(i + 1)));
}

/* A communicator with the value 1, which copy_comm copies, and its keyval. */
static int keyval_of_1;
static MPI_Comm comm_with_1(void) {
  MPI_Comm comm = new_comm();
  keyval_of_1 = keyval_comm(copy_comm, delete_comm);
  CALL(MPI_Comm_set_attr(comm, keyval_of_1, (void*)1));
  return comm;
}

/* A duplicate of it, however made, has a copy. Both are freed. */
static void expect_copied(MPI_Comm comm, MPI_Comm duplicate) {
  EXPECT_NOTES("copy 1;");
  EXPECT_EQ(get_comm(duplicate, keyval_of_1), 101);
  CALL(MPI_Comm_free(&duplicate));
  EXPECT_NOTES("delete 101;");
  CALL(MPI_Comm_free(&comm));
}

/* Communicators that are made of another one, or of its group, by anything but duplication. */
enum {
  BY_SPLIT,
  BY_CREATE,
  BY_CART,
  BY_GRAPH,
  BY_DIST_GRAPH,
  BY_DIST_GRAPH_ADJACENT,
  BY_SPLIT_TYPE,
  BY_CREATE_GROUP,
  BY_CREATE_FROM_GROUP
};
static const int constructors =
    MPI_VERSION < 3 ? BY_SPLIT_TYPE : BY_CREATE_FROM_GROUP + (MPI_VERSION > 3);
static MPI_Comm made_by(int constructor, MPI_Comm comm) {
  MPI_Comm made = MPI_COMM_NULL;
  int one[1] = {1}, zero[1] = {0};
  MPI_Group group;
  CALL(MPI_Comm_group(comm, &group));
  switch (constructor) {
    case BY_SPLIT:
      CALL(MPI_Comm_split(comm, 0, 0, &made));
      break;
    case BY_CREATE:
      CALL(MPI_Comm_create(comm, group, &made));
      break;
    case BY_CART:
      CALL(MPI_Cart_create(comm, 1, one, zero, 0, &made));
      break;
    case BY_GRAPH:
      CALL(MPI_Graph_create(comm, 1, zero, zero, 0, &made));
      break;
    case BY_DIST_GRAPH:
      CALL(
          MPI_Dist_graph_create(comm, 1, zero, one, zero, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made));
      break;
    case BY_DIST_GRAPH_ADJACENT:
      CALL(MPI_Dist_graph_create_adjacent(comm, 1, zero, MPI_UNWEIGHTED, 1, zero, MPI_UNWEIGHTED,
                                          MPI_INFO_NULL, 0, &made));
      break;
#if MPI_VERSION >= 3
    case BY_SPLIT_TYPE:
      CALL(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made));
      break;
    case BY_CREATE_GROUP:
      CALL(MPI_Comm_create_group(comm, group, 0, &made));
      break;
#endif
#if MPI_VERSION >= 4
    case BY_CREATE_FROM_GROUP:
      CALL(MPI_Comm_create_from_group(group, "tag", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
      break;
#endif
  }
  CALL(MPI_Group_free(&group));
  return made;
}

static void expect_same_on_all(int mine) {
  int least, greatest;
  CALL(MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
  CALL(MPI_Allreduce(&mine, &greatest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  EXPECT(least == greatest, "the same value on all ranks", "%d to %d", least, greatest);
}

static void expect_window(MPI_Win win, void* memory, MPI_Aint bytes, int its_flavor) {
  void* base = &win;
  MPI_Aint* size = NULL;
  int flag = 0, *flavor = NULL;
  CALL(MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag));
  EXPECT(flag && base == memory, "MPI_WIN_BASE: the base address", "flag %d", flag);
  CALL(MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag));
  EXPECT(flag && *size == bytes, "MPI_WIN_SIZE: the window's bytes", "flag %d", flag);
  CALL(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag));
  EXPECT(flag && *flavor == its_flavor, "its MPI_WIN_CREATE_FLAVOR", "flag %d", flag);
}

/* Fortran's functions (fortran.F90), and how they are called: FORTRAN(call) must succeed. */
void f_xxx_create_keyval(int which, int* keyval, MPI_Aint extra, int* ierror);
void f_xxx_free_keyval(int* keyval, int* ierror);
void f_xxx_set_attr(int handle, int keyval, MPI_Aint value, int* ierror);
void f_xxx_get_attr(int handle, int keyval, MPI_Aint* value, int* flag, int* ierror);
void f_xxx_delete_attr(int handle, int keyval, int* ierror);
void f_xxx_dup(int handle, int* duplicate, int* ierror);
void f_xxx_free(int* handle, int* ierror);

/* Fortran's constants. */
enum { kTagUb, kWinBase, kWinSize, kWinDispUnit, kInvalid };
extern int f_keyvals[];

void f_keyval_create(int which, int* keyval, int extra, int* ierror);
void f_keyval_free(int* keyval, int* ierror);
void f_attr_put(int handle, int keyval, int value, int* ierror);
void f_attr_get(int handle, int keyval, int* value, int* flag, int* ierror);
void f_attr_delete(int handle, int keyval, int* ierror);

void f_without_ierror(int handle, MPI_Aint value, int* keyval, MPI_Aint* seen, int* flag);

/* What Fortran's callbacks were called with. */
extern struct {
  int copies, deletes, handle, keyval;
  MPI_Aint value, extra;
} f_seen;

#define FORTRAN(call)                                          \
  do {                                                         \
    call;                                                      \
    expect_success(__LINE__, "MPI_SUCCESS of " #call, ierror); \
  } while (0)

/* The value that Fortran reads, or -1 if none is attached. */
static MPI_Aint f_read_xxx(int handle, int keyval) {
  MPI_Aint value = 0;
  int flag, ierror;
  FORTRAN(f_xxx_get_attr(handle, keyval, &value, &flag, &ierror));
  return flag ? value : ABSENT;
}

/* Checks how often Fortran's callbacks were called, and their last arguments. */
static void expect_seen(int line, int copies, int deletes, int handle, int keyval, long value) {
  char expected[200];
  snprintf(expected, sizeof expected,
           "%d copy and %d delete callbacks, the last for handle %d, key %d, value %ld", copies,
           deletes, handle, keyval, value);
  if (f_seen.copies != copies || f_seen.deletes != deletes || f_seen.handle != handle ||
      f_seen.keyval != keyval || f_seen.value != value) {
    fail(line, expected, "%d and %d, handle %d, key %d, value %ld", f_seen.copies, f_seen.deletes,
         f_seen.handle, f_seen.keyval, (long)f_seen.value);
  }
}

/* The delete callback of C++. */
template <class Object>
static int cxx_delete(Object& object, int keyval, void* value, void* extra_state) {
  note("C++ delete %ld;", (long)value);
  return MPI_SUCCESS;
}
