// SPDX-License-Identifier: Apache-2.0

#include "table/whole.h"

#include "table/batch.h"
#include "table/meta.h"

namespace attrcache {
namespace {

// How often callbacks may attach attributes to an object that is being freed.
constexpr int kMaxRounds = 16;

// Runs copy_fn on one attribute, with its value pinned.
int copy_by_callback(const Target& from, const Target& to, uint32_t keyval, const Batch::Item& item,
                     int* callback_code) {
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
    *callback_code = copied.code;
    result = ATTRCACHE_ERR_CALLBACK;
  } else if (copied.flag) {
    result = set_attribute(to, keyval, copied.value, copied.tag, Caller::kUser, callback_code);
  }
  from.registry.drop(keyval);
  return result;
}

int copy_one(const Target& from, const Target& to, const Batch::Item& item, int* callback_code) {
  const Word now = item.slot->load();
  if (!meta::visible(now.meta) || meta::deleting(now.meta)) return ATTRCACHE_OK;
  const uint32_t keyval = meta::keyval(now.meta, item.index);
  if (!from.registry.is_kind_of(keyval)) return ATTRCACHE_ERR_KEYVAL_KIND;
  const uint64_t entry = from.registry.look_up(keyval);
  if (entry == 0 || (entry & entry_word::kCopiesNot) != 0) return ATTRCACHE_OK;
  if ((entry & entry_word::kDuplicates) == 0) {
    return copy_by_callback(from, to, keyval, item, callback_code);
  }
  const int result =
      set_attribute(to, keyval, now.value, meta::tag(now.meta), Caller::kUser, callback_code);
  // Gone meanwhile: its deletion came first.
  return result == ATTRCACHE_ERR_KEYVAL_STALE ? ATTRCACHE_OK : result;
}

int delete_one(const Target& target, const Batch::Item& item, OnFailure on_failure,
               int* callback_code) {
  uint64_t m = item.slot->load_meta();
  if (!meta::visible(m)) return ATTRCACHE_OK;
  const uint32_t keyval = meta::keyval(m, item.index);
  if (!target.registry.is_kind_of(keyval)) return ATTRCACHE_ERR_KEYVAL_KIND;
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

}  // namespace

int copy_attributes(const Target& from, const Target& to, int* callback_code) {
  Stay stay(&from.table);
  Batch batch(from.table, Batch::Order::kOldestFirst);
  while (batch.next()) {
    for (unsigned i = 0; i < batch.count(); ++i) {
      int code = 0;
      int result = copy_one(from, to, batch[i], &code);
      if (stay.table_died()) result = ATTRCACHE_ERR_BUSY;
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
  const OnFailure on_failure = mode == ATTRCACHE_DRAIN ? OnFailure::kDetach : OnFailure::kKeep;
  int first_failure = ATTRCACHE_OK;
  int first_code = 0;
  const auto ended = [&] {
    if (first_failure == ATTRCACHE_ERR_CALLBACK && callback_code != nullptr) {
      *callback_code = first_code;
    }
    return first_failure;
  };
  Stay stay(&table);
  for (int round = 0; round < kMaxRounds; ++round) {
    Batch batch(table, Batch::Order::kYoungestFirst);
    while (batch.next()) {
      for (unsigned i = batch.count(); i-- > 0;) {
        int code = 0;
        const int result = delete_one(target, batch[i], on_failure, &code);
        if (result != ATTRCACHE_OK && first_failure == ATTRCACHE_OK) {
          first_failure = result;
          first_code = code;
        }
        if (stay.table_died()) return ended();  // a callback freed the object
        if (result == ATTRCACHE_ERR_BORROWED || result == ATTRCACHE_ERR_KEYVAL_KIND) return result;
        if (result != ATTRCACHE_OK && mode == ATTRCACHE_STOP_AT_FAILURE) return ended();
      }
    }
    const Remains remain = remains(table);
    if (remain.attached) continue;
    if (remain.deleting && !deleting_is_ours(table)) return ATTRCACHE_ERR_BUSY;
    release_table(table);
    return ended();
  }
  return ATTRCACHE_ERR_REATTACHED;
}

}  // namespace attrcache
