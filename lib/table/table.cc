// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/table.h"

#include "platform/memory.h"

namespace attrcache {

constinit Leaf no_leaf = {};

namespace {

// Returns what `place` points to. If that is `nothing`, it makes one first; null when out of
// memory.
template <typename Made, typename Held, typename... Args>
Made* get_or_make(Atomic<Held*>& place, Held* nothing, Args... args) {
  Held* held = place.load(kAcquire);  // as T1
  if (held == nothing) {
    Made* made = make<Made>(args...);
    if (made == nullptr) return nullptr;
    // (T2) release: whoever finds it (T1) sees its zeroed slots. Acquire: if another thread has
    // made one first, we see that one's.
    if (place.compare_exchange_strong(held, made, kAcqRel, kAcquire)) return made;
    destroy(made);
  }
  return static_cast<Made*>(held);
}

// Makes the tree high enough for `leaf`, and returns the root. 0 when out of memory.
uintptr_t grow_to_reach(Atomic<uintptr_t>& root, uint32_t leaf) {
  uintptr_t now = root.load(kAcquire);  // as T1
  while (tree::height(now) == 0 || leaf >= tree::reach(tree::height(now))) {
    Node* above = make<Node>();
    if (above == nullptr) return 0;
    unsigned height = 1;
    if (tree::height(now) == 0) {
      while (leaf >= tree::reach(height)) ++height;
    } else {
      // The old topmost node becomes the first child of the new one, so no slot moves.
      above->children[0].store(tree::node(now), kRelaxed);  // published by T3
      height = tree::height(now) + 1;
    }
    const uintptr_t higher = tree::make_root(above, height) | (now & tree::kHasLeaves);
    if (root.compare_exchange_strong(now, higher, kAcqRel, kAcquire)) {  // (T3) as T2
      now = higher;
    } else {
      destroy(above);
    }
  }
  return now;
}

void release_tree(void* child, unsigned height) {
  if (child == nullptr) return;
  if (height > 0) {
    for (Atomic<void*>& below : static_cast<Node*>(child)->children) {
      release_tree(below.load(kAcquire), height - 1);
    }
  }
  release(child);
}

}  // namespace

const Pair* Table::find_far(uint32_t index) const {
  const Directory* dir = directory.load(kAcquire);  // as T1
  if (dir == nullptr) return nullptr;
  const uint32_t leaf = index / kLeafSlots;
  const void* found;
  if (leaf < kDirectoryLeaves) {
    found = dir->leaves[leaf].load(kAcquire);  // as T1
    if (found == &no_leaf) return nullptr;
  } else {
    const uintptr_t root = dir->root.load(kAcquire);  // as T1
    unsigned height = tree::height(root);
    if (height == 0 || leaf >= tree::reach(height)) return nullptr;
    found = tree::node(root);
    for (; height > 0 && found != nullptr; --height) {
      found = static_cast<const Node*>(found)->children[tree::child(leaf, height)].load(kAcquire);
    }
  }
  return found != nullptr ? &static_cast<const Leaf*>(found)->slots[index % kLeafSlots] : nullptr;
}

Pair* Table::grow(uint32_t index) {
  Directory* dir = get_or_make<Directory>(directory, static_cast<Directory*>(nullptr), this);
  if (dir == nullptr) return nullptr;
  const uint32_t leaf = index / kLeafSlots;
  Leaf* found;
  if (leaf < kDirectoryLeaves) {
    // (T4) This comes before the leaf is made, so that T2 publishes it, too. So whoever has used
    // the leaf sees the bit, and so does the thread that is handed the object later.
    if (dir->leaves[leaf].load(kAcquire) == &no_leaf)
      dir->root.fetch_or(tree::kHasLeaves, kRelaxed);
    found = get_or_make<Leaf>(dir->leaves[leaf], &no_leaf);
  } else {
    const uintptr_t root = grow_to_reach(dir->root, leaf);
    if (root == 0) return nullptr;
    Node* node = tree::node(root);
    for (unsigned height = tree::height(root); height > 1 && node != nullptr; --height) {
      node =
          get_or_make<Node>(node->children[tree::child(leaf, height)], static_cast<void*>(nullptr));
    }
    if (node == nullptr) return nullptr;
    found = get_or_make<Leaf>(node->children[tree::child(leaf, 1)], static_cast<void*>(nullptr));
  }
  return found != nullptr ? &found->slots[index % kLeafSlots] : nullptr;
}

void Table::release_beyond(Directory& dir, uintptr_t root) {
  for (uint32_t l = 1; l < kDirectoryLeaves; ++l) {
    Leaf* leaf = dir.leaves[l].load(kAcquire);  // as T1
    if (leaf != &no_leaf) release(leaf);
  }
  if (tree::height(root) != 0) release_tree(tree::node(root), tree::height(root));
}

}  // namespace attrcache
