// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Sessions and files, whose attributes MPI doesn't have (mpi-issues #1004): so they have no anchor
// that MPI would know. Their tables are in the maps alone, from the first set on, and their end is
// seen by overriding MPI_Session_finalize and MPI_File_close. Such objects are never duplicated.

#ifndef ATTRCACHE_MPI_SERVING_UNANCHORED_H_
#define ATTRCACHE_MPI_SERVING_UNANCHORED_H_

#include "mpi/objects/anchor.h"
#include "mpi/objects/process.h"
#include "mpi/serving/touch.h"
#include "mpi/watching/watch.h"

namespace attrcache::mpi {

// What kinds.h says of the other kinds, as far as it is needed here.
struct Session {
  using Handle = facts::SessionHandle;
  static constexpr int kNumber = kSession;
  static constexpr attrcache_handle_form kHandleForm = facts::kHandleForm;
};
struct File {
  using Handle = MPI_File;
  static constexpr int kNumber = kFile;
  static constexpr attrcache_handle_form kHandleForm = ATTRCACHE_HANDLE_POINTER;
};

template <typename Kind>
concept Unanchored = !Anchored<Kind>;

// Finds the object's table, or gives null if it has none yet; with Attach::kYes it gets one. An
// object that isn't known is shown to MPI, which raises the error if its handle is bad. Fails also
// if no keyval was ever made. Returns an MPI error code, which has been raised.
template <Unanchored Kind>
int touch(typename Kind::Handle handle, Attach if_none, Anchor** found);

template <Unanchored Kind>
bool is_null(typename Kind::Handle) {
  return false;  // a bad handle like any other
}
// Call this before touch().
template <Unanchored Kind>
void note_handle(typename Kind::Handle, Doing doing, int keyval) {
  if (process() == nullptr) note_passed_on(doing, Kind::kNumber, keyval);
}

// Calls the object's error handler, and returns `code`.
template <typename Kind>
int raise_on(typename Kind::Handle handle, int code);

// Call this before MPI ends the object. Deletes all its attributes, the youngest first, whatever
// their callbacks return: closing a file is collective, so one rank that stayed away would leave
// the others waiting. Returns the first failure, raised on the object.
template <typename Kind>
int end_unanchored(typename Kind::Handle* handle);

// The same for all files that are left, when MPI_Finalize has deleted what MPI knows. Sessions that
// are left lose the attributes that they have then; they may go on, and be in use by other threads.
int end_all_unanchored();

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_SERVING_UNANCHORED_H_
