// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/native/modules.h"

#include <link.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <string>
#include <tuple>

namespace attrcache::mpi {
namespace {

struct State {
  std::mutex lock;  // of what follows
  unsigned long long loaded = 0;
  unsigned long long unloaded = 0;
  std::map<std::tuple<uintptr_t, uintptr_t, std::string>, Module*> seen;
  std::map<uintptr_t, const Module*> present;  // by their ends
  bool anew = false;                           // `present` is being filled
};
// Never destroyed, because MPI may end after the program's static objects.
State& state() {
  static auto& made = *new State;
  return made;
}

bool is_mpi_library(const char* path) {
  constexpr const char* kBeginnings[] = {"libmpi", "libopen-", "libopen_mpi", "mca_"};
  return is_named_like(path, kBeginnings);
}

// As CPython names extension modules: "MPI.cpython-311-x86_64-linux-gnu.so", "MPI.abi3.so".
bool is_python_module(const std::string& path) {
  return path.find(".cpython-") != std::string::npos || path.find(".abi3.so") != std::string::npos;
}

// The program itself has no name in the list, so the system is asked.
std::string path_of(const dl_phdr_info& info, bool first) {
  if (!first) return info.dlpi_name;
  char program[512];
  const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
  return std::string(program, n > 0 ? static_cast<size_t>(n) : 0);
}

// Of dl_iterate_phdr: the first call finds out whether anything has changed, and ends it if not.
int look(dl_phdr_info* info, size_t, void*) {
  State& s = state();
  const bool first = !s.anew;
  if (first) {
    if (s.loaded == info->dlpi_adds && s.unloaded == info->dlpi_subs) return 1;
    s.loaded = info->dlpi_adds;
    s.unloaded = info->dlpi_subs;
    s.present.clear();
    s.anew = true;
  }
  uintptr_t begin = UINTPTR_MAX;
  uintptr_t end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    if (part.p_vaddr < begin) begin = part.p_vaddr;
    if (part.p_vaddr + part.p_memsz > end) end = part.p_vaddr + part.p_memsz;
  }
  if (end == 0) return 0;
  std::string path = path_of(*info, first);
  Module*& known = s.seen[{info->dlpi_addr, end, path}];
  if (known == nullptr) {
    known = new Module{info->dlpi_addr + begin,      info->dlpi_addr + end, info->dlpi_addr, "",
                       is_mpi_library(path.c_str()), is_python_module(path)};
    path.copy(known->path, sizeof known->path - 1);
  }
  s.present[known->end] = known;
  return 0;
}

}  // namespace

const Module* module_at(const void* address) {
  State& s = state();
  const std::lock_guard held(s.lock);
  s.anew = false;
  dl_iterate_phdr(look, nullptr);
  const auto at = reinterpret_cast<uintptr_t>(address);
  const auto found = s.present.upper_bound(at);
  return found != s.present.end() && found->second->begin <= at ? found->second : nullptr;
}

const Module* module_named(const std::string& name) {
  State& s = state();
  const std::lock_guard held(s.lock);
  Module*& known = s.seen[{0, 0, name}];
  if (known == nullptr) {
    known = new Module{};
    name.copy(known->path, sizeof known->path - 1);
  }
  return known;
}

}  // namespace attrcache::mpi
