// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The types that the parts of the explorer share.

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_TYPES_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_TYPES_H_

#include <atomic>
#include <cstdint>

namespace attrcache::model {

inline constexpr unsigned kMaxThreads = 4;

// The content of a location, up to 16 bytes. Smaller locations use the low bytes of lo.
struct Bits {
  uint64_t lo = 0;
  uint64_t hi = 0;

  friend bool operator==(const Bits&, const Bits&) = default;
};

enum class Kind : uint8_t { kLoad, kStore, kUpdate, kSwap, kWait, kNote };

// How an update computes what it writes. Each half is computed on its own.
enum class Update : uint8_t { kExchange, kAdd, kOr, kAnd };

// One atomic access, as the code under test makes it.
struct Access {
  void* address;
  uint8_t size;
  Kind kind;
  std::memory_order order;
  const char* file;  // where in the code under test
  int line;
};

constexpr bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel;
}
constexpr bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel;
}

// What a thread knows, and what a release store passes on: for each thread how much of it happens
// before (a vector clock), and for each contended location the oldest store that may still be read.
// Two views are joined by taking the maximum of each element, so both share one array.
struct View {
  static constexpr unsigned kEntries = 128;
  static constexpr unsigned kFirstLocation = kMaxThreads;

  // [0, kMaxThreads): clocks; from kFirstLocation on: positions in the modification orders.
  alignas(16) uint16_t at[kEntries];

  void join(const View& other) { join(other, 0); }
  // As a fence does it alone: the other's stores can't be missed any more, but nothing of the other
  // happens before what follows.
  void join_locations(const View& other) { join(other, kFirstLocation); }

 private:
  void join(const View& other, unsigned first) {
    for (unsigned i = first; i < kEntries; ++i) at[i] = at[i] < other.at[i] ? other.at[i] : at[i];
  }
};

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_TYPES_H_
