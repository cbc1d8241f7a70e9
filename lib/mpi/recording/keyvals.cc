// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/recording/keyvals.h"

#include "keyval/id.h"
#include "mpi/native/kinds.h"
#include "platform/memory.h"

namespace attrcache::mpi::report {
namespace {

// The record of an index. Later keyvals with the same index use it again.
struct Record {
  Atomic<int> keyval;
  Atomic<bool> freed;
  Maker* maker;
  Place made_at;
};

constexpr uint32_t kIndices = 1u << 17;
constinit Atomic<Record*> records[kAllKinds][kIndices];

Record* find_record(int kind, int keyval) {
  // (MR5) Both acquires pair with the releases in created().
  Record* record = records[kind][id::index(id::of(keyval))].load(kAcquire);
  return record != nullptr && record->keyval.load(kAcquire) == keyval ? record : nullptr;
}

}  // namespace

void created(int kind, int keyval, Maker* maker) {
  if (maker != nullptr) maker->counts.created.fetch_add(1, kRelaxed);
  Atomic<Record*>& entry = records[kind][id::index(id::of(keyval))];
  // Relaxed, because only the caller has this index now. Its last user has left it long ago.
  Record* record = entry.load(kRelaxed);
  if (record == nullptr) {
    record = kProcessMemory.make<Record>();
    if (record == nullptr) return;
  }
  record->maker = maker;
  record->made_at = find_caller();
  record->freed.store(false, kRelaxed);
  record->keyval.store(keyval, kRelease);  // (MR5)
  entry.store(record, kRelease);           // (MR5)
}

Maker* maker_of(int kind, int keyval) {
  Record* record = find_record(kind, keyval);
  return record != nullptr ? record->maker : nullptr;
}

Place made_at(int kind, int keyval) {
  Record* record = find_record(kind, keyval);
  return record != nullptr ? record->made_at : Place{};
}

void got(int kind, int keyval, bool found) {
  static constinit Atomic<unsigned> threads{0};  // relaxed: only spreads threads over the parts
  static thread_local const unsigned mine = threads.fetch_add(1, kRelaxed) % kReadParts;
  if (Maker* maker = maker_of(kind, keyval)) {
    Reads& reads = maker->counts.reads[mine];
    (found ? reads.found : reads.absent).fetch_add(1, kRelaxed);
  }
}

void for_each_never_freed(const std::function<void(const Maker&, Place)>& visit) {
  for (auto& of_kind : records) {
    for (const Atomic<Record*>& entry : of_kind) {
      const Record* record = entry.load(kAcquire);  // as in find_record()
      if (record == nullptr || record->keyval.load(kAcquire) == 0) continue;
      if (!record->freed.load(kRelaxed) && record->maker != nullptr)
        visit(*record->maker, record->made_at);
    }
  }
}

bool first_free(int kind, int keyval) {
  Record* record = find_record(kind, keyval);
  return record != nullptr && !record->freed.exchange(true, kRelaxed);
}

}  // namespace attrcache::mpi::report
