/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What checks with several threads share: storms, and threads that meet in callbacks. In blocks, as
 * check.h is. */

/* The threads of a storm: they start together, and each runs storm(its number). There they may wait
 * for all_threads again. */
static pthread_barrier_t all_threads;
static void (*storm)(int me);
static void* one_thread(void* me) {
  pthread_barrier_wait(&all_threads);
  storm((int)(long)me);
  return NULL;
}

/* How many values each thread of a storm sets. A storm ends after some seconds, complete or not. */
#ifndef SETS
#define SETS 40000
#define STORM_SECONDS 10
#endif
static time_t storm_began;
static int goes_on(void) { return time(NULL) - storm_began < STORM_SECONDS; }

static void run_threads(void (*what)(int me)) {
  pthread_t threads[THREADS];
  int i;
  storm = what;
  storm_began = time(NULL);
  pthread_barrier_init(&all_threads, NULL, THREADS);
  for (i = 0; i < THREADS; ++i) {
    pthread_create(&threads[i], NULL, one_thread, (void*)(long)i);
  }
  for (i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&all_threads);
}

/* One thread does its work once; the others repeat theirs until it is done. */
static int is_over;
static int others_go_on(void) { return !__atomic_load_n(&is_over, __ATOMIC_ACQUIRE); }
static void end_others(void) { __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE); }

/* Values of storms, each for one set: how often it was deleted, and how many threads are copying
 * it. */
#define CELLS (10 * SETS)
typedef struct {
  int deleted, copying;
} Cell;
static Cell cells[CELLS];
static int next_cell;
static Cell* new_cell(void) {
  const int i = __sync_fetch_and_add(&next_cell, 1);
  if (i >= CELLS) abort();
  return &cells[i];
}

/* Whether a value is a cell at all: an MPI that has corrupted its memory may pass anything. */
static int is_cell(const void* value) {
  const char* at = (const char*)value;
  return at >= (const char*)cells && at < (const char*)(cells + CELLS) &&
         (at - (const char*)cells) % sizeof(Cell) == 0;
}

static int delete_cell_xxx(MPI_Xxx object, int keyval, void* value, void* extra_state) {
  EXPECT(is_cell(value), "that callbacks get values that were set", "one that never was");
  if (is_cell(value)) __sync_fetch_and_add(&((Cell*)value)->deleted, 1);
  return MPI_SUCCESS;
}

static int copy_cell_xxx(MPI_Xxx old, int keyval, void* extra_state, void* in, void* out,
                         int* flag) {
  *(void**)out = new_cell();
  *flag = 1;
  return MPI_SUCCESS;
}

/* Threads 0 and 1 run rounds until they have met within their callbacks often enough. If an MPI
 * holds a lock around callbacks they never meet, which is no fault: then they soon give up. Each
 * round begins when both threads are there, and both end after the same round. */
static pthread_barrier_t both;
static int rounds[2], met, missed, last_round = 1000;
static int both_go_on(int me, int round) {
  if (me == 0 && !goes_on()) __atomic_store_n(&last_round, round, __ATOMIC_SEQ_CST);
  pthread_barrier_wait(&both);
  return round < __atomic_load_n(&last_round, __ATOMIC_SEQ_CST);
}
static void meet(int me) {
  const int round = __atomic_add_fetch(&rounds[me], 1, __ATOMIC_SEQ_CST);
  int i;
  if (__sync_fetch_and_add(&met, 0) >= 100 || __sync_fetch_and_add(&missed, 0) >= 20) return;
  for (i = 0; i < 200 && __atomic_load_n(&rounds[!me], __ATOMIC_SEQ_CST) < round; ++i)
    sched_yield();
  __sync_fetch_and_add(i < 200 ? &met : &missed, 1);
}

/* Each cell that was handed out was deleted once, now that nothing is attached any more. */
static void expect_each_deleted_once(void) {
  int i, twice = 0, never = 0;
  for (i = 0; i < next_cell; ++i) {
    twice += cells[i].deleted > 1;
    never += cells[i].deleted == 0;
  }
  EXPECT(twice == 0 && never == 0, "that each value that was set is deleted once",
         "%d of %d deleted more than once, %d never", twice, next_cell, never);
}

static int storm_key;

/* A storm on one object and its attribute under one key, after which all of its values were deleted
 * once. */
static MPI_Xxx storm_xxx;
static void run_storm_xxx(MPI_Xxx_copy_attr_function* copies, MPI_Xxx_delete_attr_function* deletes,
                          void (*what)(int me)) {
  storm_xxx = new_xxx();
  storm_key = keyval_xxx(copies, deletes);
  CALL(MPI_Xxx_set_attr(storm_xxx, storm_key, new_cell()));
  run_threads(what);
  CALL(MPI_Xxx_free(&storm_xxx));
  CALL(MPI_Xxx_free_keyval(&storm_key));
  if (deletes != MPI_XXX_NULL_DELETE_FN) expect_each_deleted_once();
}

static __thread int my_number = -1;

/* Threads 0 and 1 have an object and a number each, and do the same with them. */
static MPI_Xxx two_xxx[2];
static void run_both_xxx(MPI_Xxx_copy_attr_function* copies, MPI_Xxx_delete_attr_function* deletes,
                         void (*what)(int me)) {
  int i;
  storm_key = keyval_xxx(copies, deletes);
  for (i = 0; i < 2; ++i) {
    two_xxx[i] = new_xxx();
    CALL(MPI_Xxx_set_attr(two_xxx[i], storm_key, new_cell()));
  }
  pthread_barrier_init(&both, NULL, 2);
  run_threads(what);
  for (i = 0; i < 2; ++i) CALL(MPI_Xxx_free(&two_xxx[i]));
  expect_each_deleted_once();
}
