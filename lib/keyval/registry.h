// SPDX-License-Identifier: Apache-2.0
//
// The keyvals of one kind of a domain.
//
// Life of a keyval (the word of its entry):
//
//   free --create--> live --keyval_free--> freed, in use --last attribute deleted--> gone --> free
//                     \_____________________ (no attribute) ______________________/
//
// "gone" is decided by References, once. The thread that brings it about clears the word, runs the
// destructor, and retires the record; the index is reusable when the grace period is over.
//
// All operations are lock-free apart from the allocator.

#ifndef ATTRCACHE_KEYVAL_REGISTRY_H_
#define ATTRCACHE_KEYVAL_REGISTRY_H_

#include <cstddef>
#include <cstdint>

#include "callback/threads.h"
#include "keyval/entry.h"
#include "keyval/id.h"
#include "keyval/index_queue.h"
#include "keyval/references.h"
#include "platform/thread.h"

namespace attrcache {

class Registry {
 public:
  Registry(unsigned kind, const attrcache_kind_options& options, unsigned stripes, Epoch& epoch,
           const Threads& threads);
  // Reclaims everything; nobody uses the registry any more, and the epoch has been drained.
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // Makes a keyval. `predefined_tag`: how a predefined one is set, or kNotPredefined.
  static constexpr int kNotPredefined = -1;
  int create(const attrcache_callbacks& callbacks, int* keyval, int predefined_tag) noexcept;

  // Sets the variable to ATTRCACHE_KEYVAL_INVALID.
  int free(int* keyval) noexcept;

  // Frees all that have no attribute (the domain ends): runs their destructors. Whether there was
  // one.
  bool free_unused();

  // ATTRCACHE_OK if the keyval exists in this kind, else which error it is. Wait-free.
  int check(uint32_t keyval) const;

  // After look_up has found nothing: the error that tells why. Wait-free.
  int why_not(uint32_t keyval) const {
    const int error = check(keyval);
    // OK: gone when look_up looked, and its number handed out again since.
    return error != ATTRCACHE_OK ? error : ATTRCACHE_ERR_KEYVAL_STALE;
  }

  // The word of a keyval that exists, else 0. Wait-free.
  uint64_t look_up(uint32_t keyval) const {
    const uint64_t word = word_at(id::offset(keyval));
    return static_cast<uint32_t>(word) == keyval ? word : 0;
  }

  // Whether a well-formed keyval exists, whose offset the caller knows. Wait-free.
  bool exists(uint32_t keyval, size_t offset) const {
    return static_cast<uint32_t>(word_at(offset)) == keyval;
  }

  // The counters of a thread's stripe, for the keyvals of the first kNear indices, if there ever
  // was one.
  static constexpr uint32_t kNear = 64;
  bool has_near() const { return counters_[kFirstChunk].load(kRelaxed) != 0; }
  References::Counter* near_counters(unsigned ordinal) const {
    const uintptr_t counters = counters_[kFirstChunk].load(kAcquire);  // as K5
    return reinterpret_cast<References::Counter*>(counters) + (ordinal & stripe_mask_) * kNear;
  }

  // Takes a reference on a keyval that look_up has found, unless it is gone since.
  bool acquire(uint32_t keyval) {
    return references(id::offset(keyval)).acquire(keyval, thread_ordinal());
  }

  // Drops a reference; ends the keyval if it is the last of a freed one (runs the destructor then).
  void drop(uint32_t keyval) {
    if (!References::drop_open(stripes(id::offset(keyval)).of(thread_ordinal()))) [[unlikely]] {
      drop_closed(keyval);
    }
  }

  void drop_closed(uint32_t keyval);

  // The callbacks of a keyval on which the caller holds a reference.
  Hooks& hooks(uint32_t keyval) const { return at(id::offset(keyval)).record.hooks; }

  // Visits every keyval that exists, by index, with an epoch pinned: visit(word, Record&,
  // references).
  template <typename Visit>
  void for_each(Visit visit);

  // Visits one keyval, if it exists.
  template <typename Visit>
  bool visit(uint32_t keyval, Visit visit);

  unsigned kind() const { return id::kind(first_keyval_); }
  bool is_kind_of(uint32_t keyval) const { return id::kind(keyval ^ first_keyval_) == 0; }
  const char* name() const { return options_.name; }
  Epoch& epoch() const { return epoch_; }
  const Threads& threads() const { return threads_; }

  // How many keyvals there ever were; approximate while others create and free.
  struct Counts {
    uint64_t created = 0;
    uint64_t freed = 0;
    uint64_t gone = 0;
  };
  Counts counts() const;

  // Whether keyvals are freed and still in use, as far as the caller can know.
  bool any_lingers() const { return lingering_.load(kRelaxed) != 0; }

  // How many creations at least lie between two uses of an index, once it has been used.
  static constexpr uint32_t kRest = 64;

 private:
  // Indices are kept in chunks of doubling size: chunk c holds those for which bsr(offset + 64 *
  // 16) is c, where the offset (see id::offset) is 16 times the index, and spares every look-up a
  // shift or two. A chunk's memory is its entries, then its counters, stripe by stripe. What is
  // stored of both is where index 0 would be if the chunk reached down to it.
  static constexpr unsigned kFirstChunk = 6 + id::kIndexShift;
  static constexpr unsigned kChunks = 17 + id::kIndexShift;
  static constexpr uint32_t kBias = kNear;
  static_assert(kBias == 1u << (kFirstChunk - id::kIndexShift));

 public:
  static constexpr uint32_t kCapacity = (1u << (kChunks - id::kIndexShift)) - kBias;

 private:
  // An offset with that bias is never 0: in this form the queue of free indices has it.
  static uint32_t node_of(uint32_t offset) { return offset + (kBias << id::kIndexShift); }
  static uint32_t offset_of(uint32_t node) { return node - (kBias << id::kIndexShift); }
  static size_t chunk_of_node(uint32_t node) {
    return static_cast<uint32_t>(__builtin_clz(node)) ^ 31;  // no std::countl_zero: it minds 0
  }
  static size_t chunk_of(size_t offset) {
    return static_cast<uint32_t>(__builtin_clzll(offset + (kBias << id::kIndexShift))) ^ 63;
  }
  static constexpr uint32_t length(size_t c) { return 1u << (c - id::kIndexShift); }
  static constexpr uint32_t first_index(size_t c) { return length(c) - kBias; }

  static Entry* entry_at(uintptr_t chunk, size_t offset) {
    return reinterpret_cast<Entry*>(chunk + offset * (sizeof(Entry) >> id::kIndexShift));
  }

  // Null where there is no chunk.
  Entry* find(size_t offset) const {
    const uintptr_t chunk = chunks_[chunk_of(offset)].load(kAcquire);  // (K5) pairs with K6
    return chunk != 0 ? entry_at(chunk, offset) : nullptr;
  }

  // Of an index whose chunk exists.
  Entry& at(size_t offset) const {
    return *entry_at(chunks_[chunk_of(offset)].load(kAcquire), offset);  // as K5
  }

  uint64_t word_at(size_t offset) const {
    const uintptr_t chunk = chunks_[chunk_of(offset)].load(kAcquire);  // as K5
    if (chunk == 0) [[unlikely]]
      return 0;
    return entry_at(chunk, offset)->word.load(kAcquire);  // (K1) pairs with K2
  }

  // Both of an index whose chunk exists.
  References::Stripes stripes(size_t offset) const {
    const size_t c = chunk_of(offset);
    auto* counters = reinterpret_cast<References::Counter*>(counters_[c].load(kAcquire));  // as K5
    return {counters + (offset >> id::kIndexShift), static_cast<unsigned>(c) - id::kIndexShift,
            stripe_mask_};
  }
  References references(size_t offset) const { return {at(offset).exact, stripes(offset)}; }

  template <typename Visit>
  bool visit_index(uint32_t index, Visit& visit);
  bool ensure_chunk(size_t c);
  uint32_t take_new_index(int* error);
  [[gnu::noinline, gnu::cold]] int why_not_freed(uint32_t keyval, uint64_t word) const;
  void end(Entry& entry);
  [[gnu::noinline]] void linger(uint32_t keyval, uint32_t counted);
  void end_lingering(Entry& entry);
  static void reclaim(Retired* retired);
  auto link() {
    return [this](uint32_t node) -> Atomic<uint64_t>& {
      const uintptr_t chunk = chunks_[chunk_of_node(node)].load(kAcquire);  // as K5
      return entry_at(chunk, offset_of(node))->link;
    };
  }

  // The last: where a 17-bit index beyond kCapacity leads, 0.
  Atomic<uintptr_t> chunks_[kChunks + 1] = {};
  Atomic<uintptr_t> counters_[kChunks + 1] = {};
  const uint32_t first_keyval_;  // that of index and generation 0
  const unsigned stripe_mask_;
  const attrcache_kind_options options_;
  Epoch& epoch_;
  const Threads& threads_;
  Atomic<uint32_t> fresh_{0};  // indices below it have been handed out at least once
  IndexQueue free_;
  // Of user-level threads one more than there are: what their stacks of callbacks hold is looked at
  // on the way that this leads to.
  Atomic<uint64_t> lingering_;
};

template <typename Visit>
bool Registry::visit_index(uint32_t index, Visit& visit) {
  Epoch::Pin pin(epoch_, thread_ordinal());
  const uint32_t offset = index << id::kIndexShift;
  Entry& entry = at(offset);
  const uint64_t word = entry.word.load(kAcquire);  // as K1
  if ((word & id::kMarker) == 0) return false;
  // Retired no earlier than its word was cleared, so it outlives the pin.
  visit(word, entry.record, references(offset));
  return true;
}

template <typename Visit>
void Registry::for_each(Visit visit) {
  const uint32_t end = fresh_.load(kAcquire);  // pairs with K7
  for (uint32_t index = 0; index < end; ++index) visit_index(index, visit);
}

template <typename Visit>
bool Registry::visit(uint32_t keyval, Visit visit) {
  if (look_up(keyval) == 0) return false;
  bool found = false;
  auto if_same = [&](uint64_t word, Record& record, const References& references) {
    if (static_cast<uint32_t>(word) != keyval) return;
    visit(word, record, references);
    found = true;
  };
  visit_index(id::index(keyval), if_same);
  return found;
}

}  // namespace attrcache

#endif  // ATTRCACHE_KEYVAL_REGISTRY_H_
