/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*@section values: setting, getting and deleting */

/*@ set-get-xxx
 * demanded, 7.7.N
 * A get returns flag = true and the value that was set. Attributes are at least as wide as a pointer:
 * no bit of a value is lost, in get and in callbacks.
 */
static long in_callback;
static int take(MPI_Xxx object, int keyval, void* value, void* extra_state) {
  in_callback = (long)value;
  return MPI_SUCCESS;
}
static void check(void) {
  MPI_Xxx object = new_xxx();
  int keyval = keyval_xxx(MPI_XXX_NULL_COPY_FN, take), bit;
  for (bit = 0; bit < (int)sizeof(void*) * 8; ++bit) {
    const unsigned long value = 1UL << bit | 1;
    CALL(MPI_Xxx_set_attr(object, keyval, (void*)value));
    EXPECT_EQ(get_xxx(object, keyval), value);
    CALL(MPI_Xxx_delete_attr(object, keyval));
    EXPECT_EQ(in_callback, value);
  }
  CALL(MPI_Xxx_free_keyval(&keyval));
  CALL(MPI_Xxx_free(&object));
}

/*@ delete-xxx
 * demanded, 7.7.N
 * MPI_XXX_DELETE_ATTR calls the delete callback with the value, once, and the attribute is gone.
 */
static void check(void) {
  MPI_Xxx object = new_xxx();
  int keyval = keyval_xxx(MPI_XXX_NULL_COPY_FN, delete_xxx);
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)7));
  EXPECT_NOTES("");
  CALL(MPI_Xxx_delete_attr(object, keyval));
  EXPECT_NOTES("delete 7;");
  EXPECT_EQ(get_xxx(object, keyval), ABSENT);
  CALL(MPI_Xxx_free(&object));
  EXPECT_NOTES("");
}

/*@ overwrite-xxx
 * demanded, 7.7.N
 * A set over a value, even the same one, is as if that had been deleted first: the delete callback
 * runs once, with the old value; then the new one is attached.
 */
static void check(void) {
  MPI_Xxx object = new_xxx();
  int keyval = keyval_xxx(MPI_XXX_NULL_COPY_FN, delete_xxx);
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)1));
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)2));
  EXPECT_NOTES("delete 1;");
  EXPECT_EQ(get_xxx(object, keyval), 2);
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)2));
  EXPECT_NOTES("delete 2;");
  EXPECT_EQ(get_xxx(object, keyval), 2);
  CALL(MPI_Xxx_free(&object));
  EXPECT_NOTES("delete 2;");
}

/*@ overwrite-among-others-xxx
 * demanded, 7.7.N
 * Among several attributes, a set deletes only the old value under its own key, by the callback and
 * the extra_state of that key.
 */
static int states[4];
static int deletes_with(MPI_Xxx object, int keyval, void* value, void* extra_state) {
  note("delete %ld of %d;", (long)value, (int)((int*)extra_state - states));
  return MPI_SUCCESS;
}
static void check(void) {
  MPI_Xxx object = new_xxx();
  int keyvals[4], i;
  for (i = 0; i < 4; ++i) {
    CALL(MPI_Xxx_create_keyval(MPI_XXX_NULL_COPY_FN, deletes_with, &keyvals[i], &states[i]));
    CALL(MPI_Xxx_set_attr(object, keyvals[i], (void*)(long)i));
  }
  for (i = 3; i >= 0; --i) CALL(MPI_Xxx_set_attr(object, keyvals[i], (void*)(long)(i + 10)));
  EXPECT_NOTES("delete 3 of 3;delete 2 of 2;delete 1 of 1;delete 0 of 0;");
  for (i = 0; i < 4; ++i) EXPECT_EQ(get_xxx(object, keyvals[i]), i + 10);
  for (i = 0; i < 4; ++i) CALL(MPI_Xxx_delete_attr(object, keyvals[i]));
  EXPECT_NOTES("delete 10 of 0;delete 11 of 1;delete 12 of 2;delete 13 of 3;");
  CALL(MPI_Xxx_free(&object));
  EXPECT_NOTES("");
}

/*@ delete-arguments-xxx
 * demanded, 7.7.N
 * The delete callback gets the object, its key, the value and the extra_state of the key, in a set,
 * a delete and the object's free. The free sets the handle to the null handle.
 */
static MPI_Xxx handle;
static int key, state, calls;
static int compare(MPI_Xxx of, int keyval, void* value, void* extra_state) {
  EXPECT(of == handle, "the object of the attribute", "another handle");
  EXPECT_EQ(keyval, key);
  EXPECT_EQ((long)value, ++calls);
  EXPECT(extra_state == &state, "the extra_state of the key", "another one");
  return MPI_SUCCESS;
}
static void check(void) {
  MPI_Xxx object = new_xxx();
  handle = object;
  CALL(MPI_Xxx_create_keyval(MPI_XXX_NULL_COPY_FN, compare, &key, &state));
  CALL(MPI_Xxx_set_attr(object, key, (void*)1));
  CALL(MPI_Xxx_set_attr(object, key, (void*)2));
  CALL(MPI_Xxx_delete_attr(object, key));
  CALL(MPI_Xxx_set_attr(object, key, (void*)3));
  CALL(MPI_Xxx_free(&object));
  EXPECT_EQ(calls, 3);
  EXPECT(object == MPI_XXX_NULL, "the null handle after the free", "another");
}

/*@ own-object-xxx
 * demanded, 7.7.1
 * Attributes are specific to the object that they are attached to. On another one, a get of a key
 * under which nothing is attached is correct: it returns flag = false. A key serves any object of
 * its kind, even one made after others that used the key were freed.
 */
static void check(void) {
  int keyval = keyval_xxx(MPI_XXX_NULL_COPY_FN, delete_xxx), i;
  for (i = 0; i < 20; ++i) {
    MPI_Xxx one = new_xxx(), two = new_xxx();
    CALL(MPI_Xxx_set_attr(one, keyval, (void*)1));
    EXPECT_EQ(get_xxx(two, keyval), ABSENT);
    CALL(MPI_Xxx_set_attr(two, keyval, (void*)2));
    EXPECT_NOTES("");
    EXPECT_EQ(get_xxx(one, keyval), 1);
    CALL(MPI_Xxx_delete_attr(one, keyval));
    EXPECT_NOTES("delete 1;");
    EXPECT_EQ(get_xxx(two, keyval), 2);
    CALL(MPI_Xxx_free(&one));
    CALL(MPI_Xxx_free(&two));
    EXPECT_NOTES("delete 2;");
  }
}

/*@ many-keyvals-xxx
 * demanded, 7.7.N
 * Attributes under many keys of one object don't affect each other. A null pointer is a value like
 * others. MPI_XXX_NULL_DELETE_FN does nothing and succeeds: overwriting, deleting and freeing work
 * with it.
 */
static void check(void) {
  MPI_Xxx object = new_xxx();
  int keyvals[150], i;
  for (i = 0; i < 150; ++i) {
    keyvals[i] = keyval_xxx(MPI_XXX_NULL_COPY_FN, MPI_XXX_NULL_DELETE_FN);
    CALL(MPI_Xxx_set_attr(object, keyvals[i], (void*)(long)i));
  }
  for (i = 1; i < 150; i += 2) CALL(MPI_Xxx_delete_attr(object, keyvals[i]));
  for (i = 2; i < 150; i += 4) CALL(MPI_Xxx_set_attr(object, keyvals[i], (void*)(long)(i + 1000)));
  for (i = 0; i < 150; ++i) {
    EXPECT_EQ(get_xxx(object, keyvals[i]), i % 2 == 1 ? ABSENT : i % 4 == 2 ? i + 1000 : i);
  }
  CALL(MPI_Xxx_free(&object));
}

/*@ world-and-self
 * demanded, 7.7.2
 * Keys can be used on any locally defined communicator: MPI_COMM_WORLD and MPI_COMM_SELF too.
 */
static void check(void) {
  int keyval = keyval_comm(MPI_COMM_NULL_COPY_FN, delete_comm);
  CALL(MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, (void*)1));
  CALL(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, (void*)2));
  EXPECT_EQ(get_comm(MPI_COMM_WORLD, keyval), 1);
  EXPECT_EQ(get_comm(MPI_COMM_SELF, keyval), 2);
  CALL(MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval));
  CALL(MPI_Comm_delete_attr(MPI_COMM_SELF, keyval));
  EXPECT_NOTES("delete 1;delete 2;");
}

/*@ intercommunicator
 * demanded, 7.7.2, ranks: 2
 * Keys can be used on any locally defined communicator: on inter-communicators too. What
 * MPI_INTERCOMM_MERGE makes of one has no attributes (7.7.1).
 */
static void check(void) {
  MPI_Comm local, inter, merged, duplicate;
  const int low = rank % 2 == 0;
  int keyval = keyval_comm(copy_comm, delete_comm);
  CALL(MPI_Comm_split(MPI_COMM_WORLD, low, 0, &local));
  CALL(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, low ? 1 : 0, 0, &inter));
  CALL(MPI_Comm_set_attr(inter, keyval, (void*)1));
  EXPECT_EQ(get_comm(inter, keyval), 1);
  CALL(MPI_Intercomm_merge(inter, low, &merged));
  EXPECT_EQ(get_comm(merged, keyval), ABSENT);
  CALL(MPI_Comm_free(&merged));
  EXPECT_NOTES("");
  CALL(MPI_Comm_dup(inter, &duplicate));
  EXPECT_NOTES("copy 1;");
  EXPECT_EQ(get_comm(duplicate, keyval), 101);
  CALL(MPI_Comm_free(&inter));
  EXPECT_NOTES("delete 1;");
  CALL(MPI_Comm_free(&duplicate));
  EXPECT_NOTES("delete 101;");
  CALL(MPI_Comm_free(&local));
}

/*@ many-objects
 * demanded, 7.7.4
 * Many objects are alive at the same time, are freed in another order than made, and are made
 * again: each has its own attribute until it is freed, and a new one has none.
 */
enum { OBJECTS = 30000 };
static MPI_Datatype types[OBJECTS];
static int alive, strange;
static int delete_own(MPI_Datatype type, int keyval, void* value, void* extra_state) {
  strange += types[(long)value % OBJECTS] != type;
  --alive;
  return MPI_SUCCESS;
}
static void check(void) {
  int keyval = keyval_type(MPI_TYPE_NULL_COPY_FN, delete_own), round, i;
  for (i = 0; i < OBJECTS; ++i) types[i] = MPI_DATATYPE_NULL;
  for (round = 0; round < 4; ++round) {
    int found = 0, wrong = 0;
    for (i = 0; i < OBJECTS; ++i) {
      if (types[i] != MPI_DATATYPE_NULL) continue;
      CALL(MPI_Type_dup(MPI_INT, &types[i]));
      found += get_type(types[i], keyval) != ABSENT;
      CALL(MPI_Type_set_attr(types[i], keyval, (void*)(round * (long)OBJECTS + i)));
      ++alive;
    }
    for (i = 0; i < OBJECTS; ++i) wrong += get_type(types[i], keyval) % OBJECTS != i;
    EXPECT(found == 0, "no attribute of a new object", "%d with one", found);
    EXPECT(wrong == 0, "each object's own attribute", "%d others", wrong);
    EXPECT_EQ(alive, OBJECTS);
    for (i = 0; i < OBJECTS; ++i) {
      const int j = (int)(i * 7919L % OBJECTS);
      MPI_Datatype doomed = types[j];
      if (round < 3 && (j + round) % 3 == 0) continue;
      CALL(MPI_Type_free(&doomed));
      types[j] = MPI_DATATYPE_NULL;
    }
  }
  EXPECT(strange == 0, "the type of the attribute in its delete callback", "%d others", strange);
  EXPECT_EQ(alive, 0);
}

/*@ failing-delete
 * demanded, 7.7.2
 * MPI_COMM_DELETE_ATTR, and MPI_COMM_SET_ATTR over an old value, fail if the delete callback returns
 * anything but MPI_SUCCESS.
 */
static void check(void) {
  MPI_Comm comms[] = {new_comm(), new_comm()};
  int keyval = keyval_comm(MPI_COMM_NULL_COPY_FN, refuse_comm), i;
  for (i = 0; i < 2; ++i) CALL(MPI_Comm_set_attr(comms[i], keyval, (void*)13));
  FAILS(MPI_Comm_delete_attr(comms[0], keyval));
  FAILS(MPI_Comm_set_attr(comms[1], keyval, (void*)14));
}

/*@ failed-delete-xxx
 * open, 7.7.N
 * What is attached after a delete, and then a set over the value, failed because of the delete callback.
 */
static void say(const char* what, int code, long now) {
  OPEN("%s %s, and %s is attached", what, outcome(code),
       now == 13   ? "the old value"
       : now == 14 ? "the new value"
                   : "nothing");
}
static void check(void) {
  MPI_Xxx object = new_xxx();
  int keyval = keyval_xxx(MPI_XXX_NULL_COPY_FN, refuse_xxx), code;
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)13));
  code = MPI_Xxx_delete_attr(object, keyval);
  say("delete", code, get_xxx(object, keyval));
  MPI_Xxx_set_attr(object, keyval, (void*)13);
  code = MPI_Xxx_set_attr(object, keyval, (void*)14);
  say("set", code, get_xxx(object, keyval));
  refusing = 0;
  MPI_Xxx_free(&object);
}

/*@ delete-absent-xxx
 * open, 7.7.N
 * What MPI_XXX_DELETE_ATTR does if nothing is attached.
 */
static void check(void) {
  MPI_Xxx object = new_xxx();
  int keyval = keyval_xxx(MPI_XXX_NULL_COPY_FN, delete_xxx);
  OPEN("delete %s", outcome(MPI_Xxx_delete_attr(object, keyval)));
  MPI_Xxx_free(&object);
}

/*@ get-in-delete-callback-xxx
 * open, 7.7.N
 * What a get within the delete callback finds, in MPI_XXX_DELETE_ATTR, in a set and in the object's
 * free.
 */
static char seen[3][20];
static int calls;
static int look(MPI_Xxx object, int keyval, void* value, void* extra_state) {
  void* found = NULL;
  int flag = 0, code = MPI_Xxx_get_attr(object, keyval, &found, &flag);
  snprintf(seen[calls++ % 3], 20, "%s",
           code != MPI_SUCCESS ? "an error"
           : !flag             ? "nothing"
           : found == value    ? "the value"
                               : "another value");
  return MPI_SUCCESS;
}
static void check(void) {
  MPI_Xxx object = new_xxx();
  int keyval = keyval_xxx(MPI_XXX_NULL_COPY_FN, look);
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)1));
  CALL(MPI_Xxx_delete_attr(object, keyval));
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)2));
  CALL(MPI_Xxx_set_attr(object, keyval, (void*)3));
  CALL(MPI_Xxx_free(&object));
  OPEN("in delete %s, in set %s, in free %s", seen[0], seen[1], seen[2]);
}
