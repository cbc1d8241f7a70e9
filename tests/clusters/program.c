/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * program [sleep | kill | abort | exit | spawn | spawn-bare]: an MPI program that uses an
 * attribute. Then the last rank ends this way, and the others, or all if it is sleep, wait
 * to be killed; or all together spawn two more processes, with their environment or without
 * LD_PRELOAD. The transports are those that work between hosts made of namespaces, which other
 * transports take for one machine.
 */

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int on_delete(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  int rank, size, keyval;
  char host[256] = "";
  setenv("UCX_TLS", "tcp,self", 1);
  setenv("OMPI_MCA_btl", "self,tcp", 1);
  setenv("OMPI_MCA_pml", "ob1", 1);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, on_delete, &keyval, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &keyval);
  gethostname(host, sizeof host - 1);
  printf("rank %d of %d on %s\n", rank, size, host);
  fflush(stdout);
  if (strncmp(how, "spawn", 5) == 0) {
    char* bare[] = {"-u", "LD_PRELOAD", argv[0], NULL};
    const int is_bare = how[5] != '\0';
    MPI_Comm spawned;
    MPI_Comm_spawn(is_bare ? "env" : argv[0], is_bare ? bare : MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0,
                   MPI_COMM_WORLD, &spawned, MPI_ERRCODES_IGNORE);
  } else if (how[0] != '\0') {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1 && strcmp(how, "kill") == 0) raise(SIGKILL);
    if (rank == size - 1 && strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 3);
    if (rank == size - 1 && strcmp(how, "exit") == 0) exit(4);
    for (;;) pause();
  }
  MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
  MPI_Comm_free_keyval(&keyval);
  return MPI_Finalize();
}
