/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the attribute functions of an MPI cost, in instructions. Each operation runs in a loop,
 * which valgrind's callgrind counts, the loop's own instructions included:
 *
 *   valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file=FILE operations single|multiple
 *
 * It writes FILE.1, FILE.2, ...: for each operation the counts of a short loop and of a longer one.
 * Their difference leaves out one-time work. tests/runtimes/count makes a table of them.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

enum { SHORT = 100, LONG = 600, MANY = 16, SOME = 8 };

static MPI_Comm comm;
static MPI_Datatype type;
static int keyvals[MANY], type_keyvals[SOME], absent;
static long sum;

static void need(int condition, const char* what) {
  if (condition) return;
  printf("FAILED: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void get(int keyval, int times) {
  void* value = NULL;
  int flag = 0;
  for (int i = 0; i < times; i++) {
    MPI_Comm_get_attr(comm, keyval, &value, &flag);
    sum += flag;
  }
}

static void get_oldest(int times) { get(keyvals[0], times); }
static void get_newest(int times) { get(keyvals[MANY - 1], times); }
static void get_absent(int times) { get(absent, times); }
static void get_tag_ub(int times) { get(MPI_TAG_UB, times); }

static void set(int times) {
  for (int i = 0; i < times; i++) MPI_Comm_set_attr(comm, keyvals[0], &sum);
}

static void set_delete(int times) {
  for (int i = 0; i < times; i++) {
    MPI_Comm_set_attr(comm, absent, &sum);
    MPI_Comm_delete_attr(comm, absent);
  }
}

static void create_free(int times) {
  for (int i = 0; i < times; i++) {
    int keyval;
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_free_keyval(&keyval);
  }
}

static void dup_free(int times) {
  for (int i = 0; i < times; i++) {
    MPI_Comm copy;
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_free(&copy);
  }
}

static void type_dup_free(int times) {
  for (int i = 0; i < times; i++) {
    MPI_Datatype copy;
    MPI_Type_dup(type, &copy);
    MPI_Type_free(&copy);
  }
}

static void count(const char* name, void (*operation)(int)) {
  char label[64];
  operation(20); /* does all one-time work */
  CALLGRIND_START_INSTRUMENTATION;
  operation(20);
  for (int i = 0; i < 2; i++) {
    CALLGRIND_ZERO_STATS;
    operation(i == 0 ? SHORT : LONG);
    snprintf(label, sizeof label, "%s %d", name, i == 0 ? SHORT : LONG);
    CALLGRIND_DUMP_STATS_AT(label);
  }
  CALLGRIND_STOP_INSTRUMENTATION;
}

static void attach(int first, int last) {
  for (int i = first; i < last; i++) {
    need(MPI_Comm_set_attr(comm, keyvals[i], &keyvals[i]) == MPI_SUCCESS, "set");
  }
}

int main(int argc, char** argv) {
  const int level =
      argc > 1 && strcmp(argv[1], "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  int provided;
  MPI_Init_thread(&argc, &argv, level, &provided);
  need(level == MPI_THREAD_SINGLE || provided == level, "threads");
  /* Not a predefined communicator, because libraries use their own. */
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Type_contiguous(3, MPI_INT, &type);
  for (int i = 0; i < MANY; i++) {
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyvals[i], NULL);
  }
  for (int i = 0; i < SOME; i++) {
    MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &type_keyvals[i], NULL);
  }
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &absent, NULL);

  count("communicator_dup_free", dup_free);
  count("type_dup_free", type_dup_free);
  attach(0, 1);
  count("get_only", get_oldest);
  count("get_absent_beside_1", get_absent);
  count("get_tag_ub", get_tag_ub);
  count("set_beside_1", set);
  /* Before `absent` was ever attached: that keyval's slot is far from those of the eight. */
  attach(1, SOME);
  count("communicator_dup_free_8", dup_free);
  for (int i = 1; i < SOME; i++) MPI_Comm_delete_attr(comm, keyvals[i]);
  count("set_delete_beside_1", set_delete);
  attach(1, MANY);
  count("get_oldest_of_16", get_oldest);
  count("get_newest_of_16", get_newest);
  count("get_absent_beside_16", get_absent);
  count("set_beside_16", set);
  count("set_delete_beside_16", set_delete);
  for (int i = 0; i < SOME; i++) MPI_Type_set_attr(type, type_keyvals[i], &sum);
  count("type_dup_free_8", type_dup_free);
  count("keyval_create_free", create_free);

  need(sum >= 0, "sum");
  MPI_Type_free(&type);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
