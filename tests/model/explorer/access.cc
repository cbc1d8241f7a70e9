// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Before and after the threads of a model run, atomics are plain memory.

#include "tests/model/explorer/access.h"

#include "tests/model/explorer/engine.h"
#include "tests/model/explorer/sites.h"

namespace attrcache::model::access {

namespace {

void check(const Access& access) { engine().check_address(access.address); }

// The access, weakened if mutate.py asks for that.
Access as_asked(Access access, std::memory_order* failure = nullptr) {
  if (sites::active()) sites::visit(access, failure);
  return access;
}

}  // namespace

Bits load(const Access& access) {
  if (concurrent) return engine().load(as_asked(access));
  check(access);
  return read_bytes(access.address, access.size);
}

void store(const Access& access, Bits value) {
  if (concurrent) return engine().store(as_asked(access), value);
  check(access);
  write_bytes(access.address, access.size, value);
}

Bits update(const Access& access, Update how, Bits operand) {
  if (concurrent) return engine().update(as_asked(access), how, operand);
  check(access);
  const Bits before = read_bytes(access.address, access.size);
  write_bytes(access.address, access.size, updated(how, before, operand, access.size));
  return before;
}

bool swap(const Access& access, Bits& expected, Bits desired, Bits mask,
          std::memory_order failure) {
  if (concurrent) {
    const Access asked = as_asked(access, &failure);
    return engine().swap(asked, expected, desired, mask, failure);
  }
  check(access);
  const Bits before = read_bytes(access.address, access.size);
  if (!same(before, expected, mask)) {
    expected = before;
    return false;
  }
  write_bytes(access.address, access.size, merged(before, desired, mask));
  return true;
}

bool swap_both(const Access& low, const Access& high, Bits& expected, Bits desired) {
  if (concurrent) return engine().swap_both(as_asked(low), as_asked(high), expected, desired);
  check(low);
  const Bits before = {read_bytes(low.address, low.size).lo,
                       read_bytes(high.address, high.size).lo};
  const bool done = before == expected;
  if (done) {
    write_bytes(low.address, low.size, {desired.lo, 0});
    write_bytes(high.address, high.size, {desired.hi, 0});
  }
  expected = before;
  return done;
}

}  // namespace attrcache::model::access
