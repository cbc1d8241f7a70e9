// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/dup_free_fast.h"

#include "callback/frame.h"
#include "table/attribute.h"
#include "table/batch.h"

namespace attrcache {

namespace {

// Calls ask(first index, leaf, counters of its keyvals) for every leaf of the tree, until one call
// returns false. Returns whether all returned true.
template <typename Ask>
[[gnu::noinline]] bool ask_tree(const Registry& registry, const Directory& dir, Ask ask) {
  bool all = true;
  const auto ask_leaf = [&](FarLeaf* leaf) {
    if (!all) return;
    const uint32_t first = leaf->number * kLeafSlots;
    References::Counter* const counters =
        registry.counters(id::offset_at(first), this_thread().ordinal);
    all = counters != nullptr && ask(first, *leaf, counters);  // else they are of another kind
  };
  visit_tree(dir.tree.load(kAcquire), ask_leaf, [](Node*) {});  // as T1
  return all;
}

// The same for every leaf but the first, by the directory's `flags`. `near` are the counters of the
// first indices.
template <typename Ask>
[[gnu::always_inline]] inline bool ask_leaves(const Registry& registry, Directory& dir,
                                              uint64_t flags, References::Counter* near, Ask ask) {
  const bool all = Directory::while_each_near(
      flags, [&](uint32_t number) __attribute__((always_inline)) {
        Leaf& leaf = *dir.leaves[number].load(kAcquire);  // as T1, by the owner
        return ask(number * kLeafSlots, leaf, opaque(near + size_t{number} * kLeafSlots));
      });
  return all && ((flags & Directory::kHasTree) == 0 || ask_tree(registry, dir, ask));
}

// Calls ask(slot, counter of its keyval) for every slot of those leaves, until one call returns
// false. Returns whether all returned true.
template <typename Ask>
[[gnu::always_inline]] inline bool ask_slots(const Registry& registry, Directory& dir,
                                             uint64_t flags, References::Counter* near, Ask ask) {
  return ask_leaves(
      registry, dir, flags, near,
      [ask](uint32_t, Leaf & leaf, References::Counter * counters) __attribute__((always_inline)) {
#pragma GCC unroll 8
        for (uint32_t s = 0; s < kLeafSlots; ++s) {
          if (!ask(leaf.slots[s], counters[s])) return false;
        }
        return true;
      });
}

// False: attributes under freed keyvals may be in the way. They are left to delete_attributes(), so
// that the keyvals end, and run their destructors, in the order of the attributes.
[[gnu::noinline]] bool all_open(const Registry& registry, Table& table, Directory* dir,
                                uint64_t flags, References::Counter* near) {
  const auto open = [](const Pair& slot, const References::Counter& counter) {
    return slot.load_upper() == 0 || References::is_open(counter);
  };
  bool all = true;
  table.while_each_first(
      dir, [&](uint32_t index, const Pair& slot) { return all = open(slot, near[index]); });
  if (!all || dir == nullptr) return all;
  return ask_slots(registry, *dir, flags, near, open);
}

}  // namespace

Directory* make_directory_like(Directory& dir, uint64_t flags, const Table* of,
                               const Memory& memory) {
  if (flags >= Directory::kForeign) [[unlikely]]
    return nullptr;
  size_t room = 0;
  if ((flags & Directory::kHasTree) != 0) [[unlikely]] {
    visit_tree(
        dir.tree.load(kAcquire),  // as T1
        [&room](FarLeaf* leaf) { room += leaf->occupied() ? sizeof(FarLeaf) : 0; },
        [&room](Node*) { room += sizeof(Node); });
  }
  return Block::make_directory(of, flags & Directory::kHasNearLeaves, room, memory);
}

bool copy_leaves(Registry& registry, Directory& dir, Table& to, References::Counter* near) {
  const uint64_t one = opaque(uint64_t{References::kOneOfStripe});
  const uint64_t flags = dir.flags();
  Directory& made = *to.directory.load(kRelaxed);
  const auto copy = [one](const Leaf& leaf, References::Counter* counters, Pair* slots)
      __attribute__((always_inline)) {
    if (slots == nullptr) __builtin_unreachable();
#pragma GCC unroll 8
    for (uint32_t s = 0; s < kLeafSlots; ++s) {
      if (!copy_slot(leaf.slots[s], counters[s], one, [=] { return slots + s; })) [[unlikely]]
        return false;
    }
    return true;
  };
  const bool all = Directory::while_each_near(
      flags, [&, copy ](uint32_t number) __attribute__((always_inline)) {
        Leaf* const there = made.leaves[number].load(kRelaxed);
        // The old table got this leaf meanwhile. What is in it was attached after the dup began,
        // and counts as attached after the dup.
        if (there == &no_leaf) [[unlikely]]
          return true;
        const Leaf& leaf = *dir.leaves[number].load(kAcquire);  // as T1
        return copy(leaf, opaque(near + size_t{number} * kLeafSlots), there->slots);
      });
  if (!all || (flags & Directory::kHasTree) == 0) [[likely]]
    return all;
  return ask_tree(registry, dir,
                  [&, copy](uint32_t first, const Leaf& leaf, References::Counter* counters) {
                    if (!leaf.occupied()) return true;  // there is no room for it
                    Pair* const slots = to.grow_in_block(first, registry.memory());
                    return slots != nullptr && copy(leaf, counters, slots);
                  });
}

bool empty_leaves(Registry& registry, Table& table, Directory* dir, uint64_t flags,
                  References::Counter* near, uint32_t wanted) {
  // A user-level thread has a stack of callbacks of its own, where an operation may be using the
  // table.
  if (registry.threads().hooked() && registry.threads().self().innermost != nullptr) [[unlikely]] {
    return false;
  }
  if (flags >= Directory::kForeign) [[unlikely]]
    return false;
  if (registry.any_lingers()) [[unlikely]] {
    if (!all_open(registry, table, dir, flags, near)) return false;
    if (flags == 0) return true;
  }
  const bool all = ask_slots(
      registry, *dir, flags,
      near, [wanted](const Pair& slot, References::Counter&) __attribute__((always_inline)) {
        const uint32_t upper = slot.load_upper();
        return upper == 0 || deletable(upper, wanted);
      });
  if (!all) return false;
  const uint64_t less_one = opaque(uint64_t{References::kLessOneOfStripe});
  return ask_slots(
      registry, *dir, flags,
      near, [less_one](Pair & slot, References::Counter & counter) __attribute__((always_inline)) {
        return empty_slot(slot, counter, less_one);
      });
}

int give_up_copy(Registry& registry, Table& from, Table& to) {
  ThreadState& thread = registry.threads().self();
  const TableScope old_scope(thread, &from);
  const TableScope new_scope(thread, &to);
  to.mark_begun();
  Batch batch(to, &registry.memory());
  while (batch.next()) {
    for (const Batch::Item& item : batch) {
      item.slot->clear_unshared();
      drop_reference(registry, meta::keyval(item.meta, item.index));  // may run a destructor
      if (new_scope.table_died()) return ATTRCACHE_ERR_FREED;
    }
  }
  to.clear(registry.memory());
  return old_scope.table_died() ? ATTRCACHE_ERR_FREED : ATTRCACHE_ABSENT;
}

}  // namespace attrcache
