// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "keyval/entries.h"

#include <algorithm>

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

int Entries::end_round(uint64_t now, const Memory& memory) {
  const uint32_t used = cursor::used(now);
  const uint32_t taken = cursor::taken(now);
  const bool grows = used < kCapacity && taken < std::max(kRound, used / 4);
  uint64_t next = cursor::next_round(now);
  if (grows && ensure_chunk(chunk_of(id::offset_at(used)), memory)) {
    next = now - cursor::at(now) + cursor::of(used, 1, 0);
  } else if (cursor::at(now) == 0 && cursor_.load(kRelaxed) == now) {
    // All were in use when this look began, since the cursor hasn't moved.
    return grows ? ATTRCACHE_ERR_MEMORY : ATTRCACHE_ERR_KEYVALS_EXHAUSTED;
  }
  // (K7) release: a thread that sees the new number of indices finds the chunk.
  cursor_.compare_exchange_strong(now, next, kRelease, kRelaxed);
  return ATTRCACHE_OK;
}

}  // namespace attrcache
