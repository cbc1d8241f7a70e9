// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Dup and free of an object whose attributes have no callbacks to be run, which are by far the most
// common ones. They take one pass over the slots, in the order of indices: without callbacks nobody
// can notice the order. No other thread may use the new object of a dup, or the object of a free,
// so their slots are filled and emptied by plain stores. Only the keyvals' references need atomic
// steps.

#ifndef ATTRCACHE_TABLE_AT_ONCE_H_
#define ATTRCACHE_TABLE_AT_ONCE_H_

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
int copy_with_leaves(Registry& registry, Table& from, Table& to, unsigned ordinal);
bool delete_carefully(Registry& registry, Table& table, unsigned ordinal);
int give_up_copy(Registry& registry, const Table& from, Table& to);

// Copies what is in a slot, if anything. False: it can't be done on this path. `place()` returns
// the new slot, or null when out of memory.
template <typename Place>
[[gnu::always_inline]] inline bool copy_slot(const Pair& slot, References::Counter& counter,
                                             Place place) {
  const uint32_t upper = slot.load_upper();
  if (upper == 0) [[unlikely]]
    return true;
  const uint64_t word = counter.load(kRelaxed);  // only a guess for the exchange
  const auto name = static_cast<uint32_t>(word);
  const uint32_t differs = upper ^ name;
  // The stripe must be open and of the same keyval; the value must be visible, and neither be
  // deleted nor copied or borrowed at the moment.
  constexpr uint32_t kDecides = meta::kSameAttribute | meta::kDeletingHalf | meta::kHoldsHalf;
  if ((differs & kDecides) != 0) [[unlikely]] {
    // Only the marker differs: the stripe is closed, because the keyval is freed or predefined. Its
    // flags are still right.
    const bool closed = (differs & kDecides) == meta::kVisibleHalf;
    return closed && (name & stripe::kNullCopyFn) != 0;
  }
  if ((name & stripe::kDupFn) == 0) [[unlikely]]
    return (name & stripe::kNullCopyFn) != 0;
  Pair* made = place();
  if (made == nullptr || !References::acquire_open(counter, word)) [[unlikely]]
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
[[gnu::always_inline]] inline void end_copy(Table& from, Table& to) {
  if (to.occupied()) [[likely]] {
    to.clock.store(from.clock.load(kRelaxed), kRelaxed);
  } else {
    to.clear();
  }
}

// Copies all attributes to a table that is as new, with their sequence numbers and hence in their
// order. ATTRCACHE_ABSENT: it can't be done on this path, and nothing was copied; use
// copy_attributes(). ATTRCACHE_ERR_BUSY: a destructor has freed the old object meanwhile, so
// nothing can be copied at all.
[[gnu::always_inline]] inline int copy_attributes_fast(Registry& registry, Table& from, Table& to) {
  if (!to.is_as_new()) [[unlikely]]
    return ATTRCACHE_ABSENT;
  const unsigned ordinal = this_thread().ordinal;
  if (ordinal == 0 || !registry.has_first_chunk()) [[unlikely]]
    return ATTRCACHE_ABSENT;
  Directory* made = nullptr;
  Directory* dir = from.directory.load(kAcquire);  // as T1
  if (dir != nullptr) {
    if (dir->table.load(kRelaxed) != &from) [[unlikely]]
      return ATTRCACHE_ABSENT;
    if (dir->root.load(kAcquire) != 0) [[unlikely]]  // as T1
      return copy_with_leaves(registry, from, to, ordinal);
    made = make<Directory>(&to);
    if (made == nullptr) [[unlikely]]
      return ATTRCACHE_ABSENT;
    to.directory.store(made, kRelaxed);
  }
  References::Counter* const counters = registry.first_chunk_counters(ordinal);
  bool all = true;
  from.while_each_first(
      dir, [&](uint32_t index, const Pair& slot) __attribute__((always_inline)) {
        return all = copy_slot(slot, counters[index], [&, index] {
                 return index < kInlineSlots ? &to.inline_slots[index]
                                             : &made->first_slots[index - kInlineSlots];
               });
      });
  if (!all) [[unlikely]]
    return give_up_copy(registry, from, to);
  end_copy(from, to);
  return ATTRCACHE_OK;
}

// Empties a slot. False: the slot's keyval was freed, or another thread uses the same stripe just
// now.
[[gnu::always_inline]] inline bool empty_slot(Pair& slot, References::Counter& counter) {
  if (meta::empty(slot.load_meta())) [[unlikely]]
    return true;
  if (!References::drop_if_open(counter)) [[unlikely]]
    return false;
  slot.clear_unshared();
  return true;
}

// Does what delete_attributes_fast is for. The instance with kCarefully also looks beyond the first
// leaf, and at whether a keyval was freed: attributes under such keyvals are left to
// delete_attributes(), so that the keyvals end, and run their destructors, in the right order.
template <bool kCarefully>
[[gnu::always_inline]] inline bool delete_without_callbacks(Registry& registry, Table& table,
                                                            unsigned ordinal) {
  // It looks at all attributes before it deletes any, because a delete_fn must still find the
  // attributes that are older than its own. Each must be of this kind, without delete_fn, visible,
  // and neither be deleted nor copied or borrowed at the moment.
  constexpr uint32_t kDecides = meta::kVisibleHalf | meta::kNoDeleteFnHalf | meta::kDeletingHalf |
                                meta::kHoldsHalf | id::kKindMask;
  const uint32_t wanted = opaque(meta::kVisibleHalf | meta::kNoDeleteFnHalf | registry.kind());
  References::Counter* const counters = registry.first_chunk_counters(ordinal);
  bool all = true;
  const auto look = [&](uint32_t index, const Pair& slot) __attribute__((always_inline)) {
    const uint32_t upper = slot.load_upper();
    if (upper != 0 && ((upper ^ wanted) & kDecides) != 0) [[unlikely]]
      all = false;
    if (kCarefully && upper != 0 && !References::is_open(counters[index])) all = false;
    return all;
  };
  Directory* dir = table.directory.load(kAcquire);  // as T1
  if (dir != nullptr && dir->table.load(kRelaxed) != &table) [[unlikely]]
    return false;
  table.while_each_first(dir, look);
  const uintptr_t root = dir != nullptr ? dir->root.load(kAcquire) : 0;  // as T1
  if (!all) [[unlikely]]
    return false;
  if constexpr (kCarefully) {
    if (tree::height(root) != 0) return false;
    if (root != 0) dir->for_each_leaf(look);
    if (!all) return false;
  } else if (root != 0) {
    return delete_carefully(registry, table, ordinal);
  }

  const auto empty = [&](uint32_t index, Pair & slot) __attribute__((always_inline)) {
    if (!all || !empty_slot(slot, counters[index])) [[unlikely]]
      all = false;
    return all;
  };
  table.while_each_first(dir, empty);
  if constexpr (kCarefully) {
    if (root != 0) dir->for_each_leaf(empty);
  }
  if (!all) [[unlikely]]
    return false;
  table.clear();
  return true;
}

// Deletes all attributes and clears the table. False: some are left that can't be deleted on this
// path, and they still have their order.
[[gnu::always_inline]] inline bool delete_attributes_fast(Registry& registry, Table& table) {
  if (table.is_as_new()) return true;  // decided without the registry, which may be gone
  // If callbacks are running up this thread's stack, an operation there may be using the table.
  const ThreadState& thread = this_thread();
  const unsigned ordinal = thread.ordinal;
  if (thread.innermost != nullptr || ordinal == 0) [[unlikely]]
    return false;
  return registry.any_lingers() ? delete_carefully(registry, table, ordinal)
                                : delete_without_callbacks<false>(registry, table, ordinal);
}

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_AT_ONCE_H_
