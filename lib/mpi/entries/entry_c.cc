// SPDX-License-Identifier: Apache-2.0
//
// The C names: MPI_{Comm,Type,Win}_{create_keyval,free_keyval,set_attr,get_attr,delete_attr} and
// MPI-1's MPI_{Keyval_create,Keyval_free,Attr_put,Attr_get,Attr_delete}. A keyval that isn't ours
// goes to MPI as it came. Never a PMPI_ name: tools, and MPI itself, rely on those being MPI's.

#include "mpi/entries/binding.h"
#include "mpi/entries/entry.h"
#include "mpi/entries/hot.h"
#include "mpi/entries/operations.h"
#include "mpi/entries/predefined.h"
#include "mpi/native/constants.h"

namespace attrcache::mpi {
namespace {

template <int kKind, typename Copy, typename Delete>
attrcache_callbacks callbacks_of(Copy* copy_fn, Delete* delete_fn, void* extra_state) {
  const Callbacks fns = recognize_c<kKind>(reinterpret_cast<attrcache_callback*>(copy_fn),
                                           reinterpret_cast<attrcache_callback*>(delete_fn));
  return {fns.copy_fn, fns.delete_fn, extra_state, ATTRCACHE_C, nullptr};
}

template <int kKind, typename Copy, typename Delete, typename NativeCreate>
[[gnu::noinline, gnu::cold]] int create_attentively(Copy* copy_fn, Delete* delete_fn, int* keyval,
                                                    void* extra_state, const void* caller,
                                                    NativeCreate native_create) {
  if (ending() && finalized()) {
    note_passed_on(Doing::kCreate, kKind, kNoKeyval);
    return native_create(copy_fn, delete_fn, keyval, extra_state);
  }
  // Before MPI_Init, MPI ends the program in the next line.
  if (served() == nullptr) note_passed_on(Doing::kCreate, kKind, kNoKeyval);
  const Served* state;
  const int code = begin(&state);
  if (code != MPI_SUCCESS) return code;
  const Binding binding = find_binding(caller);
  if (state->fronted[kKind] || binding == Binding::kFortran) {
    return native_create(copy_fn, delete_fn, keyval, extra_state);
  }
  if constexpr (facts::kBindingsCallC) {
    if (binding == Binding::kCxx) {
      return create_keyval_for_cxx(*state, kKind, reinterpret_cast<attrcache_callback*>(copy_fn),
                                   reinterpret_cast<attrcache_callback*>(delete_fn), extra_state,
                                   keyval, caller);
    }
  }
  const attrcache_callbacks callbacks = callbacks_of<kKind>(copy_fn, delete_fn, extra_state);
  return checking() ? create_keyval_checked(*state, kKind, callbacks, keyval, caller)
                    : create_keyval(*state, kKind, callbacks, keyval, caller);
}

// `native_create` is what MPI has under that name.
template <int kKind, typename Copy, typename Delete, typename NativeCreate>
[[gnu::always_inline]] inline int create(Copy* copy_fn, Delete* delete_fn, int* keyval,
                                         void* extra_state, const void* return_address,
                                         NativeCreate native_create) {
  const void* caller = asked_by_binding(return_address);
  // Bad arguments, and calls that come too late: MPI says it best.
  if (keyval == nullptr || (!facts::kNullCallbacks && (copy_fn == nullptr || delete_fn == nullptr)))
      [[unlikely]] {
    return native_create(copy_fn, delete_fn, keyval, extra_state);
  }
  if (attention() || !known_as_c(caller)) [[unlikely]] {
    return create_attentively<kKind>(copy_fn, delete_fn, keyval, extra_state, caller,
                                     native_create);
  }
  return create_keyval(*served(), kKind, callbacks_of<kKind>(copy_fn, delete_fn, extra_state),
                       keyval, caller);
}

template <int kKind, typename NativeFree>
[[gnu::noinline, gnu::cold]] int release_slowly(int* keyval, NativeFree native_free) {
  if (keyval == nullptr) return native_free(keyval);
  if (!ours(*keyval) || not_ours_to_answer()) {
    note_passed_on(Doing::kFree, kKind, *keyval);
    return native_free(keyval);
  }
  return checking() ? free_keyval_checked(kKind, keyval) : free_keyval(kKind, keyval);
}

template <int kKind, typename NativeFree>
[[gnu::always_inline]] inline int release(int* keyval, NativeFree native_free) {
  if (keyval == nullptr || !ours(*keyval) || attention()) [[unlikely]] {
    return release_slowly<kKind>(keyval, native_free);
  }
  return free_keyval(kKind, keyval);
}

template <typename Kind, typename NativeSet>
[[gnu::noinline]] int put_slowly(typename Kind::Handle handle, int keyval, void* value,
                                 NativeSet native_set) {
  if (!ours(keyval) || not_ours_to_answer()) {
    note_passed_on(Doing::kSet, Kind::kNumber, keyval);
    return native_set(handle, keyval, value);
  }
  return set<Kind>(handle, keyval, reinterpret_cast<intptr_t>(value), ATTRCACHE_AS_POINTER);
}

template <typename Kind, typename NativeSet>
[[gnu::always_inline]] inline int put(typename Kind::Handle handle, int keyval, void* value,
                                      NativeSet native_set) {
  void* anchor;
  // An object that is in the map was served before, and MPI isn't over.
  if (!ours(keyval) || !objects<Kind>.find_near(facts::to_key(handle), &anchor) || watched())
      [[unlikely]] {
    return put_slowly<Kind>(handle, keyval, value, native_set);
  }
  return set_now<Kind>(static_cast<Anchor*>(anchor), handle, keyval,
                       reinterpret_cast<intptr_t>(value), ATTRCACHE_AS_POINTER);
}

template <typename Kind>
[[gnu::noinline]] int get_slowly(typename Kind::Handle handle, int keyval, void* value, int* flag) {
  if (not_ours_to_answer()) {
    note_passed_on(Doing::kGet, Kind::kNumber, keyval);
    return native().of<Kind>().get_attr(handle, keyval, value, flag);
  }
  return get_by_asking<Kind>(handle, keyval, static_cast<void**>(value), flag, attrcache_get);
}

template <typename Kind, typename NativeGet>
[[gnu::always_inline]] inline int get(typename Kind::Handle handle, int keyval, void* value,
                                      int* flag, NativeGet native_get) {
  if (!ours(keyval)) [[unlikely]] {
    return get_foreign<Kind>(handle, keyval, value, flag, native_get);
  }
  return hot_get<Kind, get_slowly<Kind>>(handle, keyval, value, flag);
}

template <typename Kind, typename NativeDelete>
[[gnu::noinline]] int erase_slowly(typename Kind::Handle handle, int keyval,
                                   NativeDelete native_delete) {
  if (!ours(keyval) || not_ours_to_answer()) {
    note_passed_on(Doing::kDelete, Kind::kNumber, keyval);
    return native_delete(handle, keyval);
  }
  return remove<Kind>(handle, keyval);
}

template <typename Kind, typename NativeDelete>
[[gnu::always_inline]] inline int erase(typename Kind::Handle handle, int keyval,
                                        NativeDelete native_delete) {
  void* anchor;
  if (!ours(keyval) || !objects<Kind>.find_near(facts::to_key(handle), &anchor) || watched())
      [[unlikely]] {
    return erase_slowly<Kind>(handle, keyval, native_delete);
  }
  return remove_now<Kind>(&static_cast<Anchor*>(anchor)->table, handle, keyval);
}

}  // namespace
}  // namespace attrcache::mpi

// The entry of MPI's table for a name, called only where it is needed.
#define ATTRCACHE_NATIVE(path) \
  [](auto... arguments) { return attrcache::mpi::native().path(arguments...); }

#define ATTRCACHE_ENTRIES(Kind, Name, calls)                                                      \
  ATTRCACHE_ENTRY int MPI_##Name##_create_keyval(MPI_##Name##_copy_attr_function* copy_fn,        \
                                                 MPI_##Name##_delete_attr_function* delete_fn,    \
                                                 int* keyval, void* extra_state) {                \
    return attrcache::mpi::create<attrcache::mpi::Kind::kNumber>(                                 \
        copy_fn, delete_fn, keyval, extra_state, __builtin_return_address(0),                     \
        ATTRCACHE_NATIVE(calls.create_keyval));                                                   \
  }                                                                                               \
  ATTRCACHE_ENTRY int MPI_##Name##_free_keyval(int* keyval) {                                     \
    return attrcache::mpi::release<attrcache::mpi::Kind::kNumber>(                                \
        keyval, ATTRCACHE_NATIVE(calls.free_keyval));                                             \
  }                                                                                               \
  ATTRCACHE_ENTRY int MPI_##Name##_set_attr(attrcache::mpi::Kind::Handle handle, int keyval,      \
                                            void* value) {                                        \
    return attrcache::mpi::put<attrcache::mpi::Kind>(handle, keyval, value,                       \
                                                     ATTRCACHE_NATIVE(calls.set_attr));           \
  }                                                                                               \
  ATTRCACHE_ENTRY int MPI_##Name##_get_attr(attrcache::mpi::Kind::Handle handle, int keyval,      \
                                            void* value, int* flag) {                             \
    return attrcache::mpi::get<attrcache::mpi::Kind>(handle, keyval, value, flag,                 \
                                                     ATTRCACHE_NATIVE(calls.get_attr));           \
  }                                                                                               \
  ATTRCACHE_ENTRY int MPI_##Name##_delete_attr(attrcache::mpi::Kind::Handle handle, int keyval) { \
    return attrcache::mpi::erase<attrcache::mpi::Kind>(handle, keyval,                            \
                                                       ATTRCACHE_NATIVE(calls.delete_attr));      \
  }

extern "C" {

ATTRCACHE_ENTRIES(Communicator, Comm, comm)
ATTRCACHE_ENTRIES(Datatype, Type, type)
ATTRCACHE_ENTRIES(Window, Win, win)

ATTRCACHE_ENTRY int MPI_Keyval_create(MPI_Copy_function* copy_fn, MPI_Delete_function* delete_fn,
                                      int* keyval, void* extra_state) {
  return attrcache::mpi::create<ATTRCACHE_COMMUNICATOR>(copy_fn, delete_fn, keyval, extra_state,
                                                        __builtin_return_address(0),
                                                        ATTRCACHE_NATIVE(keyval_create));
}
ATTRCACHE_ENTRY int MPI_Keyval_free(int* keyval) {
  return attrcache::mpi::release<ATTRCACHE_COMMUNICATOR>(keyval, ATTRCACHE_NATIVE(keyval_free));
}
ATTRCACHE_ENTRY int MPI_Attr_put(MPI_Comm comm, int keyval, void* value) {
  return attrcache::mpi::put<attrcache::mpi::Communicator>(comm, keyval, value,
                                                           ATTRCACHE_NATIVE(attr_put));
}
ATTRCACHE_ENTRY int MPI_Attr_get(MPI_Comm comm, int keyval, void* value, int* flag) {
  return attrcache::mpi::get<attrcache::mpi::Communicator>(comm, keyval, value, flag,
                                                           ATTRCACHE_NATIVE(attr_get));
}
ATTRCACHE_ENTRY int MPI_Attr_delete(MPI_Comm comm, int keyval) {
  return attrcache::mpi::erase<attrcache::mpi::Communicator>(comm, keyval,
                                                             ATTRCACHE_NATIVE(attr_delete));
}

}  // extern "C"
