/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Parallel HDF5 hangs its own end on an attribute of MPI_COMM_SELF: a file left open is flushed and
 * closed in that attribute's delete callback, in MPI_Finalize. Written, left open, finalized, and
 * read back without MPI.
 */
#include <hdf5.h>
#include <unistd.h>

#include "check.h"

enum { kEach = 1000 };

int main(int argc, char** argv) {
  static int data[kEach];
  char name[256];
  const char* folder = getenv("TMPDIR");
  int size;
  int i;
  MPI_Init(&argc, &argv);
  check_begin();
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const hsize_t all = (hsize_t)size * kEach, mine = kEach, start = (hsize_t)check_rank * kEach;
  snprintf(name, sizeof name, "%s/open%d%d.h5", folder != NULL ? folder : "/tmp", size, served());
  for (i = 0; i < kEach; ++i) data[i] = check_rank * kEach + i;

  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  CHECK(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
  const hid_t created = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  CHECK(created >= 0);
  const hid_t space = H5Screate_simple(1, &all, NULL);
  const hid_t memory = H5Screate_simple(1, &mine, NULL);
  const hid_t written =
      H5Dcreate2(created, "numbers", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  CHECK(written >= 0);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &mine, NULL);
  const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  CHECK(H5Dwrite(written, H5T_NATIVE_INT, memory, space, transfer, data) >= 0);
  /* Nothing is closed. */
  MPI_Finalize();

  /* Written by all ranks; read back by one, without MPI. */
  if (check_rank == 0) {
    static int read_back[64 * kEach];
    const hid_t file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = file >= 0 ? H5Dopen2(file, "numbers", H5P_DEFAULT) : -1;
    CHECK(file >= 0);
    CHECK(set >= 0);
    CHECK(H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, read_back) >= 0);
    for (i = 0; i < size * kEach; ++i) {
      if (read_back[i] != i) break;
    }
    CHECK_EQUAL(i, size * kEach);
    H5Dclose(set);
    H5Fclose(file);
    unlink(name);
  }
  return check_report();
}
