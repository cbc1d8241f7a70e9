/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the MPI test programs share. Each rank ends with one line that run.sh looks for, since a
 * launcher's exit code can't be relied on: "rank R: N checks passed", or "rank R: FAILED ...".
 */
#ifndef ATTRCACHE_TESTS_MPI_CHECK_H_
#define ATTRCACHE_TESTS_MPI_CHECK_H_

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((unused)) static int check_count;
__attribute__((unused)) static int check_failures;
__attribute__((unused)) static int check_rank;

__attribute__((format(printf, 3, 4))) static inline void check(int is_right, int line,
                                                               const char* format, ...) {
  va_list arguments;
  ++check_count;
  if (is_right) return;
  ++check_failures;
  printf("rank %d: FAILED in line %d: ", check_rank, line);
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  printf("\n");
  fflush(stdout);
}

#define CHECK(condition) check((condition) ? 1 : 0, __LINE__, "%s", #condition)

#define CHECK_EQUAL(actual, expected)                                                         \
  do {                                                                                        \
    const long actual_ = (long)(actual);                                                      \
    const long expected_ = (long)(expected);                                                  \
    check(actual_ == expected_, __LINE__, "%s is %ld, not %ld", #actual, actual_, expected_); \
  } while (0)

static inline void check_begin(void) { MPI_Comm_rank(MPI_COMM_WORLD, &check_rank); }

static inline int check_report(void) {
  if (check_failures == 0) printf("rank %d: %d checks passed\n", check_rank, check_count);
  fflush(stdout);
  return check_failures != 0;
}

/* Whether the program is served by attrcache, or runs natively, as its own control. */
static inline int served(void) {
  const char* s = getenv("ATTRCACHE_TEST_SERVED");
  return s != NULL && *s == '1';
}

/* The MPI's major version if it has this name, else 0. Found at run time: a program built with the
 * header of the standard ABI runs on all MPIs. */
static inline int version_of(const char* name) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  if (strncmp(version, name, strlen(name)) != 0) return 0;
  return atoi(version + strcspn(version, "0123456789"));
}
#define ON_OPENMPI (version_of("Open MPI") != 0)

/* A log of what callbacks did, as text: "del 3;del 2;". */
static char check_log[4096];
static inline void note(const char* format, ...) {
  va_list arguments;
  const size_t used = strlen(check_log);
  va_start(arguments, format);
  vsnprintf(check_log + used, sizeof check_log - used, format, arguments);
  va_end(arguments);
}
#define CHECK_LOG(expected)                                                                 \
  do {                                                                                      \
    check(strcmp(check_log, (expected)) == 0, __LINE__, "callbacks did \"%s\", not \"%s\"", \
          check_log, (expected));                                                           \
    check_log[0] = '\0';                                                                    \
  } while (0)

static inline int class_of(int code) {
  int c = -1;
  if (code == MPI_SUCCESS) return MPI_SUCCESS;
  return MPI_Error_class(code, &c) == MPI_SUCCESS ? c : -1;
}

/*
 * Reports what the MPI gets wrong natively; a test must not expect that of the interposer. Tests
 * find it out each time they run. Prints "peer bug: MPICH 5.0.2: ..."; run.sh passes these lines
 * on, and tools/test repeats them. environment.sh has the same for shell scripts.
 */
static inline void peer_bug(const char* what) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  char name[64] = "";
  char version[64] = "";
  int length;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  MPI_Get_library_version(text, &length);
  /* "Open MPI v5.0.7, package: ..." or "MPICH Version:   5.0.2 ..." */
  if (sscanf(text, "Open MPI v%63[^, ]", version) == 1) {
    strcpy(name, "Open MPI");
  } else if (sscanf(text, "MPICH Version: %63[^ \n]", version) == 1) {
    strcpy(name, "MPICH");
  }
  printf("peer bug: %s %s: %s\n", name, version, what);
  fflush(stdout);
}

static inline void peer_ignores_error(MPI_Comm* comm, int* code, ...) { (void)comm, (void)code; }

/*
 * Whether functions return MPI_SUCCESS once a user's error handler has been called, as MPICH
 * 5.0.2's do. Tried by a send to a rank that doesn't exist, which has nothing to do with
 * attributes.
 */
static inline int peer_loses_codes(void) {
  static int loses = -1;
  MPI_Errhandler handler;
  MPI_Comm comm;
  if (loses >= 0) return loses;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_create_errhandler(peer_ignores_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  loses = MPI_Send(NULL, 0, MPI_INT, 7, 0, comm) == MPI_SUCCESS;
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
  if (loses) {
    peer_bug(
        "functions return MPI_SUCCESS after a user's error handler, even MPI_Send to a rank that "
        "doesn't exist");
  }
  return loses;
}

#endif
