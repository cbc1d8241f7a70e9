// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/renumber.h"

#include "table/batch.h"
#include "table/meta.h"

namespace attrcache {
namespace {

constexpr uint64_t kOld = uint64_t{1} << 33;

// Gives the attachment of a certain number another one, whoever pins its value or lets go of it
// meanwhile. Not if it is being deleted: its claimer knows it by its number.
void renumber_attachment(Pair& slot, uint64_t old_number, uint64_t new_number) {
  const uint64_t is = meta::spread(old_number);
  uint64_t now = slot.load_meta();
  while (meta::sequence(now) == is && meta::visible(now) && !meta::deleting(now)) {
    // (S13) It hands nothing over, but others read past it what was handed over before.
    if (slot.compare_exchange_meta(now, (now & ~meta::kSequence) | meta::spread(new_number)))
      return;
  }
}

}  // namespace

void renumber(Table& table, uint64_t number) {
  Batch batch(table, Batch::Order::kYoungestFirst);
  uint64_t new_age = kOld;
  // From the youngest on, each to an age that is no higher than its own: at every moment in between
  // all of them are in their old order.
  while (batch.next()) {
    for (unsigned i = batch.count(); i-- > 0;) {
      // Ages are counted from a horizon that others may have moved on since `number`.
      const uint64_t since = batch.horizon() - number;
      const uint64_t age = batch[i].age;
      if (age < since || age - since < kOld) continue;
      renumber_attachment(*batch[i].slot, batch.horizon() - age, number - new_age++);
    }
  }
}

}  // namespace attrcache
