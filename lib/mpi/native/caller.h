// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Places in the program, and which of them a call came from, for warnings and reports.

#ifndef ATTRCACHE_MPI_NATIVE_CALLER_H_
#define ATTRCACHE_MPI_NATIVE_CALLER_H_

#include "mpi/native/origin.h"

namespace attrcache::mpi {

// A place in the program: the return address of a call, or a function. A null address: no place.
struct Place {
  const void* address = nullptr;
  bool is_call = true;
};
inline Place function_place(const void* function) { return {function, false}; }
inline Place call_place(const void* return_address) { return {return_address, true}; }

// Where the place is, by its library and function. Slow.
Origin origin_of(Place place);

// Returns the innermost caller outside of attrcache and MPI, with a null address if there is none.
// Slow.
Place find_caller();

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_NATIVE_CALLER_H_
