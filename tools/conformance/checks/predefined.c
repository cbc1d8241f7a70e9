/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*@section predefined: predefined attributes */

/*@ tag-ub
 * demanded, 9.1.2
 * MPI_TAG_UB is attached to MPI_COMM_WORLD: a pointer to an int that is at least 32767, and the same
 * on all processes of MPI_COMM_WORLD.
 */
static void check(void) {
  const int* value = predefined(MPI_COMM_WORLD, MPI_TAG_UB);
  EXPECT(value != NULL, "flag = true", "false");
  if (value != NULL) EXPECT(*value >= 32767, "at least 32767", "%d", *value);
  expect_same_on_all(value != NULL ? *value : -1);
}

/*@ tag-ub-elsewhere
 * demanded, 9.1.2
 * On a communicator other than MPI_COMM_WORLD, however it was made, a get of MPI_TAG_UB succeeds, and
 * its flag says whether the attribute is there. If it is, it points to an int that is at least 32767.
 */
static void expect_tag_ub(MPI_Comm comm) {
  int flag = 77, *value = NULL;
  CALL(MPI_Comm_get_attr(comm, MPI_TAG_UB, &value, &flag));
  EXPECT(flag == 0 || flag == 1, "flag = true or false", "%d", flag);
  if (flag == 1) EXPECT(*value >= 32767, "at least 32767", "%d", *value);
}
static void check(void) {
  MPI_Comm comm = new_comm();
  int constructor;
  expect_tag_ub(MPI_COMM_SELF);
  expect_tag_ub(comm);
  for (constructor = 0; constructor < constructors; ++constructor) {
    MPI_Comm made = made_by(constructor, comm);
    expect_tag_ub(made);
    CALL(MPI_Comm_free(&made));
  }
  CALL(MPI_Comm_free(&comm));
}

/*@ io
 * demanded, 9.1.2
 * MPI_IO is attached to MPI_COMM_WORLD: MPI_ANY_SOURCE, MPI_PROC_NULL or a rank.
 */
static void check(void) {
  const int* value = predefined(MPI_COMM_WORLD, MPI_IO);
  EXPECT(value != NULL, "flag = true", "false");
  if (value == NULL) return;
  EXPECT(*value == MPI_ANY_SOURCE || *value == MPI_PROC_NULL || (*value >= 0 && *value < ranks),
         "MPI_ANY_SOURCE, MPI_PROC_NULL or a rank", "%d", *value);
}

/*@ host
 * demanded, 9.1.2, needs: host
 * MPI_HOST (deprecated in MPI-4.1) is attached to MPI_COMM_WORLD: MPI_PROC_NULL or a rank.
 */
static void check(void) {
  const int* value = predefined(MPI_COMM_WORLD, MPI_HOST);
  EXPECT(value != NULL, "flag = true", "false");
  if (value == NULL) return;
  EXPECT(*value == MPI_PROC_NULL || (*value >= 0 && *value < ranks), "MPI_PROC_NULL or a rank",
         "%d", *value);
}

/*@ wtime-is-global
 * demanded, 9.1.2
 * The key MPI_WTIME_IS_GLOBAL is always valid; if the attribute is there, it is 0 or 1, the same on
 * all processes of MPI_COMM_WORLD.
 */
static void check(void) {
  const int *value = predefined(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL), mine = value ? *value : 0;
  EXPECT(mine == 0 || mine == 1, "0 or 1", "%d", mine);
  expect_same_on_all(mine);
}

/*@ set-by-launcher
 * demanded, 11.10.1
 * MPI_UNIVERSE_SIZE and MPI_APPNUM are predefined keys of MPI_COMM_WORLD; if they are set, they tell
 * how many processes are expected in all, and the number of the command, counted from 0 (11.10.3).
 */
static void check(void) {
  const int* size = predefined(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE);
  const int* number = predefined(MPI_COMM_WORLD, MPI_APPNUM);
  if (size != NULL) EXPECT(*size >= 1, "a number of processes", "%d", *size);
  if (number != NULL) EXPECT(*number >= 0, "a number from 0 on", "%d", *number);
}

/*@ lastusedcode
 * demanded, 9.5
 * MPI_LASTUSEDCODE is attached to MPI_COMM_WORLD. It is at least MPI_ERR_LASTCODE, and corresponds to
 * the current maximum error class, those that the user added included.
 */
static void check(void) {
  int i, last = MPI_ERR_LASTCODE;
  for (i = 0; i < 4; ++i) {
    const int* value = predefined(MPI_COMM_WORLD, MPI_LASTUSEDCODE);
    EXPECT(value != NULL && *value >= last, "at least the last error class", "%d for class %d",
           value ? *value : -1, last);
    CALL(MPI_Add_error_class(&last));
  }
}

/*@ pointers-together
 * demanded, 9.1.2
 * A get returns a pointer to an int with the value, which later gets of other attributes don't
 * change.
 */
static void check(void) {
  const int keyvals[] = {MPI_TAG_UB, MPI_IO, MPI_LASTUSEDCODE};
  const int* together[3];
  int before[3], i;
  for (i = 0; i < 3; ++i) before[i] = *predefined(MPI_COMM_WORLD, keyvals[i]);
  for (i = 0; i < 3; ++i) together[i] = predefined(MPI_COMM_WORLD, keyvals[i]);
  for (i = 0; i < 3; ++i) EXPECT_EQ(*together[i], before[i]);
}

/*@ win-create
 * demanded, 12.2.6, since: 3.0
 * A window of MPI_WIN_CREATE has its base address, size, displacement unit, flavor and memory
 * model. One of MPI_WIN_ALLOCATE has the base address that it returned, and its flavor, and one of
 * MPI_WIN_CREATE_DYNAMIC the base address MPI_BOTTOM, the size 0, and its flavor, if they can be
 * made.
 */
static void check(void) {
  MPI_Win win = new_win();
  int flag = 0, *unit = NULL, *model = NULL;
  void* memory = NULL;
  expect_window(win, window_memory, sizeof window_memory, MPI_WIN_FLAVOR_CREATE);
  CALL(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag));
  EXPECT(flag && *unit == sizeof(int), "MPI_WIN_DISP_UNIT: the unit given", "flag %d", flag);
  CALL(MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag));
  EXPECT(flag && (*model == MPI_WIN_UNIFIED || *model == MPI_WIN_SEPARATE),
         "MPI_WIN_UNIFIED or MPI_WIN_SEPARATE", "flag %d", flag);
  CALL(MPI_Win_free(&win));
  if (MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win) == MPI_SUCCESS) {
    expect_window(win, memory, 64, MPI_WIN_FLAVOR_ALLOCATE);
    CALL(MPI_Win_free(&win));
  }
  if (MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win) == MPI_SUCCESS) {
    expect_window(win, MPI_BOTTOM, 0, MPI_WIN_FLAVOR_DYNAMIC);
    CALL(MPI_Win_free(&win));
  }
}

/*@ win-notification
 * demanded, 12.2.6, needs: win_notification
 * MPI-5.1's MPI_WIN_NOTIFICATION_NUM_SB, _NUM_UB and _VALUE_UB are predefined keys of windows.
 */
static void check(void) {
  MPI_Win win = new_win();
  int flag, *value;
  CALL(MPI_Win_get_attr(win, MPI_WIN_NOTIFICATION_NUM_SB, &value, &flag));
  CALL(MPI_Win_get_attr(win, MPI_WIN_NOTIFICATION_NUM_UB, &value, &flag));
  CALL(MPI_Win_get_attr(win, MPI_WIN_NOTIFICATION_VALUE_UB, &value, &flag));
  CALL(MPI_Win_free(&win));
}

/*@ win-unchanged-by-others
 * demanded, 12.2.6
 * The predefined attributes of a window are constant over its lifetime, whatever else is attached.
 */
static int looked;
static int look(MPI_Win win, int keyval, void* value, void* extra_state) {
  void* base = NULL;
  int flag = 0;
  CALL(MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag));
  EXPECT(flag && base == window_memory, "MPI_WIN_BASE, in a delete callback too", "flag %d", flag);
  ++looked;
  return MPI_SUCCESS;
}
static void check(void) {
  MPI_Win win = new_win();
  int keyval = keyval_win(MPI_WIN_NULL_COPY_FN, look);
  CALL(MPI_Win_set_attr(win, keyval, (void*)1));
  CALL(MPI_Win_set_attr(win, keyval, (void*)2));
  look(win, keyval, NULL, NULL);
  CALL(MPI_Win_delete_attr(win, keyval));
  look(win, keyval, NULL, NULL);
  CALL(MPI_Win_set_attr(win, keyval, (void*)3));
  CALL(MPI_Win_free(&win));
  EXPECT_EQ(looked, 5);
  CALL(MPI_Win_free_keyval(&keyval));
}

/*@ same-each-time
 * demanded, 9.1.2
 * Predefined attributes don't change while MPI is initialized: each get returns the same value, on
 * any communicator, whether or not the program has attached attributes there.
 */
static long value_of(MPI_Comm comm, int keyval) {
  int flag = 0, *value = NULL, code = MPI_Comm_get_attr(comm, keyval, &value, &flag);
  return code != MPI_SUCCESS ? 1L << 40 : flag ? *value : 1L << 41;
}
static void check(void) {
  const int keyvals[] = {MPI_TAG_UB, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_UNIVERSE_SIZE, MPI_APPNUM};
  int own = keyval_comm(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN), round, c, k;
  long first[4][5];
  for (round = 0; round < 40; ++round) {
    MPI_Comm comms[4] = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL, MPI_COMM_NULL};
    if (round == 20) {
      CALL(MPI_Comm_set_attr(MPI_COMM_WORLD, own, &own));
      CALL(MPI_Comm_set_attr(MPI_COMM_SELF, own, &own));
    }
    CALL(MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]));
    CALL(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comms[3]));
    for (c = 0; c < 4; ++c) {
      for (k = 0; k < 5; ++k) {
        if (round == 0) first[c][k] = value_of(comms[c], keyvals[k]);
        EXPECT_EQ(value_of(comms[c], keyvals[k]), first[c][k]);
      }
    }
    CALL(MPI_Comm_free(&comms[2]));
    CALL(MPI_Comm_free(&comms[3]));
  }
  CALL(MPI_Comm_delete_attr(MPI_COMM_WORLD, own));
  CALL(MPI_Comm_delete_attr(MPI_COMM_SELF, own));
}

/*@ on-other-communicators
 * open, 9.1.2
 * Which predefined attributes MPI_COMM_SELF, a duplicate of MPI_COMM_WORLD and a part of it have.
 */
static void look(const char* where, MPI_Comm comm) {
  const int keyvals[] = {MPI_TAG_UB,        MPI_IO,     MPI_WTIME_IS_GLOBAL,
                         MPI_UNIVERSE_SIZE, MPI_APPNUM, MPI_LASTUSEDCODE};
  const char* names[] = {"TAG_UB",        "IO",     "WTIME_IS_GLOBAL",
                         "UNIVERSE_SIZE", "APPNUM", "LASTUSEDCODE"};
  int k;
  note("%s:", where);
  for (k = 0; k < 6; ++k) {
    void* value;
    int flag = 0;
    const int code = MPI_Comm_get_attr(comm, keyvals[k], &value, &flag);
    if (code != MPI_SUCCESS || flag) note(" %s%s", names[k], flag ? "" : "?");
  }
  note("; ");
}
static void check(void) {
  MPI_Comm duplicate, part;
  CALL(MPI_Comm_dup(MPI_COMM_WORLD, &duplicate));
  CALL(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &part));
  look("MPI_COMM_SELF", MPI_COMM_SELF);
  look("the duplicate", duplicate);
  look("the part", part);
  OPEN("%s", notes);
  CALL(MPI_Comm_free(&duplicate));
  CALL(MPI_Comm_free(&part));
}

/*@ change-predefined
 * open, 9.1.2
 * What setting and deleting MPI_TAG_UB and freeing its key, all erroneous, do.
 */
static void say(const char* what, int code, int before) {
  const int* value = predefined(MPI_COMM_WORLD, MPI_TAG_UB);
  OPEN("%s %s, the value is %s", what, outcome(code),
       value == NULL      ? "gone"
       : *value == before ? "as before"
                          : "another");
}
static void check(void) {
  int before = *predefined(MPI_COMM_WORLD, MPI_TAG_UB), mine = 5, keyval = MPI_TAG_UB;
  say("set", MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, &mine), before);
  say("delete", MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB), before);
  say("free_keyval", MPI_Comm_free_keyval(&keyval), before);
}
