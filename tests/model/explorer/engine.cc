// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What each access does. When a thread runs is decided in schedule.cc.

#include "tests/model/explorer/engine.h"

#include <algorithm>

#include "tests/model/explorer/atomic.h"
#include "tests/model/explorer/sites.h"

namespace attrcache::model {

const View* Engine::heap_view() const { return concurrent ? &running_->view : nullptr; }

void* Engine::allocate(size_t bytes) { return heap().allocate(bytes, current(), heap_view()); }

void Engine::release(void* memory) {
  if (const char* error = heap().release(memory, current(), heap_view())) fail(error);
}

void Engine::record(const Access& access, const Location& location, Bits value, unsigned stale,
                    bool failed) {
  if (!concurrent) return;
  log_.add({access, value, static_cast<uint8_t>(current()), static_cast<uint8_t>(stale),
            location.entry != 0, failed});
  replay_.next();
}

unsigned Engine::choose_stale(const Location& location, const Bits* expected, Bits mask) {
  if (running_->fresh || stale_reads_ >= options_.stale_reads) return 0;
  const unsigned count = std::min(memory_.readable(location, running_->view), 256u);
  if (count == 1) return 0;
  if (replay_.given()) return replay_.peek() != nullptr ? replay_.peek()->stale : 0;
  if (expected == nullptr) return choose(count);
  uint8_t options[256];
  unsigned n = 0;
  uint16_t message = location.newest;
  for (unsigned i = 0; i < count; ++i) {
    const Message& m = memory_.message(message);
    if (i == 0 || !same(m.value, *expected, mask)) options[n++] = static_cast<uint8_t>(i);
    message = m.older;
  }
  return options[choose(n)];
}

void Engine::was_read(unsigned stale) {
  Thread& t = *running_;
  if (stale != 0) {
    t.was_stale = true;
    ++stale_reads_;
  }
  if (!t.has_read) t.seen = stores_;
  t.has_read = true;
}

Bits Engine::load(const Access& access) {
  Location& location = arrive(access, false);
  if (location.entry == 0) {
    const Bits value = read_bytes(access.address, access.size);
    record(access, location, value);
    return value;
  }
  const unsigned stale = choose_stale(location);
  const uint16_t message = memory_.nth(location, stale);
  const Bits value = memory_.message(message).value;
  memory_.load(location, running_->view, message, access.order);
  was_read(stale);
  record(access, location, value, stale);
  return value;
}

void Engine::wrote(const Access& access, Location& location, Bits value, std::memory_order order,
                   bool update) {
  // Threads wait for a change. An exchange that finds a lock taken, and takes it again, must not
  // wake the next waiting thread, or this would never end.
  constexpr Bits kAll = {~uint64_t{0}, ~uint64_t{0}};
  if (!same(value, read_bytes(access.address, access.size), kAll)) ++stores_;
  write_bytes(access.address, access.size, value);
  if (location.entry != 0) {
    memory_.store(location, running_->view, value, order, update);
    running_->fresh = false;
  }
  if (concurrent && releases(order)) ++running_->view.at[current()];
  record(access, location, value);
}

void Engine::store(const Access& access, Bits value) {
  wrote(access, arrive(access, true), value, access.order, false);
}

Bits Engine::update(const Access& access, Update how, Bits operand) {
  Location& location = arrive(access, true);
  const Bits before = read_bytes(access.address, access.size);
  if (location.entry != 0) was_read(0);
  wrote(access, location, updated(how, before, operand, access.size), access.order, true);
  return before;
}

bool Engine::swap(const Access& access, Bits& expected, Bits desired, Bits mask,
                  std::memory_order failure) {
  Location& location = arrive(access, true);
  const bool tracked = location.entry != 0;
  const Bits newest = read_bytes(access.address, access.size);
  unsigned stale = 0;
  if (tracked) {
    stale = choose_stale(location, &expected, mask);
    was_read(stale);
  }
  if (stale == 0 && same(newest, expected, mask)) {
    wrote(access, location, merged(newest, desired, mask), access.order, true);
    return true;
  }
  Bits value = newest;
  if (tracked) {
    const uint16_t message = memory_.nth(location, stale);
    value = memory_.message(message).value;
    memory_.load(location, running_->view, message, failure);
  }
  record(access, location, value, stale, true);
  expected = value;
  return false;
}

bool Engine::swap_both(const Access& low, const Access& high, Bits& expected, Bits desired) {
  Location& lower = arrive(low, true, &high);
  Location& upper = located(high);
  if (lower.entry != 0 || upper.entry != 0) was_read(0);
  const Bits before = {read_bytes(low.address, low.size).lo,
                       read_bytes(high.address, high.size).lo};
  const bool done = before == expected;
  const Bits after = done ? desired : before;
  // A thread that sees one half's store also sees the other's.
  if (lower.entry != 0) memory_.foretell(lower, running_->view, low.order);
  if (upper.entry != 0) memory_.foretell(upper, running_->view, high.order);
  wrote(low, lower, {after.lo, 0}, low.order, true);
  wrote(high, upper, {after.hi, 0}, high.order, true);
  expected = before;
  return done;
}

namespace access {
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

}  // namespace access

}  // namespace attrcache::model
