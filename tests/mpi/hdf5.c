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
  char name[256];
  const char* folder = getenv("TMPDIR");
  int size;
  int rank;
  int i;
  int status = 0;
  static int data[kEach];
  MPI_Init(&argc, &argv);
  check_begin();
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  rank = check_rank;
  snprintf(name, sizeof name, "%s/open%d%d.h5", folder != NULL ? folder : "/tmp", size, served());
  for (i = 0; i < kEach; ++i) data[i] = rank * kEach + i;
  {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file;
    hid_t transfer;
    hid_t space;
    hid_t memory;
    hid_t set;
    hsize_t all = (hsize_t)size * kEach;
    hsize_t mine = kEach;
    hsize_t start = (hsize_t)rank * kEach;
    CHECK(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
    file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    CHECK(file >= 0);
    space = H5Screate_simple(1, &all, NULL);
    memory = H5Screate_simple(1, &mine, NULL);
    set = H5Dcreate2(file, "numbers", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(set >= 0);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &mine, NULL);
    transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    CHECK(H5Dwrite(set, H5T_NATIVE_INT, memory, space, transfer, data) >= 0);
    /* Nothing is closed. */
  }
  MPI_Finalize();

  /* Written by all ranks; read back by one, without MPI. */
  if (rank == 0) {
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
  status = check_report();
  return status;
}
