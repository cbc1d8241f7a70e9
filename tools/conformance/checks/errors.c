/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*@section errors: error handlers, and what erroneous calls do */

/*@ handler-of-xxx
 * demanded, 9.3, kinds: comm win
 * An error in a call on a communicator or a window calls the object's error handler, with its
 * handle and the code that the call returns, and not that of another object.
 */
static void check(void) {
  MPI_Xxx object = new_xxx(), other = new_xxx();
  int keyval = keyval_xxx(MPI_XXX_NULL_COPY_FN, refuse_xxx), code;
  handle_errors_of_xxx(object);
  handle_errors_of_xxx(other);
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)13));
  code = MPI_Xxx_delete_attr(object, keyval);
  expect_handled(code);
  EXPECT(code == MPI_SUCCESS || handled_xxx == object, "the object of the call", "another handle");
  refusing = 0;
  MPI_Xxx_free(&object);
  MPI_Xxx_free(&other);
}

/*@ handler-of-type
 * demanded, 9.3
 * A datatype has no error handler: an error in a call on one calls that of MPI_COMM_SELF or
 * MPI_COMM_WORLD, with the code that the call returns.
 */
static void check(void) {
  const int code = fail_on_type();
  expect_handled(code);
  EXPECT(code == MPI_SUCCESS || handled_comm == MPI_COMM_SELF || handled_comm == MPI_COMM_WORLD,
         "MPI_COMM_SELF or MPI_COMM_WORLD", "another handle");
}

/*@ handler-of-type-which
 * open, 9.3
 * Which communicator's error handler an error in a call on a datatype calls (for calls unrelated to
 * an object, MPI_COMM_SELF's in MPI-4, MPI_COMM_WORLD's before).
 */
static void check(void) {
  fail_on_type();
  OPEN("%s", times_handled == 0               ? "none"
             : handled_comm == MPI_COMM_SELF  ? "MPI_COMM_SELF"
             : handled_comm == MPI_COMM_WORLD ? "MPI_COMM_WORLD"
                                              : "none");
}

/*@ handler-in-dup
 * demanded, 9.3
 * If a copy callback fails in MPI_COMM_DUP, the error handler of the old communicator is called.
 */
static void check(void) {
  MPI_Comm comm = new_comm(), duplicate;
  int keyval = keyval_comm(refuse_copy_comm, MPI_COMM_NULL_DELETE_FN);
  handle_errors_of_comm(comm);
  CALL(MPI_Comm_set_attr(comm, keyval, (void*)1));
  if (MPI_Comm_dup(comm, &duplicate) == MPI_SUCCESS) return;
  EXPECT_EQ(times_handled, 1);
  EXPECT(handled_comm == comm, "the communicator that is duplicated", "another handle");
}

/*@ code-of-callback-xxx
 * open, 7.7.N
 * Whether the code that a delete callback returns is the one that MPI_XXX_DELETE_ATTR returns.
 */
static int own_code;
static int fails_so(MPI_Xxx object, int keyval, void* value, void* extra_state) {
  return refusing ? own_code : MPI_SUCCESS;
}
static void check(void) {
  MPI_Xxx object = new_xxx();
  int keyval = keyval_xxx(MPI_XXX_NULL_COPY_FN, fails_so), error_class, code, its_class = -1;
  CALL(MPI_Add_error_class(&error_class));
  CALL(MPI_Add_error_code(error_class, &own_code));
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)1));
  code = MPI_Xxx_delete_attr(object, keyval);
  if (code != MPI_SUCCESS) MPI_Error_class(code, &its_class);
  OPEN("%s", code == own_code           ? "the same code"
             : its_class == error_class ? "another code of its class"
                                        : outcome(code));
  refusing = 0;
  MPI_Xxx_free(&object);
}

/*@ invalid-keyval-xxx
 * open, 7.7.5
 * What erroneous calls with MPI_KEYVAL_INVALID do; the error class for it is MPI_ERR_KEYVAL.
 */
static void check(void) {
  MPI_Xxx object = new_xxx();
  int keyval = MPI_KEYVAL_INVALID;
  try_xxx(object, keyval);
  OPEN("free_keyval %s", outcome(MPI_Xxx_free_keyval(&keyval)));
  MPI_Xxx_free(&object);
}

/*@ freed-keyval
 * open, 7.7.5
 * What erroneous calls with a key that was freed and is gone do.
 */
static void check(void) {
  int keyval = keyval_comm(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN), stale = keyval;
  CALL(MPI_Comm_free_keyval(&keyval));
  try_comm(new_comm(), stale);
}

/*@ keyval-of-other-kind
 * open, 7.7
 * What a key of a datatype does on a communicator (a high-quality implementation raises an error).
 */
static void check(void) {
  try_comm(new_comm(), keyval_type(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN));
}

/*@ null-handle
 * open, 7.7.2
 * What attribute calls on MPI_COMM_NULL, which are erroneous, do.
 */
static void check(void) {
  try_comm(MPI_COMM_NULL, keyval_comm(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN));
}
