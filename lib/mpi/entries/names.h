// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// MPI's own attribute functions in C, grouped by the names that programs call. A call that
// attrcache doesn't answer is passed on to them, and they raise the errors, so that a message names
// the function that the program called. The Fortran functions are in entry_fortran.cc.

#ifndef ATTRCACHE_MPI_ENTRIES_NAMES_H_
#define ATTRCACHE_MPI_ENTRIES_NAMES_H_

#include "mpi/native/native.h"

namespace attrcache::mpi {

// `calls()` returns those functions.
template <typename Kind, const Calls<Kind>& (*calls)()>
struct NamesInC {
  using InC = NamesInC;
  using Handle = typename Kind::Handle;
  static int create_keyval(typename Kind::CopyFn* copy_fn, typename Kind::DeleteFn* delete_fn,
                           int* keyval, void* extra_state) {
    return calls().create_keyval(copy_fn, delete_fn, keyval, extra_state);
  }
  static int free_keyval(int* keyval) { return calls().free_keyval(keyval); }
  static int set_attr(Handle handle, int keyval, void* value) {
    return calls().set_attr(handle, keyval, value);
  }
  static int get_attr(Handle handle, int keyval, void* value, int* flag) {
    return calls().get_attr(handle, keyval, value, flag);
  }
  static int delete_attr(Handle handle, int keyval) { return calls().delete_attr(handle, keyval); }
};

template <typename Kind>
const Calls<Kind>& calls_of_kind() {
  return native().of<Kind>();
}
inline const Calls<Communicator>& calls_of_mpi1() { return native().mpi1; }

// MPI_Comm_set_attr and the others of a kind of object.
template <typename Kind>
using Typed = NamesInC<Kind, calls_of_kind<Kind>>;
// MPI-1's MPI_Attr_put and the others.
using Mpi1 = NamesInC<Communicator, calls_of_mpi1>;

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_ENTRIES_NAMES_H_
