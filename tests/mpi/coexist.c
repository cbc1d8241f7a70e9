/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Keyvals made through PMPI_ names, as tools and ROMIO make them, beside ours on the same objects;
 * a child of fork. Some functions are called through pointers: in a program at a fixed address
 * (fixed_address, from the same source) they seem to be the program's own.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static int (*volatile set_attr)(MPI_Comm, int, void*) = MPI_Comm_set_attr;
static int (*volatile get_attr)(MPI_Comm, int, void*, int*) = MPI_Comm_get_attr;

static int del(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  (void)comm, (void)keyval;
  note("%s %ld;", (const char*)extra_state, (long)value);
  return MPI_SUCCESS;
}

static long get(MPI_Comm comm, int keyval) {
  void* value = NULL;
  int flag = -1;
  CHECK_EQUAL(get_attr(comm, keyval, &value, &flag), MPI_SUCCESS);
  return flag ? (long)value : -1;
}

int main(int argc, char** argv) {
  MPI_Comm comm;
  MPI_Comm dup;
  int ours;
  int theirs;
  int saved;
  int status;
  pid_t child;
  MPI_Init(&argc, &argv);
  check_begin();
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  CHECK_EQUAL(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, del, &ours, "ours"), MPI_SUCCESS);
  CHECK_EQUAL(PMPI_Comm_create_keyval(MPI_COMM_DUP_FN, del, &theirs, "theirs"), MPI_SUCCESS);
  CHECK(ours != theirs);
#ifndef __PIC__ /* fixed_address: the interposer serves it all the same */
  if (served()) CHECK(ours >= 0x40000000);
#endif
  set_attr(comm, ours, (void*)1);
  set_attr(comm, theirs, (void*)2);
  CHECK_EQUAL(get(comm, ours), 1);
  CHECK_EQUAL(get(comm, theirs), 2);
  {
    void* value = NULL;
    int flag = 0;
    PMPI_Comm_get_attr(comm, theirs, &value, &flag);
    CHECK(flag && value == (void*)2);
  }
  MPI_Comm_dup(comm, &dup);
  CHECK_EQUAL(get(dup, ours), 1);
  CHECK_EQUAL(get(dup, theirs), 2);
  CHECK_EQUAL(MPI_Comm_delete_attr(dup, theirs), MPI_SUCCESS);
  CHECK_LOG("theirs 2;");
  CHECK_EQUAL(get(dup, theirs), -1);
  MPI_Comm_free(&dup);
  CHECK_LOG("ours 1;");
  PMPI_Comm_set_attr(comm, theirs, (void*)3);
  CHECK_LOG("theirs 2;");

  /* A child inherits everything, and changes nothing of its parent's. */
  fflush(stdout);
  child = fork();
  if (child == 0) {
    void* value = NULL;
    int flag = 0;
    int bad =
        MPI_Comm_get_attr(comm, ours, &value, &flag) != MPI_SUCCESS || !flag || value != (void*)1;
    bad |= MPI_Comm_set_attr(comm, ours, (void*)5) != MPI_SUCCESS;
    _exit(bad);
  }
  CHECK(child > 0);
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK_EQUAL(get(comm, ours), 1);

  saved = theirs;
  CHECK_EQUAL(MPI_Comm_free_keyval(&theirs), MPI_SUCCESS);
  CHECK_EQUAL(theirs, MPI_KEYVAL_INVALID);
  CHECK_EQUAL(get(comm, saved), 3);
  MPI_Comm_free_keyval(&ours);
  check_log[0] = '\0';
  MPI_Comm_free(&comm);
  CHECK(strstr(check_log, "ours 1;") != NULL);
  CHECK(strstr(check_log, "theirs 3;") != NULL);
  CHECK_EQUAL(strlen(check_log), strlen("ours 1;theirs 3;"));
  status = check_report();
  MPI_Finalize();
  return status;
}
