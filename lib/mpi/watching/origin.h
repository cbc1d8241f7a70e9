// SPDX-License-Identifier: Apache-2.0
//
// Whose code an address is: the library and the function that a person would name. For warnings and
// reports; slow (it may read the symbol table of a file) and allocates only to demangle.

#ifndef ATTRCACHE_MPI_WATCHING_ORIGIN_H_
#define ATTRCACHE_MPI_WATCHING_ORIGIN_H_

#include <cstddef>
#include <cstdint>

namespace attrcache::mpi {

struct Origin {
  char library[64];   // the file's name without its folders; "?" if no file has the address
  char function[96];  // as written in the source (C++: with arguments); empty if not known
  uintptr_t offset;   // into the function; where that isn't known, into the library
};

// Of a function's address, or of any code within one.
Origin origin_of_code(const void* code);

// Of a return address: of the call before it, so that a call that never comes back is not taken for
// the function after it. The offset is the return address's, as debuggers print it.
Origin origin_of_call(const void* return_address);

// "libfoo.so: bar+0x12", "libfoo.so: bar" at its beginning, or "libfoo.so+0x1234".
struct OriginText {
  char text[192];
};
OriginText to_text(const Origin& origin);

// Whether two addresses belong to the same loaded file; false if either belongs to none.
bool same_library(const void* a, const void* b);

// Whether the address is in one of MPI's own libraries, language bindings included.
bool in_mpi_library(const void* code);

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_WATCHING_ORIGIN_H_
