// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/native/constants.h"

#include <cstdio>

#include "mpi/native/native.h"

namespace attrcache::mpi {
namespace {

// The constants come in families of three, {NULL_COPY, DUP, NULL_DELETE}: one for each kind of
// object, and the last one is MPI-1's.
constexpr const char* kFamilies[kConstantFamilies] = {
#define ATTRCACHE_KIND(kind, word, Comm, comm, ...) #comm "_",
#include "mpi/native/kinds.def"
    "",
};
constexpr const char* kConstants[] = {"null_copy_fn", "dup_fn", "null_delete_fn"};
// The names in mpif.h and `use mpi`, and in the module of mpi_f08, as gfortran makes them.
constexpr const char* kForms[] = {"mpi_%s%s_", "__mpi_f08_callbacks_MOD_mpi_%s%s"};

struct Fortran {
  Fortran() {
    auto* family = families;
    for (const char* form : kForms) {
      for (const char* kind : kFamilies) {
        for (int i = 0; i < 3; ++i) {
          char name[80];
          std::snprintf(name, sizeof name, form, kind, kConstants[i]);
          (*family)[i] = reinterpret_cast<attrcache_callback*>(find_symbol(name));
        }
        ++family;
      }
    }
  }
  attrcache_callback* families[2 * kConstantFamilies][3];
};

}  // namespace

Callbacks recognize_fortran(attrcache_callback* copy_fn, attrcache_callback* delete_fn) {
  static const Fortran known;
  Callbacks c = {copy_fn, delete_fn};
  for (const auto& family : known.families) recognize(family, c);
  return c;
}

}  // namespace attrcache::mpi
