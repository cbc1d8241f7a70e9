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

/* Found at run time: a program built with the header of the standard ABI runs on all MPIs. */
static inline const char* library_version(void) {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(text, &length);
  text[strcspn(text, ",\n")] = '\0'; /* "Open MPI v5.0.7" or "MPICH Version:   5.0.2" */
  return text;
}
#define ON_OPENMPI (strncmp(library_version(), "Open MPI", 8) == 0)

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

static inline void peer_ignores_error(MPI_Comm* comm, int* code, ...) { (void)comm, (void)code; }

/*
 * Whether functions return MPI_SUCCESS once a user's error handler has been called, as MPICH
 * 5.0.2's do: a test must not expect of the interposer what the MPI gets wrong natively. Tried by a
 * send to a rank that doesn't exist, which has nothing to do with attributes. run.sh passes the
 * line on, and tools/test repeats it; environment.sh has such lines for shell scripts.
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
  if (loses && check_rank == 0)
    printf(
        "peer bug: %s: functions return MPI_SUCCESS after a user's error handler, even MPI_Send to "
        "a rank that doesn't exist\n",
        library_version());
  fflush(stdout);
  return loses;
}

#endif
