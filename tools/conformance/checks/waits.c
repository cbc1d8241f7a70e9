/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*@section waits: threads whose callbacks need what others hold */

/*@ delete-each-other-xxx
 * implied, 11.6.1, threads
 * Two attributes' delete callbacks delete each other's attribute (but none that is being deleted up
 * the stack), and threads delete both at once: no hang, and each value is deleted once.
 */
static MPI_Xxx object;
static int key[2];
static __thread int depth;
static int delete_other(MPI_Xxx of, int keyval, void* value, void* extra_state) {
  delete_cell_xxx(of, keyval, value, extra_state);
  if (++depth == 1) MPI_Xxx_delete_attr(of, key[keyval == key[0]]);
  --depth;
  return MPI_SUCCESS;
}
static void delete_them(int me) {
  int i;
  for (i = 0; i < 2000; ++i) {
    if (me < 2) CALL(MPI_Xxx_set_attr(object, key[me], new_cell()));
    pthread_barrier_wait(&all_threads);
    MPI_Xxx_delete_attr(object, key[me % 2]);
    pthread_barrier_wait(&all_threads);
  }
}
static void check(void) {
  object = new_xxx();
  key[0] = keyval_xxx(MPI_XXX_NULL_COPY_FN, delete_other);
  key[1] = keyval_xxx(MPI_XXX_NULL_COPY_FN, delete_other);
  run_threads(delete_them);
  CALL(MPI_Xxx_free(&object));
  expect_each_deleted_once();
}

/*@ callbacks-use-others-xxx
 * implied, 11.6.1, threads
 * Delete callbacks of one object's attribute set and get attributes of another, and the other way
 * round, in several threads: no hang, and each value is deleted once.
 */
static MPI_Xxx objects[2];
static int outer, inner;
static int use_other(MPI_Xxx of, int keyval, void* value, void* extra_state) {
  MPI_Xxx other = of == objects[0] ? objects[1] : objects[0];
  void* found;
  int flag;
  CALL(MPI_Xxx_set_attr(other, inner, new_cell()));
  CALL(MPI_Xxx_get_attr(other, outer, &found, &flag));
  return delete_cell_xxx(of, keyval, value, extra_state);
}
static void set_both(int me) {
  int i;
  for (i = 0; i < 10000 && goes_on(); ++i)
    CALL(MPI_Xxx_set_attr(objects[(me + i) % 2], outer, new_cell()));
}
static void check(void) {
  objects[0] = new_xxx();
  objects[1] = new_xxx();
  outer = keyval_xxx(MPI_XXX_NULL_COPY_FN, use_other);
  inner = keyval_xxx(MPI_XXX_NULL_COPY_FN, delete_cell_xxx);
  run_threads(set_both);
  CALL(MPI_Xxx_delete_attr(objects[0], outer));
  CALL(MPI_Xxx_delete_attr(objects[1], outer));
  CALL(MPI_Xxx_free(&objects[0]));
  CALL(MPI_Xxx_free(&objects[1]));
  expect_each_deleted_once();
}

/*@ circle-of-sets-xxx
 * implied, 11.6.1, threads, kinds: comm type
 * Two threads each replace an attribute of an object of their own, and the old value's delete
 * callback duplicates and frees the other's object, whose attribute has a copy callback: no hang,
 * and each value is deleted once.
 */
static __thread int depth;
static int delete_and_dup(MPI_Xxx of, int keyval, void* value, void* extra_state) {
  if (++depth == 1 && my_number >= 0) {
    MPI_Xxx duplicate;
    meet(my_number);
    CALL(MPI_Xxx_dup(two_xxx[!my_number], &duplicate));
    CALL(MPI_Xxx_free(&duplicate));
  }
  --depth;
  return delete_cell_xxx(of, keyval, value, extra_state);
}
static void replace(int me) {
  int i;
  my_number = me;
  for (i = 0; me < 2 && both_go_on(me, i); ++i) {
    CALL(MPI_Xxx_set_attr(two_xxx[me], storm_key, new_cell()));
  }
}
static void check(void) { run_both_xxx(copy_cell_xxx, delete_and_dup, replace); }

/*@ circle-of-copies-xxx
 * implied, 11.6.1, threads, kinds: comm type
 * Two threads each duplicate an object of their own, and the copy callback deletes the other's
 * attribute, which is just being copied there: no hang, and each value is deleted once.
 */
static int copy_and_delete(MPI_Xxx old, int keyval, void* extra_state, void* in, void* out,
                           int* flag) {
  meet(my_number);
  MPI_Xxx_delete_attr(two_xxx[!my_number], storm_key); /* which may be gone already */
  return copy_cell_xxx(old, keyval, extra_state, in, out, flag);
}
static void duplicate(int me) {
  int i;
  my_number = me;
  for (i = 0; me < 2 && both_go_on(me, i); ++i) {
    MPI_Xxx duplicate;
    CALL(MPI_Xxx_set_attr(two_xxx[me], storm_key, new_cell()));
    pthread_barrier_wait(&both);
    CALL(MPI_Xxx_dup(two_xxx[me], &duplicate));
    pthread_barrier_wait(&both);
    CALL(MPI_Xxx_free(&duplicate));
  }
}
static void check(void) { run_both_xxx(copy_and_delete, delete_cell_xxx, duplicate); }

/*@ stopped-callback
 * open, 11.6.1, threads
 * Whether a get of another attribute of the same object ends while a delete callback is still
 * running in another thread (if it waited for the callback, a callback that waits for it would
 * hang).
 */
static MPI_Comm object;
static int slow_key, fast_key, inside, done;
static int wait_for_get(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  long i;
  __atomic_store_n(&inside, 1, __ATOMIC_SEQ_CST);
  for (i = 0; i < 30000 && !__atomic_load_n(&done, __ATOMIC_SEQ_CST); ++i) usleep(1000);
  return MPI_SUCCESS;
}
static void one_waits(int me) {
  if (me == 0) {
    CALL(MPI_Comm_delete_attr(object, slow_key));
    OPEN("%s", __atomic_load_n(&done, __ATOMIC_SEQ_CST) == 1 ? "it ends" : "it waits");
    __atomic_store_n(&done, 2, __ATOMIC_SEQ_CST);
  } else if (me == 1) {
    while (!__atomic_load_n(&inside, __ATOMIC_SEQ_CST)) usleep(100);
    get_comm(object, fast_key);
    __atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);
  }
}
static void check(void) {
  object = new_comm();
  slow_key = keyval_comm(MPI_COMM_NULL_COPY_FN, wait_for_get);
  fast_key = keyval_comm(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN);
  CALL(MPI_Comm_set_attr(object, slow_key, (void*)1));
  CALL(MPI_Comm_set_attr(object, fast_key, (void*)2));
  run_threads(one_waits);
  CALL(MPI_Comm_free(&object));
}

/*@ delete-beside-dup-xxx
 * open, 11.6.1, threads, kinds: comm type
 * Whether a delete that returns while another thread copies the attribute has run its delete
 * callback.
 */
static MPI_Xxx object;
static int key, copying, returned;
static int wait_for_delete(MPI_Xxx old, int keyval, void* extra_state, void* in, void* out,
                           int* flag) {
  int i;
  __atomic_store_n(&copying, 1, __ATOMIC_SEQ_CST);
  for (i = 0; i < 2000 && !__atomic_load_n(&returned, __ATOMIC_SEQ_CST); ++i) usleep(1000);
  return copied_as_is(in, out, flag);
}
static void delete_or_dup(int me) {
  if (me == 0) {
    MPI_Xxx duplicate;
    CALL(MPI_Xxx_dup(object, &duplicate));
    if (!__atomic_exchange_n(&returned, 1, __ATOMIC_SEQ_CST)) OPEN("it waits for the copy");
  } else if (me == 1) {
    while (!__atomic_load_n(&copying, __ATOMIC_SEQ_CST)) usleep(100);
    CALL(MPI_Xxx_delete_attr(object, key));
    if (!__atomic_load_n(&returned, __ATOMIC_SEQ_CST)) {
      OPEN("%s", *notes ? "it has run, beside the copy"
                        : "it runs after the copy, and the delete has returned before");
    }
    __atomic_store_n(&returned, 1, __ATOMIC_SEQ_CST);
  }
}
static void check(void) {
  object = new_xxx();
  key = keyval_xxx(wait_for_delete, delete_xxx);
  CALL(MPI_Xxx_set_attr(object, key, (void*)1));
  run_threads(delete_or_dup);
}
