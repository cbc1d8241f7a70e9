/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where an MPI gets something wrong by itself, a test must not ask it of the interposer. It finds that out from the MPI,
 * each time it runs, and says so: "peer bug: MPICH 5.0.2: ...". run.sh passes these lines on, and tools/test shows them.
 * For shell scripts, environment.sh has the same.
 */
#ifndef ATTRCACHE_TESTS_MPI_PEER_H_
#define ATTRCACHE_TESTS_MPI_PEER_H_

#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* Says what is wrong with this MPI. */
__attribute__((unused)) static void peer_says(const char* what) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  char name[64] = "";
  char version[64] = "";
  int length;
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
/* The same, on rank 0 alone. */
__attribute__((unused)) static void peer_bug(const char* what) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) peer_says(what);
}

__attribute__((unused)) static void peer_ignores_error(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
}

/*
 * Whether functions return MPI_SUCCESS once an error handler of the user's has been called, as MPICH 5.0.2's do. It is
 * asked of a send to a rank that does not exist, which has nothing to do with attributes.
 */
__attribute__((unused)) static int peer_loses_codes(void) {
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
        "functions return MPI_SUCCESS after an error handler of the program's, MPI_Send to no rank "
        "too");
  }
  return loses;
}

/* For the next two: what a handler was told, and a callback that fails. */
static int peer_told;
__attribute__((unused)) static void peer_hears_error(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  peer_told = *code;
}
__attribute__((unused)) static int peer_fails(MPI_Comm comm, int keyval, void* value,
                                              void* extra_state) {
  (void)comm, (void)keyval, (void)value;
  return *(int*)extra_state;
}

/*
 * Whether error handlers are told another error class than the one that is meant and returned, as those of programs for
 * the standard ABI are by Open MPI 6.0.0rc2, where its own number for it differs. It is asked of a window function.
 */
__attribute__((unused)) static int peer_mistells_handlers(int error) {
  static int mistells = -1;
  MPI_Errhandler handler;
  MPI_Errhandler former;
  int result;
  if (error != MPI_ERR_WIN) return 0;
  if (mistells >= 0) return mistells;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &former);
  MPI_Comm_create_errhandler(peer_hears_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  peer_told = MPI_ERR_WIN;
  result = MPI_Win_fence(0, MPI_WIN_NULL);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, former);
  MPI_Errhandler_free(&handler);
  if (former != MPI_ERRHANDLER_NULL) MPI_Errhandler_free(&former);
  mistells = result == MPI_ERR_WIN && peer_told != MPI_ERR_WIN;
  if (mistells)
    peer_bug("an error handler is told another error class than MPI_ERR_WIN, of MPI_Win_fence too");
  return mistells;
}

/*
 * Whether the code of a failing delete callback becomes another one on its way through MPI_Comm_free, as it does in Open
 * MPI 6.0.0rc2 for programs for the standard ABI. Asked by PMPI_ names, where attrcache has no part in it.
 */
__attribute__((unused)) static int peer_garbles_codes(void) {
  static int garbles = -1;
  static int code = 77;
  MPI_Comm comm;
  int keyval;
  int result;
  if (garbles >= 0) return garbles;
  PMPI_Comm_dup(MPI_COMM_SELF, &comm);
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, peer_fails, &keyval, &code);
  PMPI_Comm_set_attr(comm, keyval, NULL);
  result = PMPI_Comm_free(&comm);
  garbles = result != MPI_SUCCESS && result != code;
  code = MPI_SUCCESS;
  if (comm != MPI_COMM_NULL) PMPI_Comm_free(&comm);
  PMPI_Comm_free_keyval(&keyval);
  if (garbles) peer_bug("MPI_Comm_free returns another code than the delete callback's");
  return garbles;
}

/* Whether a call has failed, as far as this MPI lets one see it where it has called a handler of the user's. */
__attribute__((unused)) static int peer_failed(int result) {
  return result != MPI_SUCCESS || peer_loses_codes();
}

#endif
