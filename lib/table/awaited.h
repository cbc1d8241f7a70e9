// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Those who wait for the end of a replacing set get their answer from whoever ends it: the value
// that is attached then, which they hold from that step on, or that there is none. So nobody still
// waits when the next set begins, and no set passes one who waits, even if that isn't scheduled.

#ifndef ATTRCACHE_TABLE_AWAITED_H_
#define ATTRCACHE_TABLE_AWAITED_H_

#include <cstdint>

#include "platform/pair.h"
#include "readers/readers.h"

namespace attrcache {

// Ends a claim that was found to be `claimed`, and awaited: `then` is in the slot afterwards, and is
// known to be read; if its meta is 0, the slot is empty. False: the slot has changed, or somebody
// else has ended the claim.
[[gnu::noinline, gnu::cold]] bool end_awaited(Readers& readers, Pair& slot, uint64_t claimed,
                                              SlotContent then);

// Waits until a slot is no longer closed (S14). The thread that has closed it looks through the
// announcements of all threads meanwhile, but waits for nobody.
void wait_until_open(const Threads& threads, const Pair& slot);

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_AWAITED_H_
