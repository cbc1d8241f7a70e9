// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Leaves what a process hands over in a folder, from which it may be collected later. Knows nothing
// of MPI.

#ifndef ATTRCACHE_MPI_HANDOVER_FOLDER_H_
#define ATTRCACHE_MPI_HANDOVER_FOLDER_H_

#include <cstdint>
#include <string>

namespace attrcache::mpi {

// The name of this machine.
std::string host_name();

// When this was first called, in nanoseconds since 1970: it distinguishes processes with the same
// number; in containers, all may have one number.
int64_t process_moment();

// HOST.PID.MOMENT: what files of this process are called.
std::string process_name();

// Where the data of a report go: the folder that ATTRCACHE_REPORT names, or that of the launcher if
// this host sees it. Empty if there is none.
std::string report_folder();

// Writes the file PROCESS-NAME.SUFFIX in the folder, as a whole or not at all, in place of what this
// process has left there before. Returns 0 or an errno.
int leave_in_folder(const std::string& folder, const char* suffix, const std::string& content);

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_HANDOVER_FOLDER_H_
