// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Uses of an object while MPI is freeing it. The callback of a keyval that isn't attrcache's may
// make them, when MPI has deleted the anchor already, or there was none. MPI must not be asked
// then: it may have freed what it would look at. And it must not be given an anchor, which it may
// never delete: the anchor's attributes would not be deleted either, and the next object with this
// handle would have them. So what is set in that time is kept by the thread that frees the object,
// and deleted when MPI's function has ended.

#ifndef ATTRCACHE_MPI_SERVING_FREEING_H_
#define ATTRCACHE_MPI_SERVING_FREEING_H_

#include "mpi/native/stack_place.h"
#include "mpi/objects/anchor.h"

namespace attrcache::mpi {

// What is known of an object that this thread is freeing.
struct Freeing {
  int kind;
  uintptr_t key;
  bool anchor_deleted;  // MPI has deleted the anchor
  bool in_callbacks;    // MPI has begun to delete it
  Anchor* late;         // holds what was set since; it is neither MPI's nor in the map
  StackPlace place;
};

// The innermost of this thread's calls that free this object, or null. An error handler may have
// left the call (!place.lives()). Then the object was not freed by it, and end_freeing() forgets
// it; its late anchor is the caller's.
Freeing* find_freeing(int kind, uintptr_t key);
Anchor* end_freeing(Freeing* left);

// Call this when MPI begins to delete the anchor of an object. Returns whether it is doing so
// already, in a call that this one is nested in: one of the callbacks frees the object again.
bool begins_callbacks_again(int kind, uintptr_t key);

// Exists around MPI's function that frees an object.
class FreeingCall {
 public:
  [[gnu::noinline]] FreeingCall(int kind, uintptr_t key);
  ~FreeingCall();
  FreeingCall(const FreeingCall&) = delete;
  FreeingCall& operator=(const FreeingCall&) = delete;

  // The late anchor, or null. The caller must delete it or give it to MPI.
  Anchor* late() const;
};

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_SERVING_FREEING_H_
