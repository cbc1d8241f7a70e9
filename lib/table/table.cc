// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/table.h"

namespace attrcache {

Leaf no_leaf;
Node no_node;

namespace {

// Returns what `place` points to. If that is `nothing`, one is made first; null when out of memory.
template <typename T, typename Nothing, typename Make>
T* get_or_make(Atomic<T*>& place, Nothing nothing, const Memory& memory, Make make) {
  T* held = place.load(kAcquire);  // as T1
  if (held == nothing) {
    T* made = make();
    if (made == nullptr) return nullptr;
    // (T2) release: a thread that finds it (T1) sees its contents. Acquire: if another thread has
    // made one first, we see that one's.
    if (place.compare_exchange_strong(held, made, kAcqRel, kAcquire)) return made;
    memory.destroy(made);
  }
  return held;
}

// Returns the leaf of that number, which is made if it doesn't exist yet; null when out of memory.
// A thread that loses a race for a place looks at what the winner has put there, and continues from
// that: the leaf that was wanted, a node to descend by, or a leaf that goes below a new one. The
// leaf or node that it has made itself may be of no use then: it stays where it is, empty.
Leaf* get_or_make_leaf(const Memory& memory, Directory& dir, uint32_t number) {
  Place* place = &dir.leaves[number % kDirectoryLeaves];
  if (number >= kDirectoryLeaves) {
    Node* const root = get_or_make(dir.root, &no_node, memory, [&] { return memory.make<Node>(); });
    if (root == nullptr) return nullptr;
    place = &root->towards(number);
  }
  Leaf* made = nullptr;
  for (unsigned bits = kFanoutBits;; bits += kFanoutBits) {
    Child child = place->load(kAcquire);  // as T1
    while (!child.is_node()) {
      Leaf* const there = child.leaf();
      const uint32_t its = there->number.load(kRelaxed);  // T1 has acquired it
      if (its == number) return there;
      if (there == &no_leaf) {
        if (made == nullptr) {
          made = dir.take(memory);  // (T4) before T3
          if (made == nullptr) return nullptr;
          made->number.store(number, kRelaxed);  // until T3
          // The directory's attributes aren't counted: walks don't pass over such a leaf.
          if (number < kDirectoryLeaves) made->group->attributes.fetch_add(1, kRelaxed);
        }
        if (place->compare_exchange_strong(child, Child::of(made), kAcqRel, kAcquire))
          return made;  // (T3) as T2
        continue;
      }
      // Another leaf has the same bits so far: it keeps its slots, and moves below a node, where
      // the numbers' next bits are looked at.
      Leaf* const room = dir.take(memory);
      if (room == nullptr) return nullptr;
      Node* const between = new (room->slots) Node();
      between->towards(its >> bits).store(child, kRelaxed);                              // until T3
      if (place->compare_exchange_strong(child, Child::of(between), kAcqRel, kAcquire))  // as T3
        child = Child::of(between);
    }
    place = &child.node()->towards(number >> bits);
  }
}

}  // namespace

// (T4) A leaf is taken before it is put in its place (T3). So a thread that has used the leaf, or is
// handed the object later, comes to it in a walk: relaxed is enough.
Leaf* Directory::take(const Memory& memory) {
  for (Block* block = last.load(kAcquire);;) {  // pairs with the store below
    // It looks before it counts, as without memory a program may ask again and again.
    if (block != nullptr && block->asked_for.load(kRelaxed) < block->size) {
      const uint32_t at = block->asked_for.fetch_add(1, kRelaxed);
      if (at < block->size) {
        Leaf* const leaf = block->leaves() + at;
        leaf->group = leaf - at % kGroupLeaves;
        return leaf;
      }
    }
    const uint32_t size = block != nullptr ? (block->size * 5 / 8 + 1) * 2 : 1;
    block = get_or_make(block != nullptr ? block->next : first, nullptr, memory, [&] {
      void* const room = memory.allocate_zeroed(sizeof(Block) + size * sizeof(Leaf));
      return room != nullptr ? new (room) Block{nullptr, size, 0} : nullptr;
    });
    if (block == nullptr) return nullptr;
    last.store(block, kRelease);
  }
}

Pair* Table::grow(uint32_t index, const Memory& memory) {
  Directory* const dir =
      get_or_make(directory, nullptr, memory, [&] { return memory.make<Directory>(this); });
  if (dir == nullptr) return nullptr;
  if (index < kLeafSlots) return &dir->first_slots[index - kInlineSlots];
  Leaf* const leaf = get_or_make_leaf(memory, *dir, index / kLeafSlots);
  return leaf != nullptr ? &leaf->slots[index % kLeafSlots] : nullptr;
}

void Directory::release(const Memory& memory) {
  for (Block* block = first.load(kAcquire); block != nullptr;) {  // as T1
    Block* const next = block->next.load(kAcquire);               // as T1
    memory.release(block);
    block = next;
  }
  if (Node* const node = root.load(kAcquire); node != &no_node) memory.destroy(node);  // as T1
  memory.destroy(this);
}

}  // namespace attrcache
