// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What an attrcache_table is inside, and how a keyval's index finds its slot:
//
//   index 0 to 2     in the table itself, in its one cache line
//   index 3 to 63    in one of eight leaves of eight slots, through the directory; the first of
//                    them, which begins at index 3, is part of it
//   index 64 and up  in a leaf at the bottom of a radix tree of fanout 16, at most 4 levels deep
//
// Slots never move, and no memory is unmapped before the table is freed. Memory is allocated when
// it is first needed, so the first attribute of a table costs at most one leaf, the directory and
// four nodes, whatever its keyval.

#ifndef ATTRCACHE_TABLE_TABLE_H_
#define ATTRCACHE_TABLE_TABLE_H_

#include <cstddef>
#include <cstdint>

#include "attrcache/attrcache.h"
#include "platform/atomic.h"
#include "platform/memory.h"
#include "platform/pair.h"

namespace attrcache {

inline constexpr uint32_t kInlineSlots = 3;
inline constexpr uint32_t kLeafSlots = 8;
inline constexpr uint32_t kDirectoryLeaves = 8;
inline constexpr uint32_t kDirectorySlots = kDirectoryLeaves * kLeafSlots;
inline constexpr uint32_t kFanout = 16;

struct Leaf {
  Pair slots[kLeafSlots];
};

// A node of the radix tree. Its children are nodes, or leaves at the lowest level.
struct Node {
  Atomic<void*> children[kFanout];
};

// A leaf of empty slots that stands in the place of every leaf which a directory doesn't have yet,
// so that get needs no test for null. It is never written.
extern Leaf no_leaf;

struct Table;

struct Directory {
  // The stores are relaxed because they are published together with the directory. leaves[0] points
  // kInlineSlots slots before first_slots, so that an index finds its slot as in any other leaf.
  explicit Directory(const Table* of) : table(of) {
    auto* before = reinterpret_cast<char*>(first_slots) - kInlineSlots * sizeof(Pair);
    leaves[0].store(reinterpret_cast<Leaf*>(before), kRelaxed);
#pragma GCC unroll 8
    for (uint32_t l = 1; l < kDirectoryLeaves; ++l) leaves[l].store(&no_leaf, kRelaxed);
  }
  // Calls visit(index, slot) for every slot of all leaves but the first.
  template <typename Visit>
  void for_each_leaf(Visit visit);

  Atomic<Leaf*> leaves[kDirectoryLeaves];
  // Says what there is beyond first_slots; 0 means nothing. See the namespace `tree` below.
  Atomic<uintptr_t> root{0};
  // The table that this directory belongs to. If a table finds another one here, its bytes were
  // copied or moved. Accesses are relaxed, because only the table's owner looks, who has made the
  // table or was handed it.
  Atomic<const Table*> table{nullptr};
  Pair first_slots[kLeafSlots - kInlineSlots];
};
static_assert(sizeof(Directory) == 160);

struct Table {
  Atomic<Directory*> directory;
  Atomic<uint64_t> clock;  // the last sequence number
  Pair inline_slots[kInlineSlots];

  static Table& of(attrcache_table* table) { return *reinterpret_cast<Table*>(table); }
  static const Table& of(const attrcache_table* table) {
    return *reinterpret_cast<const Table*>(table);
  }

  // The slot of an index, or null if it was never needed. Wait-free.
  const Pair* find(uint32_t index) const {
    return index < kInlineSlots ? &inline_slots[index] : find_far(index);
  }
  Pair* find(uint32_t index) {
    return const_cast<Pair*>(static_cast<const Table*>(this)->find(index));
  }

  // The slot at an offset (id::slot_offset) if it exists and its index is below 64, else null.
  // Wait-free.
  Pair* find_in_first_slots(uint32_t offset) {
    if (offset < sizeof(inline_slots)) [[likely]]
      return slot_at(inline_slots, offset);
    if (offset >= kDirectorySlots * sizeof(Pair)) return nullptr;
    Directory* dir = directory.load(kAcquire);  // (T1) pairs with T2
    if (dir == nullptr) return nullptr;
    Leaf* leaf = dir->leaves[offset / sizeof(Leaf)].load(kAcquire);  // as T1
    return leaf != &no_leaf ? slot_at(leaf->slots, offset % sizeof(Leaf)) : nullptr;
  }

  // The slot of an index. It is made if it doesn't exist yet; null when out of memory. Lock-free.
  Pair* find_or_grow(uint32_t index) {
    Pair* slot = find(index);
    return slot != nullptr ? slot : grow(index);
  }

  // Whether a slot is occupied, or there may be occupied ones beyond the first leaf. Only for a
  // table that no other thread uses.
  bool occupied() const {
    for (const Pair& slot : inline_slots) {
      if (slot.load_meta() != 0) return true;
    }
    const Directory* dir = directory.load(kRelaxed);
    if (dir == nullptr) return false;
    for (const Pair& slot : dir->first_slots) {
      if (slot.load_meta() != 0) return true;
    }
    return dir->root.load(kRelaxed) != 0;
  }

  // The next sequence number. It may be relaxed: numbers must be unique and must grow along
  // happens-before, and for that the counter's modification order is enough.
  uint64_t tick() { return clock.fetch_add(1, kRelaxed) + 1; }
  // Whether the thread that got this number must renumber the attributes (renumber.h).
  static constexpr bool wants_renumbering(uint64_t number) {
    return static_cast<uint32_t>(number) == 0;
  }

  // Calls visit(index, slot) for every slot that exists, in the order of indices.
  template <typename Visit>
  void for_each(Visit visit);

  // The same for the first kLeafSlots indices only, and only until visit(index, slot) returns
  // false. It is unrolled, so that the variables of `visit` may live in registers. `dir` is the
  // directory as the caller has read it; it is passed on because another thread may make one
  // meanwhile.
  template <typename Visit>
  void while_each_first(Directory* dir, Visit visit);

  // Whether the table is as new: it has no attributes and no memory, and its clock stands at 0.
  // Only for a table that no other thread uses.
  bool is_as_new() const {
    return clock.load(kRelaxed) == 0 && directory.load(kRelaxed) == nullptr;
  }

  // Whether the table's memory belongs to it. This is false for a table whose bytes were copied or
  // moved from another one.
  bool owns_its_memory() const {
    const Directory* dir = directory.load(kAcquire);  // as T1
    return dir == nullptr || dir->table.load(kRelaxed) == this;
  }

  // Takes over everything that `from` has; `from` is as new afterwards. No other thread may use
  // either.
  void take_over(Table& from);

  // Releases all memory, and makes the table's bytes zero again. No other thread may use the table,
  // and whatever its slots hold must not matter any more.
  void clear();

 private:
  static Pair* slot_at(Pair* slots, uint32_t offset) {
    return reinterpret_cast<Pair*>(reinterpret_cast<char*>(slots) + offset);
  }
  const Pair* find_far(uint32_t index) const;
  Pair* grow(uint32_t index);
  [[gnu::noinline]] static void release_beyond(Directory& dir, uintptr_t root);
};
static_assert(sizeof(Table) == sizeof(attrcache_table) && sizeof(Table) == 64);
static_assert(alignof(Table) <= alignof(attrcache_table));
static_assert(sizeof(Leaf) == 128 && sizeof(Node) == 128);

// A root is one word: the address of the topmost Node, the tree's height (1 to 4, or 0 if there is
// no tree), and a bit that says whether the directory ever had a leaf besides the first.
namespace tree {
inline constexpr uintptr_t kHeightMask = 7;
inline constexpr uintptr_t kHasLeaves = 8;
inline Node* node(uintptr_t root) {
  return reinterpret_cast<Node*>(root & ~(kHeightMask | kHasLeaves));
}
inline unsigned height(uintptr_t root) { return root & kHeightMask; }
inline uintptr_t make_root(Node* node, unsigned height) {
  return reinterpret_cast<uintptr_t>(node) | height;
}
// How many leaves a tree of that height can have.
inline uint32_t reach(unsigned height) { return 1u << 4 * height; }
// Which child of a node at that height leads to a leaf.
inline uint32_t child(uint32_t leaf, unsigned height) {
  return leaf >> 4 * (height - 1) & (kFanout - 1);
}
}  // namespace tree

namespace detail {
template <typename Visit>
void visit_tree(void* child, unsigned height, uint32_t leaf, Visit& visit) {
  if (height == 0) {
    auto* slots = static_cast<Leaf*>(child)->slots;
    for (uint32_t s = 0; s < kLeafSlots; ++s) visit(leaf * kLeafSlots + s, slots[s]);
    return;
  }
  for (uint32_t c = 0; c < kFanout; ++c) {
    void* below = static_cast<Node*>(child)->children[c].load(kAcquire);  // as T1
    if (below != nullptr) visit_tree(below, height - 1, leaf << 4 | c, visit);
  }
}
}  // namespace detail

template <typename Visit>
[[gnu::always_inline]] inline void Table::while_each_first(Directory* dir, Visit visit) {
#pragma GCC unroll 8
  for (uint32_t index = 0; index < kInlineSlots; ++index) {
    if (!visit(index, inline_slots[index])) [[unlikely]]
      return;
  }
  if (dir == nullptr) return;
#pragma GCC unroll 8
  for (uint32_t index = kInlineSlots; index < kLeafSlots; ++index) {
    if (!visit(index, dir->first_slots[index - kInlineSlots])) [[unlikely]]
      return;
  }
}

inline void Table::take_over(Table& from) {
  for (uint32_t s = 0; s < kInlineSlots; ++s) {
    inline_slots[s].store_unshared(from.inline_slots[s].load());
    from.inline_slots[s].store_unshared({0, 0});
  }
  clock.store(from.clock.load(kRelaxed), kRelaxed);
  from.clock.store(0, kRelaxed);
  Directory* dir = from.directory.load(kAcquire);  // as T1
  from.directory.store(nullptr, kRelaxed);
  if (dir != nullptr) dir->table.store(this, kRelaxed);
  directory.store(dir, kRelaxed);
}

inline void Table::clear() {
  for (Pair& slot : inline_slots) slot.store_unshared({0, 0});
  clock.store(0, kRelaxed);
  Directory* dir = directory.load(kAcquire);  // as T1
  if (dir == nullptr) return;
  directory.store(nullptr, kRelaxed);
  const uintptr_t root = dir->root.load(kAcquire);  // as T1
  if (root != 0) [[unlikely]]
    release_beyond(*dir, root);
  destroy(dir);
}

template <typename Visit>
void Directory::for_each_leaf(Visit visit) {
  for (uint32_t l = 1; l < kDirectoryLeaves; ++l) {
    Leaf* leaf = leaves[l].load(kAcquire);  // as T1
    if (leaf == &no_leaf) continue;
    for (uint32_t s = 0; s < kLeafSlots; ++s) visit(l * kLeafSlots + s, leaf->slots[s]);
  }
}

template <typename Visit>
void Table::for_each(Visit visit) {
  Directory* dir = directory.load(kAcquire);  // as T1
  while_each_first(dir, [&visit](uint32_t index, Pair& slot) {
    visit(index, slot);
    return true;
  });
  if (dir == nullptr) return;
  const uintptr_t root = dir->root.load(kAcquire);  // as T1
  if (root == 0) return;
  dir->for_each_leaf(visit);
  if (tree::height(root) != 0) {
    detail::visit_tree(tree::node(root), tree::height(root), 0, visit);
  }
}

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_TABLE_H_
