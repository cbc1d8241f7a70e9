// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What the model's atomics call. Apart from the engine, because these headers are included by the
// code under test.

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_ACCESS_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_ACCESS_H_

#include "tests/model/explorer/types.h"

namespace attrcache::model::access {

Bits load(const Access& access);
void store(const Access& access, Bits value);
Bits update(const Access& access, Update how, Bits operand);
bool swap(const Access& access, Bits& expected, Bits desired, Bits mask, std::memory_order failure);
// Two locations of up to 8 bytes in one step, as a pair of exclusive loads and stores does it: both
// are read, and both are written, with what is desired if they hold what is expected, else with
// what they hold. Tells in `expected` what they held.
bool swap_both(const Access& low, const Access& high, Bits& expected, Bits desired);

}  // namespace attrcache::model::access

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_ACCESS_H_
