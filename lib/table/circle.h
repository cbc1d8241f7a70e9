// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Who waits for whom. A thread waits for one other thread at a time: for one who holds a value, or
// for one who is replacing it. So from each thread leads at most one arrow, and a circle is found
// by following them.

#ifndef ATTRCACHE_TABLE_CIRCLE_H_
#define ATTRCACHE_TABLE_CIRCLE_H_

#include <cstdint>

#include "readers/readers.h"

namespace attrcache {

// Whether `who` waits for the calling thread, be it through others. The caller has announced that
// it waits for `who`. Of threads that close a circle together, each announces its wait before it
// asks (any_wait() pairs with announce_wait()); so the last of them in that order sees all others,
// whose announcements stay as they are, because a thread that waits changes nothing that it has
// announced.
bool waits_for_me(Readers& readers, uint64_t who);

// Who is replacing the attachment in a slot whose claimed meta is `m`; 0 if nobody is any more.
uint64_t who_replaces(const Readers& readers, const Pair& slot, uint64_t m);

}  // namespace attrcache

#endif  // ATTRCACHE_TABLE_CIRCLE_H_
