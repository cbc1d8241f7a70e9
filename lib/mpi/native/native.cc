// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/native/native.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace attrcache::mpi {

constinit Atomic<const Native*> native_table{nullptr};

namespace {

struct Search {
  const char* name;
  void* found;
};

// Looks for a symbol in one loaded library, if that library is one of MPI's.
int search_library(dl_phdr_info* info, size_t, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  const char* slash = std::strrchr(info->dlpi_name, '/');
  const char* base = slash != nullptr ? slash + 1 : info->dlpi_name;
  for (const char* prefix : facts::kLibraryPrefixes) {
    if (std::strncmp(base, prefix, std::strlen(prefix)) != 0) continue;
    // The library is loaded already. The handle only adds a reference, which keeps MPI from being
    // unloaded while attrcache uses it.
    void* library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    search.found = dlsym(library, search.name);
    if (search.found != nullptr) return 1;
    dlclose(library);
  }
  return 0;
}

#define ATTRCACHE_RESOLVE_KIND(calls, Name)                       \
  resolve((calls).create_keyval, "PMPI_" #Name "_create_keyval"); \
  resolve((calls).free_keyval, "PMPI_" #Name "_free_keyval");     \
  resolve((calls).set_attr, "PMPI_" #Name "_set_attr");           \
  resolve((calls).get_attr, "PMPI_" #Name "_get_attr");           \
  resolve((calls).delete_attr, "PMPI_" #Name "_delete_attr")

template <typename T>
void resolve_or(T& target, const char* name, T otherwise) {
  void* symbol = find_symbol(name);
  target = symbol != nullptr ? reinterpret_cast<T>(symbol) : otherwise;
}

void resolve_mpi1(Native& n) {
  resolve_or(n.keyval_create, "PMPI_Keyval_create", n.comm.create_keyval);
  resolve_or(n.keyval_free, "PMPI_Keyval_free", n.comm.free_keyval);
  resolve_or(n.attr_put, "PMPI_Attr_put", n.comm.set_attr);
  resolve_or(n.attr_get, "PMPI_Attr_get", n.comm.get_attr);
  resolve_or(n.attr_delete, "PMPI_Attr_delete", n.comm.delete_attr);
}

void resolve_fortran_handles(Native& n) {
  resolve(n.comm.to_fortran, "PMPI_Comm_c2f");
  resolve(n.comm.from_fortran, "PMPI_Comm_f2c");
  resolve(n.type.to_fortran, "PMPI_Type_c2f");
  resolve(n.type.from_fortran, "PMPI_Type_f2c");
  resolve(n.win.to_fortran, "PMPI_Win_c2f");
  resolve(n.win.from_fortran, "PMPI_Win_f2c");
}

static_assert(sizeof facts::kConstants / sizeof *facts::kConstants == kConstantFamilies,
              "one row for each kind, and one for MPI-1");

void resolve_constants(Native& n) {
  for (int family = 0; family < kConstantFamilies; ++family) {
    for (int i = 0; i < 3; ++i) {
      const char* name = facts::kConstants[family][i];
      if (name != nullptr) resolve(n.constants[family][i], name);
    }
    if (facts::kDupAddress != 0) {
      n.constants[family][1] = reinterpret_cast<attrcache_callback*>(facts::kDupAddress);
    }
  }
}

// Whether the MPI speaks the standard ABI. One that was built for its own interface has the
// function, too, but gives no version.
bool speaks_standard_abi() {
  using GetVersion = int(int*, int*);
  auto* const get = reinterpret_cast<GetVersion*>(find_symbol("PMPI_Abi_get_version"));
  int version = -1;
  int subversion = -1;
  return get != nullptr && get(&version, &subversion) == MPI_SUCCESS && version >= 0;
}

const Behaviour& ask_behaviour() {
  int (*get)(char*, int*);
  resolve(get, "PMPI_Get_library_version");
  char version[8192] = "";  // no MPI's MPI_MAX_LIBRARY_VERSION_STRING is larger
  int length = 0;
  if (get(version, &length) != MPI_SUCCESS) version[0] = '\0';
  return find_behaviour(version);
}

}  // namespace

void die(const char* what, const char* detail) {
  std::fprintf(stderr, "attrcache: %s %s\n", what, detail);
  std::abort();
}

void* find_symbol(const char* name) {
  void* symbol = dlsym(RTLD_DEFAULT, name);
  return symbol != nullptr ? symbol : find_symbol_in_libraries(name);
}

void* find_symbol_in_libraries(const char* name) {
  Search search = {name, nullptr};
  dl_iterate_phdr(search_library, &search);
  return search.found;
}

const Native& find_native() {
  if (find_symbol(facts::kMark) == nullptr || speaks_standard_abi() != facts::kStandardAbi) {
    die("this process runs another MPI than the one that the preloaded library is for,",
        facts::kName);
  }
  auto* n = new Native{};  // never deleted: it lives as long as the process
  ATTRCACHE_RESOLVE_KIND(n->comm, Comm);
  ATTRCACHE_RESOLVE_KIND(n->type, Type);
  ATTRCACHE_RESOLVE_KIND(n->win, Win);
  resolve_mpi1(*n);
  resolve(n->initialized, "PMPI_Initialized");
  resolve(n->finalized, "PMPI_Finalized");
  resolve(n->comm_call_errhandler, "PMPI_Comm_call_errhandler");
  resolve(n->win_call_errhandler, "PMPI_Win_call_errhandler");
  resolve_constants(*n);
  facts::find_predefined(static_cast<Predefined&>(*n),
                         [](auto& handle, const char* name) { resolve(handle, name); });
  if (facts::kFortran && facts::kHandleForm == ATTRCACHE_HANDLE_POINTER) {
    resolve_fortran_handles(*n);
  }
  n->behaviour = &ask_behaviour();
  const Native* expected = nullptr;
  // (MN1) The release publishes the table. On failure another thread's table is used instead, which
  // the acquire makes visible.
  if (!native_table.compare_exchange_strong(expected, n, kAcqRel, kAcquire)) {
    delete n;
    return *expected;
  }
  return *n;
}

bool initialized() {
  int yes = 0;
  return native().initialized(&yes) == MPI_SUCCESS && yes != 0;
}

bool finalized() {
  int yes = 0;
  return native().finalized(&yes) == MPI_SUCCESS && yes != 0;
}

}  // namespace attrcache::mpi
