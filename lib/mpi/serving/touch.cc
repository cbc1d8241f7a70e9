// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/serving/touch.h"

#include <mutex>

#include "mpi/native/errors.h"
#include "mpi/native/native.h"
#include "mpi/recording/living.h"
#include "mpi/serving/anchor_callbacks.h"
#include "mpi/serving/begin.h"
#include "mpi/serving/freeing.h"
#include "mpi/serving/lifetime.h"

namespace attrcache::mpi {
namespace {

// Gives one thread the right to attach an anchor. It is held around calls into MPI that run no
// callback and can fail only for lack of memory, so a thread that waits for it waits for MPI alone.
// If they do fail, an error handler may use other objects, or leave: so a thread that has the right
// may take it again.
class Attaching {
 public:
  Attaching() {
    if (!mine_) lock_.lock();
    mine_ = true;
  }
  ~Attaching() {
    if (mine_) lock_.unlock();
    mine_ = false;
  }
  Attaching(const Attaching&) = delete;
  Attaching& operator=(const Attaching&) = delete;

 private:
  static constinit std::mutex lock_;
  static constinit thread_local bool mine_;
};
constinit std::mutex Attaching::lock_;
constinit thread_local bool Attaching::mine_ = false;

// Asks MPI for the object's anchor, and gives null if there is none.
template <typename Kind>
int ask(const Process& state, typename Kind::Handle handle, Anchor** anchor) {
  constexpr int kNotWritten = -1;
  int flag = kNotWritten;
  *anchor = nullptr;
  void* value = nullptr;
  const int code =
      native().of<Kind>().get_attr(handle, state.anchor_keyvals[Kind::kNumber], &value, &flag);
  if (code != MPI_SUCCESS) return code;
  // MPI did not write the flag, so the call has failed. MPICH 5.0.2 returns MPI_SUCCESS even so
  // once it has called an error handler of the program's. If this were taken for a success, an
  // anchor would be entered under a handle that names no object.
  if (flag == kNotWritten) return MPI_ERR_OTHER;
  if (flag != 0) *anchor = static_cast<Anchor*>(value);
  return MPI_SUCCESS;
}

// Attaches a new anchor unless another thread was faster. When out of memory it attaches a null
// pointer, which ask() takes for no anchor, and gives null.
template <typename Kind>
int attach(const Process& state, typename Kind::Handle handle, Anchor** anchor) {
  const Attaching held;
  int code = ask<Kind>(state, handle, anchor);
  if (code != MPI_SUCCESS || *anchor != nullptr) return code;
  Anchor* made = new_anchor();
  code = native().of<Kind>().set_attr(handle, state.anchor_keyvals[Kind::kNumber], made);
  if (code != MPI_SUCCESS) {
    delete_anchor(made);
    return code;
  }
  *anchor = made;
  if (made != nullptr) count(counts.objects);
  return MPI_SUCCESS;
}

// Makes MPI raise that there is no memory for an anchor. It overwrites the null pointer that
// attach() left in the anchor's place, and the Refusal makes that fail.
template <typename Kind>
int raise_no_memory(const Process& state, typename Kind::Handle handle) {
  Refusal refusal(Kind::kNumber, facts::to_object(handle), MPI_ERR_NO_MEM);
  const int code =
      native().of<Kind>().set_attr(handle, state.anchor_keyvals[Kind::kNumber], nullptr);
  return refusal.used() || code != MPI_SUCCESS ? code : MPI_ERR_NO_MEM;
}

// Gives the anchor that an object has got since MPI began to free it.
template <typename Kind>
int find_late(Freeing& freeing, typename Kind::Handle handle, Attach if_none, Anchor** anchor) {
  if (freeing.late == nullptr && if_none != Attach::kNo) {
    freeing.late = new_anchor();
    if (freeing.late == nullptr) return raise_on_world(MPI_ERR_NO_MEM);
    count(counts.objects);
    report::known_as(Kind::kNumber, freeing.late, facts::to_object(handle));
  }
  *anchor = freeing.late;
  return MPI_SUCCESS;
}

}  // namespace

template <Anchored Kind>
int touch(typename Kind::Handle handle, Attach if_none, Anchor** anchor) {
  const Process* state;
  int code = begin(&state);
  if (code != MPI_SUCCESS) return code;
  notice_further_life();
  watch_for_end(*state);
  const uintptr_t key = facts::to_key(handle);
  Freeing* freeing = find_freeing(Kind::kNumber, key);
  while (freeing != nullptr && !freeing->place.lives()) {
    if (Anchor* const late = end_freeing(freeing)) adopt_late_anchor<Kind>(handle, late);
    freeing = find_freeing(Kind::kNumber, key);
  }
  if (freeing != nullptr && (freeing->anchor_deleted || freeing->late != nullptr)) {
    return find_late<Kind>(*freeing, handle, if_none, anchor);
  }
  code = ask<Kind>(*state, handle, anchor);
  if (code != MPI_SUCCESS) return code;
  if (*anchor == nullptr) {
    if (if_none == Attach::kNo) return MPI_SUCCESS;
    if (freeing != nullptr) return find_late<Kind>(*freeing, handle, if_none, anchor);
    code = attach<Kind>(*state, handle, anchor);
    if (code != MPI_SUCCESS) return code;
    if (*anchor == nullptr) return raise_no_memory<Kind>(*state, handle);
  }
  report::known_as(Kind::kNumber, *anchor, facts::to_object(handle));
  if (!ending()) remember<Kind>(key, *anchor);
  return MPI_SUCCESS;
}

void attach_if_there_is_memory(MPI_Comm comm) {
  Anchor* anchor;
  if (attach<Communicator>(*process(), comm, &anchor) == MPI_SUCCESS && anchor != nullptr) {
    report::known_as(Communicator::kNumber, anchor, facts::to_object(comm));
  }
}

template <typename Kind>
void adopt_late_anchor(typename Kind::Handle handle, Anchor* anchor) {
  const Process& state = *process();
  const uintptr_t key = facts::to_key(handle);
  {
    const Attaching held;
    Anchor* there;
    if (ask<Kind>(state, handle, &there) == MPI_SUCCESS && there == nullptr &&
        native().of<Kind>().set_attr(handle, state.anchor_keyvals[Kind::kNumber], anchor) ==
            MPI_SUCCESS) {
      if (!ending()) remember<Kind>(key, anchor);
      return;
    }
  }
  delete_late_anchor<Kind>(handle, anchor);
}

#define ATTRCACHE_KIND(kind, ...)                           \
  template int touch<kind>(kind::Handle, Attach, Anchor**); \
  template void adopt_late_anchor<kind>(kind::Handle, Anchor*);
#include "mpi/native/kinds.def"

}  // namespace attrcache::mpi
