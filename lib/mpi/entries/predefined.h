// SPDX-License-Identifier: Apache-2.0
//
// Predefined attributes (MPI_TAG_UB, MPI_WIN_BASE, ...): MPI's own, and never ours to set, delete
// or free. Those that can't change while their object lives are asked of MPI once per object and
// then answered from its anchor. Objects without an anchor get one when they are asked often.

#ifndef ATTRCACHE_MPI_ENTRIES_PREDEFINED_H_
#define ATTRCACHE_MPI_ENTRIES_PREDEFINED_H_

#include "mpi/entries/names.h"
#include "mpi/native/native.h"
#include "mpi/objects/anchor.h"
#include "mpi/watching/watch.h"

namespace attrcache::mpi {

// In Anchor::predefined: MPI says that the object doesn't have it. No attribute's address is 1.
inline constexpr uintptr_t kAbsent = 1;

// All but the hit: asks MPI, and remembers.
template <typename Kind, typename Names>
[[gnu::noinline]] int ask_predefined(typename Kind::Handle handle, int keyval, void* value,
                                     int* flag) {
  note_handle<Kind>(handle, Doing::kGet, keyval);
  if (checking())
    note_passed_on(Doing::kGet, Kind::kNumber, keyval);  // it may be too early or late
  const int code = Names::get(handle, keyval, value, flag);
  // This one grows.
  if (Kind::kNumber == ATTRCACHE_COMMUNICATOR && keyval == MPI_LASTUSEDCODE) return code;
  if (code != MPI_SUCCESS || ending()) return code;
  Anchor* anchor = find_anchor<Kind>(handle);
  if (anchor == nullptr &&
      (touch<Kind>(handle, Attach::kIfAskedOften, &anchor) != MPI_SUCCESS || anchor == nullptr)) {
    return code;
  }
  // Relaxed: whichever thread learns it learns the same, and MPI made what it points to long ago. A
  // null pointer (the base of a window without memory) is asked again each time.
  void* known = *flag != 0 ? *static_cast<void**>(value) : reinterpret_cast<void*>(kAbsent);
  anchor->predefined[Kind::place(keyval)].store(known, kRelaxed);
  return code;
}

// The keyval isn't one of those, or the arguments are bad.
template <typename Kind, typename Names>
[[gnu::noinline]] int leave_to_mpi(typename Kind::Handle handle, int keyval, void* value,
                                   int* flag) {
  note_passed_on(Doing::kGet, Kind::kNumber, keyval);
  return Names::get(handle, keyval, value, flag);
}

// A get of a keyval that isn't ours, by one of `Names`. Calls nothing, but jumps: a hit saves no
// registers.
template <typename Kind, typename Names>
[[gnu::noinline]] int get_foreign(typename Kind::Handle handle, int keyval, void* value,
                                  int* flag) {
  const unsigned place = Kind::place(keyval);
  if (value == nullptr || place >= Kind::kPlaces || flag == nullptr) [[unlikely]] {
    return leave_to_mpi<Kind, Names>(handle, keyval, value, flag);
  }
  void* found;
  if (objects<Kind>.find_near(facts::to_key(handle), &found)) [[likely]] {
    void* known = static_cast<Anchor*>(found)->predefined[place].load(kRelaxed);
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
