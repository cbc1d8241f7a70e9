// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/abandon.h"

#include "platform/wait.h"
#include "table/batch.h"
#include "table/dup_free.h"
#include "table/left.h"
#include "table/meta.h"

namespace attrcache {
namespace {

// How often callbacks may make it necessary to begin again.
constexpr int kMaxAbandonRounds = 16;

// Takes what is in a slot out of it, if anything is attached there, without calling delete_fn. OK,
// or KEYVAL_KIND: it is of another kind, whose references aren't known here.
int abandon_one(const Target& target, const Batch::Item& item) {
  uint64_t m = item.slot->load_meta();
  while (meta::visible(m) && !meta::deleting(m)) {
    const id::Keyval keyval = meta::keyval(m, item.index);
    if (!target.registry.is_kind_of(keyval)) {
      item.slot->store_unshared({0, 0});
      return ATTRCACHE_ERR_KEYVAL_KIND;
    }
    give_up_borrows(target.registry.readers(), *item.slot);
    if (slot::detach(*item.slot, m)) {  // (S3)
      drop_reference(target.registry, keyval);
      break;
    }
  }
  return ATTRCACHE_OK;
}

// Applies `abandon_one` to those attributes that `which` selects. Stops when a destructor has freed
// the object.
template <typename Which>
int abandon_those(const Target& target, const TableScope& scope, Which which) {
  int result = ATTRCACHE_OK;
  Batch batch(target.table, Batch::Order::kYoungestFirst, &target.registry.memory());
  while (batch.next()) {
    for (unsigned i = batch.count(); i-- > 0;) {
      if (!which(batch[i])) continue;
      const int one = abandon_one(target, batch[i]);
      if (scope.table_died()) return result;
      if (one != ATTRCACHE_OK) result = one;
    }
  }
  return result;
}

// Gives up the deletions that were left, and waits until no other thread deletes an attribute of
// the table. Only here: the object's owner frees it while other threads use it. Stops when a
// destructor has freed the object.
void end_deletions(Readers& readers, Table& table, const TableScope& scope) {
  Backoff backoff;
  const ThreadState& thread = readers.threads().self();
  while (!scope.table_died() &&
         (others_delete_in(readers, table) || remains(thread, table).claimed_by_others ||
          abandon_left_of(readers, table)))
    readers.threads().wait(backoff);
}

}  // namespace

int abandon_attributes(const Target& target) {
  Table& table = target.table;
  if (!table.owns_its_memory()) {
    table.forget();
    return ATTRCACHE_ERR_MOVED;
  }
  Readers& readers = target.registry.readers();
  ThreadState& thread = readers.threads().self();
  TableScope scope(thread, &table);
  int first = ATTRCACHE_OK;
  // Destructors may attach something again. What they attach in the last round goes with its slot,
  // and its keyval stays for ever.
  for (int round = 0; round < kMaxAbandonRounds; ++round) {
    const auto all = [](const Batch::Item&) { return true; };
    const int result = abandon_those(target, scope, all);
    if (first == ATTRCACHE_OK) first = result;
    if (scope.table_died()) return first;
    end_deletions(readers, table, scope);
    if (scope.table_died()) return first;
    if (!remains(thread, table).any()) break;
  }
  release_table(target.registry, thread, table);
  return first;
}

int delete_attributes_finally(const Target& target, int* callback_code) {
  Table& table = target.table;
  Readers& readers = target.registry.readers();
  TableScope scope(readers.threads().self(), &table);
  int first = ATTRCACHE_OK;
  for (int round = 0; round < kMaxAbandonRounds;) {
    int code = 0;
    const Pair* stopped_at = nullptr;
    const int result = delete_attributes(target, ATTRCACHE_DRAIN, &code, &stopped_at);
    const bool within = result == ATTRCACHE_ERR_BUSY && stopped_at == nullptr;
    if (first == ATTRCACHE_OK && !within) {
      first = result;
      if (result == ATTRCACHE_ERR_CALLBACK && callback_code != nullptr) *callback_code = code;
    }
    if (scope.table_died() || table.is_as_new()) return first;
    if (within) {
      end_deletions(readers, table, scope);
      if (scope.table_died()) return first;
      continue;
    }
    if (result != ATTRCACHE_ERR_BUSY && result != ATTRCACHE_ERR_KEYVAL_KIND) break;
    // What kept it from going on has to go first, so that all others are deleted by their
    // delete_fn.
    abandon_those(target, scope, [&](const Batch::Item& item) {
      return item.slot == stopped_at ||
             !target.registry.is_kind_of(meta::keyval(item.slot->load_meta(), item.index));
    });
    if (scope.table_died()) return first;
    ++round;
  }
  const int result = abandon_attributes(target);
  return first != ATTRCACHE_OK ? first : result;
}

}  // namespace attrcache
