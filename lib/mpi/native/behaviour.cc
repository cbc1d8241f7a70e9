// SPDX-License-Identifier: Apache-2.0

#include "mpi/native/behaviour.h"

#include <cstring>

#include "mpi/native/mpich/behaviour.h"
#include "mpi/native/openmpi/behaviour.h"

namespace attrcache::mpi {
namespace {

// An MPI that isn't in the table: what ends well on any that does what the standard says. Of the
// attributes that MPI_Finalize deletes, it promises MPI_COMM_SELF's.
constexpr Behaviour kUnknown = {"an MPI that attrcache does not know",
                                {FreeMode::kUntold, FreeMode::kUntold, FreeMode::kUntold},
                                true,
                                false,
                                false,
                                nullptr};

struct Row {
  const char* begins;  // the library version
  const Behaviour& behaviour;
};

// The first that fits.
constexpr Row kRows[] = {
    {"Open MPI v1.", openmpi::kBehaviour4},
    {"Open MPI v2.", openmpi::kBehaviour4},
    {"Open MPI v3.", openmpi::kBehaviour4},
    {"Open MPI v4.", openmpi::kBehaviour4},
    {"Open MPI", openmpi::kBehaviour},
    {"MPICH", mpich::kBehaviour},
    // Made of MPICH, whose binary interface they share.
    {"CRAY MPICH", mpich::kBehaviour},
    {"Intel(R) MPI Library", mpich::kBehaviour},
    {"MVAPICH", mpich::kBehaviour},
    {"ParaStation MPI", mpich::kBehaviour},
};

}  // namespace

const Behaviour& find_behaviour(const char* library_version) {
  for (const Row& row : kRows) {
    if (std::strncmp(library_version, row.begins, std::strlen(row.begins)) == 0) {
      return row.behaviour;
    }
  }
  return kUnknown;
}

}  // namespace attrcache::mpi
