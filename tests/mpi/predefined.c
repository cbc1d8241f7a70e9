/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The predefined attributes of many communicators, each asked often: to be compared with what they
 * are natively. Where they are absent, MPI_LASTUSEDCODE as it grows, and errors included.
 */
#include "check.h"

static int me;
static char report[16384];
static size_t used;

static int errors;
static void count_error(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++errors;
}

/* Says what each attribute is, and again whenever it is something else than the last time. */
static void show(int where, const char* what, MPI_Comm comm, int round) {
  static const struct {
    const char* name;
    int keyval;
  } keyvals[] = {{"TAG_UB", MPI_TAG_UB},
                 {"HOST", MPI_HOST},
                 {"IO", MPI_IO},
                 {"WTIME_IS_GLOBAL", MPI_WTIME_IS_GLOBAL},
                 {"UNIVERSE_SIZE", MPI_UNIVERSE_SIZE},
                 {"APPNUM", MPI_APPNUM},
                 {"LASTUSEDCODE", MPI_LASTUSEDCODE}};
  static char last[8][7][2][64];
  size_t i;
  for (i = 0; i < sizeof keyvals / sizeof *keyvals; ++i) {
    char now[64];
    int* value = NULL;
    int flag = -1;
    const int errors_before = errors;
    const int mpi1 = round % 2;
    const int code = mpi1 ? MPI_Attr_get(comm, keyvals[i].keyval, &value, &flag)
                          : MPI_Comm_get_attr(comm, keyvals[i].keyval, &value, &flag);
    snprintf(now, sizeof now, "%d %d %d, %d errors", class_of(code), flag, flag == 1 ? *value : -1,
             errors - errors_before);
    if (strcmp(now, last[where][i][mpi1]) == 0) continue;
    strcpy(last[where][i][mpi1], now);
    used += (size_t)snprintf(report + used, sizeof report - used, "rank %d: %s %s round %d: %s\n",
                             me, what, keyvals[i].name, round, now);
  }
}

int main(int argc, char** argv) {
  MPI_Comm dup;
  MPI_Comm split;
  MPI_Errhandler handler;
  int round;
  int k;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_create_errhandler(count_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  for (round = 0; round < 40; ++round) {
    if (round == 20) { /* from here on, with an anchor */
      MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &k, NULL);
      MPI_Comm_set_attr(MPI_COMM_WORLD, k, &k);
      MPI_Comm_set_attr(MPI_COMM_SELF, k, &k);
    }
    if (round % 5 == 0) {
      int code;
      MPI_Add_error_class(&code);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &split);
    show(0, "world", MPI_COMM_WORLD, round);
    show(1, "self", MPI_COMM_SELF, round);
    show(2, "dup", dup, round);
    show(3, "dup again", dup, round);
    show(4, "split", split, round);
    show(5, "null", MPI_COMM_NULL, round);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&split);
  }
  /* All by rank 0, to a file if run.sh names one: launchers mix what comes from several ranks at once,
   * and PRRTE's even has pieces of what one rank writes change places. */
  if (me != 0) {
    MPI_Send(report, (int)used + 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
  } else {
    int size;
    int rank;
    const char* name = getenv("ATTRCACHE_TEST_REPORT");
    FILE* out = name != NULL ? fopen(name, "w") : stdout;
    if (out == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    fputs(report, out);
    for (rank = 1; rank < size; ++rank) {
      MPI_Recv(report, sizeof report, MPI_CHAR, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      fputs(report, out);
    }
    fflush(out);
  }
  MPI_Finalize();
  return 0;
}
