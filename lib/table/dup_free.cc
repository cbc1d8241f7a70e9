// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/dup_free.h"

#include "table/batch.h"
#include "table/meta.h"

namespace attrcache {
namespace {

// How often callbacks may attach attributes to an object that is being freed, before it gives up.
constexpr int kMaxDeletingRounds = 16;

// Runs copy_fn on one attribute, with its value pinned.
int copy_by_callback(const Target& from, const Target& to, uint32_t keyval, const Batch::Item& item,
                     int* callback_code) {
  Pair& slot = *item.slot;
  // The new slot is made first, because what copy_fn makes could not be undone for want of memory.
  Pair* const made = to.table.find_or_grow(item.index, to.registry.memory());
  if (made == nullptr) return ATTRCACHE_ERR_MEMORY;
  SlotContent pinned;
  if (const int result = pin_value(from.registry, slot, keyval, &pinned); result != ATTRCACHE_OK) {
    // A value that is gone is skipped, and so is one whose deletion has begun.
    return result == ATTRCACHE_ERR_PINNED ? result : ATTRCACHE_OK;
  }
  Frame frame = {};
  frame.table = &from.table;
  frame.slot = &slot;
  frame.use = Frame::Use::kCopying;
  // The copy needs a reference of its own, because copy_fn may delete the original. Taking it can't
  // fail, because a pinned value holds one.
  from.registry.acquire(keyval);
  Copied copied;
  {
    FrameScope scope(from.registry.threads().self(), frame);
    copied = run_copy(from.registry.callbacks(keyval),
                      {from.registry.convention(), from.object, from.registry.number_of(keyval),
                       slot.value_address(), meta::tag(pinned.meta)});
  }
  if (!frame.unpinned && !frame.table_died) slot::unpin(slot);
  if (copied.code == 0 && copied.flag && is_tag(copied.tag)) {
    return set_copy(to, *made, keyval, copied.value, copied.tag, callback_code);
  }
  drop_reference(from.registry, keyval);
  if (copied.code == 0) return copied.flag ? ATTRCACHE_ERR_ARGUMENT : ATTRCACHE_OK;
  *callback_code = copied.code;
  return ATTRCACHE_ERR_CALLBACK;
}

// Whether a slot holds a value that a dup must copy: it is attached, or a replacing set has claimed
// it. A value whose deletion has begun is not copied.
bool to_be_copied(uint64_t m) {
  return meta::visible(m) && (!meta::deleting(m) || meta::replacing(m));
}

// Finds the value and tag that DUP_FN copies, for which no function is called. The caller has taken
// a reference on the keyval before, so a value that is found under the keyval's int really is one
// of this keyval. False: there is nothing to copy. That is also so if the calling thread is within
// a set that replaces the value, because then the value's delete_fn is running.
bool find_to_duplicate(const Target& from, uint32_t keyval, const Pair& slot, SlotContent* found) {
  *found = slot.load();
  if (!to_be_copied(found->meta) || !meta::belongs(found->meta, keyval)) return false;
  return !meta::deleting(found->meta) ||
         !is_deleting(from.registry.threads().self(), slot, found->meta);
}

int copy_one(const Target& from, const Target& to, const Batch::Item& item, int* callback_code) {
  const uint64_t m = item.slot->load_meta();
  if (!to_be_copied(m)) return ATTRCACHE_OK;
  const uint32_t keyval = meta::keyval(m, item.index);
  if (!from.registry.is_kind_of(keyval)) return ATTRCACHE_ERR_KEYVAL_KIND;
  const uint64_t entry = from.registry.look_up(keyval);
  if (entry == 0) return ATTRCACHE_OK;
  if ((entry & entry_word::kNullCopyFn) != 0) {
    from.registry.name_stripe(keyval);  // or no dup of this thread's would be a fast one
    return ATTRCACHE_OK;
  }
  // Nobody could read a copy under a definition that isn't in force any more.
  constexpr uint64_t kUndefined = entry_word::kDefined | entry_word::kFreed;
  if ((entry & kUndefined) == kUndefined) return ATTRCACHE_OK;
  if ((entry & entry_word::kDupFn) == 0) {
    return copy_by_callback(from, to, keyval, item, callback_code);
  }
  if (!from.registry.acquire(keyval)) return ATTRCACHE_OK;  // it is gone, deleted before the dup
  // Read once more, now that the reference is held: only now is it the word of this keyval.
  SlotContent found;
  if ((from.registry.look_up(keyval) & entry_word::kDupFn) == 0 ||
      !find_to_duplicate(from, keyval, *item.slot, &found)) {
    drop_reference(from.registry, keyval);
    return ATTRCACHE_OK;
  }
  if (Pair* made = to.table.find_or_grow(item.index, to.registry.memory())) {
    return set_copy(to, *made, keyval, found.value, meta::tag(found.meta), callback_code);
  }
  drop_reference(from.registry, keyval);
  return ATTRCACHE_ERR_MEMORY;
}

int delete_one(const Target& target, const Batch::Item& item, OnFailure on_failure,
               int* callback_code) {
  uint64_t m = item.slot->load_meta();
  if (!meta::visible(m)) return ATTRCACHE_OK;
  const uint32_t keyval = meta::keyval(m, item.index);
  if (!target.registry.is_kind_of(keyval)) return ATTRCACHE_ERR_KEYVAL_KIND;
  if (meta::replaceable_unclaimed(m, keyval) && slot::detach_unclaimed(*item.slot, m)) {  // (S4)
    target.registry.drop(keyval);
    return ATTRCACHE_OK;
  }
  const int result =
      delete_in_slot(target, *item.slot, keyval, Caller::kRuntime, on_failure, callback_code);
  // Absent means that another thread has deleted the value first.
  return result == ATTRCACHE_ABSENT ? ATTRCACHE_OK : result;
}

// What a table still holds.
struct Remains {
  bool attached = false;
  bool deleting = false;
};

Remains remains(Table& table) {
  Remains r;
  table.for_each([&r](uint32_t, Pair& slot) {
    const uint64_t m = slot.load_meta();
    if (meta::empty(m)) return;
    (meta::deleting(m) ? r.deleting : r.attached) = true;
  });
  return r;
}

}  // namespace

bool deleting_is_ours(const ThreadState& thread, Table& table) {
  bool ours = true;
  table.for_each([&](uint32_t, Pair& slot) {
    const uint64_t m = slot.load_meta();
    if (!meta::empty(m) && !is_deleting(thread, slot, m)) ours = false;
  });
  return ours;
}

void release_table(const ThreadState& thread, Table& table, const Memory& memory) {
  for_each_frame(thread, [&table](Frame& f) {
    if (f.table == &table) f.table_died = true;
  });
  table.clear(memory);
}

int copy_attributes(const Target& from, const Target& to, int* callback_code) {
  if (!from.table.owns_its_memory() || !to.table.owns_its_memory()) return ATTRCACHE_ERR_MOVED;
  TableScope scope(from.registry.threads().self(), &from.table);
  Batch batch(from.table, Batch::Order::kOldestFirst, &from.registry.memory());
  while (batch.next()) {
    for (unsigned i = 0; i < batch.count(); ++i) {
      int code = 0;
      int result = copy_one(from, to, batch[i], &code);
      if (scope.table_died()) result = ATTRCACHE_ERR_BUSY;
      if (result == ATTRCACHE_OK) continue;
      delete_attributes(to, ATTRCACHE_DRAIN, nullptr);
      if (result == ATTRCACHE_ERR_CALLBACK && callback_code != nullptr) *callback_code = code;
      return result;
    }
  }
  return ATTRCACHE_OK;
}

int delete_attributes(const Target& target, attrcache_delete_mode mode, int* callback_code) {
  Table& table = target.table;
  if (!table.owns_its_memory()) return ATTRCACHE_ERR_MOVED;
  ThreadState& thread = target.registry.threads().self();
  const OnFailure on_failure = mode == ATTRCACHE_DRAIN ? OnFailure::kDetach : OnFailure::kKeep;
  int first_failure = ATTRCACHE_OK;
  int first_code = 0;
  const auto ended = [&] {
    if (first_failure == ATTRCACHE_ERR_CALLBACK && callback_code != nullptr) {
      *callback_code = first_code;
    }
    return first_failure;
  };
  TableScope scope(thread, &table);
  for (int round = 0; round < kMaxDeletingRounds; ++round) {
    Batch batch(table, Batch::Order::kYoungestFirst, &target.registry.memory());
    while (batch.next()) {
      for (unsigned i = batch.count(); i-- > 0;) {
        int code = 0;
        const int result = delete_one(target, batch[i], on_failure, &code);
        if (result != ATTRCACHE_OK && first_failure == ATTRCACHE_OK) {
          first_failure = result;
          first_code = code;
        }
        if (scope.table_died()) return ended();  // a callback freed the object
        if (result == ATTRCACHE_ERR_BORROWED || result == ATTRCACHE_ERR_KEYVAL_KIND) return result;
        if (result != ATTRCACHE_OK && mode == ATTRCACHE_STOP_AT_FAILURE) return ended();
      }
    }
    const Remains remain = remains(table);
    if (remain.attached) continue;
    if (remain.deleting && !deleting_is_ours(thread, table)) return ATTRCACHE_ERR_BUSY;
    release_table(thread, table, target.registry.memory());
    return ended();
  }
  return ATTRCACHE_ERR_REATTACHED;
}

int move_table(const ThreadState& thread, Table& from, Table& to) {
  if (!from.owns_its_memory()) return ATTRCACHE_ERR_MOVED;
  if (!to.is_as_new()) return ATTRCACHE_ERR_ARGUMENT;
  bool busy = false;
  for_each_frame(thread, [&](const Frame& f) { busy |= f.table == &from || f.table == &to; });
  from.for_each([&busy](uint32_t, const Pair& slot) {
    const uint64_t m = slot.load_meta();
    busy |= meta::deleting(m) || meta::pinned(m);
  });
  if (busy) return ATTRCACHE_ERR_BUSY;
  to.take_over(from);
  return ATTRCACHE_OK;
}

}  // namespace attrcache
