/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* MPI sessions without MPI_Init: there is no MPI_COMM_WORLD. After the last session another one may begin, and works like
 * the first. Not with Open MPI 4, which has none.
 *   sessions         each session has keyvals of its own
 *   sessions kept    a keyval of the first session goes on in the others, since keyvals are the process's. Some MPIs
 *                    natively don't call its callbacks then.
 *   sessions outlives  one goes on after MPI_Finalize
 *   sessions after   two begin after MPI_Finalize, one after the other
 *   sessions again, again_after   natively, by itself: only begins two, one after the other; after MPI_Finalize */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "peer.h"

static int del(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  (void)comm, (void)keyval, (void)extra_state;
  note("del %ld;", (long)value);
  return MPI_SUCCESS;
}

static MPI_Session session;

static MPI_Comm begin_session(void) {
  MPI_Group group;
  MPI_Comm comm;
  CHECK_EQUAL(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Group_from_session_pset(session, "mpi://SELF", &group), MPI_SUCCESS);
  CHECK_EQUAL(
      MPI_Comm_create_from_group(group, "attrcache", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
      MPI_SUCCESS);
  MPI_Group_free(&group);
  return comm;
}

/* Another session comes and goes: that is no end of the first. */
static void begin_and_end_another(void) {
  MPI_Session other;
  CHECK_EQUAL(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Session_finalize(&other), MPI_SUCCESS);
}

static void use(MPI_Comm comm, int k) {
  MPI_Comm dup;
  void* value = NULL;
  int flag = 1;
  CHECK_EQUAL(MPI_Comm_get_attr(comm, k, &value, &flag), MPI_SUCCESS);
  CHECK(!flag);
  CHECK_EQUAL(MPI_Comm_set_attr(comm, k, (void*)1), MPI_SUCCESS);
  begin_and_end_another();
  CHECK_EQUAL(MPI_Comm_get_attr(comm, k, &value, &flag), MPI_SUCCESS);
  CHECK(flag && value == (void*)1);
  CHECK_EQUAL(MPI_Comm_dup(comm, &dup), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Comm_get_attr(dup, k, &value, &flag), MPI_SUCCESS);
  CHECK(flag && value == (void*)1);
  MPI_Comm_free(&dup);
  MPI_Comm_free(&comm);
  CHECK_LOG("del 1;del 1;");
}

static int begin_twice(int after_world) {
  int failed = 0;
  if (after_world) {
    MPI_Init(NULL, NULL);
    MPI_Finalize();
  }
  for (int round = 0; round < 2; ++round) {
    /* Open MPI makes a session's communicator only in a parallel job, and so not here. */
    if (version_of("MPICH") != 0) {
      MPI_Comm comm = begin_session();
      MPI_Comm_free(&comm);
    } else {
      failed |= MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS;
    }
    failed |= MPI_Session_finalize(&session) != MPI_SUCCESS;
  }
  return failed || check_failures != 0;
}

extern char** environ;

/* Whether another session can follow the last one (what: "again"), or MPI_Finalize ("again_after"): Debian 12's MPICH
 * 4.0.2 crashes in such an MPI_Session_init, and Debian 13's 4.2.1, after MPI_Finalize, when the session's first
 * communicator is made. A process of its own tries it, without an interposer, and without what makes it a part of a
 * parallel job. */
static int can_begin_again(char* program, char* what) {
  static const char* const kLeftOut[] = {"LD_PRELOAD=", "PMI", "PMIX_",     "OMPI_",
                                         "PRTE_",       "HYD", "ATTRCACHE_"};
  char* arguments[] = {program, what, NULL};
  int status = -1;
  const pid_t child = fork();
  if (child == 0) {
    char** kept = environ;
    for (char** variable = environ; *variable != NULL; ++variable) {
      int out = 0;
      for (size_t i = 0; i < sizeof kLeftOut / sizeof *kLeftOut; ++i)
        out |= strncmp(*variable, kLeftOut[i], strlen(kLeftOut[i])) == 0;
      if (!out) *kept++ = *variable;
    }
    *kept = NULL;
    for (int file = 1; file < 1024; ++file) close(file);
    execv("/proc/self/exe", arguments);
    _exit(1);
  }
  waitpid(child, &status, 0);
  return status == 0;
}

/* Beside MPI_Init and MPI_Finalize: a session that outlives them, or two that begin later. */
static void beside_world(int outlives) {
  const int rounds = outlives ? 1 : 2;
  MPI_Comm comm = MPI_COMM_NULL;
  int k;
  if (outlives) comm = begin_session();
  MPI_Init(NULL, NULL);
  CHECK_EQUAL(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, del, &k, NULL), MPI_SUCCESS);
  if (outlives) CHECK_EQUAL(MPI_Comm_set_attr(comm, k, (void*)3), MPI_SUCCESS);
  MPI_Finalize();
  for (int round = 0; round < rounds; ++round) {
    int another;
    if (!outlives) comm = begin_session();
    CHECK_EQUAL(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, del, &another, NULL), MPI_SUCCESS);
    if (outlives) {
      void* value = NULL;
      int flag = 0;
      CHECK_EQUAL(MPI_Comm_get_attr(comm, k, &value, &flag), MPI_SUCCESS);
      CHECK(flag && value == (void*)3);
      CHECK_EQUAL(MPI_Comm_delete_attr(comm, k), MPI_SUCCESS);
      CHECK_LOG("del 3;");
    }
    use(comm, another);
    CHECK_EQUAL(MPI_Comm_free_keyval(&another), MPI_SUCCESS);
    if (!outlives) CHECK_EQUAL(MPI_Session_finalize(&session), MPI_SUCCESS);
  }
  if (outlives) {
    CHECK_EQUAL(MPI_Comm_free_keyval(&k), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Session_finalize(&session), MPI_SUCCESS);
  }
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const int kept = strcmp(what, "kept") == 0;
  int k = MPI_KEYVAL_INVALID;
  int rounds = 3;
  if (strncmp(what, "again", 5) == 0) return begin_twice(what[5] != '\0');
  if (strcmp(what, "outlives") == 0) {
    beside_world(1);
    return check_report();
  }
  if (strcmp(what, "after") == 0) {
    if (can_begin_again(argv[0], "again_after")) {
      beside_world(0);
    } else {
      peer_says("after MPI_Finalize no session can be used: it crashes");
      MPI_Init(NULL, NULL);
      CHECK_EQUAL(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, del, &k, NULL), MPI_SUCCESS);
      MPI_Finalize();
    }
    return check_report();
  }
  if (!can_begin_again(argv[0], "again")) {
    peer_says("after the last session no other can begin: MPI_Session_init crashes");
    rounds = 1;
  }
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm comm = begin_session();
    if (round == 0 || !kept) {
      CHECK_EQUAL(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, del, &k, NULL), MPI_SUCCESS);
    }
    use(comm, k);
    if (round == rounds - 1 || !kept) CHECK_EQUAL(MPI_Comm_free_keyval(&k), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Session_finalize(&session), MPI_SUCCESS);
  }
  return check_report();
}
