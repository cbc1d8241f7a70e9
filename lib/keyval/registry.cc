// SPDX-License-Identifier: Apache-2.0

#include "keyval/registry.h"

#include "platform/memory.h"

namespace attrcache {

using namespace entry_word;

static_assert(Registry::kCapacity <= 1u << 17, "an index has 17 bits");

Registry::Registry(unsigned kind, const attrcache_kind_options& options, unsigned stripes,
                   Epoch& epoch)
    : kind_(kind), stripes_(stripes), options_(options), epoch_(epoch) {}

Registry::~Registry() {
  for (uint32_t index = 0; index < fresh_.load(kRelaxed); ++index) {
    Entry& entry = *find(index);
    if ((entry.word.load(kRelaxed) & id::kMarker) != 0) destroy(entry.record.load(kRelaxed));
  }
  for (unsigned c = kFirstChunk; c < kChunks; ++c) {
    const uintptr_t chunk = chunks_[c].load(kRelaxed);
    const uint32_t first = (1u << c) - kBias;
    if (chunk != 0) release(entry_at(chunk, first));
  }
}

void Registry::drop_closed(uint32_t keyval) {
  const uint32_t index = id::index(keyval);
  if (references(index).drop_closed()) end(*find(index));
}

bool Registry::ensure_chunk(unsigned c) {
  if (chunks_[c].load(kAcquire) != 0) return true;  // as K5
  const size_t length = size_t{1} << c;
  // Zero bytes are unused entries.
  void* memory = allocate_zeroed(length * (sizeof(Entry) + stripes_ * sizeof(References::Counter)));
  if (memory == nullptr) return false;
  uintptr_t expected = 0;
  const uintptr_t chunk = reinterpret_cast<uintptr_t>(memory) - below(length) * sizeof(Entry);
  // (K6) release: the zeroes are seen through K5.
  if (!chunks_[c].compare_exchange_strong(expected, chunk, kAcqRel, kAcquire)) release(memory);
  return true;
}

int Registry::take_index(uint32_t* index) {
  *index = free_.pop(kRest, link());
  if (*index != IndexQueue::kNone) return ATTRCACHE_OK;
  uint32_t next = fresh_.load(kRelaxed);
  while (next < kCapacity) {
    if (!ensure_chunk(chunk_of(next))) return ATTRCACHE_ERR_MEMORY;
    // (K7) release: whoever sees the new bound finds the chunk.
    if (fresh_.compare_exchange_weak(next, next + 1, kAcqRel, kRelaxed)) {
      *index = next;
      return ATTRCACHE_OK;
    }
  }
  *index = free_.pop(0, link());
  return *index != IndexQueue::kNone ? ATTRCACHE_OK : ATTRCACHE_ERR_KEYVALS_EXHAUSTED;
}

int Registry::create(const attrcache_callbacks& callbacks, int predefined_tag, int* keyval) {
  Record* record = make<Record>();
  if (record == nullptr) return ATTRCACHE_ERR_MEMORY;
  uint32_t index;
  if (const int error = take_index(&index); error != ATTRCACHE_OK) {
    destroy(record);
    return error;
  }
  record->registry = this;
  record->index = index;
  record->hooks = {callbacks, options_.handle, options_.fortran_handle};

  Entry& entry = *find(index);
  // Relaxed: index and entry are ours alone, from pop's Q6 or K7 until K2.
  const uint64_t old = entry.word.load(kRelaxed);
  const unsigned generation =
      (old & kUsed) != 0 ? (((old & kGeneration) >> kGenerationShift) + 1) % id::kGenerations : 0;
  const uint32_t made = id::make(kind_, generation, index);
  uint64_t word = made | uint64_t{generation} << kGenerationShift | kUsed | (old & kWrapped);
  if ((old & kUsed) != 0 && generation == 0) word |= kWrapped;
  if (!record->hooks.copies()) word |= kCopiesNot;
  if (record->hooks.duplicates()) word |= kDuplicates;
  if (predefined_tag != kNotPredefined) {
    word |= static_cast<uint64_t>(predefined_tag) << kTagShift;
  } else {
    word |= record->hooks.deletes() ? kOrdinary : kOrdinary | kQuick;
  }
  entry.record.store(record, kRelease);  // (K4) pairs with K3
  references(index).reset(generation);
  entry.word.store(word, kRelease);  // (K2) pairs with K1
  created_.fetch_add(1, kRelaxed);
  *keyval = static_cast<int>(made);
  return ATTRCACHE_OK;
}

int Registry::free(int* variable) {
  const auto keyval = static_cast<uint32_t>(*variable);
  uint64_t word = look_up(keyval);
  if (word == 0) {
    const int error = check(keyval);
    return error != ATTRCACHE_OK ? error : ATTRCACHE_ERR_KEYVAL_STALE;
  }
  if ((word & kOrdinary) == 0) return ATTRCACHE_ERR_KEYVAL_PREDEFINED;
  *variable = ATTRCACHE_KEYVAL_INVALID;  // now: the destructor may be what frees the variable
  const uint32_t index = id::index(keyval);
  Entry& entry = *find(index);
  do {
    // Freed, and still in use; or gone just now: then some other free of it came first, as here.
    if (static_cast<uint32_t>(word) != keyval || (word & kFreed) != 0) return ATTRCACHE_OK;
    // Release: as K2. Whoever sets the bit closes the references, nobody else.
  } while (!entry.word.compare_exchange_weak(word, word | kFreed, kAcqRel, kAcquire));
  freed_.fetch_add(1, kRelaxed);
  if (references(index).close()) end(entry);
  return ATTRCACHE_OK;
}

void Registry::free_unused() {
  const uint32_t end = fresh_.load(kAcquire);
  for (uint32_t index = 0; index < end; ++index) {
    const uint64_t word = find(index)->word.load(kAcquire);
    auto keyval = static_cast<int>(word & kKeyval);
    if ((word & id::kMarker) != 0 && references(index).count() == 0) free(&keyval);
  }
}

void Registry::end(Entry& entry) {
  Record* record = entry.record.load(kAcquire);  // as K3
  // (K8) From here on the keyval is stale. Release: whoever sees that, sees all its attributes
  // deleted. Nobody else writes a freed keyval's word.
  entry.word.store((entry.word.load(kRelaxed) & (kGeneration | kUsed | kWrapped)) |
                       no_keyval(record->index),
                   kRelease);
  gone_.fetch_add(1, kRelaxed);
  run_destructor(record->hooks);
  record->reclaim = &Registry::reclaim;
  epoch_.retire(record);
}

void Registry::reclaim(Retired* retired) {
  auto* record = static_cast<Record*>(retired);
  Registry* registry = record->registry;
  const uint32_t index = record->index;
  destroy(record);
  registry->free_.push(index, registry->link());
}

int Registry::check(uint32_t keyval) const {
  if (keyval == ATTRCACHE_KEYVAL_INVALID) return ATTRCACHE_ERR_KEYVAL_INVALID;
  if (!id::well_formed(keyval)) return ATTRCACHE_ERR_KEYVAL_UNKNOWN;
  if (id::kind(keyval) != kind_) return ATTRCACHE_ERR_KEYVAL_KIND;
  const Entry* entry = find(id::index(keyval));
  if (entry == nullptr) return ATTRCACHE_ERR_KEYVAL_UNKNOWN;
  const uint64_t word = entry->word.load(kAcquire);  // as K1
  if (static_cast<uint32_t>(word) == keyval) return ATTRCACHE_OK;
  const bool handed_out =
      (word & kWrapped) != 0 ||
      ((word & kUsed) != 0 && id::generation(keyval) <= (word & kGeneration) >> kGenerationShift);
  return handed_out ? ATTRCACHE_ERR_KEYVAL_STALE : ATTRCACHE_ERR_KEYVAL_UNKNOWN;
}

}  // namespace attrcache
