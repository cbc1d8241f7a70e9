// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The weak memory of the model. A location is known by its address; it has a history of stores, in
// modification order, which here is the order of execution. Which of them a load may read follows
// from what the reading thread knows (its View):
//
//   coherence          nothing older than what the thread has read, written or been told of
//   happens-before     a store that is released carries the storer's view; a load that acquires
//                      joins it; relaxed ones neither carry nor join
//   release sequences  an update carries on the view of the store that it read (C++20: only updates
//                      continue a sequence, not the same thread's plain stores)
//   asymmetric fences  the light side does nothing. The heavy side is as if every thread executed a
//                      full fence at the point where it is: every thread sees what the caller has
//                      seen, and the caller sees what any of them has seen. The other threads learn
//                      nothing of each other, and this alone makes nothing happen before anything.
//                      With Options::gradual_fences it reaches them one by one, in their order.
//   full fences        are in the order of execution: a thread that executes one sees everything
//                      that another had seen when it executed an earlier one
//   updates            read the last store. A failing compare-and-swap is a load of any readable
//                      value that isn't the expected one.
//
// Not modelled:
//
//   * loads that read stores executed later (LB, values out of thin air);
//   * stores that come earlier in modification order than in execution (2+2W with both first stores
//     last). That needs two plain stores that race, and the library's plain stores to shared words
//     don't race;
//   * weak compare-and-swaps that fail spuriously;
//   * seq_cst accesses, which fail: the library has only fences of that order;
//   * parts of a location read on their own. In the library's models a Pair is one location of 16
//     bytes. A Pair whose halves are read one by one is two locations instead, which
//     pair_model_test.cc explores by itself (two_step_pair.h; Engine::swap_both writes both halves
//     in one step), and shows that it behaves as the one location does.
//
// Only contended locations have a history: those that at least two threads of the model access, one
// of them writing. On the others nothing can be stale and the order of accesses makes no
// difference. Which are contended is learned by exploring (see explore.cc) and kept by address.

#ifndef ATTRCACHE_TESTS_MODEL_EXPLORER_MEMORY_H_
#define ATTRCACHE_TESTS_MODEL_EXPLORER_MEMORY_H_

#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/model/explorer/types.h"

namespace attrcache::model {

struct Location {
  uintptr_t address = 0;
  uint64_t execution = 0;   // the execution in which the members after `contended` were written
  bool contended = false;   // in any execution so far
  uint8_t accessed_by = 0;  // threads, as bits
  bool written = false;
  uint16_t entry = 0;   // where views keep it
  uint16_t newest = 0;  // its newest message
  uint16_t block = 0;   // the block of the heap in which it lies, or 0
};

// One store of a history.
struct Message {
  Bits value;
  uint16_t older;  // the one before it
  uint16_t time;   // its position in the modification order
  uint16_t view;   // the view that it carries, or 0
};

class Memory {
 public:
  Memory();

  // Forgets everything, also which locations are contended.
  void clear();
  // Starts an execution.
  void begin();

  Location& find(const Access& access);

  // Records an access to a location that was not contended so far. True if it is contended now.
  static bool note_access(Location& location, unsigned thread, bool writes);

  // How many stores the thread may read, counted from the newest.
  unsigned readable(const Location& location, const View& view) const;
  // The nth newest.
  uint16_t nth(const Location& location, unsigned n) const;
  const Message& message(uint16_t index) const { return messages_[index]; }

  void load(Location& location, View& view, uint16_t message, std::memory_order order);
  void store(Location& location, View& view, Bits value, std::memory_order order, bool update);
  // To be called before the stores of an update of several locations, for each of them: adds to the
  // thread's view the store that it is going to make.
  void foretell(const Location& location, View& view, std::memory_order order) const;

 private:
  static constexpr unsigned kTableSize = 4096;  // a power of two
  static constexpr unsigned kMaxMessages = 16384;

  std::vector<Location> table_;
  std::vector<Message> messages_;
  std::vector<View> views_;
  uint64_t execution_ = 0;
  unsigned locations_ = 0;
  unsigned next_entry_ = View::kFirstLocation;
  uint16_t next_message_ = 0;
  uint16_t next_view_ = 1;
};

// The bytes of a location, as they are in the real memory. With sizes known to the compiler, a copy
// is a single instruction.
inline Bits read_bytes(const void* address, unsigned size) {
  Bits value;
  if (size == 8) {
    std::memcpy(&value.lo, address, 8);
  } else {
    std::memcpy(&value, address, size);
  }
  return value;
}
inline void write_bytes(void* address, unsigned size, Bits value) {
  if (size == 8) {
    std::memcpy(address, &value.lo, 8);
  } else {
    std::memcpy(address, &value, size);
  }
}

// What an update writes.
Bits updated(Update how, Bits before, Bits operand, unsigned size);
// Whether two values agree in the bits of a mask, and the first with those bits of the second.
bool same(Bits a, Bits b, Bits mask);
Bits merged(Bits before, Bits desired, Bits mask);

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_EXPLORER_MEMORY_H_
