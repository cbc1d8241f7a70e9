// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The functions that free objects: MPI_Comm_free, MPI_Comm_disconnect, MPI_Type_free, MPI_Win_free.
// MPI reports a free through the anchor's delete callback. These functions are overridden for the
// one case in which it doesn't: an object that gets its anchor while it is being freed
// (serving/freeing.h); and for the report, which counts objects without an anchor too.

#include "mpi/native/entry.h"
#include "mpi/native/native.h"
#include "mpi/objects/process.h"
#include "mpi/recording/made.h"
#include "mpi/serving/anchor_callbacks.h"
#include "mpi/serving/freeing.h"
#include "mpi/serving/touch.h"

namespace attrcache::mpi {
namespace {

template <typename Kind>
int free_object(int (*next)(typename Kind::Handle*), typename Kind::Handle* handle) {
  if (handle == nullptr || process() == nullptr) return next(handle);
  const typename Kind::Handle object = *handle;
  const FreeingCall call(Kind::kNumber, facts::to_key(object));
  report::Site* const site =
      counting() ? report::object_freed(Kind::kNumber, facts::to_key(object)) : nullptr;
  const int code = next(handle);
  if (site != nullptr && *handle == object)
    report::object_kept(Kind::kNumber, facts::to_key(object), site);
  if (Anchor* const late = call.late()) [[unlikely]] {
    // MPI sets the handle to null if it has freed the object, whatever it returns.
    if (*handle != object) {
      delete_late_anchor<Kind>(object, late);
    } else {
      adopt_late_anchor<Kind>(object, late);
    }
  }
  return code;
}

}  // namespace

extern "C" {

#define ATTRCACHE_KIND(Kind, word, Comm, ...)              \
  ATTRCACHE_OVERRIDE(Comm##_free, (Kind::Handle * handle), \
                     { return free_object<Kind>(next, handle); })
#include "mpi/native/kinds.def"
ATTRCACHE_OVERRIDE(Comm_disconnect, (MPI_Comm * handle),
                   { return free_object<Communicator>(next, handle); })

}  // extern "C"

}  // namespace attrcache::mpi
