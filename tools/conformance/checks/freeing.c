/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*@section freeing: attributes of objects that are freed */

/*@ free-deletes-xxx
 * demanded, 7.7.N
 * Freeing an object calls the delete callback of each attribute that is set, once.
 */
static int deleted[100];
static int count(MPI_Xxx object, int keyval, void* value, void* extra_state) {
  ++deleted[(long)value];
  return MPI_SUCCESS;
}
static void check(void) {
  MPI_Xxx object = new_xxx();
  int keyvals[100], i;
  for (i = 0; i < 100; ++i) {
    keyvals[i] = keyval_xxx(MPI_XXX_NULL_COPY_FN, count);
    if (i % 4 != 0) CALL(MPI_Xxx_set_attr(object, keyvals[i], (void*)(long)i));
  }
  CALL(MPI_Xxx_free(&object));
  for (i = 0; i < 100; ++i) {
    EXPECT_EQ(deleted[i], i % 4 != 0);
    CALL(MPI_Xxx_free_keyval(&keyvals[i]));
  }
}

/*@ disconnect-deletes
 * demanded, 11.10.4
 * MPI_COMM_DISCONNECT deallocates the communicator as MPI_COMM_FREE does: delete callbacks are
 * called.
 */
static void check(void) {
  MPI_Comm comm = new_comm();
  int keyval = keyval_comm(MPI_COMM_NULL_COPY_FN, delete_comm);
  CALL(MPI_Comm_set_attr(comm, keyval, (void*)4));
  CALL(MPI_Comm_disconnect(&comm));
  EXPECT_NOTES("delete 4;");
}

/*@ usable-in-free
 * implied, 7.7.2
 * The communicator that a delete callback gets from MPI_COMM_FREE is valid: the callback can get
 * its size and attributes.
 */
static int other, calls;
static int use(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  int size = 0, flag = 0;
  void* found = NULL;
  CALL(MPI_Comm_size(comm, &size));
  EXPECT_EQ(size, 1);
  CALL(MPI_Comm_get_attr(comm, other, &found, &flag));
  ++calls;
  return MPI_SUCCESS;
}
static void check(void) {
  MPI_Comm comm = new_comm();
  int keyval = keyval_comm(MPI_COMM_NULL_COPY_FN, use);
  other = keyval_comm(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN);
  CALL(MPI_Comm_set_attr(comm, other, (void*)1));
  CALL(MPI_Comm_set_attr(comm, keyval, (void*)2));
  CALL(MPI_Comm_free(&comm));
  EXPECT_EQ(calls, 1);
}

/*@ failing-free-xxx-set
 * demanded, 7.7.2, kinds: first last
 * MPI_COMM_FREE fails if any delete callback does: here that of the attribute set xxx, of three.
 */
enum { FIRST = 0, LAST = 2 };
static void check(void) {
  MPI_Comm comm = refusing_comm(XXX);
  FAILS(MPI_Comm_free(&comm));
}

/*@ failed-free-xxx
 * open, 7.7.N
 * What MPI_XXX_FREE does if one of three delete callbacks fails, and whether the others run.
 */
static void check(void) {
  MPI_Xxx object = refusing_xxx(1);
  int code = MPI_Xxx_free(&object);
  OPEN("free %s, the handle is %s; attributes 0, 13 (refuses) and 2: %s", outcome(code),
       object == MPI_XXX_NULL ? "null" : "kept", notes);
  refusing = 0;
}

/*@ free-order-xxx
 * open, 7.7.N
 * The order in which delete callbacks are called when an object is freed.
 */
static void check(void) {
  MPI_Xxx object = new_xxx();
  set_four_xxx(object);
  CALL(MPI_Xxx_free(&object));
  OPEN("set as 1, 2, 3, 4 under keyvals created 3rd, 1st, 4th, 2nd: %s", notes);
}

/*@ set-in-free-xxx
 * open, 7.7.N
 * What happens to an attribute that a delete callback attaches to the object being freed.
 */
static int other;
static int set_another(MPI_Xxx object, int keyval, void* value, void* extra_state) {
  note("set %s;", outcome(MPI_Xxx_set_attr(object, other, (void*)2)));
  return MPI_SUCCESS;
}
static void check(void) {
  MPI_Xxx object = new_xxx();
  int keyval = keyval_xxx(MPI_XXX_NULL_COPY_FN, set_another), code;
  other = keyval_xxx(MPI_XXX_NULL_COPY_FN, delete_xxx);
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)1));
  code = MPI_Xxx_free(&object);
  OPEN("free %s; %s", outcome(code), notes);
}

/*@ comm-deletes-when
 * open, 7.4.3
 * When a communicator's attributes are deleted if it is freed while a receive on it is pending.
 */
static void check(void) {
  MPI_Comm comm = new_comm();
  MPI_Request request;
  int received, keyval = keyval_comm(MPI_COMM_NULL_COPY_FN, delete_comm);
  CALL(MPI_Comm_set_attr(comm, keyval, (void*)1));
  CALL(MPI_Irecv(&received, 1, MPI_INT, 0, 0, comm, &request));
  CALL(MPI_Comm_free(&comm));
  OPEN("%s", *notes ? "in MPI_Comm_free" : "later, when the receive has ended");
  CALL(MPI_Cancel(&request));
  CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
}
