/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Runs several checks one after the other, in one program. In blocks, as check.h is. */

/* Signal handlers for a check that hangs or crashes. */
static void hangs(int signal_number) {
  fail(0, "that the program ends", "that it hangs");
  _exit(3);
}

static void crashes(int signal_number) {
  fail(0, "that the program ends", "that it crashes, by signal %d", signal_number);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

/* A check in a program of several. how: 0 if it initializes MPI itself, 1 for MPI_Init, 2 for
 * MPI_THREAD_MULTIPLE. */
typedef struct {
  const char* name;
  void (*check)(void);
  void (*after)(void);
  int how;
} Entry;

/* Runs the reset functions of the blocks that are here. */
static void reset_all(void);

static int run_one(const Entry* entry, int seconds) {
  failures = skipped = 0;
  reset_all();
  alarm((unsigned)seconds);
  if (entry->how != 0) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  }
  entry->check();
  if (entry->after != NULL) {
    MPI_Finalize();
    if (!skipped) entry->after();
  }
  if (!skipped) {
    dprintf(1, "rank %d of %d: %s: %s\n", rank, ranks, failures ? "failed" : "passed", entry->name);
  }
  return failures != 0;
}

/* Runs checks by their names: the program's arguments are the seconds for each, and names. If there
 * are several, each must need MPI_Init, and nothing after MPI_Finalize. */
static int run(int argc, char** argv, const Entry* entries, int count) {
  int provided = MPI_THREAD_MULTIPLE, status = 0, i, how = -1, finalizes = 0;
  const char** name;
  signal(SIGALRM, hangs);
  alarm((unsigned)atoi(argv[1]));
  for (name = (const char**)argv + 2; *name != NULL; ++name) {
    for (i = 0; i < count && strcmp(entries[i].name, *name) != 0; ++i) continue;
    if (i == count) return 2;
    if (how == -1) {
      how = entries[i].how;
      if (how == 1) MPI_Init(&argc, &argv);
      if (how == 2) MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
      if (how != 0) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
      }
      signal(SIGSEGV, crashes);
      signal(SIGBUS, crashes);
      signal(SIGABRT, crashes);
    }
    finalizes = entries[i].after != NULL;
    if (provided < MPI_THREAD_MULTIPLE) {
      NOT_APPLICABLE("it does not provide MPI_THREAD_MULTIPLE");
    } else {
      status |= run_one(&entries[i], atoi(argv[1]));
    }
  }
  if (how != 0 && !finalizes) MPI_Finalize();
  return status;
}
