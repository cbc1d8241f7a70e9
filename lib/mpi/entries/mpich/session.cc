// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/native/facts.h"

// Headers before MPI-4.0, of MPIs that share MPICH's interface, have no sessions.
#if MPI_VERSION >= 4
#include "mpi/entries/session.h"
#endif
