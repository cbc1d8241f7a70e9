/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * lives HOW: attributes in one life of MPI after another. MPI lives until its last session and
 * MPI_Init's world have ended, and some MPIs forget their keyvals then. HOW says what comes before
 * the sessions, or with them.
 */
#include <mpi.h>
#include <stdint.h>

#include "attrcache/mpix.h"
#include "check.h"

#if MPI_VERSION < 4
int main(void) { return 0; }
#else
static intptr_t deleted;

static int keep(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)extra;
  deleted = (intptr_t)value;
  return MPI_SUCCESS;
}
static int end_session(MPI_Session session, int keyval, void* value, void* extra) {
  (void)session, (void)keyval, (void)extra;
  return MPI_Session_finalize(value);
}
static MPI_Comm begin(MPI_Session* session) {
  MPI_Group group;
  MPI_Comm comm;
  if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session) != MPI_SUCCESS ||
      MPI_Group_from_session_pset(*session, "mpi://SELF", &group) != MPI_SUCCESS ||
      MPI_Comm_create_from_group(group, "lives", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) !=
          MPI_SUCCESS)
    exit(0); /* this MPI takes no further session */
  MPI_Group_free(&group);
  return comm;
}
/* Sets an attribute on a new communicator, and frees it: its delete callback gets the value. */
static void use(MPI_Comm comm, intptr_t value) {
  int keyval, flag = 1;
  void* found;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, keep, &keyval, NULL);
  MPI_Comm_get_attr(comm, keyval, &found, &flag);
  CHECK(!flag); /* a new communicator has no attribute */
  CHECK_EQUAL(MPI_Comm_set_attr(comm, keyval, (void*)value), MPI_SUCCESS);
  MPI_Comm_get_attr(comm, keyval, &found, &flag);
  CHECK(flag && (intptr_t)found == value);
  MPI_Comm_free(&comm);
  CHECK_EQUAL(deleted, value);
}
static void use_sessions(intptr_t first) {
  for (intptr_t value = first; value < first + 3; ++value) {
    MPI_Session session;
    use(begin(&session), value);
    MPI_Session_finalize(&session);
  }
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "";
  MPI_Session session, other;
  MPI_Comm comm;
  if (strcmp(how, "idle-world") == 0) { /* no attribute is used in it */
    MPI_Init(NULL, NULL);
    MPI_Finalize();
  } else if (strcmp(how, "idle-world-beside") == 0) {
    comm = begin(&session);
    MPI_Init(NULL, NULL);
    MPI_Finalize();
    use(comm, 1);
    MPI_Session_finalize(&session);
  } else if (strcmp(how, "world-later") == 0) {
    use(begin(&session), 1);
    MPI_Session_finalize(&session);
    MPI_Init(NULL, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use(comm, 2);
    MPI_Finalize();
  } else if (strcmp(how, "foreign-keyval") == 0) { /* it gets the number of an anchor's */
    int keyval;
    use(begin(&session), 1);
    MPI_Session_finalize(&session);
    comm = begin(&session);
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, keep, &keyval, NULL);
    PMPI_Comm_set_attr(comm, keyval, (void*)7);
    PMPI_Comm_delete_attr(comm, keyval);
    CHECK_EQUAL(deleted, 7); /* a keyval that attrcache doesn't know is MPI's */
    PMPI_Comm_set_attr(comm, keyval, (void*)2);
    use(comm, 2);
    MPI_Session_finalize(&session);
  } else if (strcmp(how, "nested-end") == 0) { /* a session that another's delete callback ends */
    int keyval;
    use(begin(&session), 1);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other);
    if (MPIX_Session_create_keyval != NULL &&
        MPIX_Session_create_keyval(end_session, &keyval, NULL) == MPI_SUCCESS) {
      MPIX_Session_set_attr(session, keyval, &other);
    } else {
      MPI_Session_finalize(&other);
    }
    MPI_Session_finalize(&session);
  }
  use_sessions(10);
  return check_report();
}
#endif
