// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/recording/maker.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "mpi/handover/kept.h"
#include "mpi/native/caller.h"
#include "mpi/native/kinds.h"
#include "mpi/native/origin.h"
#include "platform/memory.h"

namespace attrcache::mpi::report {
namespace {

constexpr unsigned kBuckets = 256;
constexpr unsigned kMost = 4096;

// Guards the making of new makers. Those that exist are found without it.
constinit std::mutex lock;
constinit unsigned count = 0;
constinit Atomic<Maker*> buckets[kBuckets + 1];  // the last bucket is for those beyond kMost
constinit Atomic<Maker*> head{nullptr};

struct Key {
  int kind;
  attrcache_callback* copy_fn;
  attrcache_callback* delete_fn;
  const void* caller;
};

unsigned bucket_of(const Key& k) {
  const uint64_t mixed = reinterpret_cast<uint64_t>(k.copy_fn) * 3 +
                         reinterpret_cast<uint64_t>(k.delete_fn) * 5 +
                         reinterpret_cast<uint64_t>(k.caller) + static_cast<unsigned>(k.kind);
  return static_cast<unsigned>(mixed * 0x9e3779b97f4a7c15 >> 56);
}

Maker* find(unsigned bucket, const Key& k) {
  // (MR1) The acquire pairs with the release of MR2, which publishes a maker.
  for (Maker* m = buckets[bucket].load(kAcquire); m != nullptr; m = m->in_bucket) {
    if (m->kind == k.kind && m->copy_fn == k.copy_fn && m->delete_fn == k.delete_fn &&
        m->caller == k.caller) {
      return m;
    }
  }
  return nullptr;
}

template <size_t kSize>
void name(char (&to)[kSize], const Origin& origin, char (&library)[64]) {
  if (origin.function[0] != '\0') {
    std::snprintf(to, kSize, "%s", origin.function);
  } else {
    std::snprintf(to, kSize, "+0x%" PRIxPTR, origin.offset);
  }
  std::snprintf(library, sizeof library, "%s", origin.library);
}

void name(Maker& m) {
  const auto code = [](attrcache_callback* function) {
    return origin_of_code(reinterpret_cast<const void*>(function));
  };
  if (m.copy_fn != nullptr) name(m.copy_name, code(m.copy_fn), m.library);
  if (m.delete_fn != nullptr) name(m.delete_name, code(m.delete_fn), m.library);
  if (m.caller != nullptr) name(m.caller_name, origin_of_call(m.caller), m.library);
}

}  // namespace

Maker* find_maker(int kind, const Source& source) {
  Key key = {kind, source.copy_fn != ATTRCACHE_DUP_FN ? source.copy_fn : ATTRCACHE_NULL_COPY_FN,
             source.delete_fn, nullptr};
  if (key.copy_fn == nullptr && key.delete_fn == nullptr) key.caller = source.caller;
  unsigned bucket = bucket_of(key);
  if (Maker* known = find(bucket, key)) return known;

  const std::lock_guard held(lock);
  const bool full = count >= kMost;
  if (full) {
    key = {kind, nullptr, nullptr, nullptr};
    bucket = kBuckets;
  }
  if (Maker* known = find(bucket, key)) return known;
  void* const memory = kept::take(kept::What::kMaker, sizeof(Maker));
  auto* const maker = memory != nullptr ? new (memory) Maker() : kProcessMemory.make<Maker>();
  if (maker == nullptr) return nullptr;
  Maker& made = *maker;
  made.kind = kind;
  made.copy_fn = key.copy_fn;
  made.delete_fn = key.delete_fn;
  made.caller = key.caller;
  if (full) {
    std::snprintf(made.library, sizeof made.library, "(others)");
  } else {
    name(made);
    // Not the return address of the call, which language bindings of MPI's may be in.
    made.made_at = find_caller();
    if (memory != nullptr && made.made_at.address != nullptr)
      made.located = located(origin_of(made.made_at));
  }
  ++count;
  made.in_bucket = buckets[bucket].load(kRelaxed);
  made.next = head.load(kRelaxed);
  buckets[bucket].store(&made, kRelease);  // (MR2)
  head.store(&made, kRelease);             // as MR2
  return &made;
}

Maker* all_makers() { return head.load(kAcquire); }  // as MR1

}  // namespace attrcache::mpi::report
