// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Maps an address to its library and function, as a person would name them, and finds out which
// place in the program a call came from, for warnings and reports. All of this is slow (it may read
// the symbol table of a file).

#ifndef ATTRCACHE_MPI_NATIVE_ORIGIN_H_
#define ATTRCACHE_MPI_NATIVE_ORIGIN_H_

#include <compare>
#include <cstdint>
#include <string>

#include "mpi/native/modules.h"

namespace attrcache::mpi {

// What a person would call a place in the program.
struct Origin {
  // "libfoo.so: bar+0x12", "libfoo.so: bar" at the function's beginning, or "libfoo.so+0x1234". If
  // something else is mapped there by now, it is the path of the library that was.
  std::string text;
  std::string library;    // the file's name without its folders; "?" if no file has the address
  std::string function;   // as written in the source (in C++ with arguments); empty if unknown
  std::string path;       // the file; empty if no file has the address
  uintptr_t offset = 0;   // in the function, or in the library if the function is unknown
  uintptr_t in_file = 0;  // the code's address as the file's own tables have it
};

// A place in the program: the return address of a call, or a function. A null address: no place.
struct Place {
  const void* address = nullptr;
  const Module* module = nullptr;  // what was mapped there when the place was noted
  bool is_call = true;
  auto operator<=>(const Place&) const = default;
};
inline Place function_place(const void* function) { return {function, module_at(function), false}; }
// Of a return address, the offset is its own, as debuggers print it.
Origin origin_of(Place place);

// The same as it is kept to outlive the process (handover/kept.h).
struct Located {
  char text[384];
  char path[512];
  uint64_t in_file;
};
Located located(Place place);

// Returns the innermost caller outside of attrcache and MPI, with a null address if there is none:
// in Python code, if that is known (python.h).
Place find_caller();

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_NATIVE_ORIGIN_H_
