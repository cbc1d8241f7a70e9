// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/renumber.h"

#include "table/batch.h"
#include "table/meta.h"

namespace attrcache {
namespace {

using meta::kOldAge;

// Gives the attachment that has a certain number another number, even if other threads begin to
// read its value meanwhile. It leaves alone an attachment that is being deleted, because the
// claimer knows it by its number.
void renumber_attachment(Pair& slot, uint64_t old_number, uint64_t new_number) {
  const uint64_t is = meta::spread(old_number);
  uint64_t now = slot.load_meta();
  while (meta::sequence(now) == is && meta::visible(now) && !meta::deleting(now)) {
    // (S5) It has nothing to publish itself, but it must continue what earlier steps on this slot
    // have published.
    if (slot.compare_exchange_meta(now, (now & ~meta::kSequence) | meta::spread(new_number)))
      return;
  }
}

}  // namespace

void renumber(Table& table, const Memory& memory) {
  const uint64_t number = table.now();
  Batch batch(table, Batch::Order::kYoungestFirst, &memory);
  uint64_t new_age = kOldAge;
  // It begins with the youngest, and no attribute gets an age above the one that it has. So at
  // every moment all attributes are in their old order.
  while (batch.next()) {
    for (unsigned i = batch.count(); i-- > 0;) {
      // The batch's ages count from its horizon, which may be later than `number`.
      const uint64_t since = batch.horizon() - number;
      const uint64_t age = batch.age(i);
      if (age < since || age - since < kOldAge) continue;
      renumber_attachment(*batch[i].slot, batch.horizon() - age, number - new_age++);
    }
  }
}

}  // namespace attrcache
