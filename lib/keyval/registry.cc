// SPDX-License-Identifier: Apache-2.0

#include "keyval/registry.h"

#include "platform/memory.h"

namespace attrcache {

using namespace entry_word;

static_assert(Registry::kCapacity <= 1u << 17, "an index has 17 bits");

Registry::Registry(unsigned kind, const attrcache_kind_options& options, unsigned stripes,
                   Epoch& epoch, const Threads& threads)
    : first_keyval_(id::make(kind, 0, 0)),
      stripe_mask_(stripes - 1),
      options_(options),
      epoch_(epoch),
      threads_(threads),
      lingering_(threads.hooked() ? 1 : 0) {}

Registry::~Registry() {
  for (unsigned c = kFirstChunk; c < kChunks; ++c) {
    const uintptr_t chunk = chunks_[c].load(kRelaxed);
    if (chunk != 0) release(entry_at(chunk, first_index(c) << id::kIndexShift));
  }
}

[[gnu::always_inline]] inline void Registry::end(Entry& entry) {
  Record& record = entry.record;
  // (K8) From here on the keyval is stale. Release: whoever sees that, sees all its attributes
  // deleted. Nobody else writes a freed keyval's word.
  const uint64_t generations = entry.word.load(kRelaxed) >> kGenerationsShift;
  entry.word.store(generations << kGenerationsShift | no_keyval(record.offset), kRelease);
  if (record.hooks.callbacks.destructor != nullptr) run_destructor(record.hooks);
  epoch_.retire(&record);
}

void Registry::drop_closed(uint32_t keyval) {
  const uint32_t offset = id::offset(keyval);
  if (references(offset).drop_closed()) end_lingering(at(offset));
}

bool Registry::ensure_chunk(size_t c) {
  if (chunks_[c].load(kAcquire) != 0) return true;  // as K5
  const size_t first = first_index(c);
  uintptr_t counters = counters_[c].load(kAcquire);  // as K5
  if (counters == 0) {
    void* memory = allocate_zeroed(
        length(c) * (sizeof(Entry) + (stripe_mask_ + 1) * sizeof(References::Counter)));
    if (memory == nullptr) return false;
    for (uint32_t i = 0; i < length(c); ++i) {
      Record& record = static_cast<Entry*>(memory)[i].record;
      record.reclaim = &Registry::reclaim;
      record.registry = this;
      record.offset = static_cast<uint32_t>(first + i) << id::kIndexShift;
      record.hooks.handle = options_.handle;
      record.hooks.fortran_handle = options_.fortran_handle;
    }
    const uintptr_t made = reinterpret_cast<uintptr_t>(memory) + length(c) * sizeof(Entry) -
                           first * sizeof(References::Counter);
    // (K6) release: the contents are seen through K5.
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

// Where none has rested long enough. The node of an index, or kNone.
uint32_t Registry::take_new_index(int* error) {
  uint32_t next = fresh_.load(kRelaxed);
  while (next < kCapacity) {
    if (!ensure_chunk(chunk_of(next << id::kIndexShift))) {
      *error = ATTRCACHE_ERR_MEMORY;
      return IndexQueue::kNone;
    }
    // (K7) release: whoever sees the new bound finds the chunk.
    if (fresh_.compare_exchange_weak(next, next + 1, kAcqRel, kRelaxed)) {
      return node_of(next << id::kIndexShift);
    }
  }
  *error = ATTRCACHE_ERR_KEYVALS_EXHAUSTED;
  return free_.pop(0, link());
}

int Registry::create(const attrcache_callbacks& callbacks, int* keyval,
                     int predefined_tag) noexcept {
  uint32_t node = free_.pop(kRest, link());
  if (node == IndexQueue::kNone) [[unlikely]] {
    int error;
    node = take_new_index(&error);
    if (node == IndexQueue::kNone) return error;
  }

  // Relaxed: index and entry are ours alone, from pop's Q6 or K7 until K2.
  const uint32_t offset = offset_of(node);
  Entry& entry = at(offset);
  entry.record.hooks.callbacks = callbacks;
  const auto generations =
      static_cast<uint32_t>(entry.word.load(kRelaxed) >> entry_word::kGenerationsShift);
  const uint32_t made =
      first_keyval_ | generations % id::kGenerations << id::kGenerationShift | offset;
  uint32_t flags = 0;
  if (callbacks.copy_fn == ATTRCACHE_NULL_COPY_FN) flags = stripe::kCopiesNot;
  if (callbacks.copy_fn == ATTRCACHE_DUP_FN) flags = stripe::kDuplicates;
  if (callbacks.delete_fn == ATTRCACHE_NULL_DELETE_FN) flags |= stripe::kQuick;
  uint64_t word = made | uint64_t{one_generation_more(generations)} << kGenerationsShift;
  uint32_t name = (made & stripe::kKeyval) | flags;
  if (predefined_tag == kNotPredefined) [[likely]] {
    word |= uint64_t{flags} << kFlagsShift | kOrdinary;
  } else {
    word |= kCopiesNot | static_cast<uint64_t>(predefined_tag) << kTagShift;
    name += stripe::kClosing;  // what users may not set has no stripe that is open to them
  }
  entry.uses.store(entry.uses.load(kRelaxed) + 1, kRelaxed);
  References(entry.exact, stripes(offset)).reset(name);
  entry.word.store(word, kRelease);  // (K2) pairs with K1: the record is seen, and the references
  *keyval = static_cast<int>(made);
  return ATTRCACHE_OK;
}

// `word` is what the keyval's entry held.
int Registry::why_not_freed(uint32_t keyval, uint64_t word) const {
  // 0 is no keyval, and the word of an entry that was never used.
  const bool exists = static_cast<uint32_t>(word) == keyval && word != 0;
  return exists ? ATTRCACHE_ERR_KEYVAL_PREDEFINED : why_not(keyval);
}

int Registry::free(int* variable) noexcept {
  const auto keyval = static_cast<uint32_t>(*variable);
  const uint32_t offset = id::offset(keyval);
  Entry* const entry = find(offset);
  if (entry == nullptr) [[unlikely]]
    return why_not(keyval);
  uint64_t word = entry->word.load(kAcquire);  // as K1
  if (static_cast<uint32_t>(word) != keyval || (word & kOrdinary) == 0) [[unlikely]]
    return why_not_freed(keyval, word);
  *variable = ATTRCACHE_KEYVAL_INVALID;  // now: the destructor may be what frees the variable
  // Release: as K2. Whoever sets the bit closes the references, nobody else.
  while ((word & kFreed) != 0 ||
         !entry->word.compare_exchange_weak(word, word | kFreed, kAcqRel, kAcquire))
    [[unlikely]] {
      // Freed, and still in use; or gone just now: then some other free of it came first, as here.
      if (static_cast<uint32_t>(word) != keyval || (word & kFreed) != 0) return ATTRCACHE_OK;
    }
  References references(entry->exact, stripes(offset));
  const uint32_t counted = references.close_stripes();
  if (counted == 0 && references.end_unused(keyval)) [[likely]] {
    end(*entry);
  } else {
    linger(keyval, counted);
  }
  return ATTRCACHE_OK;
}

// The keyval is freed, and perhaps in use.
void Registry::linger(uint32_t keyval, uint32_t counted) {
  const uint32_t offset = id::offset(keyval);
  // (L1) Relaxed: whoever is to know of this free, because it happened before, sees this.
  lingering_.fetch_add(1, kRelaxed);
  if (references(offset).close_exact(counted)) end_lingering(at(offset));
}

void Registry::end_lingering(Entry& entry) {
  lingering_.fetch_sub(1, kRelaxed);  // after L1, as the bias went after it
  end(entry);
}

Registry::Counts Registry::counts() const {
  Counts counts;
  const uint32_t end = fresh_.load(kAcquire);  // pairs with K7
  for (uint32_t index = 0; index < end; ++index) {
    const Entry& entry = at(index << id::kIndexShift);
    const uint64_t word = entry.word.load(kAcquire);  // as K1: sees the use that it is of
    const uint64_t uses = entry.uses.load(kRelaxed);
    const bool exists = (word & id::kMarker) != 0;
    counts.created += uses;
    counts.gone += uses - exists;
    counts.freed += uses - (exists && (word & kFreed) == 0);
  }
  return counts;
}

bool Registry::free_unused() {
  bool any = false;
  const uint32_t end = fresh_.load(kAcquire);
  for (uint32_t index = 0; index < end; ++index) {
    const uint32_t offset = index << id::kIndexShift;
    const uint64_t word = at(offset).word.load(kAcquire);
    auto keyval = static_cast<int>(word & kKeyval);
    if ((word & id::kMarker) != 0 && references(offset).count() == 0) {
      any |= free(&keyval) == ATTRCACHE_OK;
    }
  }
  return any;
}

void Registry::reclaim(Retired* retired) {
  auto* record = static_cast<Record*>(retired);
  Registry* registry = record->registry;
  registry->free_.push(node_of(record->offset), registry->link());
}

int Registry::check(uint32_t keyval) const {
  if (keyval == ATTRCACHE_KEYVAL_INVALID) return ATTRCACHE_ERR_KEYVAL_INVALID;
  if (!id::well_formed(keyval)) return ATTRCACHE_ERR_KEYVAL_UNKNOWN;
  if (!is_kind_of(keyval)) return ATTRCACHE_ERR_KEYVAL_KIND;
  const Entry* entry = find(id::offset(keyval));
  if (entry == nullptr) return ATTRCACHE_ERR_KEYVAL_UNKNOWN;
  const uint64_t word = entry->word.load(kAcquire);  // as K1
  if (static_cast<uint32_t>(word) == keyval) return ATTRCACHE_OK;
  const bool handed_out = id::generation(keyval) < word >> kGenerationsShift;
  return handed_out ? ATTRCACHE_ERR_KEYVAL_STALE : ATTRCACHE_ERR_KEYVAL_UNKNOWN;
}

}  // namespace attrcache
