// SPDX-License-Identifier: Apache-2.0

#include "table/whole.h"

#include "table/batch.h"
#include "table/meta.h"

namespace attrcache {
namespace {

// How often callbacks may attach attributes to an object that is being freed.
constexpr int kMaxRounds = 16;

// This thread's stay in a whole-object operation: tells it when a callback has freed the table.
class Stay {
 public:
  explicit Stay(const Table& table) {
    frame_.table = &table;
    enter_frame(frame_);
  }
  ~Stay() { leave_frame(frame_); }
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;
  bool table_died() const { return frame_.table_died; }

 private:
  Frame frame_ = {};
};

// Attaches a copy to the new object.
int attach_copy(const Target& to, uint32_t keyval, uint64_t entry, uint32_t index, uint64_t value,
                attrcache_tag tag, int* callback_code) {
  Pair* slot = to.table.find_or_grow(index);
  if (slot == nullptr) return ATTRCACHE_ERR_MEMORY;
  Word now = slot->load();
  if (meta::empty(now.meta) && to.registry.acquire(keyval)) [[likely]] {
    const uint64_t quick = (entry & entry_word::kQuick) != 0 ? meta::kQuick : 0;
    const uint64_t made = meta::attached(keyval, tag, quick, to.table.tick());
    if (slot->swap(now, {value, made})) return ATTRCACHE_OK;  // (S1)
    to.registry.drop(keyval);
  }
  return set_attribute(to, keyval, value, tag, Caller::kUser, callback_code);
}

// Runs copy_fn on one attribute, with its value pinned.
int copy_by_callback(const Target& from, const Target& to, uint32_t keyval, uint64_t entry,
                     const Batch::Item& item, int* callback_code) {
  Pair& slot = *item.slot;
  // Grown first: what copy_fn makes must find its place.
  if (to.table.find_or_grow(item.index) == nullptr) return ATTRCACHE_ERR_MEMORY;
  Word pinned;
  if (const int result = pin_value(slot, keyval, &pinned); result != ATTRCACHE_OK) {
    return result == ATTRCACHE_ABSENT ? ATTRCACHE_OK : result;
  }
  Frame frame = {};
  frame.table = &from.table;
  frame.slot = &slot;
  frame.attachment = meta::sequence(pinned.meta);
  frame.use = Frame::Use::kCopying;
  // The copy needs the keyval even if copy_fn deletes the original.
  from.registry.acquire(keyval);  // succeeds: what is pinned is attached
  enter_frame(frame);
  const Copied copied = run_copy(
      from.registry.hooks(keyval),
      {from.object, static_cast<int>(keyval), slot.value_address(), meta::tag(pinned.meta)});
  leave_frame(frame);
  if (!frame.unpinned && !frame.table_died) unpin_value(slot);
  int result = ATTRCACHE_OK;
  if (copied.code != 0) {
    if (callback_code != nullptr) *callback_code = copied.code;
    result = ATTRCACHE_ERR_CALLBACK;
  } else if (copied.flag) {
    result = attach_copy(to, keyval, entry, item.index, copied.value, copied.tag, callback_code);
  }
  from.registry.drop(keyval);
  return result;
}

int copy_one(const Target& from, const Target& to, const Batch::Item& item, int* callback_code) {
  const Word now = item.slot->load();
  if (!meta::visible(now.meta) || meta::deleting(now.meta)) return ATTRCACHE_OK;
  const uint32_t keyval = meta::keyval(now.meta, item.index);
  const uint64_t entry = from.registry.look_up(keyval);
  if (entry == 0 || (entry & entry_word::kCopiesNot) != 0) return ATTRCACHE_OK;
  if ((entry & entry_word::kDuplicates) == 0) {
    return copy_by_callback(from, to, keyval, entry, item, callback_code);
  }
  const int result =
      attach_copy(to, keyval, entry, item.index, now.value, meta::tag(now.meta), callback_code);
  // Gone meanwhile: its deletion came first.
  return result == ATTRCACHE_ERR_KEYVAL_STALE ? ATTRCACHE_OK : result;
}

int delete_one(const Target& target, const Batch::Item& item, OnFailure on_failure,
               int* callback_code) {
  uint64_t m = item.slot->load_meta();
  if (!meta::visible(m)) return ATTRCACHE_OK;
  const uint32_t keyval = meta::keyval(m, item.index);
  if (meta::replaceable_at_once(m, keyval) && item.slot->swap_meta(m, 0)) {  // (S4)
    target.registry.drop(keyval);
    return ATTRCACHE_OK;
  }
  const int result = delete_attribute(target, keyval, Caller::kRuntime, on_failure, callback_code);
  // Another thread's deletion ended, and with it the keyval.
  return result == ATTRCACHE_ERR_KEYVAL_STALE ? ATTRCACHE_OK : result;
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

// Whether all deletions that are under way are this thread's own, up its stack.
bool deleting_is_ours(Table& table) {
  bool ours = true;
  table.for_each([&ours](uint32_t, Pair& slot) {
    const uint64_t m = slot.load_meta();
    if (meta::empty(m)) return;
    for (const Frame* f = this_thread().innermost; f != nullptr; f = f->outer) {
      if (f->slot == &slot && f->attachment == meta::sequence(m) &&
          f->use == Frame::Use::kDeleting && !f->table_died) {
        return;
      }
    }
    ours = false;
  });
  return ours;
}

// Frees an empty table, and tells this thread's frames on it.
void release_table(Table& table) {
  for (Frame* f = this_thread().innermost; f != nullptr; f = f->outer) {
    if (f->table == &table) f->table_died = true;
  }
  table.clear();
}

// Copies without a call: under DUP_FN, to an empty slot. ATTRCACHE_ABSENT: nothing is copied, and
// copy_one is to look at it from the start, after `taken`, if not 0, is dropped: a reference of no
// use.
[[gnu::always_inline]] inline int copy_at_once(Registry& registry, Table& to,
                                               const Batch::Item& item, unsigned ordinal,
                                               uint32_t* taken) {
  const Word now = item.slot->load();
  if ((now.meta & (meta::kVisible | meta::kDeleting)) != meta::kVisible) return ATTRCACHE_ABSENT;
  const uint32_t offset = item.index << id::kIndexShift;
  const uint32_t keyval = meta::keyval(now.meta, item.index);
  const Registry::Place place = registry.place(offset, ordinal);
  if (static_cast<uint32_t>(place.word) != keyval || (place.word & entry_word::kDuplicates) == 0) {
    return ATTRCACHE_ABSENT;
  }
  Pair* slot = to.find_near(offset);
  if (slot == nullptr) [[unlikely]] {
    slot = to.find_or_grow(item.index);
    if (slot == nullptr) return ATTRCACHE_ERR_MEMORY;
  }
  Word empty = slot->load();
  if (!meta::empty(empty.meta) || !References::acquire_open(place.counter, id::generation(keyval)))
      [[unlikely]] {
    return ATTRCACHE_ABSENT;
  }
  // All but pins and number is as in the original: the same keyval, and value and tag as they are.
  constexpr uint64_t kKept = uint64_t{meta::kSameAsPointer} << 32 | meta::kQuick;
  const uint64_t made = (now.meta & kKept) | meta::spread(to.tick());
  if (slot->swap(empty, {now.value, made})) [[likely]]
    return ATTRCACHE_OK;  // (S1)
  *taken = keyval;
  return ATTRCACHE_ABSENT;
}

// What copy_at_once has left. Told apart so that only those who call callbacks need a Stay.
[[gnu::noinline]] int copy_slowly(const Target& from, const Target& to, const Batch::Item& item,
                                  uint32_t taken, int* callback_code) {
  Stay stay(from.table);
  if (taken != 0) to.registry.drop(taken);
  const int result =
      stay.table_died() ? ATTRCACHE_ERR_BUSY : copy_one(from, to, item, callback_code);
  return stay.table_died() ? ATTRCACHE_ERR_BUSY : result;
}

// Goes on where delete_attributes has met something else than a value without delete_fn: the first
// `left` items of the batch are still to be deleted, and `closed`, if not 0, is a keyval on which a
// reference is still to be dropped.
[[gnu::noinline]] int delete_slowly(const Target& target, attrcache_delete_mode mode,
                                    int* callback_code, Batch& batch, unsigned left,
                                    uint32_t closed) {
  Table& table = target.table;
  const OnFailure on_failure = mode == ATTRCACHE_DRAIN ? OnFailure::kDetach : OnFailure::kKeep;
  int first_failure = ATTRCACHE_OK;
  int first_code = 0;
  const auto ended = [&] {
    if (first_failure == ATTRCACHE_ERR_CALLBACK && callback_code != nullptr) {
      *callback_code = first_code;
    }
    return first_failure;
  };
  Stay stay(table);
  if (closed != 0) {
    target.registry.drop_closed(closed);
    if (stay.table_died()) return ATTRCACHE_OK;  // the destructor freed the object
  }
  for (int round = 0; round < kMaxRounds; ++round) {
    do {
      for (unsigned i = left; i-- > 0;) {
        int code = 0;
        const int result = delete_one(target, batch[i], on_failure, &code);
        if (result != ATTRCACHE_OK && first_failure == ATTRCACHE_OK) {
          first_failure = result;
          first_code = code;
        }
        if (stay.table_died()) return ended();  // a callback freed the object
        if (result == ATTRCACHE_ERR_BORROWED) return result;
        if (result != ATTRCACHE_OK && mode == ATTRCACHE_STOP_AT_FAILURE) return ended();
      }
      batch.next();
      left = batch.count();
    } while (left != 0);
    const Remains remain = remains(table);
    if (!remain.attached) {
      if (remain.deleting && !deleting_is_ours(table)) return ATTRCACHE_ERR_BUSY;
      release_table(table);
      return ended();
    }
    batch.restart();
    batch.next();
    left = batch.count();
  }
  return ATTRCACHE_ERR_REATTACHED;
}

}  // namespace

int copy_attributes(const Target& from, const Target& to, int* callback_code) {
  const unsigned ordinal = thread_ordinal();
  Registry& registry = from.registry;
  Table& table = to.table;
  Batch batch(from.table, Batch::Order::kOldestFirst);
  while (batch.next()) {
    const unsigned count = batch.count();
    for (unsigned i = 0; i < count; ++i) {
      uint32_t taken = 0;
      int result = copy_at_once(registry, table, batch[i], ordinal, &taken);
      if (result == ATTRCACHE_OK) [[likely]]
        continue;
      if (result == ATTRCACHE_ABSENT) {
        result = copy_slowly(from, to, batch[i], taken, callback_code);
      }
      if (result != ATTRCACHE_OK) [[unlikely]] {
        delete_attributes(to, ATTRCACHE_DRAIN, nullptr);
        return result;
      }
    }
  }
  return ATTRCACHE_OK;
}

int delete_attributes(const Target& target, attrcache_delete_mode mode, int* callback_code) {
  // A value without delete_fn that nobody copies, borrows or deletes goes in one step. As long as
  // there are only such, nobody is called, so nothing can happen to the table on this thread.
  constexpr uint64_t kDecides =
      meta::kVisible | meta::kDeleting | meta::kQuick | meta::kMaxPins << meta::kPinShift;
  Registry& registry = target.registry;
  const unsigned ordinal = thread_ordinal();
  Batch batch(target.table, Batch::Order::kYoungestFirst);
  batch.next();
  for (unsigned left = batch.count(); left > 0; --left) {
    const Batch::Item& item = batch[left - 1];
    uint64_t m = item.slot->load_meta();
    if (meta::empty(m)) continue;  // another thread's deletion was faster
    const uint32_t keyval = meta::keyval(m, item.index);
    if ((m & kDecides) != (meta::kVisible | meta::kQuick) || !item.slot->swap_meta(m, 0))  // (S4)
        [[unlikely]] {
      return delete_slowly(target, mode, callback_code, batch, left, 0);
    }
    if (!registry.drop_at_offset(item.index << id::kIndexShift, ordinal)) [[unlikely]] {
      return delete_slowly(target, mode, callback_code, batch, left - 1, keyval);
    }
  }
  if (!batch.whole()) return delete_slowly(target, mode, callback_code, batch, 0, 0);
  // No second look is needed: this thread has attached nothing since the one pass, other threads
  // may not, and a deletion of theirs that was under way would have been met in it.
  release_table(target.table);
  return ATTRCACHE_OK;
}

}  // namespace attrcache
