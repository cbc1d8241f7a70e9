// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/native/constants.h"

#include <cstddef>

#include "mpi/native/native.h"

namespace attrcache::mpi {
namespace {

using Callback = attrcache_callback;

// The callback constants come in families of three, {NULL_COPY, DUP, NULL_DELETE}: one for each
// kind of object, and the last one is MPI-1's. A name is null where there is no such function.
using Family = Callback* [3];

constexpr const char* kMpifh[kConstantFamilies][3] = {
#define ATTRCACHE_KIND(kind, word, Comm, comm, ...) \
  {"mpi_" #comm "_null_copy_fn_", "mpi_" #comm "_dup_fn_", "mpi_" #comm "_null_delete_fn_"},
#include "mpi/native/kinds.def"
    {"mpi_null_copy_fn_", "mpi_dup_fn_", "mpi_null_delete_fn_"},
};
#define ATTRCACHE_F08(name) "__mpi_f08_callbacks_MOD_mpi_" name
constexpr const char* kF08[kConstantFamilies][3] = {
#define ATTRCACHE_KIND(kind, word, Comm, comm, ...)                      \
  {ATTRCACHE_F08(#comm "_null_copy_fn"), ATTRCACHE_F08(#comm "_dup_fn"), \
   ATTRCACHE_F08(#comm "_null_delete_fn")},
#include "mpi/native/kinds.def"
    {nullptr, nullptr, nullptr},
};

struct Names {
  explicit Names(const char* const (&names)[kConstantFamilies][3]) {
    for (int f = 0; f < kConstantFamilies; ++f) {
      for (int i = 0; i < 3; ++i) {
        const char* name = names[f][i];
        void* symbol = name != nullptr ? find_symbol(name) : nullptr;
        functions[f][i] = reinterpret_cast<Callback*>(symbol);
      }
    }
  }

  Family functions[kConstantFamilies];
};

}  // namespace

Callbacks recognize_fortran(Callback* copy_fn, Callback* delete_fn) {
  static const Names mpifh(kMpifh);
  static const Names f08(kF08);
  Callbacks c = {copy_fn, delete_fn};
  for (int f = 0; f < kConstantFamilies; ++f) {
    recognize(mpifh.functions[f], c);
    recognize(f08.functions[f], c);
  }
  return c;
}

}  // namespace attrcache::mpi
