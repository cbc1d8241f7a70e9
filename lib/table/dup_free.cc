// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/dup_free.h"

#include "table/batch.h"
#include "table/dup_free_fast.h"
#include "table/hold.h"
#include "table/left.h"
#include "table/meta.h"

namespace attrcache {
namespace {

// Whether a slot holds a value that a dup must copy. A value whose deletion another thread has
// begun is not copied. One that this thread is deleting further up its stack (the dup is made
// within its delete_fn) is: it is attached until delete_fn has succeeded.
bool to_be_copied(const Target& from, const Pair& slot, uint64_t m) {
  if (!meta::visible(m)) return false;
  return !meta::deleting(m) || is_deleting(from.registry.threads().self(), from.table, slot, m);
}

// A dup, while it runs.
class Dup {
 public:
  Dup(const Target& from, const Target& to)
      : registry_(from.registry),
        from_(from),
        to_(to),
        ordinal_(thread_ordinal()),
        old_scope_(registry_.threads().self(), &from.table, Frame::Use::kCopying),
        new_scope_(registry_.threads().self(), &to.table) {}
  ~Dup() {
    if (cell_ != nullptr) registry_.readers().release(*cell_);
  }
  Dup(const Dup&) = delete;
  Dup& operator=(const Dup&) = delete;

  // Copies one attribute, if there is something to copy.
  int copy(const Batch::Item& item, int* callback_code);

  // Whether a callback has freed one of the two objects; or the new one in particular.
  bool table_died() const { return old_scope_.table_died() || new_table_died(); }
  bool new_table_died() const { return new_scope_.table_died(); }

 private:
  Pair* place(uint32_t index);
  int duplicate(const Batch::Item& item, id::Keyval keyval, stripe::Name like, int* callback_code);
  int call(const Batch::Item& item, id::Keyval keyval, stripe::Name like, int* callback_code);
  bool hold_or_find_own(Pair& slot, id::Keyval keyval, SlotContent* found, bool* held);
  void end_hold(const Pair& slot);
  int attach(Pair& made, id::Keyval keyval, stripe::Name like, uint64_t value, attrcache_tag tag,
             int* callback_code);
  // Ends the copying of an attribute without attaching a copy.
  int give_up(id::Keyval keyval, int result) {
    drop_reference(registry_, keyval);
    return result;
  }

  Registry& registry_;
  const Target& from_;
  const Target& to_;
  const unsigned ordinal_;
  TableScope old_scope_;
  TableScope new_scope_;
  // The cell in which each copy is announced in turn; null until the first.
  Announcement* cell_ = nullptr;
};

// The slot of an index in the new table; null when out of memory. If the new table has no memory
// yet, all that it will need is allocated at once.
Pair* Dup::place(uint32_t index) {
  Table& to = to_.table;
  if (Pair* const slot = to.find(index)) return slot;
  const Memory& memory = registry_.memory();
  Directory* dir = to.directory.load(kRelaxed);
  if (dir == nullptr) {
    // Relaxed: the batch has acquired the old one, and nobody else uses the new object.
    dir = make_directory_for(*from_.table.directory.load(kRelaxed), from_.table, &to, memory);
    if (dir == nullptr) return nullptr;
    to.directory.store(dir, kRelaxed);
  }
  return dir->has(Directory::kHasBlock) ? to.grow_in_block(index, memory)
                                        : to.find_or_grow(index, memory);
}

// Attaches what was copied, and gives it the reference.
int Dup::attach(Pair& made, id::Keyval keyval, stripe::Name like, uint64_t value, attrcache_tag tag,
                int* callback_code) {
  if (!meta::empty(made.load_meta())) [[unlikely]] {
    return give_up(keyval, set_attribute(to_, keyval, value, tag, callback_code));
  }
  // Nobody else uses the new object, so its clock and its slots are changed by plain stores.
  Table& to = to_.table;
  const uint64_t number = to.clock.load(kRelaxed) + 1;
  to.clock.store(number, kRelaxed);
  made.store_unshared({value, meta::attached(like, tag, number)});
  return ATTRCACHE_OK;
}

constexpr stripe::Name kNothing{0};

// Takes a reference on a keyval whose stripe isn't open, or is contended. Returns the name that the
// stripe has or would have (references.h); kNothing if there is nothing to copy, and then no
// reference was taken.
[[gnu::noinline]] stripe::Name take_for_copy(Registry& registry, id::Keyval keyval) {
  // If no reference can be taken, the keyval is gone, and the attribute was deleted before the dup.
  if (!registry.acquire(keyval)) return kNothing;
  const uint64_t entry = registry.look_up(keyval);  // this keyval's: the reference is held
  if ((entry & entry_word::kNullCopyFn) == 0) return stripe::name(keyval, entry_word::flags(entry));
  drop_reference(registry, keyval);
  return kNothing;
}

int Dup::copy(const Batch::Item& item, int* callback_code) {
  const uint64_t m = item.slot->load_meta();
  if ((m & (meta::kVisible | meta::kDeleting)) != meta::kVisible) [[unlikely]] {
    if (!to_be_copied(from_, *item.slot, m)) return ATTRCACHE_OK;
  }
  const id::Keyval keyval = meta::keyval(m, item.index);
  // The copy's own reference is taken first, as in dup_free_fast.h: what is found under the
  // keyval's int from now on is this keyval's, and copy_fn may delete the original.
  References::Counter* const counter = registry_.counters(id::offset_at(item.index), ordinal_);
  // Relaxed: for the exchange it is only a guess.
  const uint64_t word = counter != nullptr ? counter->load(kRelaxed) : 0;
  stripe::Name like = stripe::name_in(word);
  const bool open = meta::is_like(m, like);
  if (open && stripe::has(like, stripe::kNullCopyFn)) return ATTRCACHE_OK;
  if (!open || !References::acquire_open(*counter, word)) [[unlikely]] {
    if (!registry_.is_kind_of(keyval)) return ATTRCACHE_ERR_KEYVAL_KIND;
    like = take_for_copy(registry_, keyval);
    if (like == kNothing) return ATTRCACHE_OK;
  }
  return stripe::has(like, stripe::kNotDupFn) ? call(item, keyval, like, callback_code)
                                              : duplicate(item, keyval, like, callback_code);
}

// Copies as DUP_FN does, without a call. A reference on the keyval was taken before, so a value
// that is found under the keyval's int really is one of this keyval.
int Dup::duplicate(const Batch::Item& item, id::Keyval keyval, stripe::Name like,
                   int* callback_code) {
  const SlotContent found = item.slot->load();
  if (!to_be_copied(from_, *item.slot, found.meta) || !meta::belongs(found.meta, keyval))
    return give_up(keyval, ATTRCACHE_OK);
  Pair* const made = place(item.index);
  if (made == nullptr) return give_up(keyval, ATTRCACHE_ERR_MEMORY);
  return attach(*made, keyval, like, found.value, meta::tag(found.meta), callback_code);
}

// Runs copy_fn, with the value held.
int Dup::call(const Batch::Item& item, id::Keyval keyval, stripe::Name like, int* callback_code) {
  Pair& slot = *item.slot;
  // The new slot is made first, because what copy_fn makes couldn't be undone if there were no
  // memory then.
  Pair* const made = place(item.index);
  if (made == nullptr) [[unlikely]]
    return give_up(keyval, ATTRCACHE_ERR_MEMORY);
  if (cell_ == nullptr) cell_ = registry_.readers().take();
  if (cell_ == nullptr) [[unlikely]]
    return give_up(keyval, ATTRCACHE_ERR_MEMORY);
  SlotContent found;
  bool held;
  if (!hold_or_find_own(slot, keyval, &found, &held)) [[unlikely]]
    return give_up(keyval, table_died() ? ATTRCACHE_ERR_FREED : ATTRCACHE_OK);
  old_scope_.begin_copy_fn(&slot, held ? cell_ : nullptr);
  // copy_fn gets a copy, because another value may take its place in the slot.
  const uint64_t value = found.value;
  const Copied copied = run_copy(registry_.callbacks(keyval),
                                 {registry_.convention(), from_.object, registry_.number_of(keyval),
                                  &value, meta::tag(found.meta)});
  old_scope_.end();
  if (old_scope_.announced() != nullptr) end_hold(slot);
  if (copied.code != 0) [[unlikely]] {
    *callback_code = copied.code;
    return give_up(keyval, ATTRCACHE_ERR_CALLBACK);
  }
  if (!copied.flag) return give_up(keyval, ATTRCACHE_OK);
  if (!is_tag(copied.tag)) [[unlikely]]
    return give_up(keyval, ATTRCACHE_ERR_ARGUMENT);
  if (new_scope_.table_died()) [[unlikely]]
    return give_up(keyval, ATTRCACHE_ERR_FREED);
  return attach(*made, keyval, like, copied.value, copied.tag, callback_code);
}

// Holds the value, or finds the one that this thread is deleting further up its stack. That need
// not be held, since its deletion can't end before the copy. False: there is neither, or a deletion
// that was left to this thread has freed one of the objects.
bool Dup::hold_or_find_own(Pair& slot, id::Keyval keyval, SlotContent* found, bool* held) {
  const ThreadState& thread = registry_.threads().self();
  for (;;) {
    const Attempt attempt = try_to_hold(slot, keyval, Says::kCopies, *cell_, found);
    *held = attempt == Attempt::kHeld;
    if (*held) return true;
    if (attempt == Attempt::kChanged) {
      end_hold(slot);  // a failed attempt has looked like a holder
      if (table_died()) return false;
      continue;
    }
    *found = slot.load();
    if (!meta::visible(found->meta) || !meta::belongs(found->meta, keyval)) return false;
    if (is_deleting(thread, from_.table, slot, found->meta)) return true;
    if (meta::deleting(found->meta)) return false;
    // Meanwhile a value was attached, or a claim was restored.
  }
}

// Ends the cell's hold or attempt, and runs the deletion of that value if it was left to this
// thread.
inline void Dup::end_hold(const Pair& slot) {
  Readers& readers = registry_.readers();
  if (Tomb* const left = let_go(readers, slot, *cell_)) delete_left(readers, *left);
}

int delete_one(const Target& target, TableScope& scope, const Batch::Item& item,
               OnFailure on_failure, int* callback_code, HeldByOthers& is_held,
               const Listener& listener) {
  Pair& slot = *item.slot;
  const SlotContent now = slot.load();
  if (!meta::visible(now.meta)) return ATTRCACHE_OK;
  const id::Keyval keyval = meta::keyval(now.meta, item.index);
  const auto tell_of = [&](int code) {
    if (listener.deleted_fn == nullptr) return;
    listener.deleted_fn(listener.context, target.registry.number_of(keyval), code);
  };
  if (!target.registry.is_kind_of(keyval)) [[unlikely]]
    return ATTRCACHE_ERR_KEYVAL_KIND;
  uint64_t m = now.meta;
  if (meta::deleting(m)) return ATTRCACHE_OK;  // by another thread, or up this thread's stack
  if (meta::no_delete_fn(m)) {
    if (!slot::detach(slot, m)) return ATTRCACHE_OK;  // (S3)
    drop_reference(target.registry, keyval);
    tell_of(0);
    return ATTRCACHE_OK;
  }
  slot::Claim claim;
  if (!claim.take(slot, m)) return ATTRCACHE_OK;  // (S8)
  if (meta::was_held(m) && is_held(slot, m)) [[unlikely]] {
    // If it can't be restored, another thread has deleted it, although the object is being freed.
    if (!claim.restore()) drop_reference(target.registry, keyval);  // (S9)
    return ATTRCACHE_ERR_BUSY;
  }
  int code = 0;
  if (delete_claimed(target, scope, slot, claim, now, keyval, on_failure, &code))
    drop_reference(target.registry, keyval);
  tell_of(code);
  return code != 0 ? fail(code, callback_code) : ATTRCACHE_OK;
}

}  // namespace

Remains remains(const Readers& readers, Table& table) {
  Remains r;
  const ThreadState& thread = readers.threads().self();
  table.for_each([&](uint32_t, const Pair& slot) {
    const uint64_t m = slot.load_meta();
    if (meta::empty(m) || is_deleting(thread, table, slot, m)) return;
    if (!meta::deleting(m)) {
      r.attached = true;
      // A living thread announces a deletion from before its claim until after its end (except a
      // free, which is the caller's own). A child of fork ignores a claim that no thread announces.
    } else if (!is_forked() || others_delete_in(readers, table) || slot.load_meta() != m) {
      r.claimed_by_others = true;
    }
  });
  return r;
}

void release_table(Registry& registry, const ThreadState& thread, Table& table) {
  for_each_frame_of(thread.innermost, &table, [](Frame& f) {
    f.table_died = true;
    // An attribute attached to the same memory later must not be taken for held.
    if (f.announced != nullptr) Readers::retract(*f.announced, uintptr_t(Says::kTaken));
    f.announced = nullptr;
  });
  if (table.replaced()) [[unlikely]]
    forget_table(registry.readers(), table);
  table.clear(registry.memory());
}

int copy_attributes(const Target& from, const Target& to, int* callback_code) {
  if (!from.table.owns_its_memory() || !to.table.owns_its_memory()) return ATTRCACHE_ERR_MOVED;
  const bool as_new = to.table.is_as_new();
  if (as_new) to.table.mark_begun();
  Dup dup(from, to);
  Batch batch(from.table, &from.registry.memory());
  while (batch.next()) {
    for (const Batch::Item& item : batch) {
      int code = 0;
      int result = dup.copy(item, &code);
      if (dup.table_died()) result = ATTRCACHE_ERR_FREED;
      if (result == ATTRCACHE_OK) continue;
      if (!dup.new_table_died()) delete_attributes(to, ATTRCACHE_DRAIN, nullptr);
      if (result == ATTRCACHE_ERR_CALLBACK && callback_code != nullptr) *callback_code = code;
      return result;
    }
  }
  if (as_new) to.table.unmark_begun();
  return ATTRCACHE_OK;
}

int delete_attributes(const Target& target, attrcache_delete_mode mode, int* callback_code,
                      Listener listener) {
  Table& table = target.table;
  const bool finally = mode == ATTRCACHE_DRAIN_FINALLY;
  if (!table.owns_its_memory()) return finally ? abandon_attributes(target) : ATTRCACHE_ERR_MOVED;
  Readers& readers = target.registry.readers();
  ThreadState& thread = readers.threads().self();
  const bool stops = mode == ATTRCACHE_STOP_AT_FAILURE;
  const OnFailure on_failure = stops ? OnFailure::kKeep : OnFailure::kDetach;
  int first_failure = ATTRCACHE_OK;
  TableScope scope(thread, &table, Frame::Use::kDeleting);
  for (int round = 0; round < kMaxDeletingRounds; ++round) {
    HeldByOthers is_held(target);
    const uint64_t clock = table.clock.load(kRelaxed);
    uint64_t left = 0;
    Batch batch(table, &target.registry.memory());
    while (batch.next()) {
      for (const Batch::Item* item = batch.end(); item != batch.begin();) {
        --item;
        int code = 0;
        const int result = delete_one(target, scope, *item, on_failure, &code, is_held, listener);
        if (first_failure == ATTRCACHE_OK) first_failure = result;
        if (result == ATTRCACHE_ERR_CALLBACK) {
          tell(code, callback_code);
          callback_code = nullptr;  // it gets the first one
        }
        if (scope.table_died()) return first_failure;  // a callback freed the object
        if (result == ATTRCACHE_ERR_BUSY || result == ATTRCACHE_ERR_KEYVAL_KIND) {
          if (!finally) return result;
          abandon_one(target, *item);
          if (scope.table_died()) return first_failure;
        }
        if (result != ATTRCACHE_OK && stops) return first_failure;
        left |= item->slot->load_meta();
      }
    }
    // The table is known to be empty if every slot was found empty, before or now, and nothing was
    // attached since before the first look: whatever attaches to an empty slot ticks the clock
    // first.
    bool busy = false;
    if (left != 0 || batch.passed_over() || table.clock.load(kRelaxed) != clock) {
      const Remains remain = remains(readers, table);
      if (remain.attached) continue;
      busy = remain.claimed_by_others;
    }
    if (!busy && table.replaced()) [[unlikely]] {
      busy = others_delete_in(readers, table) || any_left_of(readers, table);
      if (scope.table_died()) return first_failure;
      if (!busy && remains(readers, table).any()) continue;  // a delete_fn that was left ran
    }
    if (busy && !finally) return ATTRCACHE_ERR_BUSY;
    if (busy) abandon_left_of(readers, table);
    if (scope.table_died()) return first_failure;
    release_table(target.registry, thread, table);
    return first_failure;
  }
  if (finally) abandon_attributes(target);
  return ATTRCACHE_ERR_REATTACHED;
}

int move_table(const Readers& readers, Table& from, Table& to) {
  if (!from.owns_its_memory()) return ATTRCACHE_ERR_MOVED;
  if (!to.is_as_new()) return ATTRCACHE_ERR_ARGUMENT;
  bool busy = false;
  const ThreadState& thread = readers.threads().self();
  for (const Table* table : {&from, &to}) {
    for_each_frame_of(thread.innermost, table, [&](const Frame& f) { busy |= !f.table_died; });
  }
  from.for_each([&](uint32_t, const Pair& slot) {
    const uint64_t m = slot.load_meta();
    busy |= meta::deleting(m) || (meta::was_held(m) && count_holders(readers, slot, m) != 0);
  });
  busy |= from.replaced() && (others_delete_in(readers, from) || any_tomb_of(readers, from));
  if (busy) return ATTRCACHE_ERR_BUSY;
  to.take_over(from);
  return ATTRCACHE_OK;
}

}  // namespace attrcache
