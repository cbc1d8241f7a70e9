// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/table.h"

#include "platform/memory.h"

namespace attrcache {

Leaf no_leaf{~uint32_t{0}};
Tree no_tree;

namespace {

// Returns what `place` points to. If that is `nothing`, one is made first; null when out of memory.
template <typename T, typename... Args>
T* get_or_make(const Memory& memory, Atomic<T*>& place, T* nothing, Args... args) {
  T* held = place.load(kAcquire);  // as T1
  if (held == nothing) {
    T* made = memory.make<T>(args...);
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
// leaf that it has made itself may be of no use then: it stays in the list, empty.
Leaf* get_or_make_leaf(const Memory& memory, Directory& dir, uint32_t number) {
  Place* place = &dir.leaves[number % kDirectoryLeaves];
  Leaves* list = &dir.made;
  if (number >= kDirectoryLeaves) {
    Tree* const tree = get_or_make(memory, dir.tree, &no_tree);
    if (tree == nullptr) return nullptr;
    place = &tree->root.towards(number);
    list = &tree->made;
  }
  Leaf* made = nullptr;
  for (unsigned bits = kFanoutBits;; bits += kFanoutBits) {
    Child child = place->load(kAcquire);  // as T1
    while (!child.is_node()) {
      Leaf* const there = child.leaf();
      if (there->number == number) return there;
      if (there == &no_leaf) {
        if (made == nullptr) {
          made = memory.make<Leaf>(number);
          if (made == nullptr) return nullptr;
          list->add(*made);
        }
        if (place->compare_exchange_strong(child, Child::of(made), kAcqRel, kAcquire))
          return made;  // (T3) as T2
        continue;
      }
      // Another leaf has the same bits so far: it keeps its slots, and moves below a node, where
      // the numbers' next bits are looked at.
      Node* const between = memory.make<Node>();
      if (between == nullptr) return nullptr;
      between->towards(there->number >> bits).store(child, kRelaxed);  // until T3
      if (place->compare_exchange_strong(child, Child::of(between), kAcqRel, kAcquire)) {  // as T3
        child = Child::of(between);
      } else {
        memory.destroy(between);
      }
    }
    place = &child.node()->towards(number >> bits);
  }
}

void release_all(const Memory& memory, const Leaves& leaves) {
  for (Leaf* leaf = leaves.first.load(kAcquire); leaf != nullptr;) {  // as T1
    Leaf* const next = leaf->next.load(kAcquire);                     // as T1
    memory.destroy(leaf);
    leaf = next;
  }
}

void release_below(const Memory& memory, const Node& node) {
  for (const Place& place : node.places) {
    const Child child = place.load(kAcquire);  // as T1
    if (!child.is_node()) continue;
    release_below(memory, *child.node());
    memory.destroy(child.node());
  }
}

}  // namespace

void Leaves::add(Leaf& leaf) {
  Leaf* before = last.load(kAcquire);  // pairs with the store below, for what it points to
  for (;;) {
    leaf.place = before != nullptr ? (before->place + 1) % kGroupLeaves : 0;
    leaf.group.store(leaf.place != 0 ? &before->head() : nullptr, kRelaxed);  // until T4
    Atomic<Leaf*>& end = before != nullptr ? before->next : first;
    Leaf* next = nullptr;
    // (T4) release: a walk (T1) sees the leaf's number, and that its slots are empty. Acquire, if
    // it fails: another thread's leaf is there, and the list goes on behind that.
    if (end.compare_exchange_strong(next, &leaf, kRelease, kAcquire)) break;
    before = next;
  }
  if (leaf.place == 0 && before != nullptr) before->head().group.store(&leaf, kRelease);  // as T4
  last.store(&leaf, kRelease);  // or it is behind the end by now: the next one goes on from here
}

Pair* Table::grow(uint32_t index, const Memory& memory) {
  const Table* const self = this;
  Directory* const dir = get_or_make(memory, directory, static_cast<Directory*>(nullptr), self);
  if (dir == nullptr) return nullptr;
  if (index < kLeafSlots) return &dir->first_slots[index - kInlineSlots];
  Leaf* const leaf = get_or_make_leaf(memory, *dir, index / kLeafSlots);
  return leaf != nullptr ? &leaf->slots[index % kLeafSlots] : nullptr;
}

void Directory::release(const Memory& memory) {
  release_all(memory, made);
  Tree* const there = tree.load(kAcquire);  // as T1
  if (there != &no_tree) {
    release_all(memory, there->made);
    release_below(memory, there->root);
    memory.destroy(there);
  }
  memory.destroy(this);
}

}  // namespace attrcache
