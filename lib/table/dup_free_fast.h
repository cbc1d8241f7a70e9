// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Dup and free of an object whose attributes have no callbacks to be run, which are by far the most
// common ones. They take one pass over the slots, in the order of indices: without callbacks nobody
// can notice the order. No other thread may use the new object of a dup, or the object of a free,
// so their slots are filled and emptied by plain stores. Only the keyvals' references need atomic
// steps.

#ifndef ATTRCACHE_TABLE_DUP_FREE_FAST_H_
#define ATTRCACHE_TABLE_DUP_FREE_FAST_H_

#include <cstdint>

#include "keyval/registry.h"
#include "platform/memory.h"
#include "platform/thread.h"
#include "table/get.h"
#include "table/meta.h"
#include "table/table.h"

namespace attrcache {

// The less common cases: attributes beyond the first leaf, keyvals that are freed, and undoing a
// dup that could not copy everything. They are functions of their own, so that the common case has
// enough registers.
Directory* make_directory_like(Directory& dir, uint64_t flags, const Table* of,
                               const Memory& memory);
inline Directory* make_directory_for(Directory& dir, const Table& from, const Table* of,
                                     const Memory& memory) {
  const uint64_t flags = dir.flags_of(&from);
  return flags == 0 ? memory.make<Directory>(of) : make_directory_like(dir, flags, of, memory);
}
bool copy_leaves(Registry& registry, Directory& dir, Table& to, References::Counter* near);
int give_up_copy(Registry& registry, Table& from, Table& to);
bool is_at_rest(const Readers& readers, const Table& table);  // left.h
bool empty_leaves(Registry& registry, Table& table, Directory* dir, uint64_t flags,
                  References::Counter* near, uint32_t wanted);

// Copies what is in a slot, if anything. False: it can't be done on this path. `place()` returns
// the new slot, or null when out of memory.
template <typename Place>
[[gnu::always_inline]] inline bool copy_slot(const Pair& slot, References::Counter& counter,
                                             uint64_t one, Place place) {
  const uint32_t upper = slot.load_upper();
  if (upper == 0) [[unlikely]]
    return true;
  const uint64_t word = counter.load(kRelaxed);  // only a guess for the exchange
  const stripe::Name name = stripe::name_in(word);
  const uint32_t differs = upper ^ stripe::bits(name);
  // The stripe must be open and belong to the same keyval, which must be copied as by DUP_FN; the
  // value must be visible, unclaimed and never held, because its copy gets the same meta.
  constexpr uint32_t kDecides = meta::kSameAttribute | meta::kDeletingHalf | meta::kUnheldHalf |
                                meta::kFullHalf | stripe::kNotDupFn;
  if ((differs & kDecides) != 0) [[unlikely]]
    return (differs & kDecides) == stripe::kNotDupFn && stripe::has(name, stripe::kNullCopyFn);
  Pair* made = place();
  if (made == nullptr || !References::acquire_open(counter, word, one)) [[unlikely]]
    return false;
  // The value is read after the reference was taken. Before that it could have been a value of an
  // earlier keyval that had the same int.
  return slot.transfer([=](uint32_t again, auto put) __attribute__((always_inline))->bool {
    if (again != upper) [[unlikely]] {
      made->store_unshared({0, uint64_t{upper} << 32});  // give_up_copy() drops the reference
      return false;
    }
    put(*made);
    return true;
  });
}

// Ends a dup: gives the new table the clock of the old one, so that the numbers of later
// attachments are higher than those that were copied. The clock is read after the slots; their
// loads acquire, so it is at least as high as their numbers. If nothing was copied, the new table
// stays as it was.
[[gnu::always_inline]] inline void end_dup(Table& from, Table& to, const Memory& memory) {
  if (!meta::empty(to.inline_slots[0].load_meta()) || to.occupied()) [[likely]] {
    to.clock.store(from.now(), kRelaxed);
  } else {
    to.clear(memory);
  }
}

// Copies all attributes to a table that is as new, with their sequence numbers and hence in their
// order. ATTRCACHE_ABSENT: it can't be done on this path, and nothing was copied; use
// copy_attributes(). ATTRCACHE_ERR_MEMORY: out of memory for the new table. ATTRCACHE_ERR_FREED: a
// destructor has freed one of the objects meanwhile, so nothing can be copied at all.
[[gnu::always_inline]] inline int copy_attributes_fast(Registry& registry, Table& from, Table& to) {
  if (!to.is_as_new()) [[unlikely]]
    return ATTRCACHE_ABSENT;
  const unsigned ordinal = this_thread().ordinal;
  References::Counter* const counters = registry.first_chunk_counters(ordinal);
  if (ordinal == 0 || counters == nullptr) [[unlikely]]
    return ATTRCACHE_ABSENT;
  const uint64_t one = opaque(uint64_t{References::kOneOfStripe});
  bool all = true;
  from.while_each_inline([&](uint32_t index, const Pair& slot) __attribute__((always_inline)) {
    return all = copy_slot(slot, counters[index], one,
                           [&, index] { return &to.inline_slots[index]; });
  });
  Directory* dir = from.directory.load(kAcquire);  // as T1
  if (all && dir != nullptr) {
    Directory* const made = make_directory_for(*dir, from, &to, registry.memory());
    if (made == nullptr) [[unlikely]] {
      const int result = give_up_copy(registry, from, to);
      return result == ATTRCACHE_ABSENT && dir->is_of(&from) ? ATTRCACHE_ERR_MEMORY : result;
    }
    to.directory.store(made, kRelaxed);
    dir->while_each_first([&](uint32_t index, const Pair& slot) __attribute__((always_inline)) {
      return all = copy_slot(slot, counters[index], one,
                             [&, index] { return &made->first_slots[index - kInlineSlots]; });
    });
    if (all && made->has(Directory::kHasBlock)) [[unlikely]]
      all = copy_leaves(registry, *dir, to, counters);
  }
  if (!all) [[unlikely]] {
    const bool nothing = to.directory.load(kRelaxed) == nullptr && !to.occupied();
    return nothing ? ATTRCACHE_ABSENT : give_up_copy(registry, from, to);
  }
  end_dup(from, to, registry.memory());
  return ATTRCACHE_OK;
}

// Empties a slot. False: the slot's keyval was freed, and nothing has changed.
[[gnu::always_inline]] inline bool empty_slot(Pair& slot, References::Counter& counter,
                                              uint64_t less_one) {
  if (meta::empty(slot.load_meta())) [[unlikely]]
    return true;
  if (!References::drop_open(counter, less_one)) [[unlikely]]
    return false;
  slot.clear_unshared();
  return true;
}

// Whether a slot is empty, or holds a value that may be deleted without a callback: one of this
// kind, without delete_fn. `wanted` comes from deletable_of().
[[gnu::always_inline]] inline bool deletable(uint32_t upper, uint32_t wanted) {
  constexpr uint32_t kDecides = meta::kVisibleHalf | meta::kNoDeleteFnHalf | id::kKindMask;
  const uint32_t differs = opaque(upper ^ wanted);  // or it would be kept beside `upper`
  if ((differs & kDecides) != 0) [[unlikely]]
    return differs == wanted;  // if the slot is empty
  return true;
}
inline uint32_t deletable_of(const Registry& registry) {
  return opaque(meta::kVisibleHalf | meta::kNoDeleteFnHalf | registry.kind());
}

// Deletes all attributes and clears the table. False: some are left that can't be deleted on this
// path, and they still have their order.
[[gnu::always_inline]] inline bool delete_attributes_fast(Registry& registry, Table& table) {
  // If callbacks are running up this thread's stack, an operation there may be using the table.
  const ThreadState& thread = this_thread();
  if (thread.innermost != nullptr || thread.ordinal == 0) [[unlikely]]
    return false;
  // It looks at all attributes before it deletes any, because a delete_fn must still find the
  // attributes that are older than its own.
  const uint32_t wanted = deletable_of(registry);
  bool all = true;
  Directory* dir = table.directory.load(kAcquire);  // as T1
  table.while_each_first(
      dir, [&](uint32_t, const Pair& slot) __attribute__((always_inline)) {
        if (!deletable(slot.load_upper(), wanted)) [[unlikely]]
          all = false;
        return all;
      });
  if (!all || (table.replaced() && !is_at_rest(registry.readers(), table))) [[unlikely]]
    return false;
  References::Counter* const counters = registry.first_chunk_counters(thread.ordinal);
  const uint64_t flags = dir == nullptr ? 0 : dir->flags_of(&table);
  if (flags != 0 || registry.any_lingers()) [[unlikely]] {
    if (!empty_leaves(registry, table, dir, flags, counters, wanted)) return false;
  }
  const uint64_t less_one = opaque(uint64_t{References::kLessOneOfStripe});
  table.while_each_first(
      dir, [&](uint32_t index, Pair & slot) __attribute__((always_inline)) {
        return all = empty_slot(slot, counters[index], less_one);
      });
  if (!all) [[unlikely]]
    return false;
  table.clear(registry.memory());
  return true;
}

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_DUP_FREE_FAST_H_
