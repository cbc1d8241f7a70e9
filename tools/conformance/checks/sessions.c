/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*@section sessions: communicators of MPI sessions, without MPI_Init */

/*@ session-attributes
 * demanded, 7.7.2, needs: sessions, init: none
 * Keys can be used on any locally defined communicator: on one made from a session's group too,
 * with duplicates and delete callbacks. It has MPI_TAG_UB (9.1.2). Attributes of datatypes work in a
 * session, too.
 */
static void check(void) { one_session(); }

/*@ session-again
 * demanded, 7.7.2, needs: session_again, init: none
 * After one session another one works like the first, with keys of its own.
 */
static void check(void) {
  int round;
  for (round = 0; round < 3; ++round) one_session();
}

/*@ session-beside-world
 * demanded, 7.7.2, needs: sessions
 * A key serves communicators of MPI_Init's world and of a session alike.
 */
static void check(void) {
  MPI_Session session;
  MPI_Comm comm, other = new_comm();
  int keyval = keyval_comm(MPI_COMM_NULL_COPY_FN, delete_comm);
  comm = session_comm(&session);
  CALL(MPI_Comm_set_attr(comm, keyval, (void*)1));
  CALL(MPI_Comm_set_attr(other, keyval, (void*)2));
  EXPECT_EQ(get_comm(comm, keyval), 1);
  CALL(MPI_Comm_free(&comm));
  EXPECT_NOTES("delete 1;");
  CALL(MPI_Session_finalize(&session));
  EXPECT_EQ(get_comm(other, keyval), 2);
  CALL(MPI_Comm_free(&other));
  EXPECT_NOTES("delete 2;");
}

/*@ session-beside-session
 * demanded, 7.7.2, needs: sessions, init: none
 * Another session that comes and goes doesn't end the first one's keys and attributes.
 */
static void check(void) {
  MPI_Session session, other;
  MPI_Comm comm = session_comm(&session);
  int keyval = keyval_comm(MPI_COMM_NULL_COPY_FN, delete_comm);
  CALL(MPI_Comm_set_attr(comm, keyval, (void*)1));
  CALL(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other));
  CALL(MPI_Session_finalize(&other));
  EXPECT_EQ(get_comm(comm, keyval), 1);
  CALL(MPI_Comm_free(&comm));
  EXPECT_NOTES("delete 1;");
  CALL(MPI_Comm_free_keyval(&keyval));
  CALL(MPI_Session_finalize(&session));
}

/*@ session-outlives-world
 * demanded, 7.7.2, needs: session_outlives, init: none
 * In a session that outlives MPI_Init's world, keys of both still work after MPI_Finalize.
 */
static void check(void) {
  MPI_Session session;
  MPI_Comm comm = session_comm(&session);
  int keyval, later;
  MPI_Init(NULL, NULL);
  keyval = keyval_comm(MPI_COMM_NULL_COPY_FN, delete_comm);
  CALL(MPI_Comm_set_attr(comm, keyval, (void*)3));
  MPI_Finalize();
  EXPECT_EQ(get_comm(comm, keyval), 3);
  CALL(MPI_Comm_delete_attr(comm, keyval));
  later = keyval_comm(MPI_COMM_NULL_COPY_FN, delete_comm);
  CALL(MPI_Comm_set_attr(comm, later, (void*)4));
  CALL(MPI_Comm_free(&comm));
  EXPECT_NOTES("delete 3;delete 4;");
  CALL(MPI_Comm_free_keyval(&keyval));
  CALL(MPI_Comm_free_keyval(&later));
  CALL(MPI_Session_finalize(&session));
}

/*@ session-after-world
 * demanded, 7.7.2, needs: session_after, init: none
 * Sessions that begin after MPI_Finalize have keys and attributes.
 */
static void check(void) {
  int round;
  MPI_Init(NULL, NULL);
  keyval_comm(MPI_COMM_NULL_COPY_FN, delete_comm);
  MPI_Finalize();
  for (round = 0; round < 2; ++round) one_session();
}

/*@ session-keyval-kept
 * open, 7.7.2, needs: session_again, init: none
 * What a key of an earlier session does in a later one.
 */
static void check(void) {
  MPI_Session session;
  MPI_Comm comm = session_comm(&session);
  int keyval = keyval_comm(MPI_COMM_NULL_COPY_FN, delete_comm), code;
  CALL(MPI_Comm_free(&comm));
  CALL(MPI_Session_finalize(&session));
  comm = session_comm(&session);
  code = MPI_Comm_set_attr(comm, keyval, (void*)1);
  MPI_Comm_free(&comm);
  OPEN("set %s; the free of the communicator: %s", outcome(code), *notes ? notes : "no callback");
}

/*@ session-predefined-type
 * open, 7.7.4, needs: session_again, init: none
 * Whether an attribute of MPI_INT is still there in the next session, and whether its delete
 * callback was called.
 */
static void check(void) {
  MPI_Session session;
  int keyval, code, flag = 0;
  void* value;
  CALL(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  keyval = keyval_type(MPI_TYPE_NULL_COPY_FN, delete_type);
  CALL(MPI_Type_set_attr(MPI_INT, keyval, (void*)1));
  CALL(MPI_Session_finalize(&session));
  CALL(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  code = MPI_Type_get_attr(MPI_INT, keyval, &value, &flag);
  OPEN("get %s, %s; the callback %s", outcome(code), flag ? "and finds it" : "and finds nothing",
       *notes ? "was called" : "was not called");
}

/*@ before-init-xxx
 * open, 11.4.1, init: none, kinds: create get
 * What MPI_COMM_CREATE_KEYVAL and MPI_COMM_GET_ATTR do before MPI is initialized, when they may not be
 * called.
 */
static void check(void) {
  const char* said = outcome(try_to_xxx());
  OPEN("xxx %s", said);
  MPI_Init(NULL, NULL);
  MPI_Finalize();
}
