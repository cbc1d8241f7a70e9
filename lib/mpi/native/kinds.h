// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The three kinds of MPI objects that have attributes, as types that the interposer's templates
// take as an argument.

#ifndef ATTRCACHE_MPI_NATIVE_KINDS_H_
#define ATTRCACHE_MPI_NATIVE_KINDS_H_

#include <cstdlib>

#include "mpi/native/facts.h"
#include "mpi/native/kind_names.h"

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

// The table of kinds. A kind's index is its number, as that of its names in kKindNames.
template <typename... Kinds>
struct KindTable {
  static constexpr int kCount = sizeof...(Kinds);

  template <typename Visit>
  static void for_each(Visit visit) {
    (visit(Kinds{}), ...);
  }

  static constexpr bool is_by_number() {
    int index = 0;
    return ((Kinds::kNumber == index++) && ...);
  }
};
using AllKinds = KindTable<Communicator, Datatype, Window>;
static_assert(AllKinds::is_by_number() && AllKinds::kCount == kMpiKinds);

// The callback constants come in families, one for each kind, and after these one for MPI-1.
inline constexpr int kMpi1Constants = kMpiKinds;
inline constexpr int kConstantFamilies = kMpiKinds + 1;

// Calls visit(Kind{}) for the kind with this number, and returns what that returns. A kind that has
// no case here doesn't compile, and a number that is no kind ends the process.
template <typename Visit>
auto with_kind(int number, Visit visit) {
  static_assert(kMpiKinds == 3, "each kind needs a case");
  switch (number) {
    case ATTRCACHE_COMMUNICATOR:
      return visit(Communicator{});
    case ATTRCACHE_DATATYPE:
      return visit(Datatype{});
    case ATTRCACHE_WINDOW:
      return visit(Window{});
    default:
      std::abort();
  }
}

// Whether attrcache handed this keyval out. Everybody else's keyvals are outside the range, so one
// comparison tells.
inline bool ours(int keyval) {
  return static_cast<unsigned>(keyval) - ATTRCACHE_KEYVAL_MIN <=
         static_cast<unsigned>(ATTRCACHE_KEYVAL_MAX - ATTRCACHE_KEYVAL_MIN);
}

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_NATIVE_KINDS_H_
