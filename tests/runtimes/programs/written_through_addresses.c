/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * C gets the addresses of predefined attributes. What a program writes there mustn't reach what MPI
 * works with: messages, error codes and windows go on as before.
 */
#include <mpi.h>
#include <stdio.h>

static int failed;
static void need(int condition, const char* what) {
  if (!condition) printf("FAILED: %s\n", what), failed = 1;
}

int main(int argc, char** argv) {
  const int of_world[] = {MPI_TAG_UB, MPI_HOST,          MPI_IO,          MPI_WTIME_IS_GLOBAL,
                          MPI_APPNUM, MPI_UNIVERSE_SIZE, MPI_LASTUSEDCODE};
  const int of_windows[] = {MPI_WIN_DISP_UNIT, MPI_WIN_CREATE_FLAVOR, MPI_WIN_MODEL};
  int *value, flag, first, second, sent = 7, received = 0, buffer[4] = {0};
  MPI_Aint* size;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Add_error_class(&first);
  MPI_Win_create(buffer, sizeof buffer, sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &window);
  for (unsigned i = 0; i < sizeof of_world / sizeof *of_world; i++) {
    MPI_Comm_get_attr(MPI_COMM_WORLD, of_world[i], &value, &flag);
    if (flag) *value = 1;
  }
  for (unsigned i = 0; i < sizeof of_windows / sizeof *of_windows; i++) {
    MPI_Win_get_attr(window, of_windows[i], &value, &flag);
    if (flag) *value = 1;
  }
  MPI_Win_get_attr(window, MPI_WIN_SIZE, &size, &flag);
  if (flag) *size = 1;

  need(MPI_Sendrecv(&sent, 1, MPI_INT, 0, 100, &received, 1, MPI_INT, 0, 100, MPI_COMM_SELF,
                    MPI_STATUS_IGNORE) == MPI_SUCCESS &&
           received == 7,
       "a message with the tag 100");
  need(MPI_Add_error_class(&second) == MPI_SUCCESS && second > first,
       "an error class after another");
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
  need(!flag || *value == second, "MPI_LASTUSEDCODE, asked again");
  MPI_Win_fence(0, window);
  need(MPI_Put(&sent, 1, MPI_INT, 0, 3, 1, MPI_INT, window) == MPI_SUCCESS, "a put");
  MPI_Win_fence(0, window);
  need(buffer[3] == 7, "where the put goes to");
  MPI_Win_free(&window);
  MPI_Finalize();
  return failed;
}
