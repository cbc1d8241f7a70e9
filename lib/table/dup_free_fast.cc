// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/dup_free_fast.h"

#include "callback/frame.h"
#include "table/batch.h"

namespace attrcache {

namespace {

// Calls ask(first index, leaf, counters of its keyvals) for every leaf but the first, until one
// call returns false. Returns whether all returned true.
template <typename Ask>
[[gnu::always_inline]] inline bool ask_leaves(const Registry& registry, Directory& dir, Ask ask) {
  const unsigned ordinal = this_thread().ordinal;
  References::Counter* const near = registry.first_chunk_counters(ordinal);
  if (near == nullptr) [[unlikely]]
    return false;  // as below
  bool all = true;
  dir.for_each_near_leaf([&](uint32_t first, Leaf & leaf) __attribute__((always_inline)) {
    if (all) all = ask(first, leaf, near + first);
  });
  if (!all || !dir.has(Directory::kHasTree)) [[likely]]
    return all;
  visit_tree(dir.tree.load(kAcquire), [&](auto* part) {  // as T1
    if constexpr (std::is_same_v<decltype(part), FarLeaf*>) {
      if (!all) return;
      const uint32_t first = part->number * kLeafSlots;
      References::Counter* const counters = registry.counters(id::offset_at(first), ordinal);
      all = counters != nullptr && ask(first, *part, counters);  // else they are of another kind
    }
  });
  return all;
}

}  // namespace

// Makes a directory whose block has room for as many leaves as have attributes in `dir`, and for
// the nodes above them. Null when out of memory, or if `dir` doesn't belong to `from`.
Directory* make_directory_like(Directory& dir, const Table& from, const Table* of,
                               const Memory& memory) {
  if (!dir.is_of(&from)) return nullptr;
  size_t room = 0;
  dir.for_each_near_leaf([&room](uint32_t, const Leaf& leaf) {
    if (leaf.occupied()) room += sizeof(Leaf);
  });
  if (!dir.has(Directory::kHasTree)) [[likely]]
    return Block::make_directory(of, room, memory);
  visit_tree(dir.tree.load(kAcquire), [&room](auto* part) {  // as T1
    if constexpr (std::is_same_v<decltype(part), Node*>) {
      room += sizeof(Node);
    } else if (part->occupied()) {
      room += sizeof(FarLeaf);
    }
  });
  return Block::make_directory(of, room, memory);
}

bool copy_leaves(Registry& registry, Directory& dir, Table& to) {
  const uint64_t one = opaque(uint64_t{References::kOneOfStripe});
  return ask_leaves(registry, dir,
                    [&, one](uint32_t first, const Leaf& leaf, References::Counter* counters) {
                      if (!leaf.occupied()) return true;
                      Pair* const made = to.grow_in_block(first, registry.memory());
                      if (made == nullptr) return false;
#pragma GCC unroll 8
                      for (uint32_t s = 0; s < kLeafSlots; ++s) {
                        if (!copy_slot(leaf.slots[s], counters[s], one, [=] { return made + s; }))
                          return false;
                      }
                      return true;
                    });
}

bool look_further(Registry& registry, Table& table) {
  // A user-level thread has a stack of callbacks of its own, where an operation may be using the
  // table.
  if (registry.threads().self().innermost != nullptr) return false;
  Directory* dir = table.directory.load(kAcquire);  // as T1
  if (dir != nullptr && !dir->is_of(&table)) return false;
  // Attributes under freed keyvals are left to delete_attributes(), so that the keyvals end, and
  // run their destructors, in the order of the attributes.
  const bool lingers = registry.any_lingers();
  const auto open = [](const Pair& slot, const References::Counter& counter) {
    return slot.load_upper() == 0 || References::is_open(counter);
  };
  bool all = true;
  if (lingers) {
    References::Counter* const counters = registry.first_chunk_counters(this_thread().ordinal);
    table.while_each_first(
        dir, [&](uint32_t index, const Pair& slot) { return all = open(slot, counters[index]); });
  }
  if (!all || dir == nullptr) return all;
  const uint32_t wanted = deletable_of(registry);
  return ask_leaves(registry, *dir, [=](uint32_t, const Leaf& leaf, References::Counter* counters) {
#pragma GCC unroll 8
    for (const Pair& slot : leaf.slots) {
      if (!deletable(slot.load_upper(), wanted)) return false;
    }
    for (uint32_t s = 0; s < kLeafSlots && lingers; ++s) {
      if (!open(leaf.slots[s], counters[s])) return false;
    }
    return true;
  });
}

bool empty_leaves(Registry& registry, Directory& dir) {
  const uint64_t less_one = opaque(uint64_t{References::kLessOneOfStripe});
  return ask_leaves(registry, dir, [less_one](uint32_t, Leaf& leaf, References::Counter* counters) {
#pragma GCC unroll 8
    for (uint32_t s = 0; s < kLeafSlots; ++s) {
      if (!empty_slot(leaf.slots[s], counters[s], less_one)) return false;
    }
    return true;
  });
}

int give_up_copy(Registry& registry, Table& from, Table& to) {
  ThreadState& thread = registry.threads().self();
  const TableScope old_scope(thread, &from);
  const TableScope new_scope(thread, &to);
  to.mark_begun();
  Batch batch(to, Batch::Order::kOldestFirst, &registry.memory());
  while (batch.next()) {
    for (const Batch::Item& item : batch) {
      item.slot->clear_unshared();
      registry.drop(meta::keyval(item.meta, item.index));  // which may run a destructor
      if (new_scope.table_died()) return ATTRCACHE_ERR_BUSY;
    }
  }
  to.clear(registry.memory());
  return old_scope.table_died() ? ATTRCACHE_ERR_BUSY : ATTRCACHE_ABSENT;
}

}  // namespace attrcache
