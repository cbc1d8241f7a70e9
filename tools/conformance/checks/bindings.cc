/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*@section bindings: the C++ bindings of MPI-2 */

/*@ cxx-set-get
 * demanded, MPI-2.2 6.7.2
 * Create_keyval, Set_attr, Get_attr, Delete_attr and Free_keyval do what the functions of C do.
 * Get_attr returns MPI::TAG_UB as a pointer to an int (9.1.2).
 */
static void check(void) {
  MPI::Intracomm comm = MPI::COMM_SELF.Dup();
  int keyval = MPI::Comm::Create_keyval(MPI::Comm::NULL_COPY_FN, cxx_delete, NULL);
  void* value = NULL;
  int* tag_ub = NULL;
  EXPECT(MPI::COMM_WORLD.Get_attr(MPI::TAG_UB, &tag_ub), "true", "false");
  EXPECT(tag_ub != NULL && *tag_ub >= 32767, "MPI::TAG_UB, at least 32767", "something else");
  EXPECT(!comm.Get_attr(keyval, &value), "false", "true");
  comm.Set_attr(keyval, (void*)1);
  EXPECT(comm.Get_attr(keyval, &value) && value == (void*)1, "the value 1", "%ld", (long)value);
  comm.Set_attr(keyval, (void*)2);
  EXPECT_NOTES("C++ delete 1;");
  comm.Delete_attr(keyval);
  EXPECT_NOTES("C++ delete 2;");
  comm.Set_attr(keyval, (void*)3);
  MPI::Comm::Free_keyval(keyval);
  EXPECT_EQ(keyval, MPI::KEYVAL_INVALID);
  comm.Free();
  EXPECT_NOTES("C++ delete 3;");
}

/*@ cxx-copy
 * demanded, MPI-2.2 6.7.2
 * Copy functions get the old communicator and a bool for the flag.
 */
static int cxx_copy(const MPI::Comm& old, int keyval, void* extra_state, void* in, void* out,
                    bool& flag) {
  note("copy %ld;", (long)in);
  flag = (long)in != 13;
  *(void**)out = (void*)((long)in + 100);
  return MPI_SUCCESS;
}
static void check(void) {
  MPI::Intracomm comm = MPI::COMM_SELF.Dup();
  int copied = MPI::Comm::Create_keyval(cxx_copy, MPI::Comm::NULL_DELETE_FN, NULL);
  int not_copied = MPI::Comm::Create_keyval(cxx_copy, MPI::Comm::NULL_DELETE_FN, NULL);
  void* value = NULL;
  comm.Set_attr(copied, (void*)1);
  MPI::Intracomm one = comm.Dup();
  EXPECT_NOTES("copy 1;");
  EXPECT(one.Get_attr(copied, &value) && value == (void*)101, "the value 101", "%ld", (long)value);
  comm.Delete_attr(copied);
  comm.Set_attr(not_copied, (void*)13);
  MPI::Intracomm two = comm.Dup();
  EXPECT(!two.Get_attr(not_copied, &value), "no attribute", "one");
  one.Free();
  two.Free();
  comm.Free();
  MPI::Comm::Free_keyval(copied);
  MPI::Comm::Free_keyval(not_copied);
}

/*@ cxx-and-c
 * demanded, 19.3.7
 * Keys and attributes of C and C++ are the same: what one sets the other gets, and the callback of
 * the key's language is called.
 */
static void check(void) {
  MPI_Comm comm = new_comm();
  MPI::Intracomm same(comm);
  int cxx_key = MPI::Comm::Create_keyval(MPI::Comm::NULL_COPY_FN, cxx_delete, NULL);
  int c_key = keyval_comm(MPI_COMM_NULL_COPY_FN, delete_comm);
  void* value = NULL;
  same.Set_attr(c_key, (void*)1);
  CALL(MPI_Comm_set_attr(comm, cxx_key, (void*)2));
  EXPECT_EQ(get_comm(comm, c_key), 1);
  EXPECT(same.Get_attr(cxx_key, &value) && value == (void*)2, "the value 2", "%ld", (long)value);
  same.Delete_attr(c_key);
  CALL(MPI_Comm_delete_attr(comm, cxx_key));
  EXPECT_NOTES("delete 1;C++ delete 2;");
  CALL(MPI_Comm_free_keyval(&cxx_key));
  MPI::Comm::Free_keyval(c_key);
  CALL(MPI_Comm_free(&comm));
}

/*@ cxx-datatype
 * demanded, MPI-2.2 6.7.4
 * Datatypes have the same functions.
 */
/* Twice: MPI-2.2 has const void* for the old value here, and void* everywhere else. */
static int cxx_copy(const MPI::Datatype& old, int keyval, void* extra_state, const void* in,
                    void* out, bool& flag) {
  flag = true;
  *(const void**)out = in;
  return MPI_SUCCESS;
}
static int cxx_copy(const MPI::Datatype& old, int keyval, void* extra_state, void* in, void* out,
                    bool& flag) {
  return cxx_copy(old, keyval, extra_state, (const void*)in, out, flag);
}
static void check(void) {
  MPI::Datatype type = MPI::INT.Create_contiguous(2);
  int keyval = MPI::Datatype::Create_keyval(cxx_copy, cxx_delete, NULL);
  void* value = NULL;
  type.Set_attr(keyval, (void*)4);
  MPI::Datatype duplicate = type.Dup();
  EXPECT(duplicate.Get_attr(keyval, &value) && value == (void*)4, "the value 4", "%ld",
         (long)value);
  duplicate.Free();
  type.Free();
  EXPECT_NOTES("C++ delete 4;C++ delete 4;");
  MPI::Datatype::Free_keyval(keyval);
}

/*@ cxx-window
 * demanded, MPI-2.2 6.7.3
 * Windows have the same functions.
 */
static int cxx_copy(const MPI::Win& old, int keyval, void* extra_state, void* in, void* out,
                    bool& flag) {
  flag = false;
  return MPI_SUCCESS;
}
static void check(void) {
  MPI::Win win = new_win();
  int keyval = MPI::Win::Create_keyval(cxx_copy, cxx_delete, NULL);
  void* value = NULL;
  win.Set_attr(keyval, (void*)5);
  EXPECT(win.Get_attr(keyval, &value) && value == (void*)5, "the value 5", "%ld", (long)value);
  win.Free();
  EXPECT_NOTES("C++ delete 5;");
  MPI::Win::Free_keyval(keyval);
}
