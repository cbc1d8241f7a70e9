// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/table.h"

#include "platform/memory.h"

namespace attrcache {

Leaf no_leaf = {};
FarLeaf no_far_leaf{~uint32_t{0}};
Node no_tree;

namespace {

// Makes a leaf or node, for which `flag` stands. Null when out of memory.
template <typename T, typename... Args>
T* make_part(const Memory& memory, Directory& dir, uint64_t flag, Args... args) {
  // (T4) This comes before the leaf is put in its place, so that T2 or T3 publishes it, too. So
  // a thread that has used the leaf sees the flag, and so does the thread that is handed the object
  // later.
  dir.add(flag);
  return memory.make<T>(args...);
}

// Returns what `place` points to. If that is `nothing`, `make_it` makes one first; null when out of
// memory.
template <typename Held, typename MakeIt>
Held* get_or_make(const Memory& memory, Atomic<Held*>& place, Held* nothing, MakeIt make_it) {
  Held* held = place.load(kAcquire);  // as T1
  if (held == nothing) {
    Held* made = make_it();
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
// that: the leaf that was wanted, a node to descend by, or a leaf that goes below a new one.
FarLeaf* grow_tree(const Memory& memory, Directory& dir, uint32_t number) {
  Node* node = get_or_make(memory, dir.tree, &no_tree,
                           [&] { return make_part<Node>(memory, dir, Directory::kHasTree); });
  if (node == nullptr) return nullptr;
  uint32_t rest = number;
  for (unsigned bits = kFanoutBits;; bits += kFanoutBits) {
    Atomic<Child>& place = node->towards(rest);
    rest >>= kFanoutBits;
    Child child = place.load(kAcquire);  // as T1
    while (!child.is_node()) {
      FarLeaf* const there = child.leaf();
      if (there->number == number) return there;
      if (there == &no_far_leaf) {
        auto* leaf = make_part<FarLeaf>(memory, dir, Directory::kHasTree, number);
        if (leaf == nullptr) return nullptr;
        if (place.compare_exchange_strong(child, Child::of(leaf), kAcqRel, kAcquire))
          return leaf;  // (T3) as T2
        memory.destroy(leaf);
        continue;
      }
      // Another leaf has the same bits so far: it keeps its slots, and moves below a node, where
      // the numbers' next bits are looked at.
      auto* between = make_part<Node>(memory, dir, Directory::kHasTree);
      if (between == nullptr) return nullptr;
      between->towards(there->number >> bits).store(child, kRelaxed);  // until T3
      if (place.compare_exchange_strong(child, Child::of(between), kAcqRel, kAcquire)) {  // as T3
        child = Child::of(between);
      } else {
        memory.destroy(between);
      }
    }
    node = child.node();
  }
}

}  // namespace

bool Table::occupied() {
  return any_run([](uint32_t, const Pair* run, uint32_t length) {
    while (length != 0) {
      if (run[--length].load_meta() != 0) return true;
    }
    return false;
  });
}

Pair* Table::grow(uint32_t index, const Memory& memory) {
  Directory* dir = get_or_make(memory, directory, static_cast<Directory*>(nullptr),
                               [&] { return memory.make<Directory>(this); });
  if (dir == nullptr) return nullptr;
  const uint32_t number = index / kLeafSlots;
  Leaf* const leaf =
      number < kDirectoryLeaves
          ? get_or_make(memory, dir->leaves[number], &no_leaf,
                        [&] { return make_part<Leaf>(memory, *dir, Directory::has_leaf(number)); })
          : grow_tree(memory, *dir, number);
  return leaf != nullptr ? &leaf->slots[index % kLeafSlots] : nullptr;
}

void Table::release_beyond(Directory& dir, const Memory& memory) {
  for (uint64_t near = dir.flags() & ~Directory::kHasTree; near != 0; near &= near - 1) {
    Leaf* const leaf = dir.leaves[__builtin_ctzll(near)].load(kAcquire);  // as T1
    if (leaf != &no_leaf) memory.destroy(leaf);
  }
  const auto release_leaf = [&memory](FarLeaf* leaf) {
    memory.destroy(leaf);
    return false;
  };
  Node* const tree = dir.tree.load(kAcquire);  // as T1
  if (tree != &no_tree)
    visit_tree(tree, release_leaf, [&memory](Node* node) { memory.destroy(node); });
}

}  // namespace attrcache
