// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/abandon.h"

#include "platform/wait.h"
#include "table/batch.h"
#include "table/claimed.h"
#include "table/dup_free.h"
#include "table/hold.h"
#include "table/meta.h"

namespace attrcache {
namespace {

// How often callbacks may make it necessary to begin again.
constexpr int kMaxAbandonRounds = 16;

// Takes a value out of what this thread, or anybody, has borrowed, which is to be given back all
// the same. Else who attaches to the same memory later would wait for that.
enum class Whose { kMine, kAnybodys };
void give_up_borrows(Readers& readers, Pair& slot, Whose whose) {
  const uint64_t me = readers.threads().identity();
  readers.any_used([&](Announcement& cell, uintptr_t what) {
    if (what != Announcement::of(&slot, Says::kBorrows)) return false;
    if (cell.who.load(kRelaxed) == me) {
      readers.give_up(cell, slot);
    } else if (whose == Whose::kAnybodys) {
      readers.give_up_for(cell, slot);
    }
    return false;
  });
}

// Deletes what is in a slot, if anything is attached there, without calling delete_fn. OK, or
// KEYVAL_KIND: it is of another kind, whose references aren't known here.
int abandon_one(const Target& target, const Batch::Item& item, FenceOnce& fence) {
  const uint64_t m = item.slot->load_meta();
  if (!meta::visible(m)) return ATTRCACHE_OK;
  const id::Keyval keyval = meta::keyval(m, item.index);
  if (!target.registry.is_kind_of(keyval)) {
    item.slot->store_unshared({0, 0});
    return ATTRCACHE_ERR_KEYVAL_KIND;
  }
  Readers& readers = target.registry.readers();
  give_up_borrows(readers, *item.slot, Whose::kMine);
  // DEADLOCK: a borrower waits for this thread. It goes on to have the value, which nobody deletes,
  // unless another thread has begun to.
  while (delete_found(target, *item.slot, keyval, Caller::kRuntime, OnFailure::kDetach, nullptr,
                      fence, DeleteFn::kSkip) == ATTRCACHE_ERR_DEADLOCK) {
    give_up_borrows(readers, *item.slot, Whose::kAnybodys);
  }
  return ATTRCACHE_OK;  // or somebody else was faster
}

// Applies `abandon_one` to those attributes that `which` selects. Stops when a destructor has freed
// the object.
template <typename Which>
int abandon_those(const Target& target, const TableScope& scope, Which which) {
  int result = ATTRCACHE_OK;
  FenceOnce fence(FenceOnce::Of::kObject);
  Batch batch(target.table, Batch::Order::kYoungestFirst, &target.registry.memory());
  while (batch.next()) {
    for (unsigned i = batch.count(); i-- > 0;) {
      if (!which(batch[i])) continue;
      const int one = abandon_one(target, batch[i], fence);
      if (scope.table_died()) return result;
      if (one != ATTRCACHE_OK) result = one;
    }
  }
  return result;
}

// Whether another thread is deleting an attribute of the table.
bool others_delete(const ThreadState& thread, Table& table) {
  bool any = false;
  table.for_each([&](uint32_t, Pair& slot) {
    const uint64_t m = slot.load_meta();
    any = any || (meta::deleting(m) && !is_deleting(thread, table, slot, m));
  });
  return any;
}

// Until no other thread deletes an attribute of the table. Nobody wakes those who wait for a
// deletion, since nobody else does: here the object's owner frees it beside somebody who uses it.
void wait_for_deletions(const Threads& threads, const ThreadState& thread, Table& table) {
  Backoff backoff;
  while (others_delete(thread, table)) threads.wait(backoff);
}

}  // namespace

int abandon_attributes(const Target& target) {
  Table& table = target.table;
  if (!table.owns_its_memory()) {
    table.forget();
    return ATTRCACHE_ERR_MOVED;
  }
  ThreadState& thread = target.registry.threads().self();
  TableScope scope(thread, &table);
  int first = ATTRCACHE_OK;
  // Destructors may attach something again. What they attach in the last round goes with its slot,
  // and its keyval stays for ever.
  for (int round = 0; round < kMaxAbandonRounds; ++round) {
    const auto all = [](const Batch::Item&) { return true; };
    const int result = abandon_those(target, scope, all);
    if (first == ATTRCACHE_OK) first = result;
    if (scope.table_died()) return first;
    if (scope.outer() != nullptr) end_own_copies(target, scope.outer());
    if (scope.table_died()) return first;
    wait_for_deletions(target.registry.threads(), thread, table);
    if (deleting_is_ours(thread, table)) break;
  }
  release_table(thread, table, target.registry.memory());
  return first;
}

int delete_attributes_finally(const Target& target, int* callback_code) {
  Table& table = target.table;
  ThreadState& thread = target.registry.threads().self();
  TableScope scope(thread, &table);
  int first = ATTRCACHE_OK;
  for (int round = 0; round < kMaxAbandonRounds;) {
    int code = 0;
    const Pair* stopped_at = nullptr;
    const int result = delete_attributes(target, ATTRCACHE_DRAIN, &code, &stopped_at);
    if (first == ATTRCACHE_OK && result != ATTRCACHE_ERR_BUSY) {
      first = result;
      if (result == ATTRCACHE_ERR_CALLBACK && callback_code != nullptr) *callback_code = code;
    }
    if (scope.table_died() || table.is_as_new()) return first;
    if (result == ATTRCACHE_ERR_BUSY) {
      wait_for_deletions(target.registry.threads(), thread, table);
      continue;
    }
    if (result != ATTRCACHE_ERR_BORROWED && result != ATTRCACHE_ERR_DEADLOCK &&
        result != ATTRCACHE_ERR_KEYVAL_KIND) {
      break;
    }
    // What kept it from going on has to go first, so that all others are deleted by their
    // delete_fn.
    abandon_those(target, scope, [&](const Batch::Item& item) {
      const uint64_t m = item.slot->load_meta();
      return item.slot == stopped_at || has_borrowed(target.registry.readers(), *item.slot, m) ||
             !target.registry.is_kind_of(meta::keyval(m, item.index));
    });
    if (scope.table_died()) return first;
    // Nobody borrows anew in a table that is being freed, so there is an end of others' borrows.
    if (result != ATTRCACHE_ERR_DEADLOCK) ++round;
  }
  const int result = abandon_attributes(target);
  return first != ATTRCACHE_OK ? first : result;
}

}  // namespace attrcache
