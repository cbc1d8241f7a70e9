/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*@section languages: between C and Fortran */

/*@ f-set-get-xxx
 * demanded, 19.3.7
 * Fortran's MPI_XXX_SET_ATTR and MPI_XXX_GET_ATTR set and get address-sized integers without loss.
 * C reads what they set as a pointer to an MPI_Aint, and a pointer that C sets is read in Fortran as
 * its address.
 */
static void check(void) {
  MPI_Xxx object = new_xxx();
  const MPI_Aint wanted = (MPI_Aint)1 << (sizeof(void*) * 8 - 4) | 5;
  MPI_Aint* in_c = NULL;
  int keyval, flag = 0, ierror;
  FORTRAN(f_xxx_create_keyval(1, &keyval, 0, &ierror));
  EXPECT_EQ(f_read_xxx(MPI_Xxx_c2f(object), keyval), ABSENT);
  FORTRAN(f_xxx_set_attr(MPI_Xxx_c2f(object), keyval, wanted, &ierror));
  EXPECT_EQ(f_read_xxx(MPI_Xxx_c2f(object), keyval), wanted);
  CALL(MPI_Xxx_get_attr(object, keyval, &in_c, &flag));
  EXPECT_EQ(flag, 1);
  EXPECT((MPI_Aint)in_c != wanted, "a pointer to the value in C", "the value itself");
  if (flag && (MPI_Aint)in_c != wanted) EXPECT_EQ(*in_c, wanted);
  CALL(MPI_Xxx_set_attr(object, keyval, &keyval));
  EXPECT_EQ(f_read_xxx(MPI_Xxx_c2f(object), keyval), (MPI_Aint)&keyval);
  FORTRAN(f_xxx_delete_attr(MPI_Xxx_c2f(object), keyval, &ierror));
  EXPECT_EQ(f_read_xxx(MPI_Xxx_c2f(object), keyval), ABSENT);
  FORTRAN(f_xxx_free_keyval(&keyval, &ierror));
  EXPECT_EQ(keyval, f_keyvals[kInvalid]);
  CALL(MPI_Xxx_free(&object));
}

/*@ c-keyval-f-set-xxx
 * demanded, 19.3.7
 * A key created in C serves sets, gets and deletes of Fortran; its delete callback is called in C,
 * also when Fortran frees the object.
 */
static int called;
static int count(MPI_Xxx of, int keyval, void* value, void* extra_state) {
  ++called;
  return MPI_SUCCESS;
}
static void check(void) {
  int handle = MPI_Xxx_c2f(new_xxx()), keyval = keyval_xxx(MPI_XXX_NULL_COPY_FN, count), ierror;
  FORTRAN(f_xxx_set_attr(handle, keyval, 41, &ierror));
  EXPECT_EQ(f_read_xxx(handle, keyval), 41);
  FORTRAN(f_xxx_set_attr(handle, keyval, 42, &ierror));
  EXPECT_EQ(called, 1);
  FORTRAN(f_xxx_delete_attr(handle, keyval, &ierror));
  EXPECT_EQ(called, 2);
  CALL(MPI_Xxx_set_attr(MPI_Xxx_f2c(handle), keyval, (void*)43));
  FORTRAN(f_xxx_free(&handle, &ierror));
  EXPECT_EQ(called, 3);
  EXPECT(MPI_Xxx_f2c(handle) == MPI_XXX_NULL, "the null handle after the free", "another");
  FORTRAN(f_xxx_free_keyval(&keyval, &ierror));
  EXPECT_EQ(keyval, f_keyvals[kInvalid]);
}

/*@ f-delete-callback-xxx
 * demanded, 19.3.7
 * A delete callback of Fortran is called by the conventions of Fortran, whichever language deletes:
 * with the handle, the key and the value, also when C frees the object.
 */
static void check(void) {
  MPI_Xxx object = new_xxx();
  const int handle = MPI_Xxx_c2f(object);
  int keyval, ierror;
  FORTRAN(f_xxx_create_keyval(0, &keyval, 5, &ierror));
  FORTRAN(f_xxx_set_attr(handle, keyval, 71, &ierror));
  CALL(MPI_Xxx_delete_attr(object, keyval));
  expect_seen(__LINE__, 0, 1, handle, keyval, 71);
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)72));
  FORTRAN(f_xxx_delete_attr(handle, keyval, &ierror));
  expect_seen(__LINE__, 0, 2, handle, keyval, 72);
  FORTRAN(f_xxx_set_attr(handle, keyval, 73, &ierror));
  CALL(MPI_Xxx_free(&object));
  expect_seen(__LINE__, 0, 3, handle, keyval, 73);
}

/*@ f-extra-state-xxx
 * demanded, 7.7.N
 * Callbacks of Fortran get the value of the extra_state that their key was created with.
 */
static void check(void) {
  MPI_Xxx object = new_xxx();
  int keyval, ierror;
  FORTRAN(f_xxx_create_keyval(0, &keyval, 987654321, &ierror));
  FORTRAN(f_xxx_set_attr(MPI_Xxx_c2f(object), keyval, 1, &ierror));
  FORTRAN(f_xxx_delete_attr(MPI_Xxx_c2f(object), keyval, &ierror));
  EXPECT_EQ(f_seen.extra, 987654321);
  CALL(MPI_Xxx_free(&object));
}

/*@ f-copy-callback-xxx
 * demanded, 19.3.7, kinds: comm type
 * A copy callback of Fortran is called by the conventions of Fortran when C duplicates the object;
 * the duplicate has what it returned, and nothing if it returned .FALSE. MPI_XXX_DUP_FN and
 * MPI_XXX_NULL_COPY_FN can be given from Fortran, and do the same there.
 */
static void check(void) {
  MPI_Xxx object = new_xxx(), duplicate;
  int keyval, copied, not_copied, ierror;
  FORTRAN(f_xxx_create_keyval(2, &copied, 0, &ierror));
  FORTRAN(f_xxx_create_keyval(1, &not_copied, 0, &ierror));
  FORTRAN(f_xxx_set_attr(MPI_Xxx_c2f(object), copied, 91, &ierror));
  FORTRAN(f_xxx_set_attr(MPI_Xxx_c2f(object), not_copied, 92, &ierror));
  FORTRAN(f_xxx_create_keyval(0, &keyval, 5, &ierror));
  FORTRAN(f_xxx_set_attr(MPI_Xxx_c2f(object), keyval, 81, &ierror));
  CALL(MPI_Xxx_dup(object, &duplicate));
  expect_seen(__LINE__, 1, 0, MPI_Xxx_c2f(object), keyval, 81);
  EXPECT_EQ(f_read_xxx(MPI_Xxx_c2f(duplicate), keyval), 82);
  EXPECT_EQ(f_read_xxx(MPI_Xxx_c2f(object), keyval), 81);
  EXPECT_EQ(f_read_xxx(MPI_Xxx_c2f(duplicate), copied), 91);
  EXPECT_EQ(f_read_xxx(MPI_Xxx_c2f(duplicate), not_copied), ABSENT);
  CALL(MPI_Xxx_free(&duplicate));
  FORTRAN(f_xxx_set_attr(MPI_Xxx_c2f(object), keyval, 13, &ierror));
  CALL(MPI_Xxx_dup(object, &duplicate));
  EXPECT_EQ(f_read_xxx(MPI_Xxx_c2f(duplicate), keyval), ABSENT);
  CALL(MPI_Xxx_free(&duplicate));
}

/*@ f-dup-xxx
 * demanded, 7.7.N, kinds: comm type
 * When Fortran duplicates an object, the callbacks of each key are called in its language.
 */
static void check(void) {
  const int handle = MPI_Xxx_c2f(new_xxx());
  int in_c = keyval_xxx(copy_xxx, delete_xxx), in_fortran, duplicate = 0, freed, ierror;
  FORTRAN(f_xxx_create_keyval(0, &in_fortran, 5, &ierror));
  CALL(MPI_Xxx_set_attr(MPI_Xxx_f2c(handle), in_c, (void*)7));
  FORTRAN(f_xxx_set_attr(handle, in_fortran, 81, &ierror));
  FORTRAN(f_xxx_dup(handle, &duplicate, &ierror));
  EXPECT_NOTES("copy 7;");
  expect_seen(__LINE__, 1, 0, handle, in_fortran, 81);
  EXPECT_EQ(get_xxx(MPI_Xxx_f2c(duplicate), in_c), 107);
  EXPECT_EQ(f_read_xxx(duplicate, in_fortran), 82);
  freed = duplicate;
  FORTRAN(f_xxx_free(&freed, &ierror));
  EXPECT_NOTES("delete 107;");
  expect_seen(__LINE__, 1, 1, duplicate, in_fortran, 82);
}

/*@ f-dup-fn-c-set-xxx
 * implied, 7.7.N, kinds: comm type
 * MPI_XXX_DUP_FN of Fortran returns the value as it is: a pointer that C had set is the same
 * pointer in C on a duplicate.
 */
static void check(void) {
  MPI_Xxx object = new_xxx(), duplicate;
  int keyval, ierror;
  FORTRAN(f_xxx_create_keyval(2, &keyval, 0, &ierror));
  CALL(MPI_Xxx_set_attr(object, keyval, &keyval));
  CALL(MPI_Xxx_dup(object, &duplicate));
  EXPECT(get_xxx(duplicate, keyval) == (long)&keyval, "the same pointer", "another one");
  CALL(MPI_Xxx_free(&duplicate));
  CALL(MPI_Xxx_free(&object));
}

/*@ f-mpi1-dup-fn-c-set
 * implied, 16.1, needs: attr_put
 * MPI_DUP_FN of Fortran returns the value as it is: a pointer that C had set is the same pointer in
 * C on a duplicate.
 */
static void check(void) {
  MPI_Comm comm = new_comm(), duplicate;
  int keyval, ierror;
  FORTRAN(f_keyval_create(2, &keyval, 0, &ierror));
  CALL(MPI_Comm_set_attr(comm, keyval, &keyval));
  CALL(MPI_Comm_dup(comm, &duplicate));
  EXPECT(get_comm(duplicate, keyval) == (long)&keyval, "the same pointer", "another one");
  CALL(MPI_Comm_free(&duplicate));
  CALL(MPI_Comm_free(&comm));
}

/*@ f-failing-callbacks
 * demanded, 7.7.2
 * MPI_COMM_DUP and MPI_COMM_DELETE_ATTR fail if the callback of Fortran returns anything but
 * MPI_SUCCESS.
 */
static void check(void) {
  const int handle = MPI_Comm_c2f(new_comm());
  int keyval, duplicate, ierror;
  FORTRAN(f_comm_create_keyval(0, &keyval, 5, &ierror));
  FORTRAN(f_comm_set_attr(handle, keyval, 14, &ierror));
  f_comm_dup(handle, &duplicate, &ierror);
  EXPECT(ierror != MPI_SUCCESS, "an error of MPI_Comm_dup", "MPI_SUCCESS");
  FORTRAN(f_comm_set_attr(handle, keyval, 13, &ierror));
  f_comm_delete_attr(handle, keyval, &ierror);
  EXPECT(ierror != MPI_SUCCESS, "an error of MPI_Comm_delete_attr", "MPI_SUCCESS");
}

/*@ f-without-ierror
 * demanded, 19.1.2, needs: f08
 * In mpi_f08, ierror can be left out of each call.
 */
static void check(void) {
  MPI_Comm comm = new_comm();
  MPI_Aint value = 0;
  int keyval = 0, flag = 0;
  f_without_ierror(MPI_Comm_c2f(comm), 5, &keyval, &value, &flag);
  EXPECT_EQ(flag, 1);
  EXPECT_EQ(value, 5);
  EXPECT_EQ(keyval, f_keyvals[kInvalid]);
  CALL(MPI_Comm_free(&comm));
}

/*@ f-mpi1-callbacks
 * demanded, 16.1, needs: attr_put
 * Callbacks given to Fortran's MPI_KEYVAL_CREATE take and return an INTEGER, and so does
 * MPI_DUP_FN.
 */
static void check(void) {
  MPI_Comm comm = new_comm(), duplicate;
  const int handle = MPI_Comm_c2f(comm);
  MPI_Aint wide = 0;
  int keyval, copied, other, value = 0, flag, ierror;
  FORTRAN(f_keyval_create(0, &keyval, 321, &ierror));
  FORTRAN(f_keyval_create(2, &copied, 0, &ierror));
  FORTRAN(f_attr_put(handle, keyval, -9, &ierror));
  FORTRAN(f_attr_put(handle, copied, 6, &ierror));
  CALL(MPI_Comm_dup(comm, &duplicate));
  expect_seen(__LINE__, 1, 0, handle, keyval, -9);
  other = MPI_Comm_c2f(duplicate);
  FORTRAN(f_attr_get(other, keyval, &value, &flag, &ierror));
  EXPECT(flag && value == -8, "the value -8", "flag %d, %d", flag, value);
  FORTRAN(f_comm_get_attr(other, keyval, &wide, &flag, &ierror));
  EXPECT_EQ(wide, -8);
  FORTRAN(f_attr_get(other, copied, &value, &flag, &ierror));
  EXPECT(flag && value == 6, "the value 6", "flag %d, %d", flag, value);
  CALL(MPI_Comm_free(&duplicate));
  expect_seen(__LINE__, 1, 1, other, keyval, -8);
  FORTRAN(f_attr_delete(handle, keyval, &ierror));
  expect_seen(__LINE__, 1, 2, handle, keyval, -9);
  FORTRAN(f_keyval_free(&keyval, &ierror));
  EXPECT_EQ(keyval, f_keyvals[kInvalid]);
  CALL(MPI_Comm_free(&comm));
}

/*@ every-language
 * demanded, 19.3.7, needs: attr_put
 * In whichever language a key was made and a value set, each language reads it as the standard
 * says.
 */
static void check(void) {
  MPI_Comm comm = new_comm();
  const int handle = MPI_Comm_c2f(comm);
  const MPI_Aint wide = sizeof(MPI_Aint) > 4 ? ((MPI_Aint)5 << (sizeof(MPI_Aint) * 4)) + 123 : 123;
  int keyvals[3], i, set_by, number = 0, flag, ierror;
  FORTRAN(f_comm_create_keyval(2, &keyvals[0], 0, &ierror));
  FORTRAN(f_keyval_create(2, &keyvals[1], 0, &ierror));
  keyvals[2] = keyval_comm(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN);
  for (i = 0; i < 9; ++i) {
    const int keyval = keyvals[i / 3];
    MPI_Aint aint = 0;
    void* pointer = NULL;
    set_by = i % 3;
    if (set_by == 0) CALL(MPI_Comm_set_attr(comm, keyval, (void*)wide));
    if (set_by == 1) FORTRAN(f_attr_put(handle, keyval, -5, &ierror));
    if (set_by == 2) FORTRAN(f_comm_set_attr(handle, keyval, wide, &ierror));
    CALL(MPI_Comm_get_attr(comm, keyval, &pointer, &flag));
    FORTRAN(f_attr_get(handle, keyval, &number, &flag, &ierror));
    FORTRAN(f_comm_get_attr(handle, keyval, &aint, &flag, &ierror));
    EXPECT_EQ(number, set_by == 1 ? -5 : 123);
    EXPECT_EQ(aint, set_by == 1 ? -5 : wide);
    if (set_by == 0) EXPECT(pointer == (void*)wide, "C's pointer in C", "another");
    if (set_by == 1) EXPECT_EQ(*(int*)pointer, -5);
    if (set_by == 2) EXPECT_EQ(*(MPI_Aint*)pointer, wide);
  }
  CALL(MPI_Comm_free(&comm));
}

/*@ f-predefined
 * demanded, 19.3.7
 * Predefined integers such as MPI_TAG_UB are read in Fortran as values, the same that C finds
 * behind its pointer. MPI_WIN_BASE, MPI_WIN_SIZE and MPI_WIN_DISP_UNIT are the base address, the
 * size and the displacement unit of the window (12.2.6).
 */
static void check(void) {
  const int handle = MPI_Comm_c2f(MPI_COMM_WORLD);
  MPI_Win win;
  EXPECT_EQ(f_read_comm(handle, f_keyvals[kTagUb]), *predefined(MPI_COMM_WORLD, MPI_TAG_UB));
  win = new_win();
  EXPECT_EQ(f_read_win(MPI_Win_c2f(win), f_keyvals[kWinBase]), window_memory);
  EXPECT_EQ(f_read_win(MPI_Win_c2f(win), f_keyvals[kWinSize]), sizeof window_memory);
  EXPECT_EQ(f_read_win(MPI_Win_c2f(win), f_keyvals[kWinDispUnit]), sizeof(int));
  CALL(MPI_Win_free(&win));
}

/*@ f-constants
 * open, 19.3.9
 * Whether predefined keys have the same value in C and in Fortran, as constants must.
 */
static void check(void) {
  OPEN("MPI_KEYVAL_INVALID: %s, MPI_TAG_UB: %s, MPI_WIN_BASE: %s",
       f_keyvals[kInvalid] == MPI_KEYVAL_INVALID ? "the same" : "another",
       f_keyvals[kTagUb] == MPI_TAG_UB ? "the same" : "another",
       f_keyvals[kWinBase] == MPI_WIN_BASE ? "the same" : "another");
}

/*@ c-dup-fn-f-set
 * open, 19.3.7
 * What Fortran reads on a duplicate if C's MPI_COMM_DUP_FN copied an integer that Fortran had set.
 */
static void check(void) {
  MPI_Comm comm = new_comm(), duplicate;
  MPI_Aint value = 0;
  int keyval = keyval_comm(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN), flag = 0, ierror;
  FORTRAN(f_comm_set_attr(MPI_Comm_c2f(comm), keyval, 91, &ierror));
  CALL(MPI_Comm_dup(comm, &duplicate));
  FORTRAN(f_comm_get_attr(MPI_Comm_c2f(duplicate), keyval, &value, &flag, &ierror));
  OPEN("%s", !flag ? "nothing" : value == 91 ? "the same integer" : "something else");
  CALL(MPI_Comm_free(&duplicate));
  CALL(MPI_Comm_free(&comm));
}
