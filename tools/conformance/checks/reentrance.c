/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*@section reentrance: callbacks that call attribute functions */

/*@ delete-another-in-free-xxx
 * implied, 7.7.N
 * While an object is freed, each of two delete callbacks deletes the other's attribute if it is
 * still there: each value is deleted once.
 */
static int key[2], deletions[2];
static int delete_other(MPI_Xxx object, int keyval, void* value, void* extra_state) {
  const int me = keyval == key[1];
  if (++deletions[me] == 1 && deletions[!me] == 0) MPI_Xxx_delete_attr(object, key[!me]);
  return MPI_SUCCESS;
}
static void check(void) {
  MPI_Xxx object = new_xxx();
  int i;
  for (i = 0; i < 2; ++i) {
    key[i] = keyval_xxx(MPI_XXX_NULL_COPY_FN, delete_other);
    CALL(MPI_Xxx_set_attr(object, key[i], (void*)(long)i));
  }
  CALL(MPI_Xxx_free(&object));
  EXPECT_EQ(deletions[0], 1);
  EXPECT_EQ(deletions[1], 1);
}

/*@ set-another-in-delete-xxx
 * implied, 7.7.N
 * A delete callback sets another attribute of the object: it is attached.
 */
static int other;
static int set_other(MPI_Xxx object, int keyval, void* value, void* extra_state) {
  CALL(MPI_Xxx_set_attr(object, other, (void*)2));
  return MPI_SUCCESS;
}
static void check(void) {
  MPI_Xxx object = new_xxx();
  int keyval = keyval_xxx(MPI_XXX_NULL_COPY_FN, set_other);
  other = keyval_xxx(MPI_XXX_NULL_COPY_FN, delete_xxx);
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)1));
  CALL(MPI_Xxx_delete_attr(object, keyval));
  EXPECT_EQ(get_xxx(object, keyval), ABSENT);
  EXPECT_EQ(get_xxx(object, other), 2);
  CALL(MPI_Xxx_free(&object));
  EXPECT_NOTES("delete 2;");
}

/*@ get-another-in-delete-xxx
 * implied, 7.7.N
 * A delete callback reads another attribute of the object, and one of another object. It creates and
 * frees keys, none of which is its own, even if that was freed.
 */
static int other, calls;
static MPI_Xxx elsewhere;
static int read_others(MPI_Xxx object, int keyval, void* value, void* extra_state) {
  int i;
  if (++calls < 3) EXPECT_EQ(get_xxx(object, other), 2);
  EXPECT_EQ(get_xxx(elsewhere, other), 3);
  for (i = 0; i < 20; ++i) {
    int made = keyval_xxx(MPI_XXX_NULL_COPY_FN, MPI_XXX_NULL_DELETE_FN);
    EXPECT(made != keyval, "a key that is not in use", "that of the callback");
    CALL(MPI_Xxx_free_keyval(&made));
  }
  return MPI_SUCCESS;
}
static void check(void) {
  MPI_Xxx object = new_xxx();
  int keyval = keyval_xxx(MPI_XXX_NULL_COPY_FN, read_others);
  other = keyval_xxx(MPI_XXX_NULL_COPY_FN, delete_xxx);
  elsewhere = new_xxx();
  CALL(MPI_Xxx_set_attr(object, other, (void*)2));
  CALL(MPI_Xxx_set_attr(elsewhere, other, (void*)3));
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)1));
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)4));
  CALL(MPI_Xxx_delete_attr(object, keyval));
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)5));
  CALL(MPI_Xxx_free_keyval(&keyval));
  CALL(MPI_Xxx_free(&object));
  EXPECT_EQ(calls, 3);
  CALL(MPI_Xxx_free(&elsewhere));
}

/*@ free-another-in-delete
 * implied, 7.7.2
 * A delete callback frees another communicator, which has an attribute under the same key (as in a
 * library that caches a communicator of its own).
 */
static int key;
static int free_inner(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  note("delete;");
  if (value != NULL) {
    CALL(MPI_Comm_free((MPI_Comm*)value));
    free(value);
  }
  return MPI_SUCCESS;
}
static void check(void) {
  MPI_Comm outer = new_comm(), *inner = (MPI_Comm*)malloc(sizeof *inner);
  key = keyval_comm(MPI_COMM_NULL_COPY_FN, free_inner);
  *inner = new_comm();
  CALL(MPI_Comm_set_attr(*inner, key, NULL));
  CALL(MPI_Comm_set_attr(outer, key, inner));
  CALL(MPI_Comm_free(&outer));
  EXPECT_NOTES("delete;delete;");
}

/*@ dup-in-copy-xxx
 * implied, 7.7.N, kinds: comm type
 * A copy callback duplicates another object, whose attributes are copied by its own copy callbacks.
 */
static MPI_Xxx inner, inner_duplicate;
static int inner_key;
static int dup_inner(MPI_Xxx object, int keyval, void* extra_state, void* in, void* out,
                     int* flag) {
  CALL(MPI_Xxx_dup(inner, &inner_duplicate));
  return copied_as_is(in, out, flag);
}
static void check(void) {
  MPI_Xxx object = new_xxx(), duplicate;
  int keyval = keyval_xxx(dup_inner, delete_xxx);
  inner = new_xxx();
  inner_key = keyval_xxx(copy_xxx, delete_xxx);
  CALL(MPI_Xxx_set_attr(inner, inner_key, (void*)7));
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)1));
  CALL(MPI_Xxx_dup(object, &duplicate));
  EXPECT_NOTES("copy 7;");
  EXPECT_EQ(get_xxx(inner_duplicate, inner_key), 107);
  EXPECT_EQ(get_xxx(duplicate, keyval), 1);
  CALL(MPI_Xxx_free(&inner_duplicate));
  CALL(MPI_Xxx_free(&inner));
  CALL(MPI_Xxx_free(&duplicate));
  CALL(MPI_Xxx_free(&object));
  EXPECT_NOTES("delete 107;delete 7;delete 1;delete 1;");
}

/*@ get-in-copy-xxx
 * implied, 7.7.N, kinds: comm type
 * A copy callback reads the attribute that it copies, and another one, on the old object. It sets a
 * third one there: only that object has it.
 */
static int other, third;
static int read_old(MPI_Xxx object, int keyval, void* extra_state, void* in, void* out, int* flag) {
  EXPECT_EQ(get_xxx(object, keyval), (long)in);
  EXPECT_EQ(get_xxx(object, other), 2);
  CALL(MPI_Xxx_set_attr(object, third, (void*)3));
  return copied_as_is(in, out, flag);
}
static void check(void) {
  MPI_Xxx object = new_xxx(), duplicate;
  int keyval = keyval_xxx(read_old, MPI_XXX_NULL_DELETE_FN);
  other = keyval_xxx(MPI_XXX_NULL_COPY_FN, MPI_XXX_NULL_DELETE_FN);
  third = keyval_xxx(MPI_XXX_NULL_COPY_FN, delete_xxx);
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)1));
  CALL(MPI_Xxx_set_attr(object, other, (void*)2));
  CALL(MPI_Xxx_dup(object, &duplicate));
  EXPECT_EQ(get_xxx(object, third), 3);
  EXPECT_EQ(get_xxx(duplicate, third), ABSENT);
  EXPECT_EQ(get_xxx(duplicate, keyval), 1);
  CALL(MPI_Xxx_free(&duplicate));
  CALL(MPI_Xxx_free(&object));
  EXPECT_NOTES("delete 3;");
}

/*@ delete-chain-xxx
 * implied, 7.7.N
 * Delete callbacks that each delete the next of 50 attributes, one within the other.
 */
static int keyvals[50], depth;
static int delete_next(MPI_Xxx object, int keyval, void* value, void* extra_state) {
  const long me = (long)value;
  ++depth;
  if (me + 1 < 50) CALL(MPI_Xxx_delete_attr(object, keyvals[me + 1]));
  return MPI_SUCCESS;
}
static void check(void) {
  MPI_Xxx object = new_xxx();
  int i;
  for (i = 0; i < 50; ++i) {
    keyvals[i] = keyval_xxx(MPI_XXX_NULL_COPY_FN, delete_next);
    CALL(MPI_Xxx_set_attr(object, keyvals[i], (void*)(long)i));
  }
  CALL(MPI_Xxx_delete_attr(object, keyvals[0]));
  EXPECT_EQ(depth, 50);
  for (i = 0; i < 50; ++i) EXPECT_EQ(get_xxx(object, keyvals[i]), ABSENT);
  CALL(MPI_Xxx_free(&object));
  EXPECT_EQ(depth, 50);
}

/*@ delete-itself-in-delete
 * open, 7.7.2
 * What happens if a delete callback deletes its own attribute again.
 */
static int calls;
static int delete_again(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  if (++calls < 5) note("%s;", outcome(MPI_Comm_delete_attr(comm, keyval)));
  return MPI_SUCCESS;
}
static void check(void) {
  MPI_Comm comm = new_comm();
  int keyval = keyval_comm(MPI_COMM_NULL_COPY_FN, delete_again);
  CALL(MPI_Comm_set_attr(comm, keyval, (void*)1));
  MPI_Comm_delete_attr(comm, keyval);
  OPEN("the callback runs %d times; inner delete %s", calls, notes);
}

/*@ delete-linked
 * open, 7.7.2
 * What happens to two communicators whose attributes hold each other, as PETSc's do: each delete
 * callback deletes the other's attribute if a get still finds it.
 */
static MPI_Comm linked[2];
static int keys[2], calls;
static int delete_link(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  const int me = keyval == keys[1];
  note("%d;", me);
  if (++calls < 10 && get_comm(linked[!me], keys[!me]) != ABSENT) {
    MPI_Comm_delete_attr(linked[!me], keys[!me]);
  }
  return MPI_SUCCESS;
}
static void check(void) {
  int i, round;
  for (i = 0; i < 2; ++i) {
    keys[i] = keyval_comm(MPI_COMM_NULL_COPY_FN, delete_link);
    linked[i] = new_comm();
  }
  for (round = 0; round < 2; ++round) {
    for (i = 0; i < 2; ++i) CALL(MPI_Comm_set_attr(linked[i], keys[i], (void*)1));
    calls = 0;
    if (round == 0) MPI_Comm_delete_attr(linked[0], keys[0]);
    if (round == 1) MPI_Comm_free(&linked[1]);
    note(round == 0 ? " by delete; " : " by free");
  }
  OPEN("%s", notes);
}

/*@ set-itself-in-delete
 * open, 7.7.2
 * What happens to a value that a delete callback sets under its own key.
 */
static int calls;
static int set_again(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  note("delete %ld;", (long)value);
  if (calls++ == 0) note("set %s;", outcome(MPI_Comm_set_attr(comm, keyval, (void*)2)));
  return MPI_SUCCESS;
}
static void check(void) {
  MPI_Comm comm = new_comm();
  int keyval = keyval_comm(MPI_COMM_NULL_COPY_FN, set_again);
  long left;
  CALL(MPI_Comm_set_attr(comm, keyval, (void*)1));
  MPI_Comm_delete_attr(comm, keyval);
  left = get_comm(comm, keyval);
  OPEN("%s then %s", notes,
       left == 2   ? "2 is attached"
       : left == 1 ? "1 is attached"
                   : "nothing is attached");
}
