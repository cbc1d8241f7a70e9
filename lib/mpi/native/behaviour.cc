// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/native/behaviour.h"

#include <cstdlib>
#include <cstring>

namespace attrcache::mpi {
namespace {

static_assert(kMpiKinds == 3, "each row has a free mode for each kind");
constexpr FreeMode kStop = FreeMode::kStop;
constexpr FreeMode kDrain = FreeMode::kDrain;
constexpr FreeMode kLastCode = FreeMode::kLastCode;
constexpr FreeMode kAnyCode = FreeMode::kAnyCode;

// The free modes are in the order of the kinds; after them: whether MPI_Finalize forgets failures,
// deletes on MPI_COMM_WORLD, and on datatypes.
constexpr Behaviour kOpenMpi4 = {"Open MPI", {kStop, kDrain, kDrain}, true, true,
                                 false,      &MisuseText::openmpi};
constexpr Behaviour kOpenMpi = {"Open MPI", {kStop, kDrain, kDrain}, true, false,
                                false,      &MisuseText::openmpi};
// MPI_Type_free ignores what delete callbacks return. In the other two, up to version 4 a failure
// is forgotten if a later callback succeeds.
constexpr Behaviour kMpich4 = {"MPICH",           {kLastCode, kDrain, kLastCode}, false, true, true,
                               &MisuseText::mpich};
constexpr Behaviour kMpich = {"MPICH",           {kAnyCode, kDrain, kAnyCode}, false, true, true,
                              &MisuseText::mpich};
// For an MPI that isn't in the table: what ends well on any MPI that keeps to the standard. All
// that the standard promises of MPI_Finalize is that it deletes the attributes of MPI_COMM_SELF.
constexpr Behaviour kUnknown = {
    "an MPI that attrcache does not know", {kDrain, kDrain, kDrain}, true, false, false, nullptr};

struct Row {
  const char* begins;  // how the library version begins
  long since;          // fits if the first number in the version is at least this
  const Behaviour& behaviour;
};

// The first row that fits counts.
constexpr Row kRows[] = {
    {"Open MPI", 5, kOpenMpi},
    {"Open MPI", 0, kOpenMpi4},
    {"MPICH", 5, kMpich},
    {"MPICH", 0, kMpich4},
    // These are made from MPICH 4 or older, and share its binary interface.
    {"CRAY MPICH", 0, kMpich4},  // as "MPI VERSION    : CRAY MPICH version 8.1 ..."
    {"Intel(R) MPI Library", 0, kMpich4},
    {"MVAPICH", 0, kMpich4},
    {"ParaStation MPI", 0, kMpich4},
    // And these from Open MPI 4 or older.
    {"IBM Spectrum MPI", 0, kOpenMpi4},
    {"FUJITSU MPI", 0, kOpenMpi4},
};

long first_number(const char* text) {
  return std::strtol(text + std::strcspn(text, "0123456789"), nullptr, 10);
}

}  // namespace

const Behaviour& find_behaviour(const char* library_version) {
  constexpr const char* kPreamble = "MPI VERSION";
  if (std::strncmp(library_version, kPreamble, std::strlen(kPreamble)) == 0) {
    library_version += std::strlen(kPreamble);
    library_version += std::strspn(library_version, " :");
  }
  for (const Row& row : kRows) {
    if (std::strncmp(library_version, row.begins, std::strlen(row.begins)) == 0 &&
        first_number(library_version) >= row.since) {
      return row.behaviour;
    }
  }
  return kUnknown;
}

}  // namespace attrcache::mpi
