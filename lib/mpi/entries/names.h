// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// MPI's own attribute functions in C, grouped by the names that programs call. A call that
// attrcache doesn't answer is passed on to them, and they raise the errors, so that a message names
// the function that the program called. The Fortran functions are in entry_fortran.cc.

#ifndef ATTRCACHE_MPI_ENTRIES_NAMES_H_
#define ATTRCACHE_MPI_ENTRIES_NAMES_H_

#include "mpi/native/native.h"

namespace attrcache::mpi {

// MPI_Comm_set_attr and the others of a kind of object.
template <typename Kind>
struct Typed {
  using InC = Typed;
  using Handle = typename Kind::Handle;
  static int create_keyval(typename Kind::CopyFn* copy_fn, typename Kind::DeleteFn* delete_fn,
                           int* keyval, void* extra_state) {
    return native().of<Kind>().create_keyval(copy_fn, delete_fn, keyval, extra_state);
  }
  static int free_keyval(int* keyval) { return native().of<Kind>().free_keyval(keyval); }
  static int set_attr(Handle handle, int keyval, void* value) {
    return native().of<Kind>().set_attr(handle, keyval, value);
  }
  static int get_attr(Handle handle, int keyval, void* value, int* flag) {
    return native().of<Kind>().get_attr(handle, keyval, value, flag);
  }
  static int delete_attr(Handle handle, int keyval) {
    return native().of<Kind>().delete_attr(handle, keyval);
  }
};

// MPI-1's MPI_Attr_put and the others.
struct Mpi1 {
  using InC = Mpi1;
  static int create_keyval(MPI_Copy_function* copy_fn, MPI_Delete_function* delete_fn, int* keyval,
                           void* extra_state) {
    return native().keyval_create(copy_fn, delete_fn, keyval, extra_state);
  }
  static int free_keyval(int* keyval) { return native().keyval_free(keyval); }
  static int set_attr(MPI_Comm comm, int keyval, void* value) {
    return native().attr_put(comm, keyval, value);
  }
  static int get_attr(MPI_Comm comm, int keyval, void* value, int* flag) {
    return native().attr_get(comm, keyval, value, flag);
  }
  static int delete_attr(MPI_Comm comm, int keyval) { return native().attr_delete(comm, keyval); }
};

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_ENTRIES_NAMES_H_
