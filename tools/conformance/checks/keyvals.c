/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*@section keyvals: creating and freeing keyvals */

/*@ create-unique-xxx
 * demanded, 7.7.N
 * Keys are locally unique in a process: those that are alive together differ, and none is
 * MPI_KEYVAL_INVALID, to which MPI_XXX_FREE_KEYVAL sets the variable that it is given. As long as an
 * attribute refers to a freed key, no new key equals it.
 */
static void check(void) {
  MPI_Xxx object = new_xxx();
  int keyvals[200], freed, i, j;
  for (i = 0; i < 200; ++i) {
    keyvals[i] = keyval_xxx(MPI_XXX_NULL_COPY_FN, MPI_XXX_NULL_DELETE_FN);
    EXPECT(keyvals[i] != MPI_KEYVAL_INVALID, "a keyval", "MPI_KEYVAL_INVALID");
    for (j = 0; j < i; ++j) {
      EXPECT(keyvals[i] != keyvals[j], "another keyval", "the same one as for creation %d", j);
    }
    if (i > 0) continue;
    CALL(MPI_Xxx_set_attr(object, keyvals[0], (void*)7));
    freed = keyvals[0];
    CALL(MPI_Xxx_free_keyval(&freed));
    EXPECT_EQ(freed, MPI_KEYVAL_INVALID);
  }
  CALL(MPI_Xxx_free(&object));
}

/*@ freed-dup-xxx
 * demanded, 7.7.N, kinds: comm type
 * A duplication also calls the copy callbacks of attributes whose key was freed; the copy is
 * deleted with the duplicate.
 */
static void check(void) {
  MPI_Xxx object = new_xxx(), duplicate;
  int keyval = keyval_xxx(copy_xxx, delete_xxx), saved = keyval;
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)7));
  CALL(MPI_Xxx_free_keyval(&keyval));
  CALL(MPI_Xxx_dup(object, &duplicate));
  EXPECT_NOTES("copy 7;");
  EXPECT_EQ(get_xxx(duplicate, saved), 107);
  CALL(MPI_Xxx_free(&duplicate));
  EXPECT_NOTES("delete 107;");
  CALL(MPI_Xxx_free(&object));
  EXPECT_NOTES("delete 7;");
}

/*@ freed-on-many-xxx
 * demanded, 7.7.N
 * A key that is in use can be freed, and its variable is MPI_KEYVAL_INVALID then. The actual free
 * waits until all references to it are gone: till then a saved copy of the key serves each object,
 * and the delete callback is called when the attribute is deleted or the object is freed.
 */
static void check(void) {
  MPI_Xxx objects[3];
  int keyval = keyval_xxx(MPI_XXX_NULL_COPY_FN, delete_xxx), saved = keyval, i;
  for (i = 0; i < 3; ++i) {
    objects[i] = new_xxx();
    CALL(MPI_Xxx_set_attr(objects[i], keyval, (void*)(long)(i + 1)));
  }
  CALL(MPI_Xxx_free_keyval(&keyval));
  EXPECT_EQ(keyval, MPI_KEYVAL_INVALID);
  EXPECT_NOTES("");
  CALL(MPI_Xxx_free(&objects[1]));
  EXPECT_NOTES("delete 2;");
  EXPECT_EQ(get_xxx(objects[2], saved), 3);
  CALL(MPI_Xxx_delete_attr(objects[0], saved));
  EXPECT_NOTES("delete 1;");
  CALL(MPI_Xxx_free(&objects[0]));
  CALL(MPI_Xxx_free(&objects[2]));
  EXPECT_NOTES("delete 3;");
}

/*@ free-in-delete-callback-xxx
 * demanded, 7.7.N
 * A delete callback may free the key of its attribute, which is in use.
 */
static int key, deletions;
static int delete_and_free(MPI_Xxx object, int keyval, void* value, void* extra_state) {
  ++deletions;
  CALL(MPI_Xxx_free_keyval(&key));
  return MPI_SUCCESS;
}
static void check(void) {
  MPI_Xxx object = new_xxx();
  key = keyval_xxx(MPI_XXX_NULL_COPY_FN, delete_and_free);
  CALL(MPI_Xxx_set_attr(object, key, (void*)1));
  CALL(MPI_Xxx_free(&object));
  EXPECT_EQ(deletions, 1);
  EXPECT_EQ(key, MPI_KEYVAL_INVALID);
  /* The MPI's bookkeeping is still in order. */
  object = new_xxx();
  key = keyval_xxx(MPI_XXX_NULL_COPY_FN, delete_and_free);
  CALL(MPI_Xxx_set_attr(object, key, (void*)2));
  CALL(MPI_Xxx_delete_attr(object, key));
  EXPECT_EQ(deletions, 2);
  CALL(MPI_Xxx_free(&object));
  EXPECT_EQ(deletions, 2);
}

/*@ free-in-copy-callback-xxx
 * demanded, 7.7.N, kinds: comm type
 * A copy callback may free the key of its attribute, which is in use; what it copies is attached.
 */
static int key;
static int copy_and_free(MPI_Xxx object, int keyval, void* extra_state, void* in, void* out,
                         int* flag) {
  CALL(MPI_Xxx_free_keyval(&key));
  return copied_as_is(in, out, flag);
}
static void check(void) {
  MPI_Xxx object = new_xxx(), duplicate;
  int saved;
  saved = key = keyval_xxx(copy_and_free, delete_xxx);
  CALL(MPI_Xxx_set_attr(object, key, (void*)5));
  CALL(MPI_Xxx_dup(object, &duplicate));
  EXPECT_EQ(key, MPI_KEYVAL_INVALID);
  EXPECT_EQ(get_xxx(duplicate, saved), 5);
  CALL(MPI_Xxx_free(&duplicate));
  EXPECT_NOTES("delete 5;");
  CALL(MPI_Xxx_free(&object));
  EXPECT_NOTES("delete 5;");
}

/*@ freed-twice-in-delete
 * open, 7.7.2
 * What happens if a delete callback frees its own key, which was freed before the call.
 */
static int free_own(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  note("free_keyval %s;", outcome(MPI_Comm_free_keyval(&keyval)));
  return MPI_SUCCESS;
}
static void check(void) {
  MPI_Comm object = new_comm();
  int keyval = keyval_comm(MPI_COMM_NULL_COPY_FN, free_own), saved = keyval, code;
  CALL(MPI_Comm_set_attr(object, keyval, (void*)7));
  CALL(MPI_Comm_free_keyval(&keyval));
  code = MPI_Comm_delete_attr(object, saved);
  OPEN("%s delete %s", notes, outcome(code));
  MPI_Comm_free(&object);
}

/*@ freed-twice
 * open, 7.7.2
 * What a saved copy of a key does if the key was freed before, and an attribute still refers to it:
 * in a set on another communicator, and if it is freed again.
 */
static void check(void) {
  MPI_Comm object = new_comm(), other = new_comm();
  int keyval = keyval_comm(MPI_COMM_NULL_COPY_FN, delete_comm), saved = keyval;
  CALL(MPI_Comm_set_attr(object, keyval, (void*)7));
  CALL(MPI_Comm_free_keyval(&keyval));
  OPEN("set %s", outcome(MPI_Comm_set_attr(other, saved, (void*)8)));
  OPEN("free_keyval %s", outcome(MPI_Comm_free_keyval(&saved)));
  MPI_Comm_free(&other);
  MPI_Comm_free(&object);
}
