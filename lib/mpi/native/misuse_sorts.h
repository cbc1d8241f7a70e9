// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The sorts of misuse of attributes, from their rows in misuse.def. How misuse is noticed and
// reported: watching/misuse.h.

#ifndef ATTRCACHE_MPI_NATIVE_MISUSE_SORTS_H_
#define ATTRCACHE_MPI_NATIVE_MISUSE_SORTS_H_

#include <cstdint>

namespace attrcache::mpi {

enum class Misuse : uint8_t {
#define ATTRCACHE_MISUSE(sort, ...) k##sort,
#include "mpi/native/misuse.def"
  kCount
};
inline constexpr int kMisuses = static_cast<int>(Misuse::kCount);

struct MisuseText {
  const char* name;
  const char* what;
  const char* rule;
  const char* openmpi;
  const char* mpich;
};
inline constexpr MisuseText kMisuseTexts[] = {
#define ATTRCACHE_MISUSE(sort, name, what, rule, openmpi, mpich) {name, what, rule, openmpi, mpich},
#include "mpi/native/misuse.def"
};
inline const MisuseText& describe(Misuse sort) { return kMisuseTexts[static_cast<int>(sort)]; }

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_NATIVE_MISUSE_SORTS_H_
