// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Leaves what a process hands over in a folder, which somebody may collect later. Knows nothing of
// MPI.

#ifndef ATTRCACHE_MPI_HANDOVER_FOLDER_H_
#define ATTRCACHE_MPI_HANDOVER_FOLDER_H_

#include <string>

namespace attrcache::mpi {

// The name of this machine.
std::string host_name();

// Writes the bytes to the file HOST.PID.json in the folder, as a whole or not at all, in place of what
// this process has left there before. If it can't, says so on standard error, and returns false.
bool leave_in_folder(const std::string& folder, const std::string& bytes);

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_HANDOVER_FOLDER_H_
