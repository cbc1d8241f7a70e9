/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What report_check.py expects in the report, number by number: each rank does all of it once, and
 * some of it rank + 1 times.
 *
 *   report everything    all of it
 *   report nothing       no attribute at all, but on the highest rank one keyval
 *   report many          1200 datatypes, each with a name and an attribute, never freed
 *   report leaks         200 communicators at two places, and others freed, without any attribute
 *   report kept          a communicator is freed in vain, since its delete callback fails
 *   report twice         one keyval is freed, and a saved copy of it, while an attribute is left
 *   report failing       a delete callback fails in MPI_Finalize
 *   report exit          one keyval, and no MPI_Finalize
 *   report abort         one keyval, and MPI_Abort
 *   report terminated    one keyval, and SIGTERM
 *   report killed        one keyval, and SIGKILL
 *   report quick         one keyval, an attribute on MPI_COMM_SELF, and quick_exit
 *   report handed        a set and a delete each leave a deletion to another thread's dup
 *   report waits         one keyval, prints a line, and waits for the end of its input
 */
#define _POSIX_C_SOURCE 200809L /* kill */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attrcache/mpix.h"

static int rank;

/* ---- Callbacks, whose names tell keyvals apart in the report ---- */

static int copy_plain(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)keyval, (void)extra;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

#define DELETE_FN(name, Handle)                                          \
  static int name(Handle object, int keyval, void* value, void* extra) { \
    (void)object, (void)keyval, (void)value, (void)extra;                \
    return MPI_SUCCESS;                                                  \
  }
DELETE_FN(delete_plain, MPI_Comm)
DELETE_FN(delete_reused, MPI_Comm)
DELETE_FN(delete_read_by_threads, MPI_Comm)
DELETE_FN(delete_in_its_place, MPI_Comm)
DELETE_FN(delete_stale, MPI_Comm)
DELETE_FN(delete_left, MPI_Comm)
DELETE_FN(delete_handed, MPI_Comm)
DELETE_FN(delete_on_world, MPI_Comm)
DELETE_FN(delete_on_self, MPI_Comm)
DELETE_FN(delete_type, MPI_Datatype)

static int delete_slowly(MPI_Comm comm, int keyval, void* value, void* extra) {
  const struct timespec nap = {0, 5000000};
  (void)comm, (void)keyval, (void)value, (void)extra;
  nanosleep(&nap, NULL);
  return MPI_SUCCESS;
}

static int slow_keyval;

static int delete_causing_another(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)keyval, (void)value, (void)extra;
  return MPI_Comm_delete_attr(comm, slow_keyval);
}

static int delete_failing_once(MPI_Comm comm, int keyval, void* value, void* extra) {
  static int calls;
  (void)comm, (void)keyval, (void)value, (void)extra;
  return calls++ == 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* ---- Uses ---- */

static int create(MPI_Comm_delete_attr_function* delete_fn) {
  int keyval;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_fn, &keyval, NULL);
  return keyval;
}

static MPI_Comm another(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  return comm;
}

static void get(MPI_Comm comm, int keyval, int times) {
  void* value;
  int flag;
  for (int i = 0; i < times; ++i) MPI_Comm_get_attr(comm, keyval, &value, &flag);
}

static void plain(void) {
  MPI_Comm comm = another();
  MPI_Comm copy;
  int keyval;
  MPI_Comm_create_keyval(copy_plain, delete_plain, &keyval, NULL);
  MPI_Comm_set_attr(comm, keyval, &rank);
  MPI_Comm_set_attr(comm, keyval, &rank);
  MPI_Comm_set_attr(comm, keyval, &rank);
  get(comm, keyval, 10);
  MPI_Comm_delete_attr(comm, keyval);
  get(comm, keyval, 4);
  MPI_Comm_set_attr(comm, keyval, &rank);
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
  MPI_Comm_free_keyval(&keyval);
}

/* Without callbacks, the report names the keyval by its creator. */
__attribute__((noinline)) static int make_without_callbacks(void) {
  int keyval;
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
  return keyval + 0 * rank; /* no tail call */
}
static void without_callbacks(void) {
  MPI_Comm comm = another();
  MPI_Comm copy;
  int keyval = make_without_callbacks();
  for (int i = 0; i <= rank; ++i) MPI_Comm_set_attr(comm, keyval, &rank);
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
  MPI_Comm_free_keyval(&keyval);
}

/* One keyval after the other, which reuse few indices. */
static void reused(void) {
  MPI_Comm comm = another();
  for (int i = 0; i < 500; ++i) {
    int keyval = create(delete_reused);
    MPI_Comm_set_attr(comm, keyval, &rank);
    get(comm, keyval, 2);
    MPI_Comm_delete_attr(comm, keyval);
    MPI_Comm_free_keyval(&keyval);
  }
  MPI_Comm_free(&comm);
}

static MPI_Comm read_comm;
static int read_keyval;

static void* read_often(void* unused) {
  get(read_comm, read_keyval, 1000);
  return unused;
}

static void threads(void) {
  pthread_t thread[8];
  read_comm = another();
  read_keyval = create(delete_read_by_threads);
  MPI_Comm_set_attr(read_comm, read_keyval, &rank);
  for (int i = 0; i < 8; ++i) pthread_create(&thread[i], NULL, read_often, NULL);
  for (int i = 0; i < 8; ++i) pthread_join(thread[i], NULL);
  MPI_Comm_free(&read_comm);
  MPI_Comm_free_keyval(&read_keyval);
}

static void type(void) {
  MPI_Datatype type;
  MPI_Datatype copy;
  int keyval;
  int flag;
  void* value;
  MPI_Type_create_keyval(MPI_TYPE_DUP_FN, delete_type, &keyval, NULL);
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_set_attr(type, keyval, &rank);
  MPI_Type_get_attr(type, keyval, &value, &flag);
  MPI_Type_dup(type, &copy);
  MPI_Type_free(&copy);
  MPI_Type_free(&type);
  MPI_Type_free_keyval(&keyval);
}

/* delete_causing_another spends its time in delete_slowly. */
static void nested(void) {
  MPI_Comm comm = another();
  int keyval = create(delete_causing_another);
  slow_keyval = create(delete_slowly);
  MPI_Comm_set_attr(comm, slow_keyval, &rank);
  MPI_Comm_set_attr(comm, keyval, &rank);
  MPI_Comm_delete_attr(comm, keyval);
  MPI_Comm_free(&comm);
  MPI_Comm_free_keyval(&keyval);
  MPI_Comm_free_keyval(&slow_keyval);
}

static void failing(void) {
  MPI_Comm comm = another();
  int keyval = create(delete_failing_once);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_attr(comm, keyval, &rank);
  MPI_Comm_delete_attr(comm, keyval);
  MPI_Comm_delete_attr(comm, keyval);
  MPI_Comm_free(&comm);
  MPI_Comm_free_keyval(&keyval);
}

/* Misuse of stale keyvals. It doesn't count as gets of the keyvals that reuse their indices. */
static void stale(void) {
  MPI_Comm comm = another();
  int stale[120];
  int others[400];
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_attr(comm, stale[0] = create(delete_stale), &rank);
  MPI_Comm_delete_attr(comm, stale[0]);
  for (int i = 1; i < 120; ++i) stale[i] = create(delete_stale);
  for (int i = 0; i < 120; ++i) {
    int keyval = stale[i];
    MPI_Comm_free_keyval(&keyval);
  }
  for (int i = 0; i < 400; ++i) others[i] = create(delete_in_its_place);
  for (int i = 0; i < 120; ++i) get(comm, stale[i], 7);
  for (int i = 0; i < 400; ++i) MPI_Comm_free_keyval(&others[i]);
  MPI_Comm_free(&comm);
}

/* Attributes on an object never freed and on duplicates of it. */
static void left(void) {
  MPI_Comm comm = another();
  int keyval;
  MPI_Comm_set_name(comm, "the one that is left");
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, delete_left, &keyval, NULL);
  MPI_Comm_set_attr(comm, keyval, &rank);
  for (int i = 0; i <= rank; ++i) {
    MPI_Comm copy;
    MPI_Comm_dup(comm, &copy);
  }
  get(comm, keyval, 3);
  create(delete_left);
}

static pthread_barrier_t copying;

static int copy_until_told(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  pthread_barrier_wait(&copying);
  pthread_barrier_wait(&copying);
  return copy_plain(comm, keyval, extra, in, out, flag);
}

static void* duplicate(void* comm) {
  MPI_Comm copy;
  MPI_Comm_dup(*(MPI_Comm*)comm, &copy);
  MPI_Comm_free(&copy);
  return NULL;
}

/* A set and a delete each leave a delete_fn to another thread's dup. */
static void handed(void) {
  MPI_Comm comm = another();
  pthread_t thread;
  int keyval;
  pthread_barrier_init(&copying, NULL, 2);
  MPI_Comm_create_keyval(copy_until_told, delete_handed, &keyval, NULL);
  MPI_Comm_set_attr(comm, keyval, &rank);
  for (int deletes = 0; deletes < 2; ++deletes) {
    pthread_create(&thread, NULL, duplicate, &comm);
    pthread_barrier_wait(&copying);
    if (deletes) {
      MPI_Comm_delete_attr(comm, keyval);
    } else {
      MPI_Comm_set_attr(comm, keyval, &rank);
    }
    pthread_barrier_wait(&copying);
    pthread_join(thread, NULL);
  }
  MPI_Comm_free(&comm);
  MPI_Comm_free_keyval(&keyval);
}

static void many(void) {
  int keyval;
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_type, &keyval, NULL);
  for (int i = 0; i < 1200; ++i) {
    MPI_Datatype type;
    char name[32];
    snprintf(name, sizeof name, "type \"%d\" \xff\x01\\", i); /* not UTF-8 */
    MPI_Type_dup(MPI_INT, &type);
    MPI_Type_set_name(type, name);
    MPI_Type_set_attr(type, keyval, &rank);
  }
  MPI_Type_set_attr(MPI_INT, keyval, &rank);
  MPI_Type_free_keyval(&keyval);
}

__attribute__((noinline)) static void by_dup(void) {
  MPI_Comm made;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
}
__attribute__((noinline)) static void by_split(void) {
  MPI_Comm made;
  MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made);
}
static void leaks(void) {
  for (int i = 0; i < 100; ++i) {
    MPI_Comm freed = another();
    by_dup();
    by_split();
    MPI_Comm_free(&freed);
  }
}

__attribute__((noinline)) static void kept(void) {
  MPI_Comm made;
  MPI_Comm_dup(MPI_COMM_SELF, &made);
  MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_attr(made, create(delete_failing_once), NULL);
  MPI_Comm_free(&made);
  printf("%s\n", made == MPI_COMM_NULL ? "freed" : "kept");
}

static void twice(void) {
  MPI_Comm comm = another();
  int keyval = create(delete_plain);
  int saved = keyval;
  MPI_Comm_set_attr(comm, keyval, &rank);
  MPI_Comm_free_keyval(&keyval);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_free_keyval(&saved);
  MPI_Comm_free(&comm);
}

/* Deleted by MPI_Finalize: before the report on MPI_COMM_SELF, after it on MPI_COMM_WORLD. (The
 * second call if absent attaches nothing, and is no set.) */
static void at_finalize(void) {
  int flag, keyval = create(delete_on_self);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &rank);
  MPI_Comm_free_keyval(&keyval);
  keyval = create(delete_on_world);
  for (int i = 0; i < 2; ++i)
    MPIX_Comm_set_attr_if_absent(MPI_COMM_WORLD, keyval, &rank, NULL, &flag);
  MPI_Comm_free_keyval(&keyval);
}

/* What a child of fork does isn't its parent's. */
static void in_child(void) {
  int status = -1;
  const pid_t child = fork();
  if (child == 0) {
    int keyval;
    MPI_Comm_create_keyval(copy_plain, delete_plain, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &rank);
    get(MPI_COMM_WORLD, keyval, 100);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
    _exit(0);
  }
  if (waitpid(child, &status, 0) != child || status != 0) exit(1);
}

/* By SIGTERM. In the child, pid is 0. */
static void terminate(pid_t pid) {
  int status = 0;
  if (pid > 0) kill(pid, SIGTERM);
  while (pid == 0 || pid == getpid()) pause();
  if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status)) exit(1);
}

static int delete_of_file(MPI_File file, int keyval, void* value, void* extra) {
  (void)keyval, (void)extra;
  return file == *(MPI_File*)value ? MPI_SUCCESS : MPI_ERR_FILE;
}

static void file(void) {
  MPI_File opened;
  char name[64];
  void* value;
  int keyval, flag;
  snprintf(name, sizeof name, "report.%d", (int)getpid());
  MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &opened);
  MPIX_File_create_keyval(delete_of_file, &keyval, NULL);
  MPIX_File_get_attr(opened, keyval, &value, &flag);
  MPIX_File_set_attr(opened, keyval, &opened);
  MPIX_File_set_attr(opened, keyval, &opened);
  MPIX_File_get_attr(opened, keyval, &value, &flag);
  MPIX_File_free_keyval(&keyval);
  MPI_File_close(&opened);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int provided;
  int size;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(what, "everything") == 0) {
    threads();
    plain();
    without_callbacks();
    reused();
    type();
    nested();
    failing();
    stale();
    left();
    if (MPIX_File_create_keyval != NULL) file();
    at_finalize();
  } else if (strcmp(what, "nothing") == 0) {
    if (rank == size - 1) plain();
  } else if (strcmp(what, "forked") == 0) {
    if (rank == size - 1) plain(), in_child();
  } else if (strcmp(what, "many") == 0) {
    many();
  } else if (strcmp(what, "leaks") == 0) {
    leaks();
  } else if (strcmp(what, "kept") == 0) {
    kept();
  } else if (strcmp(what, "twice") == 0) {
    twice();
  } else if (strcmp(what, "failing") == 0) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_attr(MPI_COMM_SELF, create(delete_failing_once), NULL);
    printf("MPI_Finalize %s\n", MPI_Finalize() == MPI_SUCCESS ? "succeeds" : "fails");
    return 0;
  } else if (strcmp(what, "exit") == 0) {
    plain();
    MPI_Barrier(MPI_COMM_WORLD);
    exit(0);
  } else if (strcmp(what, "abort") == 0) {
    plain();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Abort(MPI_COMM_WORLD, 3);
  } else if (strcmp(what, "terminated") == 0) {
    plain();
    terminate(fork()); /* a child dies of it, too */
    terminate(getpid());
  } else if (strcmp(what, "handed") == 0) {
    handed();
  } else if (strcmp(what, "waits") == 0) {
    plain();
    puts("waits");
    fflush(stdout);
    while (getchar() != EOF) continue;
  } else if (strcmp(what, "killed") == 0) {
    plain();
    raise(SIGKILL);
  } else if (strcmp(what, "quick") == 0) {
    plain();
    at_finalize();
    quick_exit(3);
  } else {
    fprintf(stderr, "report: what? (report.c lists it)\n");
    return 2;
  }
  MPI_Finalize();
  return 0;
}
