// SPDX-License-Identifier: Apache-2.0

#include "keyval/registry.h"

#include "platform/memory.h"

namespace attrcache {

using namespace entry_word;

static_assert(Registry::kCapacity <= 1u << 17, "an index has 17 bits");

Registry::Registry(unsigned kind, const attrcache_kind_options& options, unsigned stripes,
                   Epoch& epoch)
    : kind_(kind), stripe_mask_(stripes - 1), options_(options), epoch_(epoch) {}

Registry::~Registry() {
  for (unsigned c = kFirstChunk; c < kChunks; ++c) {
    const uintptr_t chunk = chunks_[c].load(kRelaxed);
    if (chunk != 0) release(entry_at(chunk, first_index(c) << id::kIndexShift));
  }
}

void Registry::drop_closed(uint32_t keyval) {
  const uint32_t offset = id::offset(keyval);
  if (references(offset).drop_closed()) end(at(offset));
}

bool Registry::ensure_chunk(size_t c) {
  if (chunks_[c].load(kAcquire) != 0) return true;  // as K5
  const size_t first = first_index(c);
  uintptr_t counters = counters_[c].load(kAcquire);  // as K5
  if (counters == 0) {
    void* memory = allocate_zeroed(
        length(c) * (sizeof(Entry) + (stripe_mask_ + 1) * sizeof(References::Counter)));
    if (memory == nullptr) return false;
    const uintptr_t made = reinterpret_cast<uintptr_t>(memory) + length(c) * sizeof(Entry) -
                           first * sizeof(References::Counter);
    // (K6) release: the zeroes are seen through K5.
    if (counters_[c].compare_exchange_strong(counters, made, kAcqRel, kAcquire)) {
      counters = made;
    } else {
      release(memory);
    }
  }
  // After its counters, so that whoever finds the chunk finds them; by whoever comes, the same.
  chunks_[c].store(
      counters + first * sizeof(References::Counter) - (length(c) + first) * sizeof(Entry),
      kRelease);  // as K6
  return true;
}

// Where none has rested long enough.
int Registry::take_new_index(uint32_t* index) {
  uint32_t next = fresh_.load(kRelaxed);
  while (next < kCapacity) {
    if (!ensure_chunk(chunk_of(next << id::kIndexShift))) return ATTRCACHE_ERR_MEMORY;
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
  uint32_t index = free_.pop(kRest, link());
  if (index == IndexQueue::kNone) [[unlikely]] {
    if (const int error = take_new_index(&index); error != ATTRCACHE_OK) return error;
  }

  // Relaxed: index and entry are ours alone, from pop's Q6 or K7 until K2.
  const uint32_t offset = index << id::kIndexShift;
  Entry& entry = at(offset);
  Record& record = entry.record;
  record.registry = this;
  record.index = index;
  record.hooks = {callbacks, options_.handle, options_.fortran_handle};
  const uint64_t old = entry.word.load(kRelaxed);
  const unsigned generation =
      (old & kUsed) != 0 ? (((old & kGeneration) >> kGenerationShift) + 1) % id::kGenerations : 0;
  const uint32_t made = id::make(kind_, generation, index);
  uint64_t word = made | uint64_t{generation} << kGenerationShift | kUsed | (old & kWrapped);
  if ((old & kUsed) != 0 && generation == 0) word |= kWrapped;
  uint32_t name = made & stripe::kKeyval;
  if (!record.hooks.copies()) word |= kCopiesNot, name |= stripe::kCopiesNot;
  if (record.hooks.duplicates()) word |= kDuplicates, name |= stripe::kDuplicates;
  if (predefined_tag != kNotPredefined) {
    word |= static_cast<uint64_t>(predefined_tag) << kTagShift;
    name +=
        stripe::kClosing;  // users may not set it: what needs an open stripe leaves them to check
  } else {
    word |= kOrdinary;
    if (!record.hooks.deletes()) word |= kQuick, name |= stripe::kQuick;
  }
  references(offset).reset(name);
  entry.word.store(word, kRelease);  // (K2) pairs with K1: the record is seen, and the references
  created_.fetch_add(1, kRelaxed);
  *keyval = static_cast<int>(made);
  return ATTRCACHE_OK;
}

int Registry::free(int* variable) {
  const auto keyval = static_cast<uint32_t>(*variable);
  uint64_t word = look_up(keyval);
  if (word == 0) return why_not(keyval);
  if ((word & kOrdinary) == 0) return ATTRCACHE_ERR_KEYVAL_PREDEFINED;
  *variable = ATTRCACHE_KEYVAL_INVALID;  // now: the destructor may be what frees the variable
  const uint32_t offset = id::offset(keyval);
  Entry& entry = at(offset);
  do {
    // Freed, and still in use; or gone just now: then some other free of it came first, as here.
    if (static_cast<uint32_t>(word) != keyval || (word & kFreed) != 0) return ATTRCACHE_OK;
    // Release: as K2. Whoever sets the bit closes the references, nobody else.
  } while (!entry.word.compare_exchange_weak(word, word | kFreed, kAcqRel, kAcquire));
  freed_.fetch_add(1, kRelaxed);
  if (references(offset).close()) end(entry);
  return ATTRCACHE_OK;
}

void Registry::free_unused() {
  const uint32_t end = fresh_.load(kAcquire);
  for (uint32_t index = 0; index < end; ++index) {
    const uint32_t offset = index << id::kIndexShift;
    const uint64_t word = at(offset).word.load(kAcquire);
    auto keyval = static_cast<int>(word & kKeyval);
    if ((word & id::kMarker) != 0 && references(offset).count() == 0) free(&keyval);
  }
}

void Registry::end(Entry& entry) {
  Record& record = entry.record;
  // (K8) From here on the keyval is stale. Release: whoever sees that, sees all its attributes
  // deleted. Nobody else writes a freed keyval's word.
  entry.word.store(
      (entry.word.load(kRelaxed) & (kGeneration | kUsed | kWrapped)) | no_keyval(record.index),
      kRelease);
  gone_.fetch_add(1, kRelaxed);
  run_destructor(record.hooks);
  record.reclaim = &Registry::reclaim;
  epoch_.retire(&record);
}

void Registry::reclaim(Retired* retired) {
  auto* record = static_cast<Record*>(retired);
  Registry* registry = record->registry;
  registry->free_.push(record->index, registry->link());
}

int Registry::check(uint32_t keyval) const {
  if (keyval == ATTRCACHE_KEYVAL_INVALID) return ATTRCACHE_ERR_KEYVAL_INVALID;
  if (!id::well_formed(keyval)) return ATTRCACHE_ERR_KEYVAL_UNKNOWN;
  if (id::kind(keyval) != kind_) return ATTRCACHE_ERR_KEYVAL_KIND;
  const Entry* entry = find(id::offset(keyval));
  if (entry == nullptr) return ATTRCACHE_ERR_KEYVAL_UNKNOWN;
  const uint64_t word = entry->word.load(kAcquire);  // as K1
  if (static_cast<uint32_t>(word) == keyval) return ATTRCACHE_OK;
  const bool handed_out =
      (word & kWrapped) != 0 ||
      ((word & kUsed) != 0 && id::generation(keyval) <= (word & kGeneration) >> kGenerationShift);
  return handed_out ? ATTRCACHE_ERR_KEYVAL_STALE : ATTRCACHE_ERR_KEYVAL_UNKNOWN;
}

}  // namespace attrcache
