/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*@section deprecated: the names of MPI-1 */

/*@ mpi1-mixed
 * demanded, 16.1, needs: mpi1
 * Old and new names work on the same keys and attributes. MPI_NULL_COPY_FN, MPI_DUP_FN and
 * MPI_NULL_DELETE_FN do what their successors do, and MPI_Attr_get returns predefined attributes, too.
 */
static void check(void) {
  MPI_Comm comm = new_comm(), duplicate;
  void* value = NULL;
  int *tag_ub = NULL, old_key, new_key = keyval_comm(copy_comm, delete_comm), flag = 0;
  int not_copied, copied;
  CALL(MPI_Keyval_create(copy_comm, delete_comm, &old_key, NULL));
  CALL(MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &not_copied, NULL));
  CALL(MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &copied, NULL));
  CALL(MPI_Attr_get(comm, old_key, &value, &flag));
  EXPECT_EQ(flag, 0);
  CALL(MPI_Comm_set_attr(comm, old_key, (void*)1));
  CALL(MPI_Attr_put(comm, new_key, (void*)2));
  CALL(MPI_Attr_put(comm, not_copied, (void*)3));
  CALL(MPI_Attr_put(comm, copied, (void*)4));
  CALL(MPI_Attr_get(comm, old_key, &value, &flag));
  EXPECT(flag && value == (void*)1, "the value 1", "flag %d", flag);
  EXPECT_EQ(get_comm(comm, new_key), 2);
  CALL(MPI_Comm_dup(comm, &duplicate));
  EXPECT_EQ(get_comm(duplicate, old_key), 101);
  EXPECT_EQ(get_comm(duplicate, new_key), 102);
  EXPECT_EQ(get_comm(duplicate, not_copied), ABSENT);
  EXPECT_EQ(get_comm(duplicate, copied), 4);
  notes[0] = '\0';
  CALL(MPI_Comm_delete_attr(comm, old_key));
  CALL(MPI_Attr_delete(comm, new_key));
  EXPECT_NOTES("delete 1;delete 2;");
  CALL(MPI_Comm_free_keyval(&old_key));
  CALL(MPI_Keyval_free(&new_key));
  EXPECT_EQ(new_key, MPI_KEYVAL_INVALID);
  CALL(MPI_Attr_delete(comm, copied));
  CALL(MPI_Keyval_free(&not_copied));
  CALL(MPI_Keyval_free(&copied));
  CALL(MPI_Comm_free(&duplicate));
  CALL(MPI_Comm_free(&comm));
  CALL(MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &flag));
  EXPECT(flag, "flag = true", "false");
  EXPECT_EQ(*tag_ub, *predefined(MPI_COMM_WORLD, MPI_TAG_UB));
}
