/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*@section predefined: predefined attributes */

/*@ tag-ub
 * demanded, 9.1.2
 * MPI_TAG_UB is attached to MPI_COMM_WORLD: a pointer to an int that is at least 32767.
 */
static void check(void) {
  int flag = 0, *value = NULL;
  CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
  EXPECT(flag, "flag = true", "false");
  if (flag) EXPECT(*value >= 32767, "at least 32767", "%d", *value);
}

/*@ tag-ub-same
 * demanded, 9.1.2, ranks: 2
 * MPI_TAG_UB has the same value on all processes of MPI_COMM_WORLD.
 */
static void check(void) {
  int flag = 0, *value = NULL, mine, least, greatest;
  CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
  mine = flag ? *value : -1;
  CALL(MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
  CALL(MPI_Allreduce(&mine, &greatest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  EXPECT(least == greatest, "the same value on all ranks", "%d to %d", least, greatest);
}

/*@ io
 * demanded, 9.1.2
 * MPI_IO is attached to MPI_COMM_WORLD: MPI_ANY_SOURCE, MPI_PROC_NULL or a rank.
 */
static void check(void) {
  int flag = 0, *value = NULL;
  CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &flag));
  EXPECT(flag, "flag = true", "false");
  if (flag) {
    EXPECT(*value == MPI_ANY_SOURCE || *value == MPI_PROC_NULL || (*value >= 0 && *value < ranks),
           "MPI_ANY_SOURCE, MPI_PROC_NULL or a rank", "%d", *value);
  }
}

/*@ host
 * demanded, 9.1.2, needs: host
 * MPI_HOST (deprecated in MPI-4.1) is attached to MPI_COMM_WORLD: MPI_PROC_NULL or a rank.
 */
static void check(void) {
  int flag = 0, *value = NULL;
  CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &value, &flag));
  EXPECT(flag, "flag = true", "false");
  if (flag) {
    EXPECT(*value == MPI_PROC_NULL || (*value >= 0 && *value < ranks), "MPI_PROC_NULL or a rank",
           "%d", *value);
  }
}

/*@ wtime-is-global
 * demanded, 9.1.2
 * The key MPI_WTIME_IS_GLOBAL is always valid; if the attribute is there, it is 0 or 1, the same on
 * all processes of MPI_COMM_WORLD.
 */
static void check(void) {
  int flag = 0, *value = NULL, mine, least, greatest;
  CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag));
  mine = flag ? *value : 0;
  EXPECT(mine == 0 || mine == 1, "0 or 1", "%d", mine);
  CALL(MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
  CALL(MPI_Allreduce(&mine, &greatest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  EXPECT(least == greatest, "the same value on all ranks", "%d to %d", least, greatest);
}

/*@ universe-size
 * demanded, 11.10.1
 * MPI_UNIVERSE_SIZE is a predefined key of MPI_COMM_WORLD; if it is set, it tells how many
 * processes are expected in all.
 */
static void check(void) {
  int flag = 0, *value = NULL;
  CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag));
  if (flag) EXPECT(*value >= 1, "a number of processes", "%d", *value);
}

/*@ appnum
 * demanded, 11.10.3
 * MPI_APPNUM is a predefined key of MPI_COMM_WORLD; if it is set, it is the number of the command,
 * counted from 0.
 */
static void check(void) {
  int flag = 0, *value = NULL;
  CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag));
  if (flag) EXPECT(*value >= 0, "a number from 0 on", "%d", *value);
}

/*@ lastusedcode
 * demanded, 9.5
 * MPI_LASTUSEDCODE is attached to MPI_COMM_WORLD, and is at least MPI_ERR_LASTCODE.
 */
static void check(void) {
  int flag = 0, *value = NULL;
  CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
  EXPECT(flag, "flag = true", "false");
  if (flag) EXPECT(*value >= MPI_ERR_LASTCODE, "at least MPI_ERR_LASTCODE", "%d", *value);
}

/*@ lastusedcode-grows
 * demanded, 9.5
 * MPI_LASTUSEDCODE corresponds to the current maximum error class, those that the user added
 * included.
 */
static void check(void) {
  int flag = 0, *value = NULL, added[3], i;
  CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
  for (i = 0; i < 3; ++i) {
    CALL(MPI_Add_error_class(&added[i]));
    CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
    EXPECT(flag && *value >= added[i], "at least the error class just added", "%d for class %d",
           flag ? *value : -1, added[i]);
  }
}

/*@ unchanged-by-others
 * demanded, 9.1.2
 * Predefined attributes don't change while MPI is initialized, whatever else is set, replaced and
 * deleted on MPI_COMM_WORLD.
 */
static void check(void) {
  int flag = 0, *value = NULL, before, keyvals[50], i;
  CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
  before = flag ? *value : -1;
  for (i = 0; i < 50; ++i) {
    keyvals[i] = keyval_comm(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN);
    CALL(MPI_Comm_set_attr(MPI_COMM_WORLD, keyvals[i], (void*)(long)i));
  }
  for (i = 0; i < 50; ++i) {
    CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
    EXPECT(flag && *value == before, "the same MPI_TAG_UB as before", "flag %d", flag);
    EXPECT_EQ(get_comm(MPI_COMM_WORLD, keyvals[i]), i);
    CALL(MPI_Comm_delete_attr(MPI_COMM_WORLD, keyvals[i]));
    CALL(MPI_Comm_free_keyval(&keyvals[i]));
  }
  CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
  EXPECT(flag && *value == before, "the same MPI_TAG_UB as before", "flag %d", flag);
}

/*@ pointers-together
 * demanded, 9.1.2
 * A get returns a pointer to an int with the value: it still holds that when others have been asked
 * for.
 */
static void check(void) {
  int* value = NULL;
  int *tag_ub, *io, *last, flag[3] = {0, 0, 0}, before[3];
  CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag[0]));
  before[0] = *value;
  CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &flag[1]));
  before[1] = *value;
  CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag[2]));
  before[2] = *value;
  CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &flag[0]));
  CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &io, &flag[1]));
  CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag[2]));
  EXPECT_EQ(*tag_ub, before[0]);
  EXPECT_EQ(*io, before[1]);
  EXPECT_EQ(*last, before[2]);
}

/*@ win-create
 * demanded, 12.2.6, since: 3.0
 * A window of MPI_WIN_CREATE has its base address, size, displacement unit, flavor and memory
 * model.
 */
static void check(void) {
  MPI_Win win = new_win();
  void* base = NULL;
  MPI_Aint* size = NULL;
  int flag = 0, *unit = NULL, *flavor = NULL, *model = NULL;
  CALL(MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag));
  EXPECT(flag && base == window_memory, "MPI_WIN_BASE: the base address", "flag %d", flag);
  CALL(MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag));
  EXPECT(flag && *size == sizeof window_memory, "MPI_WIN_SIZE: bytes given", "flag %d", flag);
  CALL(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag));
  EXPECT(flag && *unit == sizeof(int), "MPI_WIN_DISP_UNIT: the unit given", "flag %d", flag);
  CALL(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag));
  EXPECT(flag && *flavor == MPI_WIN_FLAVOR_CREATE, "MPI_WIN_FLAVOR_CREATE", "flag %d", flag);
  CALL(MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag));
  EXPECT(flag && (*model == MPI_WIN_UNIFIED || *model == MPI_WIN_SEPARATE),
         "MPI_WIN_UNIFIED or MPI_WIN_SEPARATE", "flag %d", flag);
  CALL(MPI_Win_free(&win));
}

/*@ win-allocate
 * demanded, 12.2.6, since: 3.0
 * A window of MPI_WIN_ALLOCATE has the base address that it returned, and its flavor.
 */
static void check(void) {
  MPI_Win win;
  void *memory = NULL, *base = NULL;
  MPI_Aint* size = NULL;
  int flag = 0, *flavor = NULL;
  if (MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win) != MPI_SUCCESS) {
    NOT_APPLICABLE("MPI_Win_allocate fails");
    return;
  }
  CALL(MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag));
  EXPECT(flag && base == memory, "MPI_WIN_BASE: the base address", "flag %d", flag);
  CALL(MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag));
  EXPECT(flag && *size == 64, "MPI_WIN_SIZE: 64", "flag %d", flag);
  CALL(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag));
  EXPECT(flag && *flavor == MPI_WIN_FLAVOR_ALLOCATE, "MPI_WIN_FLAVOR_ALLOCATE", "flag %d", flag);
  CALL(MPI_Win_free(&win));
}

/*@ win-dynamic
 * demanded, 12.2.6, since: 3.0
 * A window of MPI_WIN_CREATE_DYNAMIC has the base address MPI_BOTTOM, the size 0, and its flavor.
 */
static void check(void) {
  MPI_Win win;
  void* base = &win;
  MPI_Aint* size = NULL;
  int flag = 0, *flavor = NULL;
  if (MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win) != MPI_SUCCESS) {
    NOT_APPLICABLE("MPI_Win_create_dynamic fails");
    return;
  }
  CALL(MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag));
  EXPECT(flag && base == MPI_BOTTOM, "MPI_WIN_BASE: MPI_BOTTOM", "flag %d", flag);
  CALL(MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag));
  EXPECT(flag && *size == 0, "MPI_WIN_SIZE: 0", "flag %d", flag);
  CALL(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag));
  EXPECT(flag && *flavor == MPI_WIN_FLAVOR_DYNAMIC, "MPI_WIN_FLAVOR_DYNAMIC", "flag %d", flag);
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
  (void)keyval, (void)value, (void)extra_state;
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
 * Predefined attributes don't change while MPI is initialized, however often they are asked for, on
 * whichever communicator, whether or not that has attributes of the program's.
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
  CALL(MPI_Comm_free_keyval(&own));
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

/*@ set-predefined
 * open, 9.1.2
 * What setting MPI_TAG_UB does, which is erroneous.
 */
static void check(void) {
  int flag = 0, *value = NULL, before, mine = 5, code;
  CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
  before = flag ? *value : -1;
  code = MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, &mine);
  value = NULL;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
  OPEN("set %s; the value is %s", outcome(code),
       flag && value != NULL && *value == before ? "as before" : "another");
}

/*@ delete-predefined
 * open, 9.1.2
 * What deleting MPI_TAG_UB does, which is erroneous.
 */
static void check(void) {
  int flag = 0, *value = NULL, code = MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
  OPEN("delete %s; the attribute is %s", outcome(code), flag ? "still there" : "gone");
}

/*@ free-predefined
 * open, 9.1.2
 * What freeing the key MPI_TAG_UB does, which is erroneous.
 */
static void check(void) {
  int keyval = MPI_TAG_UB, flag = 0, *value = NULL, code = MPI_Comm_free_keyval(&keyval);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
  OPEN("free_keyval %s; the attribute is %s", outcome(code), flag ? "still there" : "gone");
}
