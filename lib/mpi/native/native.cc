// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/native/native.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>

#include "mpi/handover/channel.h"
#include "mpi/handover/folder.h"
#include "mpi/native/modules.h"

namespace attrcache::mpi {

constinit Atomic<const Native*> native_table{nullptr};
constinit Atomic<uint32_t> keyval_mask{0};

namespace {

// Notes the paths of the loaded libraries that are MPI's, one after another, each with its zero. A
// lock of the dynamic linker's is held meanwhile, which dlopen takes after another one; so no
// function of the linker's may be called here, and no memory be allocated.
int note_library(dl_phdr_info* info, size_t, void* argument) {
  auto& paths = *static_cast<std::string*>(argument);
  const size_t length = std::strlen(info->dlpi_name) + 1;
  if (is_named_like(info->dlpi_name, facts::kLibraryPrefixes) &&
      paths.capacity() - paths.size() >= length) {
    paths.append(info->dlpi_name, length);
  }
  return 0;
}

constexpr bool kConvertsHandles = facts::kFortran && facts::kHandleForm == ATTRCACHE_HANDLE_POINTER;

template <typename Kind>
void resolve_kind(Calls<Kind>& calls) {
  for_each_operation(calls, [](auto& function, int operation) {
    resolve(function, ("PMPI_" + operation_name(Kind::kNumber, operation)).c_str());
  });
  const std::string prefix = std::string("PMPI_") + kKindNames[Kind::kNumber].c;
  if (Kind::kHasErrorHandler) resolve(calls.call_errhandler, (prefix + "_call_errhandler").c_str());
  if (kConvertsHandles) resolve(calls.to_fortran, (prefix + "_c2f").c_str());
  if (kConvertsHandles) resolve(calls.from_fortran, (prefix + "_f2c").c_str());
}

void resolve_mpi1(Native& n) {
  n.mpi1 = n.comm;
  for_each_operation(n.mpi1, [](auto& function, int operation) {
    void* const symbol = find_symbol(("PMPI_" + operation_name(kMpi1Family, operation)).c_str());
    if (symbol != nullptr) function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol);
  });
}

static_assert(sizeof facts::kConstants / sizeof *facts::kConstants == kFamilies,
              "one row for each kind, and one for MPI-1");

void resolve_constants(Native& n) {
  for (int family = 0; family < kFamilies; ++family) {
    for (int i = 0; i < 3; ++i) {
      const char* name = facts::kConstants[family][i];
      if (name != nullptr) resolve(n.constants[family][i], name);
    }
    if (facts::kDupAddress != 0)
      n.constants[family][1] = reinterpret_cast<attrcache_callback*>(facts::kDupAddress);
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

std::string operation_name(int family, int operation) {
  constexpr const char* kNames[kOperations] = {"_create_keyval", "_free_keyval", "_set_attr",
                                               "_get_attr", "_delete_attr"};
  constexpr const char* kMpi1[kOperations] = {"Keyval_create", "Keyval_free", "Attr_put",
                                              "Attr_get", "Attr_delete"};
  if (family == kMpi1Family) return kMpi1[operation];
  return std::string(kKindNames[family].c) + kNames[operation];
}

std::string in_fortran(std::string name) {
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');  // in any locale
  }
  return name;
}

void* find_symbol(const char* name) {
  void* symbol = dlsym(RTLD_DEFAULT, name);
  return symbol != nullptr ? symbol : find_symbol_in_libraries(name);
}

void* find_symbol_in_libraries(const char* name) {
  std::string paths;
  paths.reserve(size_t{1} << 16);
  dl_iterate_phdr(note_library, &paths);
  for (size_t at = 0; at < paths.size(); at += std::strlen(&paths[at]) + 1) {
    // The library is loaded already. The handle only adds a reference, which keeps MPI from being
    // unloaded while attrcache uses it.
    void* library = dlopen(&paths[at], RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    if (void* found = dlsym(library, name)) return found;
    dlclose(library);
  }
  return nullptr;
}

void* find_behind(const char* name) {
  void* symbol = dlsym(RTLD_NEXT, name);
  if (symbol == nullptr) symbol = find_symbol_in_libraries(name);
  if (symbol == nullptr) die("the MPI library has no", name);
  return symbol;
}

const Native& find_native() {
  if (find_symbol(facts::kMark) == nullptr || speaks_standard_abi() != facts::kStandardAbi) {
    if (channel::exists()) {
      const std::string lines = "host " + host_name() + "\npid " + std::to_string(getpid()) +
                                "\ndeclined another MPI than the preloaded library is for, " +
                                facts::kName + "\n";
      channel::send("hello", lines.c_str(), nullptr, 0);
    }
    die("this process runs another MPI than the one that the preloaded library is for,",
        facts::kName);
  }
  auto* n = new Native{};  // never deleted: it lives as long as the process
#define ATTRCACHE_KIND(kind, word, Comm, comm, ...) resolve_kind<kind>(n->comm);
#include "mpi/native/kinds.def"
  resolve_mpi1(*n);
  resolve(n->initialized, "PMPI_Initialized");
  resolve(n->finalized, "PMPI_Finalized");
  resolve_constants(*n);
  facts::find_predefined(static_cast<Predefined&>(*n),
                         [](auto& handle, const char* name) { resolve(handle, name); });
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
