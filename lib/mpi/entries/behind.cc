// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/entries/behind.h"

#include <dlfcn.h>

#include "mpi/native/native.h"

namespace attrcache::mpi {

void* find_behind(const char* name) {
  void* symbol = dlsym(RTLD_NEXT, name);
  if (symbol == nullptr) symbol = find_symbol_in_libraries(name);
  if (symbol == nullptr) die("the MPI library has no", name);
  return symbol;
}

}  // namespace attrcache::mpi
