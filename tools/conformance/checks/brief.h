/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What reproducers have in the place of check.h's blocks that define the same names: as short as it
 * can be, for people to read. The check itself is the same.
 */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failures;

static int rank, ranks = 1;

#define EXPECT(condition, expected, ...)                                 \
  do {                                                                   \
    if ((condition) || failures++ >= 5) break;                           \
    printf("FAILED at line %d: expected %s; seen ", __LINE__, expected); \
    printf(__VA_ARGS__);                                                 \
    puts("");                                                            \
    fflush(stdout);                                                      \
  } while (0)

#define EXPECT_EQ(actual, wanted) \
  EXPECT((long)(actual) == (long)(wanted), "that " #actual " is " #wanted, "%ld", (long)(actual))

#define CALL(call) EXPECT((call) == MPI_SUCCESS, "MPI_SUCCESS of " #call, "an error")

#define FAILS(call) EXPECT((call) != MPI_SUCCESS, "an error of " #call, "MPI_SUCCESS")

#define OPEN(...) (printf("open: "), printf(__VA_ARGS__), puts(""))

#define NOT_APPLICABLE(...) (printf("not applicable: "), printf(__VA_ARGS__), puts(""))

/* What callbacks did. */
static char notes[4000];
#define note(...) snprintf(notes + strlen(notes), sizeof notes - strlen(notes), __VA_ARGS__)

#define EXPECT_NOTES(wanted)                                                                \
  do {                                                                                      \
    EXPECT(strcmp(notes, wanted) == 0, "these callbacks: \"" wanted "\"", "\"%s\"", notes); \
    notes[0] = '\0';                                                                        \
  } while (0)

#define fail(line, expected, ...) EXPECT(0, expected, __VA_ARGS__)

#define FORTRAN(call)                                                   \
  do {                                                                  \
    call;                                                               \
    EXPECT(ierror == MPI_SUCCESS, "MPI_SUCCESS of " #call, "an error"); \
  } while (0)
