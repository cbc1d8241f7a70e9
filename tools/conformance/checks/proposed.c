/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*@section proposed: what is proposed: attributes on sessions and files, destructors (mpi-issues #1004, #839), if_absent */
/* For sessions and files, MPI_Xxx_set_attr stands for MPIX_Xxx_set_attr here, and MPI_Xxx_free for
 * what ends them. */

/*@ attributes-xxx
 * proposed, mpi-issues #1004, needs: mpix_xxx, kinds: session file
 * An attribute is set, read, replaced and deleted; a replaced or deleted value goes to the delete
 * callback.
 */
static void check(void) {
  MPI_Xxx object = new_xxx(), other = new_xxx();
  int keyval = deleting_xxx(delete_xxx);
  EXPECT(keyval != MPI_KEYVAL_INVALID, "a keyval", "MPI_KEYVAL_INVALID");
  EXPECT_EQ(get_xxx(object, keyval), ABSENT);
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)1));
  EXPECT_EQ(get_xxx(object, keyval), 1);
  EXPECT_EQ(get_xxx(other, keyval), ABSENT);
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)2));
  EXPECT_NOTES("delete 1;");
  CALL(MPI_Xxx_delete_attr(object, keyval));
  EXPECT_NOTES("delete 2;");
  EXPECT_EQ(get_xxx(object, keyval), ABSENT);
  CALL(MPI_Xxx_free_keyval(&keyval));
  EXPECT_EQ(keyval, MPI_KEYVAL_INVALID);
  CALL(MPI_Xxx_free(&object));
  CALL(MPI_Xxx_free(&other));
  EXPECT_NOTES("");
}

/*@ end-xxx
 * proposed, mpi-issues #1004, needs: mpix_xxx, kinds: session file
 * The end of the object deletes all attributes, in the reverse order of setting, also under keys
 * that were freed; a key is gone with its last attribute.
 */
static void check(void) {
  MPI_Xxx object = new_xxx(), other = new_xxx();
  int i, keyvals[5], third;
  for (i = 0; i < 5; ++i) {
    keyvals[i] = deleting_xxx(delete_xxx);
    CALL(MPI_Xxx_set_attr(object, keyvals[i], (void*)(long)i));
  }
  CALL(MPI_Xxx_set_attr(object, keyvals[0], (void*)7));
  EXPECT_NOTES("delete 0;");
  third = keyvals[3];
  for (i = 0; i < 5; ++i) CALL(MPI_Xxx_free_keyval(&keyvals[i]));
  EXPECT_EQ(get_xxx(object, third), 3);
  CALL(MPI_Xxx_free(&object));
  EXPECT_NOTES("delete 7;delete 4;delete 3;delete 2;delete 1;");
  FAILS(MPI_Xxx_set_attr(other, third, (void*)1));
  CALL(MPI_Xxx_free(&other));
}

/*@ finalize-xxx
 * proposed, mpi-issues #1004, after, needs: mpix_xxx, kinds: session file
 * MPI_FINALIZE deletes the attributes of objects that are left, in the reverse order of setting.
 */
static MPI_Xxx left_xxx;
static void check(void) {
  int i;
  left_xxx = new_xxx();
  for (i = 0; i < 3; ++i) {
    CALL(MPI_Xxx_set_attr(left_xxx, deleting_xxx(delete_xxx), (void*)(long)i));
  }
}
static void after(void) {
  EXPECT_NOTES("delete 2;delete 1;delete 0;");
  CALL(outlived_xxx(&left_xxx));
  EXPECT_NOTES("");
}

/*@ failing-xxx
 * proposed, mpi-issues #1004, needs: mpix_xxx, kinds: session file
 * A delete whose callback fails returns the callback's code, and the value stays attached; the end
 * of the object returns that code, too, but runs all callbacks and ends the object.
 */
static void check(void) {
  MPI_Xxx object = new_xxx();
  int keyval = deleting_xxx(delete_failing_xxx), other = deleting_xxx(delete_xxx);
  CALL(MPI_Xxx_set_attr(object, other, (void*)1));
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)2));
  FAILS(MPI_Xxx_delete_attr(object, keyval));
  FAILS(MPI_Xxx_set_attr(object, keyval, (void*)3));
  EXPECT_EQ(get_xxx(object, keyval), 2);
  EXPECT_NOTES("fail 2;fail 2;");
  FAILS(MPI_Xxx_free(&object));
  EXPECT_NOTES("fail 2;delete 1;");
  EXPECT(object == MPI_XXX_NULL, "MPI_XXX_NULL", "another handle");
  CALL(MPI_Xxx_free_keyval(&keyval));
  CALL(MPI_Xxx_free_keyval(&other));
}

/*@ once-xxx
 * proposed, mpi-issues #839, needs: mpix_xxx, kinds: comm win type session file
 * Under a key with destructor semantics, a value whose callback fails is gone, and the call returns
 * the failure, even if it replaces the value. A destructor may free the variable that holds the
 * key.
 */
static void check(void) {
  MPI_Xxx object = new_xxx();
  int keyval;
  once_xxx(delete_failing_xxx, note_end, &keyval, (void*)5);
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)1));
  FAILS(MPI_Xxx_delete_attr(object, keyval));
  EXPECT_EQ(get_xxx(object, keyval), ABSENT);
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)2));
  FAILS(MPI_Xxx_set_attr(object, keyval, (void*)3));
  EXPECT_EQ(get_xxx(object, keyval), ABSENT);
  EXPECT_NOTES("fail 1;fail 2;");
  CALL(MPI_Xxx_free(&object));
  CALL(MPI_Xxx_free_keyval(&keyval));
  EXPECT_NOTES("end 5;");
  once_xxx(NULL, use_variable, &keyval, &keyval);
  CALL(MPI_Xxx_free_keyval(&keyval));
  EXPECT_NOTES("end invalid;");
  EXPECT_EQ(keyval, 7);
}

/*@ older-while-ending-xxx
 * proposed, mpi-issues #1004, needs: mpix_xxx, kinds: session file
 * While the object ends, a delete callback finds the attributes that were set before its own.
 */
static int older;
static int look(MPI_Xxx object, int keyval, void* value, void* extra_state) {
  note("look %ld;", get_xxx(object, older));
  return MPI_SUCCESS;
}
static void check(void) {
  MPI_Xxx object = new_xxx();
  int keyval = deleting_xxx(look);
  older = deleting_xxx(delete_xxx);
  CALL(MPI_Xxx_set_attr(object, older, (void*)1));
  CALL(MPI_Xxx_set_attr(object, keyval, NULL));
  CALL(MPI_Xxx_free(&object));
  EXPECT_NOTES("look 1;delete 1;");
  CALL(MPI_Xxx_free_keyval(&keyval));
  CALL(MPI_Xxx_free_keyval(&older));
}

/*@ misuse-xxx
 * proposed, mpi-issues #1004, needs: mpix_xxx, kinds: session file
 * A key of communicators is no key of sessions and files, nor is MPI_KEYVAL_INVALID; and the null
 * handle has no attributes. Such calls do nothing but return an error.
 */
static void check(void) {
  MPI_Xxx object = new_xxx(), null = MPI_XXX_NULL;
  int keyval = deleting_xxx(delete_xxx);
  int foreign = keyval_comm(MPI_COMM_NULL_COPY_FN, delete_comm);
  MPI_Comm comm = new_comm();
  CALL(MPI_Comm_set_attr(comm, foreign, (void*)1));
  FAILS(MPI_Xxx_set_attr(object, foreign, (void*)2));
  FAILS(MPI_Xxx_set_attr(object, MPI_KEYVAL_INVALID, (void*)2));
  FAILS(MPI_Xxx_delete_attr(object, foreign));
  FAILS(MPI_Xxx_set_attr(null, keyval, (void*)2));
  FAILS(MPI_Comm_set_attr(comm, keyval, (void*)2));
  EXPECT_EQ(get_comm(comm, foreign), 1);
  EXPECT_NOTES("");
  CALL(MPI_Comm_free(&comm));
  CALL(MPI_Xxx_free(&object));
}

/*@ threads-xxx
 * proposed, mpi-issues #1004, threads, needs: mpix_xxx, kinds: session file
 * Threads set, delete and read one attribute: each value goes to the delete callback once.
 */
static MPI_Xxx shared;
static int key;
static void work(int me) {
  int i;
  for (i = 0; i < 3000 && goes_on(); ++i) {
    CALL(MPI_Xxx_set_attr(shared, key, new_cell()));
    get_xxx(shared, key);
    if (i % 3 == me % 3) CALL(MPI_Xxx_delete_attr(shared, key));
  }
}
static void check(void) {
  shared = new_xxx();
  key = deleting_xxx(delete_cell_xxx);
  run_threads(work);
  CALL(MPI_Xxx_free(&shared));
  expect_each_deleted_once();
  CALL(MPI_Xxx_free_keyval(&key));
}

/*@ destructor-xxx
 * proposed, mpi-issues #839, needs: mpix_xxx
 * The destructor of extra_state runs once, when the key is freed and its last attribute is gone.
 */
static void check(void) {
  MPI_Xxx object = new_xxx();
  int keyval, kept;
  CALL(MPIX_Xxx_create_keyval_x(MPI_XXX_NULL_COPY_FN, delete_xxx, note_end, &keyval, (void*)5));
  kept = keyval;
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)1));
  CALL(MPI_Xxx_free_keyval(&keyval));
  EXPECT_EQ(get_xxx(object, kept), 1);
  EXPECT_NOTES("");
  CALL(MPI_Xxx_free(&object));
  EXPECT_NOTES("delete 1;end 5;");
}

/*@ if-absent-xxx
 * proposed, beyond MPI, needs: mpix_xxx mpix_if_absent, kinds: comm win type session file
 * set_attr_if_absent attaches a value where none is; else it changes nothing, calls nothing, and
 * returns what is there. A value that is being deleted counts as absent.
 */
static int attach_another(MPI_Xxx object, int keyval, void* value, void* extra) {
  int flag = -1;
  note("delete %ld;", (long)value);
  if ((long)value == 1) {
    CALL(MPIX_Xxx_set_attr_if_absent(object, keyval, (void*)4, NULL, &flag));
    EXPECT_EQ(flag, 1);
  }
  return MPI_SUCCESS;
}
static void check(void) {
  MPI_Xxx object = new_xxx();
  int keyval = deleting_xxx(attach_another), flag = -1;
  void* present = (void*)77;
  CALL(MPIX_Xxx_set_attr_if_absent(object, keyval, (void*)1, &present, &flag));
  EXPECT_EQ(flag, 1);
  EXPECT_EQ((long)present, 77);
  CALL(MPIX_Xxx_set_attr_if_absent(object, keyval, (void*)2, &present, &flag));
  EXPECT_EQ(flag, 0);
  EXPECT_EQ((long)present, 1);
  EXPECT_EQ(get_xxx(object, keyval), 1);
  EXPECT_NOTES("");
  CALL(MPI_Xxx_delete_attr(object, keyval));
  EXPECT_NOTES("delete 1;");
  EXPECT_EQ(get_xxx(object, keyval), 4);
  FAILS(MPIX_Xxx_set_attr_if_absent(object, MPI_KEYVAL_INVALID, (void*)2, &present, &flag));
  CALL(MPI_Xxx_free(&object));
  EXPECT_NOTES("delete 4;");
  CALL(MPI_Xxx_free_keyval(&keyval));
}

/*@ if-absent-predefined
 * proposed, beyond MPI, needs: mpix_if_absent
 * The same on MPI_COMM_SELF and MPI_COMM_WORLD; predefined attributes can't be set in this way.
 */
static void check(void) {
  MPI_Comm comms[] = {MPI_COMM_SELF, MPI_COMM_WORLD};
  int keyval = keyval_comm(MPI_COMM_NULL_COPY_FN, delete_comm), flag = -1, i;
  void* present = NULL;
  for (i = 0; i < 2; ++i) {
    CALL(MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN));
    CALL(MPIX_Comm_set_attr_if_absent(comms[i], keyval, (void*)5, &present, &flag));
    EXPECT_EQ(flag, 1);
    CALL(MPIX_Comm_set_attr_if_absent(comms[i], keyval, (void*)6, &present, &flag));
    EXPECT_EQ(flag, 0);
    EXPECT_EQ((long)present, 5);
    CALL(MPI_Comm_delete_attr(comms[i], keyval));
    EXPECT_NOTES("delete 5;");
    FAILS(MPIX_Comm_set_attr_if_absent(comms[i], MPI_TAG_UB, &flag, &present, &flag));
  }
  CALL(MPI_Comm_free_keyval(&keyval));
}

/*@ if-absent-storm-xxx
 * proposed, beyond MPI, needs: mpix_if_absent, threads
 * Threads that find nothing make a value each and attach it if there is none: exactly one does, and
 * all then have the same.
 */
static void* had[THREADS];
static void make_it(int me) {
  int i;
  for (i = 0; i < 500; ++i) {
    Cell* mine = new_cell();
    void* present = NULL;
    int flag = -1, t;
    pthread_barrier_wait(&all_threads);
    CALL(MPIX_Xxx_set_attr_if_absent(storm_xxx, storm_key, mine, &present, &flag));
    had[me] = flag ? mine : present;
    if (!flag) mine->deleted = 1; /* it is this thread's own again */
    pthread_barrier_wait(&all_threads);
    for (t = 0; t < THREADS; ++t) EXPECT(had[t] == had[me], "one value for all", "another");
    pthread_barrier_wait(&all_threads);
    if (me == 0) CALL(MPI_Xxx_delete_attr(storm_xxx, storm_key));
  }
}
static void check(void) { run_storm_xxx(MPI_XXX_NULL_COPY_FN, delete_cell_xxx, make_it); }
