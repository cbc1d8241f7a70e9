// SPDX-License-Identifier: Apache-2.0
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

}  // namespace attrcache::model::access

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_ACCESS_H_
