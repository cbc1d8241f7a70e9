/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* MPI sessions without MPI_Init: there is no MPI_COMM_WORLD. MPICH only: Open MPI 4 has none. */
#include "check.h"

static int del(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  (void)comm, (void)keyval, (void)extra_state;
  note("del %ld;", (long)value);
  return MPI_SUCCESS;
}

int main(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Comm dup;
  void* value = NULL;
  int flag = 0;
  int k;
  CHECK_EQUAL(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Group_from_session_pset(session, "mpi://SELF", &group), MPI_SUCCESS);
  CHECK_EQUAL(
      MPI_Comm_create_from_group(group, "attrcache", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
      MPI_SUCCESS);
  MPI_Group_free(&group);
  CHECK_EQUAL(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, del, &k, NULL), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Comm_set_attr(comm, k, (void*)1), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Comm_get_attr(comm, k, &value, &flag), MPI_SUCCESS);
  CHECK(flag && value == (void*)1);
  CHECK_EQUAL(MPI_Comm_dup(comm, &dup), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Comm_get_attr(dup, k, &value, &flag), MPI_SUCCESS);
  CHECK(flag && value == (void*)1);
  MPI_Comm_free(&dup);
  MPI_Comm_free(&comm);
  CHECK_LOG("del 1;del 1;");
  CHECK_EQUAL(MPI_Comm_free_keyval(&k), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Session_finalize(&session), MPI_SUCCESS);
  return check_report();
}
