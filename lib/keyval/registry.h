// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The keyvals of one kind of a domain.
//
// Life of a keyval (the word of its entry):
//
//   free --create--> live --keyval_free--> freed, in use --last attribute deleted--> gone --> free
//                     \_____________________ (no attribute) ______________________/
//
// "gone" is decided by References, once. The thread that brings it about clears the word, runs the
// destructor, retires the record and frees the index. Only the record waits for those who are
// within introspection; the index may be used again at once.
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

  // The counters of a thread's stripe, for the keyvals of the first kFirstChunkLength indices, if
  // there ever was one.
  static constexpr uint32_t kFirstChunkLength = 64;
  bool has_first_chunk() const { return counters_[kFirstChunk].load(kRelaxed) != 0; }
  References::Counter* first_chunk_counters(unsigned ordinal) const {
    const uintptr_t counters = counters_[kFirstChunk].load(kAcquire);  // as K5
    return reinterpret_cast<References::Counter*>(counters) +
           (ordinal & stripe_mask_) * kFirstChunkLength;
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
  KeyvalCallbacks& callbacks(uint32_t keyval) const {
    // Relaxed: stored before the first reference could be taken (K9 before R6 and K2), and not
    // again as long as there is one.
    return at(id::offset(keyval)).record.load(kRelaxed)->callbacks;
  }

  // Visits every keyval that exists, by index, with an epoch pinned: visit(word, Record&,
  // references). The epoch is pinned anew for every kBatch indices.
  template <typename Visit>
  void for_each(Visit visit);
  static constexpr uint32_t kBatch = 64;

  // The same without the record, and without a pin: visit(word, references).
  template <typename Visit>
  void for_each_word(Visit visit) const;

  // Visits one keyval, if it exists.
  template <typename Visit>
  bool visit(uint32_t keyval, Visit visit);

  unsigned kind() const { return id::kind(first_keyval_); }
  bool is_kind_of(uint32_t keyval) const { return id::kind(keyval ^ first_keyval_) == 0; }
  const char* name() const { return options_.name; }
  Epoch& epoch() const { return epoch_; }
  const Threads& threads() const { return threads_; }

  // How many keyvals there ever were, and references there are; approximate while others change
  // that.
  struct Counts {
    uint64_t created = 0;
    uint64_t freed = 0;
    uint64_t gone = 0;
    uint64_t references = 0;
  };
  Counts counts() const;

  // Whether keyvals are freed and still in use, as far as the caller can know.
  bool any_lingers() const { return lingering_.load(kRelaxed) != 0; }

  // How many creations at least lie between two uses of an index, once it has been used.
  static constexpr uint32_t kRest = 64;

 private:
  // Indices are kept in chunks of doubling size. Chunk c holds those indices for which the highest
  // bit of (offset + 64 * 16) is bit c; look-ups use the offset, which is 16 times the index (see
  // id::offset), because it spares them a shift or two. A chunk's memory is its entries, then its
  // counters, stripe by stripe. What is stored of both is the address that index 0 would have if
  // the chunk reached down to it.
  static constexpr unsigned kFirstChunk = 6 + id::kIndexShift;
  static constexpr unsigned kChunks = 17 + id::kIndexShift;
  static constexpr uint32_t kIndexBias = kFirstChunkLength;
  static_assert(kIndexBias == 1u << (kFirstChunk - id::kIndexShift));

 public:
#if defined(ATTRCACHE_MODEL)
  static constexpr uint32_t kCapacity = 128;  // few enough for a model to use them all
#else
  static constexpr uint32_t kCapacity = (1u << (kChunks - id::kIndexShift)) - kIndexBias;
#endif

 private:
  // Queue nodes are biased offsets, since 0 means none.
  static uint32_t node_of(uint32_t offset) { return offset + (kIndexBias << id::kIndexShift); }
  static uint32_t offset_of(uint32_t node) { return node - (kIndexBias << id::kIndexShift); }
  static size_t chunk_of_node(uint32_t node) {
    return static_cast<uint32_t>(__builtin_clz(node)) ^ 31;  // std::countl_zero would test for 0
  }
  static size_t chunk_of(size_t offset) {
    return static_cast<uint32_t>(__builtin_clzll(offset + (kIndexBias << id::kIndexShift))) ^ 63;
  }
  static constexpr uint32_t length(size_t c) { return 1u << (c - id::kIndexShift); }
  static constexpr uint32_t first_index(size_t c) { return length(c) - kIndexBias; }

  static Entry* entry_at(uintptr_t chunk, size_t offset) {
    return reinterpret_cast<Entry*>(chunk + offset * (sizeof(Entry) >> id::kIndexShift));
  }

  // Null where there is no chunk.
  Entry* find(size_t offset) const {
    const uintptr_t chunk = chunks_[chunk_of(offset)].load(kAcquire);  // (K5) pairs with K6
    return chunk != 0 ? entry_at(chunk, offset) : nullptr;
  }

  // Of an index whose chunk exists.
  Entry& at(size_t offset) const { return at(chunk_of(offset), offset); }
  Entry& at(size_t c, size_t offset) const {
    return *entry_at(chunks_[c].load(kAcquire), offset);  // as K5
  }

  uint64_t word_at(size_t offset) const {
    const uintptr_t chunk = chunks_[chunk_of(offset)].load(kAcquire);  // as K5
    if (chunk == 0) [[unlikely]]
      return 0;
    return entry_at(chunk, offset)->word.load(kAcquire);  // (K1) pairs with K2
  }

  // Both of an index whose chunk exists.
  References::Stripes stripes(size_t offset) const { return stripes(chunk_of(offset), offset); }
  References::Stripes stripes(size_t c, size_t offset) const {
    auto* counters = reinterpret_cast<References::Counter*>(counters_[c].load(kAcquire));  // as K5
    return {counters + (offset >> id::kIndexShift), static_cast<unsigned>(c) - id::kIndexShift,
            stripe_mask_};
  }
  References references(size_t offset) const { return {at(offset).exact, stripes(offset)}; }

  template <typename Visit>
  static bool visit_pinned(Entry& entry, const References& references, Visit& visit);
  template <typename Visit>
  void for_each_of_batch(uint32_t first, uint32_t end, Visit visit) const;
  template <typename Visit>
  void for_each_entry(Visit visit) const;
  bool ensure_chunk(size_t c);
  uint32_t take_new_index(int* error);
  [[gnu::noinline, gnu::cold]] int why_not_freed(uint32_t keyval, uint64_t word) const;
  void fill(Record& record) const;
  [[gnu::noinline, gnu::cold]] Record* make_record() const;
  static void release_record(Retired* retired);
  int create_slowly(uint32_t node, const attrcache_callbacks& callbacks, int* keyval,
                    int predefined_tag);
  int create_on(uint32_t node, Entry& entry, Record& record, const attrcache_callbacks& callbacks,
                int predefined_tag, int* keyval);
  void end(Entry& entry, uint32_t offset);
  [[gnu::noinline]] void end_slowly(Entry& entry, uint32_t offset);
  [[gnu::noinline]] void linger(uint32_t keyval, uint32_t counted);
  void end_lingering(uint32_t offset);
  auto link() {
    return [this](uint32_t node) -> Atomic<uint64_t>& {
      return at(chunk_of_node(node), offset_of(node)).link;
    };
  }

  // The extra last entry stays 0, so out-of-range indices find no chunk.
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

// Called with an epoch pinned. It passes `visit` a word and a record that belong to the same
// keyval, though that may end, and others follow it on the same index, between any two of these
// reads:
//   V1 reads that n keyvals of this index were begun. By K10 the end of keyval n-1 is seen, so a
//      living keyval's word, if V2 reads one, is of keyval n or of a later one.
//   V2 reads the word. By K2, all is seen that this keyval's create() stored before the word.
//   V3 reads the record, which therefore is of the same keyval or of a later one. By K9, the number
//      that was stored before the record is seen.
//   V4 reads the number again. If it is still n, the record is of no later keyval than n, so that
//      word and record are both of keyval n.
// The record stays as it is until the epoch is unpinned. For if the thread that ended the keyval
// had found nobody pinned (E11), we would have pinned after that, and by E8 and E3 we would see the
// end of the keyval (K8), so that V2 couldn't have read its word.
template <typename Visit>
[[gnu::always_inline]] inline bool Registry::visit_pinned(Entry& entry,
                                                          const References& references,
                                                          Visit& visit) {
  const uint64_t uses = entry.uses.load(kAcquire);  // (V1) pairs with K10
  const uint64_t word = entry.word.load(kAcquire);  // (V2) as K1
  if ((word & id::kMarker) == 0) return false;
  Record* record = entry.record.load(kAcquire);  // (V3) pairs with K9
  // (V4) Else the keyval has ended meanwhile: there was a moment without any.
  if (entry.uses.load(kRelaxed) != uses) return false;
  visit(word, *record, references);
  return true;
}

// All chunks begin at a multiple of kBatch, so a batch never reaches beyond one.
template <typename Visit>
[[gnu::always_inline]] inline void Registry::for_each_of_batch(uint32_t first, uint32_t end,
                                                               Visit visit) const {
  const uint32_t offset = first << id::kIndexShift;
  const size_t c = chunk_of(offset);
  Entry* entry = &at(c, offset);
  References::Stripes stripes = this->stripes(c, offset);
  Entry* const last = entry + (end - first < kBatch ? end - first : kBatch);
  for (; entry != last; ++entry, ++stripes.first) visit(*entry, References(entry->exact, stripes));
}

template <typename Visit>
void Registry::for_each(Visit visit) {
  const uint32_t end = fresh_.load(kAcquire);  // pairs with K7
  for (uint32_t first = 0; first < end; first += kBatch) {
    const Epoch::Guard pin(epoch_, thread_ordinal());
    for_each_of_batch(first, end, [&visit](Entry& entry, const References& references) {
      visit_pinned(entry, references, visit);
    });
  }
}

template <typename Visit>
void Registry::for_each_entry(Visit visit) const {
  const uint32_t end = fresh_.load(kAcquire);  // pairs with K7
  for (uint32_t first = 0; first < end; first += kBatch) for_each_of_batch(first, end, visit);
}

template <typename Visit>
void Registry::for_each_word(Visit visit) const {
  for_each_entry([&visit](const Entry& entry, const References& references) {
    const uint64_t word = entry.word.load(kAcquire);  // as K1
    if ((word & id::kMarker) != 0) visit(word, references);
  });
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
  const Epoch::Guard pin(epoch_, thread_ordinal());
  const uint32_t offset = id::offset(keyval);
  visit_pinned(at(offset), references(offset), if_same);
  return found;
}

}  // namespace attrcache

#endif  // ATTRCACHE_KEYVAL_REGISTRY_H_
