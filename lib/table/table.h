// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What an attrcache_table is inside, and how a keyval's index finds its slot:
//
//   index 0 to 2     in the table itself, in its one cache line
//   index 3 to 63    in one of eight leaves of eight slots, through the directory; the first of
//                    them, which begins at index 3, is part of it
//   index 64 and up  in a leaf of a radix tree of fanout 16
//
// In the tree a leaf has a number, its first index over the leaf's slots, and a node's child is
// chosen by four bits of it, the lowest at the root. A leaf hangs as high as it can: a node comes
// between only where another leaf has the same lowest bits. So consecutive leaves are spread over
// the root's children, and the tree's depth depends on how many leaves it has, not on how high
// their numbers are. Wherever a walk ends, the number of the leaf there shows whether it is the
// right one.
//
// For example, with attributes at the indices 0, 9, 64, 128 and 192 (leaves 8, 16 and 24):
//
//   attrcache_table      Directory
//   directory ---------> leaves[0] ---> first_slots, 3 to 7, which follow in the directory
//   clock                leaves[1] ---> 8 to 15
//   slots 0, 1, 2        leaves[2] to [7]: none yet
//                        root --------> Node
//                                       places[0] ---> leaf 16 = 0x10: 128 to 135
//                                       places[8] ---> Node
//                                                      places[0] ---> leaf  8 = 0x08: 64 to 71
//                                                      places[1] ---> leaf 24 = 0x18: 192 to 199
//
// Slots never move. All memory is allocated when it is first needed, and released with the table:
// leaves, and nodes in the place of a leaf, in blocks each of which is a quarter larger than the
// one before. Walks over all slots go along these, usually in the order of setting. Each
// kGroupLeaves of a block are a group, which counts the attributes that it has in the tree, and
// walks pass over a group that has none. So a walk costs what there is, whatever there once was.

#ifndef ATTRCACHE_TABLE_TABLE_H_
#define ATTRCACHE_TABLE_TABLE_H_

#include <cstddef>
#include <cstdint>

#include "attrcache/attrcache.h"
#include "keyval/id.h"
#include "platform/atomic.h"
#include "platform/memory.h"
#include "platform/pair.h"

namespace attrcache {

inline constexpr uint32_t kInlineSlots = 3;
inline constexpr uint32_t kLeafSlots = 8;
inline constexpr uint32_t kDirectoryLeaves = 8;
inline constexpr uint32_t kDirectorySlots = kDirectoryLeaves * kLeafSlots;
inline constexpr unsigned kFanoutBits = 4;
inline constexpr uint32_t kFanout = 1u << kFanoutBits;
inline constexpr uint32_t kGroupLeaves = 16;

struct Leaf {
  // The tree's leaf that has a slot; null: none.
  static Leaf* of(Pair& slot, id::Offset at) {
    if (id::bytes(at) < kDirectorySlots * sizeof(Pair)) [[likely]]
      return nullptr;
    return reinterpret_cast<Leaf*>(&slot - id::index(at) % kLeafSlots);
  }

  Pair slots[kLeafSlots];
  Atomic<uint32_t> number;      // 0: it isn't in use as a leaf
  Atomic<uint32_t> attributes;  // the first one's of a group: how many are counted in the group
  Leaf* group = nullptr;        // the first one of its group
};

// (T5) An attribute in the tree is counted before it is attached, and until it was detached.
// Relaxed: the step that attaches it (S1, S11) releases the count with it.
inline void count_attribute(Pair& slot, id::Offset at, uint32_t times = 1) {
  if (Leaf* leaf = Leaf::of(slot, at)) [[unlikely]]
    leaf->group->attributes.fetch_add(times, kRelaxed);
}
// Release: a walk that passes over the group (T6) sees that the last one was detached.
inline void uncount_attribute(Pair& slot, id::Offset at, uint32_t times = 1) {
  if (Leaf* leaf = Leaf::of(slot, at)) [[unlikely]]
    leaf->group->attributes.fetch_sub(times, kRelease);
}

// The memory of leaves. All-zero bytes are a leaf that isn't in use.
struct alignas(kAllocationAlignment) Block {
  Leaf* leaves() { return reinterpret_cast<Leaf*>(this + 1); }
  // The end of those that are taken. Relaxed: see T4.
  Leaf* end() {
    const uint32_t asked = asked_for.load(kRelaxed);
    return leaves() + (asked < size ? asked : size);
  }

  Atomic<Block*> next{nullptr};
  const uint32_t size;            // in leaves
  Atomic<uint32_t> asked_for{0};  // how many were, which may be more than there are
};

// What a node of the tree has below it: a leaf, or another node, whose address has a bit added.
struct Child {
  static constexpr uintptr_t kIsNode = 1;
  static Child of(Leaf* leaf) { return {leaf}; }
  static Child of(struct Node* node) { return {reinterpret_cast<char*>(node) + kIsNode}; }
  bool is_node() const { return (reinterpret_cast<uintptr_t>(at) & kIsNode) != 0; }
  // Call the one that is_node() selects.
  struct Node* node() const {
    return reinterpret_cast<struct Node*>(static_cast<char*>(at) - kIsNode);
  }
  Leaf* leaf() const { return static_cast<Leaf*>(at); }

  void* at;
};

// Stand for the leaves that a directory or a node doesn't have yet, and for a tree that doesn't
// exist yet, so that get needs no test for null. Never written.
extern Leaf no_leaf;
extern struct Node no_node;

// Where a child is; no leaf, at first.
struct Place : Atomic<Child> {
  constexpr Place() : Atomic<Child>(Child{&no_leaf}) {}
};

// Made in the place of a leaf's slots, but for the root.
struct Node {
  // The place on the way to a leaf; `rest` is its number without the bits used by the nodes above.
  Place& towards(uint32_t rest) { return places[rest % kFanout]; }

  Place places[kFanout];
};

struct Directory {
  // Relaxed: published with the directory. leaves[0] points kInlineSlots slots before first_slots.
  explicit Directory(const struct Table* of) : owner(of) {
    auto* before = reinterpret_cast<char*>(first_slots) - kInlineSlots * sizeof(Pair);
    leaves[0].store(Child{before}, kRelaxed);
  }

  // The leaf of the tree that has that number, or null. Wait-free: a tree is at most as deep as
  // numbers have bits. An int that is no keyval has an offset so large that no leaf has its number.
  Leaf* find_leaf(uint32_t number) const {
    Child child = root.load(kAcquire)->towards(number).load(kAcquire);  // as T1
    for (uint32_t rest = number; child.is_node();) [[unlikely]] {
        rest >>= kFanoutBits;
        child = child.node()->towards(rest).load(kAcquire);  // as T1
      }
    Leaf* const leaf = child.leaf();
    return leaf->number.load(kRelaxed) == number ? leaf : nullptr;  // T1 has acquired it
  }

  // Takes a free leaf, for use as a leaf or as a node; null when out of memory. Lock-free.
  Leaf* take(const Memory& memory);

  // Releases it, with all leaves and nodes.
  void release(const Memory& memory);

  Place leaves[kDirectoryLeaves];  // they have no nodes
  Atomic<Node*> root{&no_node};
  // Which table it belongs to, so that a table that was copied or moved as plain bytes is
  // recognized. Relaxed: only the table's owner, which made it or was handed it, looks at it.
  Atomic<const struct Table*> owner;
  Atomic<Block*> first{nullptr};
  Atomic<Block*> last{nullptr};  // or one shortly before that
  Pair first_slots[kLeafSlots - kInlineSlots];
};
static_assert(sizeof(void*) != 8 || sizeof(Directory) == 176);

struct Table {
  Atomic<Directory*> directory;
  Atomic<uint64_t> clock;  // the last sequence number, and kMarked
  Pair inline_slots[kInlineSlots];

  static Table& of(attrcache_table* table) { return *reinterpret_cast<Table*>(table); }
  static const Table& of(const attrcache_table* table) {
    return *reinterpret_cast<const Table*>(table);
  }

  // The slot at an offset (id::slot_offset) that is within the table itself.
  Pair* inline_slot(size_t offset) { return slot_at(inline_slots, offset); }

  // The slot at an offset (id::slot_offset), or null if it was never needed. Wait-free.
  [[gnu::always_inline]] Pair* at_offset(id::Offset of) {
    const auto offset = static_cast<uint32_t>(of);
    if (offset < sizeof(inline_slots)) [[likely]]
      return slot_at(inline_slots, offset);
    Directory* dir = directory.load(kAcquire);  // (T1) pairs with T2, T3
    if (dir == nullptr) return nullptr;
    Leaf* leaf;
    if (offset >= kDirectorySlots * sizeof(Pair)) {
      leaf = dir->find_leaf(offset / sizeof(Leaf::slots));
      if (leaf == nullptr) return nullptr;
    } else {
      leaf = dir->leaves[offset / sizeof(Leaf::slots)].load(kAcquire).leaf();  // as T1
      if (leaf == &no_leaf) return nullptr;
    }
    return slot_at(leaf->slots, offset % sizeof(Leaf::slots));
  }
  const Pair* at_offset(id::Offset of) const { return const_cast<Table*>(this)->at_offset(of); }

  // The slot of an index beyond the table itself. It is made if it doesn't exist yet; null when out
  // of memory. Lock-free.
  Pair* grow(uint32_t index, const Memory& memory);

  // The next sequence number. It may be relaxed: numbers must be unique and must grow along
  // happens-before, and for that the counter's modification order is enough.
  uint64_t tick() { return clock.fetch_add(1, kRelaxed) + 1; }
  // The same for a table that only its owner uses.
  uint64_t tick_unshared() {
    const uint64_t next = clock.load(kRelaxed) + 1;
    clock.store(next, kRelaxed);
    return next;
  }

  // The last sequence number that was given out.
  uint64_t now() const { return clock.load(kRelaxed) & ~kMarked; }

  // Marks the table before a delete claims a value (S8), before one with a delete_fn leaves its
  // slot to another value (S6, S11), or leaves it undeleted: from then on its slots don't show all
  // that other threads' calls, and delete_fns, may still do with the table. Relaxed: the thread
  // that frees the object has seen what that step did, or that delete_fn, and with it the mark.
  void mark() {
    if (!marked()) clock.fetch_or(kMarked, kRelaxed);
  }
  bool marked() const { return (clock.load(kRelaxed) & kMarked) != 0; }
  // For a caller that is alone with the table, and has found nothing that others may still do.
  void forget_mark() { clock.store(now(), kRelaxed); }

  // Calls visit(index, slot) for every slot that may have an attribute: those in the table itself
  // and in the first leaf, and then those of the others, in the order in which these were made.
  template <typename Visit>
  [[gnu::always_inline]] void for_each(Visit visit);

  // The same for every run of slots that lie side by side, of at most kLeafSlots:
  // visit(index of the first, slots, how many), until one returns true. Returns whether one did.
  template <typename Visit>
  [[gnu::always_inline]] bool any_run(Visit visit, bool also_empty = false);

  // Whether it holds nothing at all, not even memory: nothing was attached to it, as far as the
  // caller can know, since it was new. Relaxed: the clock shows every attachment that happened
  // before.
  bool is_as_new() const {
    return clock.load(kRelaxed) == 0 && directory.load(kRelaxed) == nullptr;
  }

  // Whether the table's memory belongs to it. This is false for a table whose bytes were copied or
  // moved from another one.
  bool owns_its_memory() const {
    const Directory* dir = directory.load(kAcquire);  // as T1
    return dir == nullptr || dir->owner.load(kRelaxed) == this;
  }

  // Takes over everything that `from` has; `from` is as new afterwards. No other thread may use
  // either.
  void take_over(Table& from);

  // Releases all memory, and makes the table's bytes zero again. No other thread may use the table,
  // and whatever its slots hold must not matter any more.
  void clear(const Memory& memory);

 private:
  static constexpr uint64_t kMarked = uint64_t{1} << 63;
  static Pair* slot_at(Pair* slots, size_t offset) {
    return reinterpret_cast<Pair*>(reinterpret_cast<char*>(slots) + offset);
  }
};
static_assert(sizeof(Table) == sizeof(attrcache_table) && sizeof(Table) == 64);
static_assert(alignof(Table) <= alignof(attrcache_table));
static_assert(sizeof(Leaf::slots) == 128 && sizeof(Node) == kFanout * sizeof(void*) &&
              sizeof(Node) <= sizeof(Leaf::slots));

inline void Table::take_over(Table& from) {
  for (uint32_t s = 0; s < kInlineSlots; ++s) {
    inline_slots[s].store_unshared(from.inline_slots[s].load());
    from.inline_slots[s].store_unshared({0, 0});
  }
  clock.store(from.clock.load(kRelaxed), kRelaxed);
  from.clock.store(0, kRelaxed);
  Directory* dir = from.directory.load(kRelaxed);  // nobody else uses the table
  from.directory.store(nullptr, kRelaxed);
  if (dir != nullptr) dir->owner.store(this, kRelaxed);
  directory.store(dir, kRelaxed);
}

inline void Table::clear(const Memory& memory) {
#pragma GCC unroll 3
  for (Pair& slot : inline_slots) slot.store_unshared({0, 0});
  clock.store(0, kRelaxed);
  Directory* dir = directory.load(kAcquire);  // as T1, by the owner
  directory.store(nullptr, kRelaxed);
  if (dir != nullptr) dir->release(memory);
}

template <typename Visit>
inline bool Table::any_run(Visit visit, bool also_empty) {
  Directory* dir = directory.load(kAcquire);  // as T1, and so below
  if (visit(0, inline_slots, kInlineSlots)) return true;
  if (dir == nullptr) return false;
  if (visit(kInlineSlots, dir->first_slots, kLeafSlots - kInlineSlots)) return true;
  for (Block* block = dir->first.load(kAcquire); block != nullptr;
       block = block->next.load(kAcquire)) {
    Leaf* const end = block->end();
    for (Leaf* group = block->leaves(); group < end; group += kGroupLeaves) {
      if (!also_empty && group->attributes.load(kAcquire) == 0) continue;  // (T6) pairs with T5
      for (Leaf* leaf = group; leaf != end && leaf != group + kGroupLeaves; ++leaf) {
        // Relaxed: a leaf with an attribute that the walk must find has its number (T4). One that
        // was never put in its place is empty.
        const uint32_t number = leaf->number.load(kRelaxed);
        if (number != 0 && visit(number * kLeafSlots, leaf->slots, kLeafSlots)) return true;
      }
    }
  }
  return false;
}

template <typename Visit>
inline void Table::for_each(Visit visit) {
  any_run([&visit](uint32_t first, Pair* slots, uint32_t count) {
    for (uint32_t s = 0; s < count; ++s) visit(first + s, slots[s]);
    return false;
  });
}

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_TABLE_H_
