// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "keyval/entries.h"

namespace attrcache {

static_assert(Entries::kCapacity <= 1u << 17, "an index has 17 bits");

void Entries::release(const Memory& memory) {
  for (unsigned c = kFirstChunk; c < kChunks; ++c) {
    const uintptr_t chunk = chunks_[c].load(kRelaxed);
    if (chunk != 0) memory.release(entry_at(chunk, id::offset_at(first_index(c))));
  }
}

bool Entries::ensure_chunk(size_t c, const Memory& memory) {
  if (chunks_[c].load(kAcquire) != 0) return true;  // (K5) pairs with K6
  const size_t first = first_index(c);
  References::Counter* counters = counters_[c].load(kAcquire);  // (K5) pairs with K6
  if (counters == nullptr) {
    void* allocated = memory.allocate_zeroed(
        length(c) * (sizeof(Entry) + (stripe_mask_ + 1) * sizeof(References::Counter)));
    if (allocated == nullptr) return false;
    auto* const made = reinterpret_cast<References::Counter*>(
                           reinterpret_cast<uintptr_t>(allocated) + length(c) * sizeof(Entry)) -
                       first;
    // (K6) release: a thread that sees the pointer (K5) sees what it points to.
    if (counters_[c].compare_exchange_strong(counters, made, kAcqRel, kAcquire)) {
      counters = made;
    } else {
      memory.release(allocated);
    }
  }
  // The chunk is stored after its counters, so that a thread that finds the chunk finds them, too.
  // If several threads come here, all store the same.
  const auto after_entries = reinterpret_cast<uintptr_t>(counters + first);
  chunks_[c].store(after_entries - (length(c) + first) * sizeof(Entry),
                   kRelease);  // (K6) pairs with K5
  return true;
}

int Entries::take_new(const Memory& memory, id::Offset* made) {
  uint32_t next = taken_.load(kRelaxed);
  while (next < kCapacity) {
    *made = id::offset_at(next);
    if (!ensure_chunk(chunk_of(*made), memory)) return ATTRCACHE_ERR_MEMORY;
    // (K7) release: a thread that sees the new number of indices, in used_indices(), finds the
    // chunk.
    if (taken_.compare_exchange_weak(next, next + 1, kRelease, kRelaxed)) return ATTRCACHE_OK;
  }
  return ATTRCACHE_ERR_KEYVALS_EXHAUSTED;
}

}  // namespace attrcache
