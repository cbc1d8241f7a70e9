// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Carries a message to the launcher. Knows nothing of MPI.

#ifndef ATTRCACHE_MPI_HANDOVER_CHANNEL_H_
#define ATTRCACHE_MPI_HANDOVER_CHANNEL_H_

#include <cstddef>
#include <string>

namespace attrcache::mpi::channel {

// Whether ATTRCACHE_LAUNCHER is set.
bool exists();

// The launcher's folder, if this host sees it and nobody else can write to it. Its name has a random part, so a folder of that name
// is the same one.
std::string folder();

// Sends a message of the kind `what`: `lines`, each ended by a newline, and then the bytes. It is
// sent to the first of the launcher's addresses that can be reached. If there is none within 2.5
// seconds, a file is left in the launcher's folder, if this host sees it. Returns whether the
// launcher has got the message or will find it. (It acknowledges those with bytes.)
bool send(const char* what, const char* lines, const void* bytes, size_t size);

}  // namespace attrcache::mpi::channel

#endif  // ATTRCACHE_MPI_HANDOVER_CHANNEL_H_
