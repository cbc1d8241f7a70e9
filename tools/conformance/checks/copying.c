/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*@section copying: duplicating objects, and the copy callbacks */

/*@ dup-fn-xxx
 * demanded, 7.7.N, kinds: comm type
 * With MPI_XXX_DUP_FN a duplicate has the attribute with the same value, and deletes it as its own.
 * With MPI_XXX_NULL_COPY_FN it doesn't have the attribute.
 */
static void check(void) {
  MPI_Xxx object = new_xxx(), duplicate;
  int keyval = keyval_xxx(MPI_XXX_DUP_FN, delete_xxx);
  int not_copied = keyval_xxx(MPI_XXX_NULL_COPY_FN, MPI_XXX_NULL_DELETE_FN);
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)8));
  CALL(MPI_Xxx_set_attr(object, not_copied, (void*)1));
  CALL(MPI_Xxx_dup(object, &duplicate));
  EXPECT_EQ(get_xxx(duplicate, keyval), 8);
  EXPECT_EQ(get_xxx(duplicate, not_copied), ABSENT);
  CALL(MPI_Xxx_set_attr(duplicate, keyval, (void*)9));
  EXPECT_NOTES("delete 8;");
  EXPECT_EQ(get_xxx(object, keyval), 8);
  CALL(MPI_Xxx_free(&duplicate));
  EXPECT_NOTES("delete 9;");
  CALL(MPI_Xxx_free(&object));
  EXPECT_NOTES("delete 8;");
}

/*@ copy-arguments-xxx
 * demanded, 7.7.N, kinds: comm type
 * The copy callback gets the old object, the key, its extra_state and the value, and where to put
 * the new value.
 */
static MPI_Xxx object;
static int key, state, calls;
static int compare(MPI_Xxx old, int keyval, void* extra_state, void* in, void* out, int* flag) {
  EXPECT(old == object, "the old object", "another handle");
  EXPECT_EQ(keyval, key);
  EXPECT(extra_state == &state, "the extra_state of the key", "another one");
  EXPECT_EQ((long)in, 5);
  ++calls;
  return copied_as_is(in, out, flag);
}
static void check(void) {
  MPI_Xxx duplicate;
  object = new_xxx();
  CALL(MPI_Xxx_create_keyval(compare, MPI_XXX_NULL_DELETE_FN, &key, &state));
  CALL(MPI_Xxx_set_attr(object, key, (void*)5));
  CALL(MPI_Xxx_dup(object, &duplicate));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(get_xxx(duplicate, key), 5);
  CALL(MPI_Xxx_free(&duplicate));
  CALL(MPI_Xxx_free(&object));
}

/*@ dup-many-xxx
 * demanded, 7.7.N, kinds: comm type
 * A duplication calls the copy callback of each attribute that is set, once each, and of no other.
 * If it returns flag = 0, the duplicate doesn't have the attribute. A null pointer is copied like
 * other values.
 */
static int copied[100];
static int count(MPI_Xxx old, int keyval, void* extra_state, void* in, void* out, int* flag) {
  ++copied[(long)in];
  *(void**)out = in;
  *flag = (long)in % 3 != 1;
  return MPI_SUCCESS;
}
static void check(void) {
  MPI_Xxx object = new_xxx(), duplicate;
  int keyvals[100], i;
  for (i = 0; i < 100; ++i) {
    keyvals[i] = keyval_xxx(count, MPI_XXX_NULL_DELETE_FN);
    CALL(MPI_Xxx_set_attr(object, keyvals[i], (void*)(long)i));
  }
  for (i = 1; i < 100; i += 5) CALL(MPI_Xxx_delete_attr(object, keyvals[i]));
  CALL(MPI_Xxx_dup(object, &duplicate));
  for (i = 0; i < 100; ++i) {
    EXPECT_EQ(copied[i], i % 5 != 1);
    EXPECT_EQ(get_xxx(duplicate, keyvals[i]), i % 5 != 1 && i % 3 != 1 ? i : ABSENT);
  }
  CALL(MPI_Xxx_free(&duplicate));
  CALL(MPI_Xxx_free(&object));
}

/*@ dup-of-dup-xxx
 * demanded, 7.7.N, kinds: comm type
 * If the copy callback returns flag = 1, the duplicate gets the value that it returned; the old
 * object keeps its own. A duplicate of a duplicate gets the duplicate's value, whether or not it was
 * ever read.
 */
static void check(void) {
  MPI_Xxx a = new_xxx(), b, c;
  int keyval = keyval_xxx(copy_xxx, delete_xxx);
  CALL(MPI_Xxx_set_attr(a, keyval, (void*)1));
  CALL(MPI_Xxx_dup(a, &b));
  CALL(MPI_Xxx_dup(b, &c));
  EXPECT_EQ(get_xxx(c, keyval), 201);
  EXPECT_EQ(get_xxx(b, keyval), 101);
  EXPECT_EQ(get_xxx(a, keyval), 1);
  CALL(MPI_Xxx_free(&c));
  CALL(MPI_Xxx_free(&b));
  CALL(MPI_Xxx_free(&a));
  EXPECT_NOTES("copy 1;copy 101;delete 201;delete 101;delete 1;");
  CALL(MPI_Xxx_free_keyval(&keyval));
}

/*@ original-freed-first
 * demanded, 7.7.2
 * MPI_COMM_FREE calls the delete callbacks of the communicator, whether or not duplicates of it
 * live; a duplicate keeps its own attributes, and is duplicated with them.
 */
static void check(void) {
  MPI_Comm a = new_comm(), b, c;
  int keyval = keyval_comm(copy_comm, delete_comm);
  CALL(MPI_Comm_set_attr(a, keyval, (void*)1));
  CALL(MPI_Comm_dup(a, &b));
  CALL(MPI_Comm_free(&a));
  EXPECT_NOTES("copy 1;delete 1;");
  CALL(MPI_Comm_dup(b, &c));
  CALL(MPI_Comm_free(&b));
  EXPECT_NOTES("copy 101;delete 101;");
  EXPECT_EQ(get_comm(c, keyval), 201);
  CALL(MPI_Comm_free(&c));
  EXPECT_NOTES("delete 201;");
}

/*@ original-type-freed-first
 * demanded, 5.1.9
 * Freeing a datatype doesn't affect one that was made from it: a duplicate keeps its attributes;
 * when both are freed, each value was deleted once.
 */
static int deleted[2];
static int count(MPI_Datatype type, int keyval, void* value, void* extra_state) {
  ++deleted[(long)value > 100];
  return MPI_SUCCESS;
}
static void check(void) {
  MPI_Datatype type = new_type(), duplicate;
  int keyval = keyval_type(copy_type, count);
  CALL(MPI_Type_set_attr(type, keyval, (void*)1));
  CALL(MPI_Type_dup(type, &duplicate));
  CALL(MPI_Type_free(&type));
  EXPECT_EQ(get_type(duplicate, keyval), 101);
  CALL(MPI_Type_free(&duplicate));
  EXPECT_EQ(deleted[0], 1);
  EXPECT_EQ(deleted[1], 1);
}

/*@ component-freed-first
 * demanded, 5.1.9
 * A datatype made from another one has none of its attributes, whichever is freed first; each value
 * is deleted once.
 */
static void check(void) {
  MPI_Datatype type = new_type(), made;
  int keyval = keyval_type(copy_type, delete_type);
  CALL(MPI_Type_set_attr(type, keyval, (void*)1));
  CALL(MPI_Type_vector(2, 1, 2, type, &made));
  EXPECT_EQ(get_type(made, keyval), ABSENT);
  CALL(MPI_Type_set_attr(made, keyval, (void*)2));
  CALL(MPI_Type_free(&type));
  CALL(MPI_Type_free(&made));
  EXPECT(strcmp(notes, "delete 1;delete 2;") == 0 || strcmp(notes, "delete 2;delete 1;") == 0,
         "that each value is deleted once", "\"%s\"", notes);
  CALL(MPI_Type_free_keyval(&keyval));
}

/*@ type-deletes-when
 * open, 5.1.9
 * When a freed datatype's attributes are deleted while a duplicate of it is alive (MPI_TYPE_FREE
 * marks it for deallocation).
 */
static void check(void) {
  MPI_Datatype type = new_type(), duplicate;
  int keyval = keyval_type(MPI_TYPE_NULL_COPY_FN, delete_type);
  CALL(MPI_Type_set_attr(type, keyval, (void*)1));
  CALL(MPI_Type_dup(type, &duplicate));
  CALL(MPI_Type_free(&type));
  OPEN("%s", *notes ? "when it is freed" : "later, with the duplicate");
  CALL(MPI_Type_free(&duplicate));
}

/*@ dup-predefined-type
 * demanded, 7.7.4
 * Attributes can be attached to predefined datatypes as to others. MPI_TYPE_DUP copies them, too, and
 * the callbacks get its handle.
 */
static int compare_copy(MPI_Datatype type, int keyval, void* extra_state, void* in, void* out,
                        int* flag) {
  note(type == MPI_INT ? "copy of MPI_INT;" : "copy of another;");
  return copied_as_is(in, out, flag);
}
static int compare(MPI_Datatype type, int keyval, void* value, void* extra_state) {
  note(type == MPI_INT ? "delete of MPI_INT;" : "delete of the duplicate;");
  return MPI_SUCCESS;
}
static void check(void) {
  MPI_Datatype duplicate;
  int keyval = keyval_type(compare_copy, compare);
  CALL(MPI_Type_set_attr(MPI_INT, keyval, (void*)1));
  CALL(MPI_Type_set_attr(MPI_DOUBLE, keyval, (void*)2));
  EXPECT_EQ(get_type(MPI_INT, keyval), 1);
  EXPECT_EQ(get_type(MPI_DOUBLE, keyval), 2);
  EXPECT_EQ(get_type(MPI_CHAR, keyval), ABSENT);
  CALL(MPI_Type_dup(MPI_INT, &duplicate));
  EXPECT_EQ(get_type(duplicate, keyval), 1);
  CALL(MPI_Type_free(&duplicate));
  CALL(MPI_Type_delete_attr(MPI_INT, keyval));
  EXPECT_NOTES("copy of MPI_INT;delete of the duplicate;delete of MPI_INT;");
  CALL(MPI_Type_delete_attr(MPI_DOUBLE, keyval));
}

/*@ dup-with-info
 * demanded, 7.4.2, since: 3.0
 * MPI_COMM_DUP_WITH_INFO behaves as MPI_COMM_DUP, but for the info: attributes are copied.
 */
static void check(void) {
  MPI_Comm comm = comm_with_1(), duplicate;
  CALL(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &duplicate));
  expect_copied(comm, duplicate);
}

/*@ idup
 * demanded, 7.4.2, since: 3.0
 * MPI_COMM_IDUP acts as if MPI_COMM_DUP ran at the time of the call: attributes are copied, and are
 * there when it is complete; later changes are not.
 */
static void check(void) {
  MPI_Comm comm = new_comm(), duplicate;
  MPI_Request request;
  int changed = keyval_comm(copy_comm, delete_comm);
  int added = keyval_comm(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN);
  int deleted = keyval_comm(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN);
  CALL(MPI_Comm_set_attr(comm, changed, (void*)1));
  CALL(MPI_Comm_set_attr(comm, deleted, (void*)2));
  CALL(MPI_Comm_idup(comm, &duplicate, &request));
  CALL(MPI_Comm_set_attr(comm, changed, (void*)3));
  CALL(MPI_Comm_set_attr(comm, added, (void*)4));
  CALL(MPI_Comm_delete_attr(comm, deleted));
  CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
  EXPECT_NOTES("copy 1;delete 1;");
  EXPECT_EQ(get_comm(duplicate, changed), 101);
  EXPECT_EQ(get_comm(duplicate, added), ABSENT);
  EXPECT_EQ(get_comm(duplicate, deleted), 2);
  CALL(MPI_Comm_free(&duplicate));
  EXPECT_NOTES("delete 101;");
  CALL(MPI_Comm_free(&comm));
}

/*@ idup-with-info
 * demanded, 7.4.2, since: 4.0
 * MPI_COMM_IDUP_WITH_INFO copies attributes.
 */
static void check(void) {
  MPI_Comm comm = comm_with_1(), duplicate;
  MPI_Request request;
  CALL(MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, &duplicate, &request));
  CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
  expect_copied(comm, duplicate);
}

/*@ not-by-xxx
 * demanded, 7.7.1, kinds: split create cart graph dist-graph dist-graph-adjacent split-type create-group create-from-group
 * Only duplication propagates attributes: the constructor XXX makes a communicator without any,
 * even if that has all ranks.
 */
static void check(void) {
  MPI_Comm comm = comm_with_1(), made;
  if (BY_XXX >= constructors) {
    NOT_APPLICABLE("this MPI is too old for it");
    return;
  }
  made = made_by(BY_XXX, comm);
  EXPECT_EQ(get_comm(made, keyval_of_1), ABSENT);
  EXPECT_NOTES("");
  CALL(MPI_Comm_free(&made));
  CALL(MPI_Comm_free(&comm));
}

/*@ not-by-intercomm-create
 * demanded, 7.7.1, ranks: 2
 * Only duplication propagates attributes: MPI_INTERCOMM_CREATE makes a communicator without any.
 */
static void check(void) {
  MPI_Comm local, inter;
  const int low = rank % 2 == 0;
  int keyval = keyval_comm(copy_comm, delete_comm);
  CALL(MPI_Comm_split(MPI_COMM_WORLD, low, 0, &local));
  CALL(MPI_Comm_set_attr(local, keyval, (void*)1));
  CALL(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, low ? 1 : 0, 0, &inter));
  EXPECT_EQ(get_comm(inter, keyval), ABSENT);
  EXPECT_NOTES("");
  CALL(MPI_Comm_free(&inter));
  CALL(MPI_Comm_free(&local));
}

/*@ failing-copy
 * demanded, 7.7.2
 * MPI_COMM_DUP fails if a copy callback returns anything but MPI_SUCCESS.
 */
static void check(void) {
  MPI_Comm comm = new_comm(), duplicate = MPI_COMM_NULL;
  int keyval = keyval_comm(refuse_copy_comm, MPI_COMM_NULL_DELETE_FN);
  CALL(MPI_Comm_set_attr(comm, keyval, (void*)1));
  FAILS(MPI_Comm_dup(comm, &duplicate));
}

/*@ failed-copy-xxx
 * open, 7.7.N, kinds: comm type
 * What a duplication does with the attributes already copied if a copy callback fails.
 */
static int copy_or_refuse(MPI_Xxx object, int keyval, void* extra_state, void* in, void* out,
                          int* flag) {
  note("copy;");
  *(void**)out = in;
  *flag = 1;
  return strlen(notes) > 10 ? MPI_ERR_OTHER : MPI_SUCCESS; /* the third one */
}
static int noted(MPI_Xxx object, int keyval, void* value, void* extra_state) {
  note("delete;");
  return MPI_SUCCESS;
}
static void check(void) {
  MPI_Xxx object = new_xxx(), duplicate = MPI_XXX_NULL;
  int i, code;
  for (i = 0; i < 4; ++i) {
    CALL(MPI_Xxx_set_attr(object, keyval_xxx(copy_or_refuse, noted), (void*)(long)i));
  }
  code = MPI_Xxx_dup(object, &duplicate);
  OPEN("dup %s, and these callbacks ran: %s", outcome(code), notes);
}
