// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The three kinds of MPI objects that have attributes, as types that the interposer's templates
// take as an argument.

#ifndef ATTRCACHE_MPI_NATIVE_KINDS_H_
#define ATTRCACHE_MPI_NATIVE_KINDS_H_

#include "mpi/native/facts.h"

namespace attrcache::mpi {

struct Communicator {
  using Handle = MPI_Comm;
  using CopyFn = MPI_Comm_copy_attr_function;
  using DeleteFn = MPI_Comm_delete_attr_function;
  static constexpr int kNumber = ATTRCACHE_COMMUNICATOR;
  // The predefined keyvals of the kind: how many there are, and the place of one among them.
  // place() is at least kPlaces for any other keyval.
  static constexpr unsigned kPlaces = facts::kCommPlaces;
  static unsigned place(int keyval) { return facts::comm_place(keyval); }
};

struct Datatype {
  using Handle = MPI_Datatype;
  using CopyFn = MPI_Type_copy_attr_function;
  using DeleteFn = MPI_Type_delete_attr_function;
  static constexpr int kNumber = ATTRCACHE_DATATYPE;
  static constexpr unsigned kPlaces = 0;
  static unsigned place(int) { return 0; }
};

struct Window {
  using Handle = MPI_Win;
  using CopyFn = MPI_Win_copy_attr_function;
  using DeleteFn = MPI_Win_delete_attr_function;
  static constexpr int kNumber = ATTRCACHE_WINDOW;
  static constexpr unsigned kPlaces = facts::kWinPlaces;
  static unsigned place(int keyval) { return facts::win_place(keyval); }
};

inline constexpr int kMpiKinds = 3;

// Whether attrcache handed this keyval out. Everybody else's keyvals are outside the range, so one
// comparison tells.
inline bool ours(int keyval) {
  return static_cast<unsigned>(keyval) - ATTRCACHE_KEYVAL_MIN <=
         static_cast<unsigned>(ATTRCACHE_KEYVAL_MAX - ATTRCACHE_KEYVAL_MIN);
}

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_NATIVE_KINDS_H_
