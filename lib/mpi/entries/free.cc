// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The functions that free objects: MPI_Comm_free, MPI_Comm_disconnect, MPI_Type_free, MPI_Win_free.
// MPI reports a free through the anchor's delete callback. These functions are overridden for the
// one case in which it doesn't: an object that gets its anchor while it is being freed
// (serving/freeing.h); and for the report, which counts objects without an anchor too.
//
// As with MPI_Init (init.cc), other languages and tools end up in the MPI_ or the PMPI_ names, so
// both are overridden, and each passes the call on to the function of the same name.

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
}  // namespace attrcache::mpi

extern "C" {

#define ATTRCACHE_FREE_OBJECT(name, kind)                                                       \
  ATTRCACHE_ENTRY int name(attrcache::mpi::kind::Handle* handle) {                              \
    static const auto next = attrcache::mpi::behind<int(attrcache::mpi::kind::Handle*)>(#name); \
    return attrcache::mpi::free_object<attrcache::mpi::kind>(next, handle);                     \
  }

#define ATTRCACHE_KIND(kind, word, Comm, ...)    \
  ATTRCACHE_FREE_OBJECT(MPI_##Comm##_free, kind) \
  ATTRCACHE_FREE_OBJECT(PMPI_##Comm##_free, kind)
#include "mpi/native/kinds.def"
ATTRCACHE_FREE_OBJECT(MPI_Comm_disconnect, Communicator)
ATTRCACHE_FREE_OBJECT(PMPI_Comm_disconnect, Communicator)

}  // extern "C"
