// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The attribute operations on attrcache's keyvals, whatever the language and name by which they
// were called. `Kind` is one of kinds.h or unanchored.h. `Names` are MPI's own functions of the
// names that the program called (native.h), which raise the errors. Handles are those of C. Each
// operation returns what the MPI function returns, after the error handler was called if it failed.

#ifndef ATTRCACHE_MPI_ENTRIES_OPERATIONS_H_
#define ATTRCACHE_MPI_ENTRIES_OPERATIONS_H_

#include "attrcache/attrcache.h"
#include "keyval/registry.h"
#include "mpi/entries/raise.h"
#include "mpi/native/errors.h"
#include "mpi/native/native.h"
#include "mpi/objects/anchor.h"
#include "mpi/objects/process.h"
#include "mpi/objects/tsan.h"
#include "mpi/recording/keyvals.h"
#include "mpi/recording/trace.h"
#include "mpi/serving/begin.h"
#include "mpi/serving/touch.h"
#include "mpi/watching/observed.h"
#include "mpi/watching/watch.h"

namespace attrcache::mpi {

// Whether MPI itself has to answer a call: the keyval isn't attrcache's (if there is no domain,
// attrcache can't have made it), or MPI is over. Notes misuse in such a call.
inline bool is_passed_on(Doing doing, int kind, int keyval) {
  if (ours(keyval) && process() != nullptr && !over()) return false;
  note_passed_on(doing, kind, keyval);
  return true;
}

// Reads an attribute by `read`, which is attrcache_get or one of its variants. If the object isn't
// in the map, it asks MPI for the anchor.
template <typename Kind, typename Names, typename Value, typename Read>
[[gnu::noinline]] int get_attr(typename Kind::Handle handle, int keyval, Value* value, int* flag,
                               Read read) {
  static constinit attrcache_table nothing = {};
  Anchor* anchor = find_anchor<Kind>(handle);
  const uint8_t watch = watched();
  if (watch & kChecked) [[unlikely]]
    watch_thread(Doing::kGet, Kind::kNumber, keyval);
  if (anchor == nullptr) {
    note_handle<Kind>(handle, Doing::kGet, keyval);
    const int code = touch<Kind>(handle, Attach::kNo, &anchor);
    if (code != MPI_SUCCESS) return code;
  }
  if (value == nullptr || flag == nullptr) return raise_in_get<Kind, Names>(handle, value, flag);
  const int result =
      read(kind_of<Kind>(), anchor != nullptr ? &anchor->table : &nothing, keyval, value);
  *flag = result == ATTRCACHE_OK;
  if ((watch & (kCounted | kSanitized)) && result >= ATTRCACHE_OK) [[unlikely]] {
    if (watch & kCounted) report::got(Kind::kNumber, keyval, result == ATTRCACHE_OK);
    tsan::acquire(keyval);
  }
  return result >= ATTRCACHE_OK ? MPI_SUCCESS : fail_to_get<Kind, Names>(handle, result, keyval);
}

// The set and delete on an object whose anchor is known.
template <typename Kind, typename Names>
[[gnu::always_inline]] inline int set_attr_fast(Anchor* anchor, typename Kind::Handle handle,
                                                int keyval, void* value) {
  int code_or_keyval = keyval;  // overwritten if a callback fails
  const int result = attrcache_set(kind_of<Kind>(), &anchor->table, facts::to_object(handle),
                                   keyval, value, &code_or_keyval);
  return result == ATTRCACHE_OK
             ? MPI_SUCCESS
             : fail_to_change<Kind, Names, Doing::kSet>(handle, result, code_or_keyval);
}

template <typename Kind, typename Names>
[[gnu::always_inline]] inline int delete_attr_fast(attrcache_table* table,
                                                   typename Kind::Handle handle, int keyval) {
  int code_or_keyval = keyval;
  const int result =
      attrcache_delete(kind_of<Kind>(), table, facts::to_object(handle), keyval, &code_or_keyval);
  return result == ATTRCACHE_OK
             ? MPI_SUCCESS
             : fail_to_change<Kind, Names, Doing::kDelete>(handle, result, code_or_keyval);
}

// The same as before on any object, heeding what watched() says.
template <typename Kind, typename Names>
int set_attr(typename Kind::Handle handle, int keyval, intptr_t value, attrcache_tag tag) {
  Anchor* anchor = find_anchor<Kind>(handle);
  if (anchor == nullptr) [[unlikely]] {
    note_handle<Kind>(handle, Doing::kSet, keyval);
    if (is_null<Kind>(handle))
      return Names::InC::natively().set_attr(handle, keyval, reinterpret_cast<void*>(value));
    const int code = touch<Kind>(handle, Attach::kYes, &anchor);
    if (code != MPI_SUCCESS) return code;
  }
  const uint8_t watch = watched();
  if (watch != 0) count(counts.sets), tsan::release(keyval);
  if (watch & kChecked) watch_set(Doing::kSet, Kind::kNumber, keyval);
  int code_or_keyval = keyval;
  int result;
  {  // It has ended before an error is raised, since an error handler may not return.
    const report::Operation operation(report::What::kSet, Kind::kNumber, keyval);
    result = attrcache_set_as(kind_of<Kind>(), &anchor->table, facts::to_object(handle), keyval,
                              value, tag, &code_or_keyval);
  }
  return result == ATTRCACHE_OK
             ? MPI_SUCCESS
             : fail_to_change<Kind, Names, Doing::kSet>(handle, result, code_or_keyval);
}

// If nothing is attached, this succeeds, whichever MPI is underneath.
template <typename Kind, typename Names>
int delete_attr(typename Kind::Handle handle, int keyval) {
  static constinit attrcache_table nothing = {};
  Anchor* anchor = find_anchor<Kind>(handle);
  if (anchor == nullptr) [[unlikely]] {
    note_handle<Kind>(handle, Doing::kDelete, keyval);
    if (is_null<Kind>(handle)) return Names::InC::natively().delete_attr(handle, keyval);
    const int code = touch<Kind>(handle, Attach::kNo, &anchor);
    if (code != MPI_SUCCESS) return code;
  }
  attrcache_table* const table = anchor != nullptr ? &anchor->table : &nothing;
  const uint8_t watch = watched();
  if (watch != 0) count(counts.deletes), tsan::release(keyval);
  if (watch & kChecked) watch_delete(Kind::kNumber, table, keyval);
  int code_or_keyval = keyval;
  int result;
  {
    const report::Operation operation(report::What::kDelete, Kind::kNumber, keyval);
    result =
        attrcache_delete(kind_of<Kind>(), table, facts::to_object(handle), keyval, &code_or_keyval);
  }
  return result == ATTRCACHE_OK
             ? MPI_SUCCESS
             : fail_to_change<Kind, Names, Doing::kDelete>(handle, result, code_or_keyval);
}

inline attrcache_callbacks callbacks_of(attrcache_language language, attrcache_callback* copy_fn,
                                        attrcache_callback* delete_fn, void* extra_state) {
  attrcache_callbacks callbacks = {};
  callbacks.language = language;
  callbacks.copy_fn = copy_fn;
  callbacks.delete_fn = delete_fn;
  callbacks.extra_state = extra_state;
  return callbacks;
}

// The caller has checked the pointers, and that the kind isn't left to MPI. These call the registry
// and not the C API, which would check the pointers again. They return attrcache's result.
[[gnu::noinline, gnu::cold]] inline int create_watched(const Process& state, int kind,
                                                       const attrcache_callbacks& callbacks,
                                                       int* keyval, const report::Source& source) {
  if (checking()) watch_thread(Doing::kCreate, kind, kNoKeyval);
  Creation creation(kind, callbacks, source);
  const int result = Registry::of(state.kinds[kind]).create(creation.callbacks(), keyval);
  if (result == ATTRCACHE_OK) creation.done(*keyval);
  return result;
}
inline int create_keyval(const Process& state, int kind, const attrcache_callbacks& callbacks,
                         int* keyval, const report::Source& source) {
  return watched() & (kChecked | kCounted | kSanitized)
             ? create_watched(state, kind, callbacks, keyval, source)
             : Registry::of(state.kinds[kind]).create(callbacks, keyval);
}

// Returns what MPI's function returns. MPI makes the keyval, by `create_natively`, if its kind is
// left to it, or if attrcache has no number left.
template <typename Create>
int create_keyval(int kind, const attrcache_callbacks& callbacks, int* keyval, const void* caller,
                  Create create_natively) {
  const bool is_over = over();
  // If MPI_Init was not called yet, MPI ends the program inside begin(), so this is noted first.
  if (process() == nullptr || is_over) note_passed_on(Doing::kCreate, kind, kNoKeyval);
  if (is_over) return create_natively();
  const Process* state;
  if (const int code = begin(&state); code != MPI_SUCCESS) return code;
  if (state->wrapped_by_tool[kind]) return create_natively();
  const int result = create_keyval(*state, kind, callbacks, keyval,
                                   {caller, callbacks.copy_fn, callbacks.delete_fn});
  if (result == ATTRCACHE_OK) [[likely]]
    return MPI_SUCCESS;
  if (result != ATTRCACHE_ERR_KEYVALS_EXHAUSTED) return raise_on_world(error_code(result, 0));
  note_exhausted(kind);
  return create_natively();
}

[[gnu::noinline, gnu::cold]] inline int free_watched(int kind, int* keyval) {
  if (checking()) watch_thread(Doing::kFree, kind, *keyval);
  if (watched() & (kChecked | kCounted)) watch_free(kind, *keyval);
  tsan::release(*keyval);
  const report::Operation operation(report::What::kFreeKeyval, kind, *keyval);
  return Registry::of(process()->kinds[kind]).free(keyval);
}
template <typename Names>
int free_keyval(int kind, int* keyval) {
  const int result = watched() & (kChecked | kCounted | kSanitized)
                         ? free_watched(kind, keyval)
                         : Registry::of(process()->kinds[kind]).free(keyval);
  // A destructor may have freed the variable, if the keyval could be freed.
  return result == ATTRCACHE_OK ? MPI_SUCCESS : fail_to_free<Names>(result, kind, *keyval);
}

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_ENTRIES_OPERATIONS_H_
