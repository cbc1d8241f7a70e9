// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Free and abandon. A free deletes what a table holds. If nothing calls back, nobody can notice the
// order, and two passes over the slots do it, by plain stores, since no other thread may use the
// object. Else all are deleted in the reverse order of setting, and then what callbacks have
// attached meanwhile.

#include "table/batch.h"
#include "table/dup_free.h"
#include "table/hand_off.h"
#include "table/meta.h"

namespace attrcache {
namespace {

// Whether all that the table holds may be deleted without calling back: values without delete_fn,
// under keyvals that aren't freed, so that none ends by it.
bool calls_nothing(const Registry& registry, Table& table, unsigned ordinal) {
  constexpr uint32_t kDecides = meta::kSameAttribute | meta::kDeleting | meta::kNoDeleteFn;
  return !table.any_run([&](uint32_t first, const Pair* run, uint32_t length) {
    const References::Counter* const counters = registry.counters(id::offset_at(first), ordinal);
    if (counters == nullptr) return true;  // all are of another kind
    uint32_t differs = 0;
#pragma GCC unroll 8
    for (uint32_t s = 0; s < length; ++s) {
      const uint64_t m = run[s].load_meta();
      if (meta::empty(m)) continue;
      const stripe::Name name = stripe::name_in(counters[s].load(kRelaxed));
      differs |= meta::lower(m) ^ (stripe::bits(name) | stripe::kNoDeleteFn);
    }
    return (differs & kDecides) != 0;
  });
}

// Deletes everything in two passes, if nothing calls back. False: something is left for Free.
bool delete_at_once(Registry& registry, Table& table, unsigned ordinal) {
  if (!calls_nothing(registry, table, ordinal)) return false;
  bool all = true;
  table.any_run([&](uint32_t first, Pair* run, uint32_t length) {
    References::Counter* const counters = registry.counters(id::offset_at(first), ordinal);
    uint32_t deleted = 0;
#pragma GCC unroll 8
    for (uint32_t s = 0; s < length; ++s) {
      if (meta::empty(run[s].load_meta())) continue;
      if (References::drop_open(counters[s])) [[likely]] {
        run[s].clear_unshared();
        ++deleted;
      } else {
        all = false;  // the keyval was freed meanwhile
      }
    }
    if (deleted != 0) uncount_attribute(*run, id::offset_at(first), deleted);
    return false;
  });
  return all;
}

// Whether another thread's delete_fn may still use the object of a marked table. Those that were
// handed off to this thread's copies run here. The caller's frame is the innermost; if no other is
// on the table, that need not be marked any more.
[[gnu::noinline]] bool others_may_use(Readers& readers, Table& table) {
  // In this order, because a thread counts what it hands off before it ends its announcement.
  if (others_delete_in(readers, table)) return true;
  if (readers.any_handed_off(&table)) return finish_own_handed_off(readers, table);
  if (!is_in_use(readers.threads().self().innermost->outer, &table)) table.forget_mark();
  return false;
}

// Begins a free of a marked table; or not, and returns its result. While another thread's delete_fn
// may still use the object, that is BUSY, and nothing is touched: what it did there might be lost.
constexpr int kBegins = 1000;
[[gnu::noinline]] int begin(const Target& target, attrcache_delete_mode mode) {
  if (mode == ATTRCACHE_DRAIN_FINALLY || mode == kUndo) return kBegins;
  Readers& readers = target.registry.readers();
  Frame frame(readers.threads().self(), &target.table);
  const bool others = others_may_use(readers, target.table);
  if (frame.table_died) return ATTRCACHE_OK;
  return others ? ATTRCACHE_ERR_BUSY : kBegins;
}

// How often callbacks may attach attributes to an object that is being freed, before it gives up.
constexpr int kMaxDeletingRounds = 16;

// Releases the memory of a table whose content doesn't matter any more, and notifies the operations
// on it up this thread's stack.
void release_table(Registry& registry, Table& table) {
  any_frame_of(registry.threads().self().innermost, &table, [](Frame& f) {
    f.table_died = true;
    // An attribute attached to the same memory later must not be taken for held.
    if (f.announced != nullptr) Readers::retract(*f.announced, uint64_t(Says::kTaken));
    f.announced = nullptr;
    return false;
  });
  if (table.marked()) [[unlikely]]
    forget_table(registry.readers(), table);
  table.clear(registry.memory());
}

// Gives up the attribute of one slot. KEYVAL_KIND: it is of another kind, whose references aren't
// known here.
int abandon_one(const Target& target, const Batch::Item& item) {
  uint64_t m = item.slot->load_meta();
  if (!meta::visible(m) || meta::deleting(m)) return ATTRCACHE_OK;
  const id::Keyval keyval = meta::keyval(m, item.index);
  const bool known = target.registry.is_kind_of(keyval);
  item.slot->store_unshared({0, 0});
  uncount_attribute(*item.slot, id::offset_at(item.index));
  if (!known) return ATTRCACHE_ERR_KEYVAL_KIND;
  target.registry.drop(keyval);
  return ATTRCACHE_OK;
}

// A free, while it runs. Its Frame is a variable of its own, because callbacks reach that: as
// a member it would make the compiler load the other members anew after each callback.
class Free {
 public:
  Free(const Target& target, unsigned ordinal, attrcache_delete_mode mode, int* callback_code,
       Listener listener)
      : target_(target),
        table_(target.table),
        readers_(target.registry.readers()),
        ordinal_(ordinal),
        mode_(mode),
        on_failure_(mode == ATTRCACHE_STOP_AT_FAILURE ? OnFailure::kKeep : OnFailure::kDetach),
        callback_code_(callback_code),
        listener_(listener) {}

  // Deletes everything. *emptied: the table is to be released.
  int run(bool* emptied) {
    Frame frame(readers_.threads().self(), &table_, Frame::Use::kDeleting);
    for (int round = 0; round < kMaxDeletingRounds; ++round) {
      if (!all_in_order(frame)) return result_;
      const int left = what_is_left(readers_, table_);
      if (left == ATTRCACHE_ERR_REATTACHED) continue;
      if (left != ATTRCACHE_OK && !finally()) return left;
      if (table_.marked()) {  // by a callback, if the caller was alone
        if (others_may_use(readers_, table_) && !frame.table_died) {
          if (!finally()) return ATTRCACHE_ERR_BUSY;
          if (abandon_handed_off(readers_, table_) && !frame.table_died) continue;
        }
        // Callbacks may have run.
        if (!frame.table_died && what_is_left(readers_, table_) != ATTRCACHE_OK) continue;
      }
      *emptied = !frame.table_died;
      return result_;
    }
    if (finally()) abandon_attributes(target_);
    return ATTRCACHE_ERR_REATTACHED;
  }

 private:
  bool finally() const { return mode_ == ATTRCACHE_DRAIN_FINALLY; }

  // Deletes the attribute of a slot, if there is one.
  int one(Frame& frame, const Batch::Item& item, HeldByOthers& is_held) {
    Registry& registry = target_.registry;
    Pair& slot = *item.slot;
    const SlotContent now = slot.load();
    uint64_t m = now.meta;
    const id::Keyval keyval = meta::keyval(m, item.index);
    int code = 0;
    if ((m & (meta::kVisible | meta::kDeleting | meta::kNoDeleteFn)) != meta::kVisible) {
      // Nothing, or its deletion has begun: by another thread, or up this thread's stack.
      if (!meta::visible(m) || meta::deleting(m)) return ATTRCACHE_OK;
      if (!registry.is_kind_of(keyval)) return ATTRCACHE_ERR_KEYVAL_KIND;
      if (!slot::detach(slot, id::offset(keyval), m)) return ATTRCACHE_OK;  // (S3)
      registry.drop_in_stripe(keyval, ordinal_);
    } else {
      if (!registry.is_kind_of(keyval)) [[unlikely]]
        return ATTRCACHE_ERR_KEYVAL_KIND;
      slot::Claim claim;
      if (!claim.take(slot, m)) return ATTRCACHE_OK;  // (S8)
      if (meta::was_held(m) && is_held(slot, m)) [[unlikely]] {
        claim.restore(id::offset(keyval));  // (S9) it can, since no other thread uses the table
        return ATTRCACHE_ERR_BUSY;
      }
      if (delete_claimed(target_, frame, slot, claim, now, keyval, on_failure_, &code))
        registry.drop_in_stripe(keyval, ordinal_);
    }
    if (listener_.deleted_fn != nullptr) [[unlikely]]
      listener_.deleted_fn(listener_.context, registry.number_of(keyval), code);
    if (code == 0) [[likely]]
      return ATTRCACHE_OK;
    tell(code, callback_code_);
    callback_code_ = nullptr;  // it gets the first one
    return ATTRCACHE_ERR_CALLBACK;
  }

  // Deletes everything, the youngest first. False: the free ends here.
  bool all_in_order(Frame& frame) {
    HeldByOthers is_held(target_);
    Batch batch(table_, target_.registry.memory());
    while (batch.next()) {
      for (const Batch::Item* item = batch.end(); item != batch.begin();) {
        --item;
        const int result = one(frame, *item, is_held);
        if (result != ATTRCACHE_OK && !goes_on_after(result, *item)) [[unlikely]]
          return false;
        if (frame.table_died) return false;  // a callback freed the object
      }
    }
    return true;
  }

  bool goes_on_after(int failure, const Batch::Item& item) {
    if (result_ == ATTRCACHE_OK) result_ = failure;
    if (failure == ATTRCACHE_ERR_BUSY && mode_ == kUndo) {
      const id::Keyval keyval = meta::keyval(item.meta, item.index);
      continue_delete(target_.registry, table_, target_.object, keyval, nullptr);
      return true;
    }
    if (failure == ATTRCACHE_ERR_BUSY || failure == ATTRCACHE_ERR_KEYVAL_KIND) {
      if (finally()) {
        abandon_one(target_, item);
        return true;
      }
      result_ = failure;
      return false;
    }
    return on_failure_ == OnFailure::kDetach;
  }

  const Target& target_;
  Table& table_;
  Readers& readers_;
  const unsigned ordinal_;
  const attrcache_delete_mode mode_;
  const OnFailure on_failure_;
  int* callback_code_;
  const Listener listener_;
  int result_ = ATTRCACHE_OK;  // the first failure
};

}  // namespace

int what_is_left(const Readers& readers, Table& table) {
  int left = ATTRCACHE_OK;
  table.for_each([&](uint32_t, const Pair& slot) {
    const uint64_t m = slot.load_meta();
    if (meta::empty(m) || is_deleting(readers.threads().self(), table, slot, m)) return;
    if (left != ATTRCACHE_ERR_REATTACHED)
      left = meta::deleting(m) ? ATTRCACHE_ERR_BUSY : ATTRCACHE_ERR_REATTACHED;
  });
  return left;
}

int abandon_attributes(const Target& target) {
  Table& table = target.table;
  const Memory& memory = target.registry.memory();
  if (!table.owns_its_memory()) {
    table.directory.store(nullptr, kRelaxed);  // it is another table's
    table.clear(memory);
    return ATTRCACHE_ERR_MOVED;
  }
  Readers& readers = target.registry.readers();
  Frame frame(readers.threads().self(), &table);
  int first = ATTRCACHE_OK;
  // Destructors may attach something again, and hand off its deletion. What they attach in the last
  // round is lost with its slot, and its keyval stays for ever.
  for (int round = 0; round < kMaxDeletingRounds; ++round) {
    Batch batch(table, memory);
    while (batch.next()) {
      for (const Batch::Item* item = batch.end(); item != batch.begin();) {
        const int result = abandon_one(target, *--item);
        if (frame.table_died) return first;
        if (first == ATTRCACHE_OK) first = result;
      }
    }
    const bool again = table.marked() && abandon_handed_off(readers, table);
    if (frame.table_died) return first;
    if (!again && what_is_left(readers, table) == ATTRCACHE_OK) break;
  }
  release_table(target.registry, table);
  return first;
}

int delete_attributes(const Target& target, attrcache_delete_mode mode, int* callback_code,
                      Listener listener) {
  if (!target.table.owns_its_memory()) {
    return mode == ATTRCACHE_DRAIN_FINALLY ? abandon_attributes(target) : ATTRCACHE_ERR_MOVED;
  }
  bool at_once = listener.deleted_fn == nullptr;
  if (target.table.marked()) [[unlikely]] {
    const int result = begin(target, mode);
    if (result != kBegins) return result;
    at_once &= !target.table.marked();
  }
  const unsigned ordinal = thread_ordinal();
  bool emptied = at_once && delete_at_once(target.registry, target.table, ordinal);
  const int result =
      emptied ? ATTRCACHE_OK : Free(target, ordinal, mode, callback_code, listener).run(&emptied);
  if (emptied &&
      (mode != kUndo || !is_in_use(target.registry.threads().self().innermost, &target.table)))
    release_table(target.registry, target.table);
  return result;
}

int move_table(const Readers& readers, Table& from, Table& to) {
  if (!from.owns_its_memory()) return ATTRCACHE_ERR_MOVED;
  if (!to.is_as_new()) return ATTRCACHE_ERR_ARGUMENT;
  Frame* const innermost = readers.threads().self().innermost;
  bool busy = is_in_use(innermost, &from) || is_in_use(innermost, &to);
  from.for_each([&](uint32_t, const Pair& slot) {
    const uint64_t m = slot.load_meta();
    busy |= meta::deleting(m) || (meta::was_held(m) && count_holders(readers, slot, m) != 0);
  });
  busy |= from.marked() &&
          (others_delete_in(readers, from) || any_tomb_of(readers, from, Announcement::kNobody));
  if (busy) return ATTRCACHE_ERR_BUSY;
  to.take_over(from);
  return ATTRCACHE_OK;
}

}  // namespace attrcache
