/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*@section threads: under MPI_THREAD_MULTIPLE */

/*@ storm-same-key-xxx
 * implied, 11.6.1, threads
 * Threads set one attribute of one object: the outcome is as if the sets ran in some order, so each
 * value is deleted once.
 */
static void set_many(int me) {
  int i;
  for (i = 0; i < SETS && goes_on(); ++i) CALL(MPI_Xxx_set_attr(storm_xxx, storm_key, new_cell()));
}
static void check(void) { run_storm_xxx(MPI_XXX_NULL_COPY_FN, delete_cell_xxx, set_many); }

/*@ storm-own-keys-xxx
 * implied, 11.6.1, threads
 * Threads set, get and delete attributes of one object, each under a key of its own: none sees
 * another's value, and each value is deleted once.
 */
static void use_own(int me) {
  int i, own = keyval_xxx(MPI_XXX_NULL_COPY_FN, delete_cell_xxx);
  for (i = 0; i < SETS / 2 && goes_on(); ++i) {
    Cell *mine = new_cell(), *found = NULL;
    int flag = 0;
    CALL(MPI_Xxx_set_attr(storm_xxx, own, mine));
    CALL(MPI_Xxx_get_attr(storm_xxx, own, &found, &flag));
    EXPECT(flag && found == mine, "the value that this thread set", "%s",
           flag ? "another" : "none");
    if (i % 3 == 0) {
      CALL(MPI_Xxx_delete_attr(storm_xxx, own));
      CALL(MPI_Xxx_get_attr(storm_xxx, own, &found, &flag));
      EXPECT(!flag, "nothing after this thread's delete", "a value");
    }
  }
}
static void check(void) { run_storm_xxx(MPI_XXX_NULL_COPY_FN, delete_cell_xxx, use_own); }

/*@ storm-set-delete-xxx
 * implied, 11.6.1, threads
 * Some threads set an attribute, others delete it: each value is deleted once.
 */
static void set_or_delete(int me) {
  int i;
  for (i = 0; i < SETS && goes_on(); ++i) {
    /* Deleting what is not there may be an error or not. */
    if (me % 2 == 0)
      CALL(MPI_Xxx_set_attr(storm_xxx, storm_key, new_cell()));
    else
      MPI_Xxx_delete_attr(storm_xxx, storm_key);
  }
}
static void check(void) { run_storm_xxx(MPI_XXX_NULL_COPY_FN, delete_cell_xxx, set_or_delete); }

/*@ delete-once-xxx
 * implied, 11.6.1, threads
 * All threads delete the same attribute at once: its delete callback runs once.
 */
static void delete_it(int me) {
  int i;
  for (i = 0; i < 2000; ++i) {
    if (me == 0) CALL(MPI_Xxx_set_attr(storm_xxx, storm_key, new_cell()));
    pthread_barrier_wait(&all_threads);
    MPI_Xxx_delete_attr(storm_xxx, storm_key);
    pthread_barrier_wait(&all_threads);
    if (me == 0) {
      EXPECT_EQ(cells[next_cell - 1].deleted, 1);
      EXPECT_EQ(get_xxx(storm_xxx, storm_key), ABSENT);
    }
  }
}
static void check(void) { run_storm_xxx(MPI_XXX_NULL_COPY_FN, delete_cell_xxx, delete_it); }

/*@ get-while-replaced-xxx
 * implied, 11.6.1, threads
 * One thread replaces an attribute over and over: others always find the old value or the new one,
 * also while the old one's delete callback runs, and never an older value than they found before.
 */
static int take_time(MPI_Xxx of, int keyval, void* value, void* extra_state) {
  volatile int i;
  for (i = 0; i < 200; ++i) continue;
  return delete_cell_xxx(of, keyval, value, extra_state);
}
static void get_or_set(int me) {
  const Cell* newest = cells;
  int i, lost = 0, older = 0;
  for (i = 0; me == 0 && i < 100000 && goes_on(); ++i) {
    CALL(MPI_Xxx_set_attr(storm_xxx, storm_key, new_cell()));
  }
  if (me == 0) end_others();
  while (others_go_on()) {
    Cell* found = NULL;
    int flag = 0;
    CALL(MPI_Xxx_get_attr(storm_xxx, storm_key, &found, &flag));
    if (!flag) {
      ++lost;
    } else if (!is_cell(found)) {
      EXPECT(0, "a value that was set", "another one");
      return;
    } else {
      older += found < newest;
      newest = found;
    }
  }
  EXPECT(lost == 0, "that the attribute is always there", "that %d gets did not find it", lost);
  EXPECT(older == 0, "no older value than before", "one %d times", older);
}
static void check(void) { run_storm_xxx(MPI_XXX_NULL_COPY_FN, take_time, get_or_set); }

/*@ no-copy-of-deleted-xxx
 * implied, 11.6.1, threads, kinds: comm type
 * While one thread duplicates an object, others replace its attribute: no copy callback gets a
 * value whose delete callback has run, and none is deleted while it is being copied.
 */
static int late, overlapping;
static int copy_cell(MPI_Xxx old, int keyval, void* extra_state, void* in, void* out, int* flag) {
  Cell* cell = (Cell*)in;
  volatile int i;
  *flag = 0;
  EXPECT(is_cell(in), "a value that was set", "a copy callback with another");
  if (!is_cell(in)) return MPI_SUCCESS;
  __atomic_fetch_add(&cell->copying, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&cell->deleted, __ATOMIC_SEQ_CST) != 0) ++late;
  for (i = 0; i < 300; ++i) continue;
  __atomic_fetch_sub(&cell->copying, 1, __ATOMIC_SEQ_CST);
  *(void**)out = new_cell();
  *flag = 1;
  return MPI_SUCCESS;
}
static int delete_cell(MPI_Xxx of, int keyval, void* value, void* extra_state) {
  delete_cell_xxx(of, keyval, value, extra_state);
  if (is_cell(value) && __atomic_load_n(&((Cell*)value)->copying, __ATOMIC_SEQ_CST) != 0) {
    __sync_fetch_and_add(&overlapping, 1);
  }
  return MPI_SUCCESS;
}
static void dup_or_set(int me) {
  int i;
  for (i = 0; me == 0 && i < 3000 && goes_on(); ++i) {
    MPI_Xxx duplicate;
    CALL(MPI_Xxx_dup(storm_xxx, &duplicate));
    CALL(MPI_Xxx_free(&duplicate));
  }
  if (me == 0) end_others();
  for (i = 0; i < 100000 && others_go_on(); ++i)
    CALL(MPI_Xxx_set_attr(storm_xxx, storm_key, new_cell()));
}
static void check(void) {
  run_storm_xxx(copy_cell, delete_cell, dup_or_set);
  EXPECT(late == 0, "no copy of a deleted value", "%d", late);
  EXPECT(overlapping == 0, "no delete during a copy", "%d", overlapping);
}

/*@ dup-while-others-change-xxx
 * implied, 11.6.1, threads, kinds: comm type
 * While one thread duplicates an object, others replace one attribute of it, and set and delete
 * further ones: each duplicate has the one that is replaced, and those that no thread changes.
 */
static void dup_or_change(int me) {
  int keys[8], i, k, replaced = 0, lost = 0; /* no thread changes those of thread 0 */
  for (k = 0; k < 8; ++k) keys[k] = keyval_xxx(MPI_XXX_DUP_FN, MPI_XXX_NULL_DELETE_FN);
  for (k = 0; me == 0 && k < 8; ++k) CALL(MPI_Xxx_set_attr(storm_xxx, keys[k], (void*)(long)k));
  for (i = 0; me == 0 && i < 3000 && goes_on(); ++i) {
    MPI_Xxx duplicate;
    CALL(MPI_Xxx_dup(storm_xxx, &duplicate));
    for (k = 0; k < 8; ++k) lost += get_xxx(duplicate, keys[k]) != k;
    replaced += !is_cell((void*)get_xxx(duplicate, storm_key));
    CALL(MPI_Xxx_free(&duplicate));
  }
  if (me == 0) end_others();
  EXPECT(replaced == 0, "the attribute that is replaced in each duplicate", "%d without", replaced);
  EXPECT(lost == 0, "each untouched attribute in each duplicate", "%d lost", lost);
  for (i = 0; i < 200000 && others_go_on(); ++i) {
    if (i < 40000) CALL(MPI_Xxx_set_attr(storm_xxx, storm_key, new_cell()));
    CALL(MPI_Xxx_set_attr(storm_xxx, keys[me], (void*)100));
    CALL(MPI_Xxx_delete_attr(storm_xxx, keys[me]));
  }
}
static void check(void) { run_storm_xxx(MPI_XXX_DUP_FN, MPI_XXX_NULL_DELETE_FN, dup_or_change); }

/*@ unique-keys-xxx
 * implied, 11.6.1, threads
 * Threads create and free keys: those alive together differ.
 */
static int alive[THREADS][50];
static void create(int me) {
  int i, k;
  for (i = 0; i < 2000; ++i) {
    k = i % 50;
    if (alive[me][k] != MPI_KEYVAL_INVALID) CALL(MPI_Xxx_free_keyval(&alive[me][k]));
    alive[me][k] = keyval_xxx(MPI_XXX_NULL_COPY_FN, MPI_XXX_NULL_DELETE_FN);
  }
}
static void check(void) {
  int i, j, same = 0;
  for (i = 0; i < THREADS * 50; ++i) alive[i / 50][i % 50] = MPI_KEYVAL_INVALID;
  run_threads(create);
  for (i = 0; i < THREADS * 50; ++i) {
    for (j = 0; j < i; ++j) same += alive[i / 50][i % 50] == alive[j / 50][j % 50];
  }
  EXPECT(same == 0, "keys that differ", "%d pairs of the same", same);
}

/*@ storm-objects-xxx
 * implied, 11.6.1, threads, kinds: type
 * Threads make objects, attach values to them under one key, duplicate and free them: each value is
 * deleted once.
 */
static int key;
static void use_objects(int me) {
  int i;
  for (i = 0; i < 10000 && goes_on(); ++i) {
    MPI_Xxx object = new_xxx(), duplicate;
    CALL(MPI_Xxx_set_attr(object, key, new_cell()));
    CALL(MPI_Xxx_dup(object, &duplicate));
    CALL(MPI_Xxx_free(&object));
    CALL(MPI_Xxx_free(&duplicate));
  }
}
static void check(void) {
  key = keyval_xxx(copy_cell_xxx, delete_cell_xxx);
  run_threads(use_objects);
  expect_each_deleted_once();
}

/*@ storm-keyvals-xxx
 * implied, 11.6.1, threads
 * Threads create keys, attach a value to one object with them, free the keys, and delete the value
 * by a saved copy of the key: each value is deleted once.
 */
static void use_keyvals(int me) {
  int i;
  for (i = 0; i < 10000 && goes_on(); ++i) {
    int keyval = keyval_xxx(MPI_XXX_NULL_COPY_FN, delete_cell_xxx), saved = keyval, flag = 0;
    Cell *mine = new_cell(), *found = NULL;
    CALL(MPI_Xxx_set_attr(storm_xxx, keyval, mine));
    CALL(MPI_Xxx_free_keyval(&keyval));
    CALL(MPI_Xxx_get_attr(storm_xxx, saved, &found, &flag));
    EXPECT(flag && found == mine, "the value that this thread set", "%s",
           flag ? "another" : "none");
    CALL(MPI_Xxx_delete_attr(storm_xxx, saved));
  }
}
static void check(void) { run_storm_xxx(MPI_XXX_NULL_COPY_FN, delete_cell_xxx, use_keyvals); }

/*@ first-touch-xxx
 * implied, 11.6.1, threads, kinds: comm type
 * Threads make the process's first keys, and then attach the first attributes to a new object, all
 * at the same time: each finds the attributes of all the others.
 */
static int keys[THREADS];
static MPI_Xxx object;
static void touch(int me) {
  int round, t, lost = 0;
  keys[me] = keyval_xxx(MPI_XXX_NULL_COPY_FN, MPI_XXX_NULL_DELETE_FN);
  for (round = 0; round < 300; ++round) {
    if (me == 0) object = new_xxx();
    pthread_barrier_wait(&all_threads);
    CALL(MPI_Xxx_set_attr(object, keys[me], (void*)(long)(round * THREADS + me)));
    pthread_barrier_wait(&all_threads);
    for (t = 0; t < THREADS; ++t) lost += get_xxx(object, keys[t]) != round * THREADS + t;
    pthread_barrier_wait(&all_threads);
    if (me == 0) CALL(MPI_Xxx_free(&object));
  }
  EXPECT(lost == 0, "the attributes of all threads", "%d lost", lost);
}
static void check(void) { run_threads(touch); }

/*@ predefined-in-threads
 * implied, 11.6.1, threads
 * Threads read predefined attributes while others set their own: they get the same values as
 * before.
 */
static int wanted[2], key;
static void look(int me) {
  int i, wrong = 0;
  for (i = 0; i < 30000 && goes_on(); ++i) {
    if (me == 0) {
      CALL(MPI_Comm_set_attr(MPI_COMM_WORLD, key, new_cell()));
    } else if ((me + i) % 2 == 0) {
      wrong += *predefined(MPI_COMM_WORLD, MPI_TAG_UB) != wanted[0];
    } else {
      wrong += *predefined(MPI_COMM_WORLD, MPI_IO) != wanted[1];
    }
  }
  EXPECT(wrong == 0, "the values from before", "%d others", wrong);
}
static void check(void) {
  key = keyval_comm(MPI_COMM_NULL_COPY_FN, delete_cell_comm);
  wanted[0] = *predefined(MPI_COMM_WORLD, MPI_TAG_UB);
  wanted[1] = *predefined(MPI_COMM_WORLD, MPI_IO);
  run_threads(look);
  CALL(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
  expect_each_deleted_once();
}
