// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The functions that the model's atomics call. They are declared apart from the engine because the
// code under test includes this header.

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_ACCESS_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_ACCESS_H_

#include "tests/model/explorer/types.h"

namespace attrcache::model::access {

Bits load(Access access);
void store(Access access, Bits value);
Bits update(Access access, Update how, Bits operand);
bool swap(Access access, Bits& expected, Bits desired, Bits mask, std::memory_order failure);
// A compare-exchange of two locations of up to 8 bytes in one step, as by ldaxp and stlxp. Both
// locations are read, and both are written: with `desired` if they hold `expected`, otherwise with
// what they hold. `expected` then has what they held.
bool swap_both(Access low, Access high, Bits& expected, Bits desired);

}  // namespace attrcache::model::access

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_ACCESS_H_
