/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Attributes and sessions: none of a predefined object is found by the next session, each is
 * deleted once, keyvals outlive sessions, and MPI_TAG_UB is on a session's communicators, the
 * world's others are not.
 */
#include <mpi.h>
#include <stdio.h>

static int failed, set, deleted;
#define CHECK(condition)                                     \
  do {                                                       \
    if (!(condition)) {                                      \
      printf("FAILED: line %d: %s\n", __LINE__, #condition); \
      failed = 1;                                            \
    }                                                        \
  } while (0)

static int del(MPI_Datatype type, int keyval, void* value, void* extra_state) {
  (void)type, (void)keyval, (void)value, (void)extra_state;
  ++deleted;
  return MPI_SUCCESS;
}

/* A session that attaches something to a predefined datatype, perhaps under a keyval of its own. */
static void use(int round, int outliving) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm, dup;
  void* value = NULL;
  int* tag_ub = NULL;
  int flag = 0, own = MPI_KEYVAL_INVALID;
  CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, del, &own, NULL);
  MPI_Type_get_attr(MPI_INT, own, &value, &flag);
  CHECK(!flag);
  CHECK(MPI_Type_set_attr(MPI_INT, own, &failed) == MPI_SUCCESS && ++set);
  if (outliving != MPI_KEYVAL_INVALID) {
    flag = -1;
    CHECK(MPI_Type_get_attr(MPI_DOUBLE, outliving, &value, &flag) == MPI_SUCCESS && flag == 0);
    CHECK(MPI_Type_set_attr(MPI_DOUBLE, outliving, &failed) == MPI_SUCCESS && ++set);
  }
  MPI_Group_from_session_pset(session, "mpi://SELF", &group);
  CHECK(MPI_Comm_create_from_group(group, "attrcache", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) ==
        MPI_SUCCESS);
  MPI_Group_free(&group);
  MPI_Comm_get_attr(comm, MPI_TAG_UB, &tag_ub, &flag);
  CHECK(flag && *tag_ub >= 32767);
  flag = -1;
  CHECK(MPI_Comm_get_attr(comm, MPI_UNIVERSE_SIZE, &value, &flag) == MPI_SUCCESS && flag == 0);
  MPI_Comm_dup(comm, &dup);
  MPI_Comm_get_attr(dup, MPI_TAG_UB, &tag_ub, &flag);
  CHECK(flag && *tag_ub >= 32767);
  MPI_Comm_free(&dup);
  MPI_Comm_free(&comm);
  if (round % 2 == 0) MPI_Type_free_keyval(&own);
  CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
}

int main(void) {
  int round, outliving = MPI_KEYVAL_INVALID;
  MPI_Session session;
  use(0, outliving);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, del, &outliving, NULL);
  MPI_Session_finalize(&session);
  for (round = 1; round < 5; ++round) use(round, outliving);
  CHECK(deleted == set);
  if (!failed) printf("%d attributes of %d sessions, each deleted once\n", set, round);
  return failed;
}
