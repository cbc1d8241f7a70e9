// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Maps an address to its library and function, as a person would name them, and finds out which
// place in the program a call came from, for warnings and reports. All of this is slow (it may read
// the symbol table of a file). It allocates memory only to demangle a name.

#ifndef ATTRCACHE_MPI_NATIVE_ORIGIN_H_
#define ATTRCACHE_MPI_NATIVE_ORIGIN_H_

#include <compare>
#include <cstddef>
#include <cstdint>

#include "mpi/native/modules.h"

namespace attrcache::mpi {

struct Origin {
  char library[64];    // the file's name without its folders; "?" if no file has the address
  char function[256];  // as written in the source (in C++ with arguments); empty if unknown
  uintptr_t offset;    // offset in the function, or in the library if the function is unknown
  char path[512];      // the file; empty if no file has the address
  uintptr_t in_file;   // the code's address as the file's own tables have it
};

// The origin of a function's address, or of any code within a function.
Origin origin_of_code(const void* code);

// The origin of a return address: that of the call before it, so that a call that never returns
// isn't taken for the next function. The offset is the return address's own, as debuggers print it.
Origin origin_of_call(const void* return_address);

// An origin as text: "libfoo.so: bar+0x12", "libfoo.so: bar" at the function's beginning, or
// "libfoo.so+0x1234".
struct OriginText {
  char text[384];
};
OriginText to_text(const Origin& origin);

// An origin as it is kept to outlive the process (handover/kept.h).
struct Located {
  char text[384];
  char path[512];
  uint64_t in_file;
};

// A place in the program: the return address of a call, or a function. A null address: no place.
struct Place {
  const void* address = nullptr;
  const Module* module = nullptr;  // what was mapped there when the place was noted
  bool is_call = true;
  auto operator<=>(const Place&) const = default;
};
inline Place function_place(const void* function) { return {function, module_at(function), false}; }
// As text. If something else is mapped there by now, it is the path of the library that was.
OriginText name_of(Place place, Origin* origin);

Located located(Place place);

// Returns the innermost caller outside of attrcache and MPI, with a null address if there is none:
// in Python code, if that is known (python.h).
Place find_caller();

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_NATIVE_ORIGIN_H_
