// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Gets of predefined attributes (MPI_TAG_UB, MPI_WIN_BASE, ...). These belong to MPI, and attrcache
// never sets, deletes or frees them. The first get of one that can't change while its object lives
// asks MPI; if the object has an anchor, later ones find the answer there. MPI_COMM_WORLD and
// MPI_COMM_SELF have an anchor from the beginning (serving/begin.h), other objects once something
// was set on them.

#ifndef ATTRCACHE_MPI_ENTRIES_PREDEFINED_H_
#define ATTRCACHE_MPI_ENTRIES_PREDEFINED_H_

#include "mpi/native/native.h"
#include "mpi/objects/anchor.h"
#include "mpi/serving/touch.h"
#include "mpi/watching/watch.h"

namespace attrcache::mpi {

// The entry in Anchor::predefined that means: MPI said that the object doesn't have the attribute.
// No attribute has the address 1.
inline constexpr uintptr_t kAbsent = 1;

// Whether to ask MPI for the anchor of an object that isn't in the map: only now and then, because
// that costs as much as the get itself. The count by handles is approximate, and its accesses are
// relaxed, because it decides nothing else.
inline bool worth_asking_for_anchor(uintptr_t key) {
  static constinit Atomic<uint8_t> asked[256];
  Atomic<uint8_t>& times = asked[key * 0x9e3779b97f4a7c15 >> 56];
  const uint8_t n = times.load(kRelaxed);
  times.store(static_cast<uint8_t>(n + 1), kRelaxed);
  return n % 8 == 0;
}

// Asks MPI, and remembers the answer.
template <typename Kind, typename Names>
[[gnu::noinline]] int ask_predefined(typename Kind::Handle handle, int keyval, void* value,
                                     int* flag) {
  note_handle<Kind>(handle, Doing::kGet, keyval);
  if (checking())
    note_passed_on(Doing::kGet, Kind::kNumber, keyval);  // MPI may not have begun, or be over
  int there = -1;  // stays so after a failure, even if MPI returns MPI_SUCCESS (ask(), touch.cc)
  const int code = Names::natively().get_attr(handle, keyval, value, &there);
  if (there == -1) return code;
  *flag = there;
  // MPI_LASTUSEDCODE grows, so it must not be remembered.
  if (Kind::kNumber == ATTRCACHE_COMMUNICATOR && keyval == MPI_LASTUSEDCODE) return code;
  if (code != MPI_SUCCESS || ending()) return code;
  if constexpr (Kind::kNumber == kCommunicator) {
    if (there == 0 && checking()) {  // not remembered, so that each place is noticed
      watch_absent(handle, keyval);
      return code;
    }
  }
  Anchor* anchor = find_anchor<Kind>(handle);
  if (anchor == nullptr) {
    // Some MPIs answer even for the null handle.
    if (is_null<Kind>(handle) || !worth_asking_for_anchor(facts::to_key(handle))) return code;
    if (touch<Kind>(handle, Attach::kNo, &anchor) != MPI_SUCCESS || anchor == nullptr) return code;
  }
  // Relaxed, because every thread learns the same answer, and MPI made what it points to long ago.
  // A null pointer (the base of a window without memory) looks like "not asked yet", so each get
  // of one asks MPI.
  void* known = there != 0 ? *static_cast<void**>(value) : reinterpret_cast<void*>(kAbsent);
  anchor->predefined[Kind::predefined_index(keyval)].store(known, kRelaxed);
  return code;
}

// For a keyval that isn't predefined, or bad arguments.
template <typename Kind, typename Names>
[[gnu::noinline]] int leave_to_mpi(typename Kind::Handle handle, int keyval, void* value,
                                   int* flag) {
  note_passed_on(Doing::kGet, Kind::kNumber, keyval);
  return Names::natively().get_attr(handle, keyval, value, flag);
}

// A get of a keyval that isn't attrcache's. It calls no function but only jumps to one at the end,
// so that a hit saves no registers.
template <typename Kind, typename Names>
[[gnu::noinline]] int get_attr_of_mpi(typename Kind::Handle handle, int keyval, void* value,
                                      int* flag) {
  const unsigned index = Kind::predefined_index(keyval);
  if (value == nullptr || index >= Kind::kPredefined || flag == nullptr) [[unlikely]] {
    return leave_to_mpi<Kind, Names>(handle, keyval, value, flag);
  }
  void* found;
  if (objects<Kind>.find_at_home(facts::to_key(handle), &found)) [[likely]] {
    void* known = static_cast<Anchor*>(found)->predefined[index].load(kRelaxed);
    if (reinterpret_cast<uintptr_t>(known) > kAbsent) [[likely]] {
      *static_cast<void**>(value) = known;
      *flag = 1;
      return MPI_SUCCESS;
    }
    if (known != nullptr) {
      *flag = 0;
      return MPI_SUCCESS;
    }
  }
  return ask_predefined<Kind, Names>(handle, keyval, value, flag);
}

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_ENTRIES_PREDEFINED_H_
