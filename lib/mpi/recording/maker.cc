// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/recording/maker.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "mpi/handover/kept.h"
#include "mpi/native/kinds.h"
#include "mpi/native/origin.h"
#include "mpi/native/python.h"
#include "platform/memory.h"

namespace attrcache::mpi::report {
namespace {

constexpr size_t kMost = 4096;

// The callbacks, and what names the maker.
using Key = std::tuple<int, attrcache_callback*, attrcache_callback*, Place>;

constinit std::mutex map_lock;
constinit Atomic<Maker*> head{nullptr};

// Never destroyed, because MPI may end after the program's static objects.
std::map<Key, Maker*>& makers() {
  static auto& map = *new std::map<Key, Maker*>;
  return map;
}

template <size_t kSize>
void name(char (&to)[kSize], Place place, char (&library)[64]) {
  const Origin origin = origin_of(place);
  if (!origin.function.empty()) {
    std::snprintf(to, kSize, "%s", origin.function.c_str());
  } else {
    std::snprintf(to, kSize, "+0x%" PRIxPTR, origin.offset);
  }
  std::snprintf(library, sizeof library, "%s", origin.library.c_str());
}

void name(Maker& m) {
  // Callbacks of a maker that is named by its caller are all the same extension module's.
  const auto place = [&m](attrcache_callback* function) {
    return m.by_caller() ? m.named_by : function_place(reinterpret_cast<const void*>(function));
  };
  if (m.copy_fn != nullptr) name(m.copy_name, place(m.copy_fn), m.library);
  if (m.delete_fn != nullptr) name(m.delete_name, place(m.delete_fn), m.library);
  if (m.by_caller()) name(m.caller_name, m.named_by, m.library);
}

}  // namespace

Maker* find_maker(int kind, const Source& source) {
  attrcache_callback* const copy_fn =
      source.copy_fn != ATTRCACHE_DUP_FN ? source.copy_fn : ATTRCACHE_NULL_COPY_FN;
  attrcache_callback* const function = source.delete_fn != nullptr ? source.delete_fn : copy_fn;
  Place named_by = function != nullptr ? function_place(reinterpret_cast<const void*>(function))
                                       : Place{source.caller, module_at(source.caller)};
  // Without the lock: Python may collect garbage here, and finalizers may make keyvals.
  const Module* const python = python_code(module_at(source.caller));
  if (python != nullptr) named_by = {python, python};
  Key key = {kind, copy_fn, source.delete_fn, named_by};
  const std::lock_guard held(map_lock);
  const bool full = makers().size() >= kMost && !makers().contains(key);
  if (full) key = {kind, nullptr, nullptr, {}};
  Maker*& known = makers()[key];
  if (known != nullptr) return known;
  void* const memory = kept::take(kept::What::kMaker, sizeof(Maker));
  known = memory != nullptr ? new (memory) Maker() : kProcessMemory.make<Maker>();
  if (known == nullptr) return nullptr;
  Maker& made = *known;
  std::tie(made.kind, made.copy_fn, made.delete_fn, made.named_by) = key;
  if (full) {
    std::snprintf(made.library, sizeof made.library, "(others)");
  } else {
    name(made);
    // Not the return address of the call, which language bindings of MPI's may be in.
    made.made_at = find_caller();
    if (memory != nullptr && made.made_at.address != nullptr) made.located = located(made.made_at);
  }
  made.next = head.load(kRelaxed);
  head.store(&made, kRelease);  // (MR1)
  return &made;
}

Maker* all_makers() { return head.load(kAcquire); }  // (MR1)

}  // namespace attrcache::mpi::report
