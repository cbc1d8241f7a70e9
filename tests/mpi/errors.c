/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Bad arguments: the error class, and which error handler hears of it. Open MPI gives MPI_ERR_OTHER
 * for a keyval that can't be used, and by itself takes one kind's keyval for another's in a get.
 */
#include "check.h"
#include "peer.h"

#define BAD_KEYVAL (ON_OPENMPI ? MPI_ERR_OTHER : MPI_ERR_KEYVAL)

static char heard[64];

static void on_error(MPI_Comm* comm, int* code, ...) {
  int result;
  const char* name = "other";
  if (*comm != MPI_COMM_NULL) {
    MPI_Comm_compare(*comm, MPI_COMM_WORLD, &result);
    if (result == MPI_IDENT) name = "world";
  }
  snprintf(heard, sizeof heard, "%s %d", name, class_of(*code));
}
static void on_win_error(MPI_Win* win, int* code, ...) {
  (void)win;
  snprintf(heard, sizeof heard, "win %d", class_of(*code));
}

/* The call must fail with `error`, and `where`'s handler hear it. */
static void fails(int result, const char* where, int error, int line) {
  char expected[64];
  snprintf(expected, sizeof expected, "%s %d", where, error);
  const int lost = class_of(result) != error && peer_loses_codes();
  ++check_count;
  /* The right handler may have been told another number. */
  const int told = strcmp(heard, expected) == 0 ||
                   (strncmp(heard, where, strlen(where)) == 0 && peer_mistells_handlers(error));
  if ((class_of(result) != error && !lost) || !told) {
    ++check_failures;
    printf("rank %d: FAILED line %d: class %d (not %d), heard \"%s\" (not \"%s\")\n", check_rank,
           line, class_of(result), error, heard, expected);
  }
  heard[0] = '\0';
}
#define FAILS(call, where, error) fails((call), (where), (error), __LINE__)

/* The call must fail, whatever the class and whoever's handler hears it. */
#define REFUSED(call)           \
  do {                          \
    CHECK(peer_failed((call))); \
    CHECK(heard[0] != '\0');    \
    heard[0] = '\0';            \
  } while (0)

static int del(MPI_Comm c, int k, void* value, void* e) {
  (void)c, (void)k, (void)value, (void)e;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  const int strict = served() || !ON_OPENMPI;
  MPI_Errhandler handler;
  MPI_Errhandler win_handler;
  MPI_Comm comm;
  MPI_Datatype type;
  MPI_Win win;
  static int memory[2];
  void* value;
  int flag;
  int k;
  int stale;
  int type_key;
  int win_key;
  int bad;
  int status;
  MPI_Init(&argc, &argv);
  check_begin();
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Win_create_errhandler(on_win_error, &win_handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, win_handler);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, del, &k, NULL);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &win_key, NULL);

  /* MPI_KEYVAL_INVALID */
  FAILS(MPI_Comm_get_attr(comm, MPI_KEYVAL_INVALID, &value, &flag), "other", MPI_ERR_KEYVAL);
  if (strict) {
    bad = MPI_KEYVAL_INVALID;
    if (!ON_OPENMPI) FAILS(MPI_Comm_free_keyval(&bad), "world", MPI_ERR_KEYVAL);
  }

  /* a keyval freed and gone, which an MPI by itself takes for the one that has its number now */
  if (served()) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &stale, NULL);
    bad = stale;
    MPI_Comm_free_keyval(&bad);
    FAILS(MPI_Comm_get_attr(comm, stale, &value, &flag), "other", BAD_KEYVAL);
    FAILS(MPI_Comm_set_attr(comm, stale, NULL), "other", BAD_KEYVAL);
    FAILS(MPI_Comm_delete_attr(comm, stale), "other", BAD_KEYVAL);
    bad = stale;
    FAILS(MPI_Comm_free_keyval(&bad), "world", BAD_KEYVAL);
    CHECK_EQUAL(bad, stale);
  }

  if (strict) { /* of another kind */
    FAILS(MPI_Comm_get_attr(comm, type_key, &value, &flag), "other", BAD_KEYVAL);
    FAILS(MPI_Comm_set_attr(comm, win_key, NULL), "other", BAD_KEYVAL);
    FAILS(MPI_Type_get_attr(type, k, &value, &flag), "world", BAD_KEYVAL);
    FAILS(MPI_Type_delete_attr(type, k), "world", BAD_KEYVAL);
    FAILS(MPI_Win_set_attr(win, k, NULL), "win", BAD_KEYVAL);
    bad = k;
    FAILS(MPI_Type_free_keyval(&bad), "world", BAD_KEYVAL);
    CHECK_EQUAL(bad, k);
    /* never handed out, by anybody */
    if (!ON_OPENMPI) FAILS(MPI_Comm_get_attr(comm, 12345, &value, &flag), "other", BAD_KEYVAL);
    FAILS(MPI_Comm_get_attr(comm, 0x4000fff0, &value, &flag), "other", BAD_KEYVAL);
    FAILS(MPI_Win_get_attr(win, 0x5ffffff2, &value, &flag), "win", BAD_KEYVAL);
  }

  /* null pointers */
  FAILS(MPI_Comm_get_attr(comm, k, NULL, &flag), "other", MPI_ERR_ARG);
  FAILS(MPI_Comm_get_attr(comm, k, &value, NULL), "other", MPI_ERR_ARG);
  FAILS(MPI_Type_get_attr(type, type_key, NULL, &flag), "world", MPI_ERR_ARG);
  FAILS(MPI_Win_get_attr(win, win_key, &value, NULL), "win", MPI_ERR_ARG);
  FAILS(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, del, NULL, NULL), "world", MPI_ERR_ARG);
  FAILS(MPI_Comm_free_keyval(NULL), "world", MPI_ERR_ARG);

  /* null handles */
  FAILS(MPI_Comm_get_attr(MPI_COMM_NULL, k, &value, &flag), "world", MPI_ERR_COMM);
  FAILS(MPI_Comm_set_attr(MPI_COMM_NULL, k, NULL), "world", MPI_ERR_COMM);
  FAILS(MPI_Comm_delete_attr(MPI_COMM_NULL, k), "world", MPI_ERR_COMM);
  FAILS(MPI_Type_get_attr(MPI_DATATYPE_NULL, type_key, &value, &flag), "world", MPI_ERR_TYPE);
  FAILS(MPI_Type_set_attr(MPI_DATATYPE_NULL, type_key, NULL), "world", MPI_ERR_TYPE);
  FAILS(MPI_Win_get_attr(MPI_WIN_NULL, win_key, &value, &flag), "world", MPI_ERR_WIN);
  FAILS(MPI_Win_delete_attr(MPI_WIN_NULL, win_key), "world", MPI_ERR_WIN);

  /* a freed handle, where the MPI can tell */
  if (!ON_OPENMPI) {
    MPI_Comm freed;
    MPI_Comm saved;
    MPI_Comm_dup(comm, &freed);
    MPI_Comm_set_attr(freed, k, NULL);
    saved = freed;
    MPI_Comm_free(&freed);
    FAILS(MPI_Comm_get_attr(saved, k, &value, &flag), "world", MPI_ERR_COMM);
    FAILS(MPI_Comm_set_attr(saved, k, NULL), "world", MPI_ERR_COMM);
  }

  /* predefined attributes are nobody's to change */
  bad = MPI_TAG_UB;
  REFUSED(MPI_Comm_set_attr(comm, MPI_TAG_UB, NULL));
  REFUSED(MPI_Comm_delete_attr(comm, MPI_TAG_UB));
  REFUSED(MPI_Comm_free_keyval(&bad));
  REFUSED(MPI_Win_set_attr(win, MPI_WIN_BASE, NULL));

  /* after all this, everything works */
  CHECK_EQUAL(MPI_Comm_set_attr(comm, k, &flag), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Comm_get_attr(comm, k, &value, &flag), MPI_SUCCESS);
  CHECK(flag && value == &flag);

  MPI_Win_free(&win);
  MPI_Type_free(&type);
  MPI_Comm_free(&comm);
  MPI_Comm_free_keyval(&k);
  MPI_Type_free_keyval(&type_key);
  MPI_Win_free_keyval(&win_key);
  status = check_report();
  MPI_Finalize();
  return status;
}
