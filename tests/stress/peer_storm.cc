// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The storm of slot_storm_test and dup_free_storm_test on bench's peer that has a lock in each object
// (bench/contenders/locked_object.h), so that it isn't measured with mistakes: threads race to set,
// delete, get, borrow and copy, beside callbacks that fail, while its array grows.

#include "bench/contenders/locked_object.h"
#include "tests/stress/storm.h"

namespace attrcache::support {
namespace {

constexpr int kRounds = 200000 / kSlowness;

// A value for which delete_fn has failed may be gone, and no call says so. A copy may have several.
int failing_delete(void* object, int key, void* value, void* extra) {
  const int code = unreliable_delete(object, key, value, extra);
  if (code != 0) ++Ledger::at(value)->failed;
  return code;
}

struct Peer : bench::LockedObject {
  using LockedObject::LockedObject;

  void set_new(Ledger& ledger, int key, const void* object) {
    Ledger::Value* const value = ledger.make(key, object);
    const int code = set(key, value);
    ++(code == 0 ? value->handed_in : value->refused);
  }
  void use(int key) {
    Held held;
    if (!borrow(key, &held)) return;
    Ledger::Value& v = *Ledger::at(held.value);
    ++v.users;
    if (v.in_delete) ++overlaps;
    sched_yield();
    if (v.in_delete || v.refused != 0) ++overlaps;
    --v.users;
    give_back(held);
  }
  void check(int key, const void* object) {
    void* found;
    if (!get(key, &found)) return;
    const Ledger::Value& value = *Ledger::at(found);
    if (value.keyval != key || value.object != object) ADD_FAILURE() << "out of thin air";
  }
};

TEST(PeerStorm, EveryValueIsDeletedExactlyOnce) {
  for (const bool fails : {false, true}) {
    Ledger ledger;
    constexpr int kKeys[] = {0, 3, 5, 40, 300};  // of arrays of 4, 8, 64 and 512
    for (const int key : kKeys) {
      bench::LockedObject::define(
          key, {counting_copy, fails ? failing_delete : counting_delete, &ledger});
    }
    overlaps = 0;
    Peer object;
    run_threads(kThreads, [&](int t) {
      Random random(t);
      for (int i = 0; i < kRounds; ++i) {
        const int key = kKeys[random.below(i < kRounds / 2 ? 3 : 5)];
        switch (random.below(5)) {
          case 0:
            object.set_new(ledger, key, &object);
            break;
          case 1:
            object.erase(key);
            break;
          case 2:
            object.check(key, &object);
            break;
          case 3:
            object.use(key);
            break;
          default: {
            if (random.below(16) != 0) break;
            Peer copy;
            EXPECT_EQ(object.copy_to(copy), 0);
            void* found;
            for (const int k : kKeys) {
              while (copy.get(k, &found)) copy.erase(k);
            }
          }
        }
      }
    });
    void* found;
    for (const int key : kKeys) {
      while (object.get(key, &found)) object.erase(key);
    }
    EXPECT_EQ(overlaps, 0) << "deleted or refused while it was used";
    ledger.expect_all_accounted_for();
  }
}

}  // namespace
}  // namespace attrcache::support
