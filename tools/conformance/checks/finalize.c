/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*@section finalize: MPI_Finalize and the attributes of MPI_COMM_SELF */

/*@ finalize-reverse-order
 * demanded, 11.2.4, after, since: 2.2
 * MPI_FINALIZE first executes the equivalent of an MPI_COMM_FREE on MPI_COMM_SELF: the delete
 * callbacks of its attributes are called, in the reverse order of setting them. An attribute that
 * was deleted counts from when it was set again.
 */
static void check(void) {
  int again = on_self(delete_comm, 0);
  set_four_comm(MPI_COMM_SELF);
  CALL(MPI_Comm_delete_attr(MPI_COMM_SELF, again));
  CALL(MPI_Comm_set_attr(MPI_COMM_SELF, again, (void*)5));
  EXPECT_NOTES("delete 0;");
}
static void after(void) { EXPECT_NOTES("delete 5;delete 4;delete 3;delete 2;delete 1;"); }

/*@ finalize-order-after-overwrite
 * open, 11.2.4, after
 * Whether, for the order in MPI_FINALIZE, an attribute whose value was replaced counts from then.
 */
static void check(void) {
  int one = on_self(delete_comm, 1);
  on_self(delete_comm, 2);
  CALL(MPI_Comm_set_attr(MPI_COMM_SELF, one, (void*)3));
  notes[0] = '\0';
}
static void after(void) { OPEN("set 1, then 2, then 3 in the place of 1; at the end: %s", notes); }

/*@ finalize-arguments
 * demanded, 11.2.4, after
 * Delete callbacks in MPI_FINALIZE get MPI_COMM_SELF, their key, value and extra_state; also those
 * of a key that was freed.
 */
static int keys[2], state;
static int compare(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  EXPECT(comm == MPI_COMM_SELF, "MPI_COMM_SELF", "another handle");
  EXPECT_EQ(keyval, keys[(long)value == 1]);
  EXPECT(extra_state == &state, "the extra_state of the key", "another one");
  note("delete %ld;", (long)value);
  return MPI_SUCCESS;
}
static void check(void) {
  int i, freed;
  for (i = 0; i < 2; ++i) {
    CALL(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, compare, &keys[i], &state));
    CALL(MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], (void*)(long)i));
  }
  freed = keys[0];
  CALL(MPI_Comm_free_keyval(&freed));
}
static void after(void) { EXPECT_NOTES("delete 1;delete 0;"); }

/*@ finalize-not-finalized
 * demanded, 11.2.4, after
 * MPI_COMM_SELF's attributes are deleted before any other part of MPI is affected: in their delete
 * callbacks MPI_FINALIZED returns false, ranks communicate over MPI_COMM_WORLD, its attributes and
 * predefined ones are found, and communicators with attributes can be made and freed.
 */
static int on_world;
static int use_all(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  MPI_Comm duplicate;
  int initialized = 0, finalized = 1, sum = 0, one = 1, other;
  const int* tag_ub = predefined(MPI_COMM_WORLD, MPI_TAG_UB);
  CALL(MPI_Initialized(&initialized));
  CALL(MPI_Finalized(&finalized));
  EXPECT(initialized, "MPI_Initialized: true", "false");
  EXPECT(!finalized, "MPI_Finalized: false", "true");
  CALL(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  EXPECT_EQ(sum, ranks);
  EXPECT_EQ(get_comm(MPI_COMM_WORLD, on_world), 8);
  EXPECT(tag_ub != NULL && *tag_ub >= 32767, "MPI_TAG_UB, at least 32767", "another");
  other = keyval_comm(MPI_COMM_NULL_COPY_FN, delete_comm);
  CALL(MPI_Comm_dup(MPI_COMM_WORLD, &duplicate));
  CALL(MPI_Comm_set_attr(duplicate, other, (void*)3));
  CALL(MPI_Comm_free(&duplicate));
  CALL(MPI_Comm_free_keyval(&other));
  return MPI_SUCCESS;
}
static void check(void) {
  on_world = keyval_comm(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN);
  CALL(MPI_Comm_set_attr(MPI_COMM_WORLD, on_world, (void*)8));
  on_self(use_all, 0);
}
static void after(void) { EXPECT_NOTES("delete 3;"); }

/*@ finalize-deletes-another
 * implied, 11.2.4, after
 * If a delete callback of MPI_COMM_SELF deletes another attribute there, each is still deleted
 * once.
 */
static int other;
static int delete_other(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  note("first;");
  CALL(MPI_Comm_delete_attr(comm, other));
  return MPI_SUCCESS;
}
static void check(void) {
  other = on_self(delete_comm, 1);
  on_self(delete_other, 0);
}
static void after(void) { EXPECT_NOTES("first;delete 1;"); }

/*@ finalize-not-freed
 * open, 11.2.4, after
 * Whether MPI_FINALIZE calls the delete callbacks of attributes of MPI_COMM_WORLD (1, 2 and 3, set in
 * this order), of a communicator that was never freed (4), of MPI_INT (5) and of a datatype that was
 * never freed (6), and in which order.
 */
static void check(void) {
  int keyvals[3], i;
  for (i = 0; i < 3; ++i) keyvals[i] = keyval_comm(MPI_COMM_NULL_COPY_FN, delete_comm);
  CALL(MPI_Comm_set_attr(MPI_COMM_WORLD, keyvals[0], (void*)1));
  CALL(MPI_Comm_set_attr(MPI_COMM_WORLD, keyvals[2], (void*)2));
  CALL(MPI_Comm_set_attr(MPI_COMM_WORLD, keyvals[1], (void*)3));
  CALL(MPI_Comm_set_attr(new_comm(), keyvals[0], (void*)4));
  for (i = 1; i < 3; ++i) CALL(MPI_Comm_free_keyval(&keyvals[i]));
  CALL(MPI_Type_set_attr(MPI_INT, keyval_type(MPI_TYPE_NULL_COPY_FN, delete_type), (void*)5));
  CALL(MPI_Type_set_attr(new_type(), keyval_type(MPI_TYPE_NULL_COPY_FN, delete_type), (void*)6));
}
static void after(void) { OPEN("%s", *notes ? notes : "it does not call them"); }

/*@ after-finalize-xxx
 * open, 11.4.1, after, kinds: create get
 * What MPI_COMM_CREATE_KEYVAL and MPI_COMM_GET_ATTR do after MPI_FINALIZE, when they may not be called.
 */
static void check(void) {}
static void after(void) { OPEN("xxx %s", outcome(try_to_xxx())); }

/*@ finalize-failing-fatal
 * open, 11.2.4, after
 * Whether a delete callback of MPI_COMM_WORLD that fails in MPI_FINALIZE ends a program with the
 * error handler MPI_ERRORS_ARE_FATAL, and whether a get can still be tried after it.
 */
static void check(void) {
  int keyval = keyval_comm(MPI_COMM_NULL_COPY_FN, refuse_comm);
  CALL(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
  CALL(MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, (void*)13));
}
static void after(void) {
  OPEN("MPI_Finalize returns");
  OPEN("a get %s", outcome(try_to_get()));
}

/*@ finalize-failing
 * open, 11.2.4, init: none
 * What MPI_FINALIZE returns if a delete callback of MPI_COMM_SELF fails, and whether the next one
 * runs.
 */
static void check(void) {
  int code;
  MPI_Init(NULL, NULL);
  set_up();
  on_self(delete_comm, 1);
  on_self(refuse_comm, 13);
  code = MPI_Finalize();
  OPEN("it %s; %s", code == MPI_SUCCESS ? "succeeds" : "fails", notes);
}
