// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/model/explorer/access.h"

#include "tests/model/explorer/engine.h"
#include "tests/model/explorer/sites.h"

namespace attrcache::model::access {
namespace {

// Weakens the access if mutate.py asks for that.
void ask(Access& access, std::memory_order* failure = nullptr) {
  if (concurrent && sites::active()) sites::visit(access, failure);
}

}  // namespace

Bits load(Access access) {
  ask(access);
  return engine().load(access);
}

void store(Access access, Bits value) {
  ask(access);
  engine().store(access, value);
}

Bits update(Access access, Update how, Bits operand) {
  ask(access);
  return engine().update(access, how, operand);
}

bool swap(Access access, Bits& expected, Bits desired, Bits mask, std::memory_order failure) {
  ask(access, &failure);
  return engine().swap(access, expected, desired, mask, failure);
}

bool swap_both(Access low, Access high, Bits& expected, Bits desired) {
  ask(low);
  ask(high);
  return engine().swap_both(low, high, expected, desired);
}

}  // namespace attrcache::model::access
