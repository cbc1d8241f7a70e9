// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The files that are, or were, mapped into the process, so that an address can be named by what was
// there when it was seen, whatever was unloaded since.

#ifndef ATTRCACHE_MPI_NATIVE_MODULES_H_
#define ATTRCACHE_MPI_NATIVE_MODULES_H_

#include <cstdint>
#include <cstring>
#include <string>

namespace attrcache::mpi {

// Never destroyed: places refer to it after the file was unloaded.
struct Module {
  uintptr_t begin;
  uintptr_t end;
  uintptr_t bias;  // what to take from an address to get that of the file's own tables
  char path[512];
  bool is_mpi;     // one of MPI's own libraries, language bindings included
  bool is_python;  // an extension module of Python's
};

// What is mapped there now; null if no file is. Quick unless a library was loaded or unloaded since
// the last call. Takes a lock. A library that was unloaded and loaded again at the same address is
// the same.
const Module* module_at(const void* address);

// The name of a file without its folder, and whether that begins in one of these ways.
inline const char* base_name(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}
template <typename Beginnings>
bool is_named_like(const char* path, const Beginnings& beginnings) {
  for (const char* begin : beginnings) {
    if (std::strncmp(base_name(path), begin, std::strlen(begin)) == 0) return true;
  }
  return false;
}

// What is no file, but has a name to be shown instead of one: the same for the same name. It ends
// at 0, as no file does.
const Module* module_named(const std::string& name);

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_NATIVE_MODULES_H_
