// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// How a failed set, get or delete of a keyval of attrcache's ends. MPI raises the error itself, in
// its own function of the name that the program called (`Names`, native.h).
//
// * If the keyval can't be used, MPI's function is called with it and fails, because MPI doesn't
//   know it either: keyvals of attrcache's lie outside of all numbers that MPIs hand out.
// * If a callback failed, MPI's function is called for the object's anchor instead, and the
//   anchor's delete callback fails with the callback's code (Refusal, errors.h). MPI keeps an
//   attribute whose delete callback failed. So the anchor stays where it is, and no thread ever
//   finds the object without it, or with any other attribute. A separate attribute for this purpose
//   would have to be attached and detached again.

#ifndef ATTRCACHE_MPI_ENTRIES_RAISE_H_
#define ATTRCACHE_MPI_ENTRIES_RAISE_H_

#include "mpi/native/errors.h"
#include "mpi/native/native.h"
#include "mpi/objects/anchor.h"
#include "mpi/objects/process.h"
#include "mpi/serving/unanchored.h"
#include "mpi/watching/watch.h"

namespace attrcache::mpi {

// Calls the error handler only, by MPI_*_call_errhandler. This is for an object that has lost its
// anchor, which can only happen in a program that frees an object while it uses it.
template <typename Kind>
int raise_without_anchor(typename Kind::Handle handle, int code) {
  if (!Kind::kHasErrorHandler) return raise_on_world(code);
  native().of<Kind>().call_errhandler(handle, code);
  return code;
}

template <Anchored Kind, typename Names>
int raise_in_delete(typename Kind::Handle handle, int code) {
  Refusal refusal(Kind::kNumber, facts::to_object(handle), code);
  const int returned =
      Names::natively().delete_attr(handle, process()->anchor_keyvals[Kind::kNumber]);
  // If the Refusal was not used and the call failed, MPI has raised an error of its own, such as
  // that of a bad handle.
  if (refusal.used() || returned != MPI_SUCCESS) return returned;
  return raise_without_anchor<Kind>(handle, code);
}

template <Anchored Kind, typename Names>
int raise_in_set(typename Kind::Handle handle, int code) {
  const int keyval = process()->anchor_keyvals[Kind::kNumber];
  int there = 0;
  void* anchor = nullptr;
  const int asked = native().of<Kind>().get_attr(handle, keyval, &anchor, &there);
  if (asked != MPI_SUCCESS) return asked;  // MPI has raised that error
  if (there == 0) return raise_without_anchor<Kind>(handle, code);
  {
    Refusal refusal(Kind::kNumber, facts::to_object(handle), code);
    const int returned = Names::natively().set_attr(handle, keyval, anchor);
    if (refusal.used() || returned != MPI_SUCCESS) return returned;
  }
  // The delete callback was not called. MPICH keeps the attributes of datatypes and windows in a
  // list, and its set doesn't find an attribute that stands behind those of younger keyvals (a
  // tool's, say): it attaches the attribute a second time. Nothing else notices, because both are
  // the same anchor. The second one is removed here, with a delete callback that deletes nothing.
  // Then the error is raised by a delete, and only the function's name in the message is wrong.
  {
    const Refusal detach(Kind::kNumber, facts::to_object(handle), MPI_SUCCESS);
    native().of<Kind>().delete_attr(handle, keyval);
  }
  return raise_in_delete<Kind, Typed<Kind>>(handle, code);
}

// MPI must complain about the pointers, one of which is null, and not about the keyval, so it is
// given a keyval that it knows.
template <Anchored Kind, typename Names>
int raise_in_get(typename Kind::Handle handle, void* value, int* flag) {
  return Names::natively().get_attr(handle, process()->anchor_keyvals[Kind::kNumber], value, flag);
}

// No function of MPI's fails for sessions and files.
template <Unanchored Kind, typename Names>
int raise_in_delete(typename Kind::Handle handle, int code) {
  return raise_on<Kind>(handle, code);
}
template <Unanchored Kind, typename Names>
int raise_in_set(typename Kind::Handle handle, int code) {
  return raise_on<Kind>(handle, code);
}
template <Unanchored Kind, typename Names>
int raise_in_get(typename Kind::Handle handle, void*, int*) {
  return raise_on<Kind>(handle, MPI_ERR_ARG);
}

// The next functions end an operation whose result isn't ATTRCACHE_OK. `code_or_keyval` is the
// callback's code where a callback failed, and otherwise the keyval. It is one word so that the
// callers, which are hot, need to keep only one word for the case of a failure.
template <typename Kind, typename Names, Doing kDoing>
[[gnu::noinline, gnu::cold]] int fail_to_change(typename Kind::Handle handle, int result,
                                                int code_or_keyval) {
  constexpr bool kDeletes = kDoing == Doing::kDelete;
  const auto raise = [handle](int code) {
    return kDeletes ? raise_in_delete<Kind, Names>(handle, code)
                    : raise_in_set<Kind, Names>(handle, code);
  };
  if (result == ATTRCACHE_ERR_CALLBACK) return raise(failure(result, code_or_keyval));
  note_result(result, kDoing, Kind::kNumber, code_or_keyval);
  if (!is_keyval_error(result)) return raise(error_code(result, 0));
  return kDeletes ? Names::natively().delete_attr(handle, code_or_keyval)
                  : Names::natively().set_attr(handle, code_or_keyval, nullptr);
}

// A get can fail only because of its keyval.
template <typename Kind, typename Names>
[[gnu::noinline, gnu::cold]] int fail_to_get(typename Kind::Handle handle, int result, int keyval) {
  void* value;
  int flag;
  note_result(result, Doing::kGet, Kind::kNumber, keyval);
  return Names::natively().get_attr(handle, keyval, &value, &flag);
}

template <typename Names>
[[gnu::noinline, gnu::cold]] int fail_to_free(int result, int kind, int keyval) {
  note_result(result, Doing::kFree, kind, keyval);
  return Names::natively().free_keyval(&keyval);
}

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_ENTRIES_RAISE_H_
