// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The functions that programs call in C:
// MPI_{Comm,Type,Win}_{create_keyval,free_keyval,set_attr,get_attr,delete_attr} and MPI-1's
// MPI_{Keyval_create,Keyval_free,Attr_put,Attr_get,Attr_delete}. A call with a keyval that isn't
// attrcache's is passed on to MPI unchanged. No PMPI_ name is overridden here, because tools, and
// MPI itself, rely on those being MPI's.
//
// Set, get and delete have a fast path, and a second function for the rest, whose name ends in
// _slow.

#include <dlfcn.h>

#include "attrcache/attrcache_inline.h"
#include "mpi/entries/operations.h"
#include "mpi/entries/predefined.h"
#include "mpi/native/constants.h"
#include "mpi/native/entry.h"
#include "mpi/native/modules.h"

namespace attrcache::mpi::c {
namespace {

// Whether the library with this address is one of MPICH's bindings for other languages. They call
// the C function and then patch the keyval that they got (MPII_Keyval_set_proxy), so it must be
// MPICH's. (Fortran's own calls don't get there: entry_fortran.cc.)
bool is_in_binding(const void* address) {
  constexpr const char* kBindings[] = {"libmpichcxx", "libmpicxx", "libmpichfort", "libmpifort"};
  Dl_info info;
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr &&
         is_named_like(info.dli_fname, kBindings);
}

// The same, for the return address of MPI_*_create_keyval. Slow for the first call from each place.
bool is_called_by_binding(const void* return_address) {
  if constexpr (!facts::kBindingsCallC) return false;
  // Callers that are none, by a hash of the address. Relaxed: each word stands for itself.
  static constinit Atomic<const void*> others[64];
  const auto caller = reinterpret_cast<uintptr_t>(return_address);
  Atomic<const void*>& known = others[caller * uint64_t{0x9e3779b97f4a7c15} >> 58];
  if (known.load(kRelaxed) == return_address) return false;
  if (is_in_binding(return_address)) return true;
  known.store(return_address, kRelaxed);
  return false;
}

template <int kKind, typename Names, typename Copy, typename Delete>
int create_keyval(Copy* copy_fn, Delete* delete_fn, int* keyval, void* extra_state,
                  const void* caller) {
  const auto natively = [=] {
    return Names::natively().create_keyval(copy_fn, delete_fn, keyval, extra_state);
  };
  // Bad arguments go to MPI, which raises the right error.
  if (keyval == nullptr || (!facts::kNullCallbacks && (copy_fn == nullptr || delete_fn == nullptr)))
      [[unlikely]] {
    return natively();
  }
  if (is_called_by_binding(caller)) return natively();
  const Callbacks fns = recognize_c<kKind>(reinterpret_cast<attrcache_callback*>(copy_fn),
                                           reinterpret_cast<attrcache_callback*>(delete_fn));
  return mpi::create_keyval(kKind,
                            callbacks_of(ATTRCACHE_C, fns.copy_fn, fns.delete_fn, extra_state),
                            keyval, caller, natively);
}

template <int kKind, typename Names>
int free_keyval(int* keyval) {
  if (keyval == nullptr) return Names::natively().free_keyval(keyval);
  if (is_passed_on(Doing::kFree, kKind, *keyval)) return Names::natively().free_keyval(keyval);
  return mpi::free_keyval<Names>(kKind, keyval);
}

template <typename Kind, typename Names>
[[gnu::noinline]] int set_attr_slow(typename Kind::Handle handle, int keyval, void* value) {
  if (is_passed_on(Doing::kSet, Kind::kNumber, keyval))
    return Names::natively().set_attr(handle, keyval, value);
  return mpi::set_attr<Kind, Names>(handle, keyval, reinterpret_cast<intptr_t>(value),
                                    ATTRCACHE_AS_POINTER);
}

template <typename Kind, typename Names>
[[gnu::always_inline]] inline int set_attr(typename Kind::Handle handle, int keyval, void* value) {
  void* anchor;
  // If the object is in the map, the process is being served and MPI isn't over, so neither needs
  // to be checked.
  if (!ours(keyval) || !objects<Kind>.find_at_home(facts::to_key(handle), &anchor) || watched())
      [[unlikely]] {
    return set_attr_slow<Kind, Names>(handle, keyval, value);
  }
  return mpi::set_attr_fast<Kind, Names>(static_cast<Anchor*>(anchor), handle, keyval, value);
}

template <typename Kind, typename Names>
[[gnu::noinline]] int get_attr_slow(typename Kind::Handle handle, int keyval, void* value,
                                    int* flag) {
  if (is_passed_on(Doing::kGet, Kind::kNumber, keyval))
    return Names::natively().get_attr(handle, keyval, value, flag);
  return mpi::get_attr<Kind, Names>(handle, keyval, static_cast<void**>(value), flag,
                                    attrcache_get);
}

// A keyval as it would be in a domain without `numbers`.
inline int renumbered(int keyval) { return static_cast<int>(id::bits(inner(keyval))); }

// Answers a get whose slot is deep in the table's tree.
template <typename Kind, typename Names>
[[gnu::noinline]] int get_attr_far(typename Kind::Handle handle, int keyval, void* value, int* flag,
                                   const attrcache_table* table) {
  const int inside = renumbered(keyval);
  if (attrcache_inline_look_far(table, inside, attrcache_inline_offset(inside),
                                static_cast<void**>(value)) > ATTRCACHE_INLINE_ADDRESS)
    return get_attr_slow<Kind, Names>(handle, keyval, value, flag);
  *flag = 1;
  return MPI_SUCCESS;
}

// One look into the handle map and one into the attribute table. Whatever isn't a hit at first
// sight leaves by a tail call, so that the hit saves and restores no registers.
template <typename Kind, typename Names>
[[gnu::always_inline]] inline int get_attr(typename Kind::Handle handle, int keyval, void* value,
                                           int* flag) {
  if (!ours(keyval)) [[unlikely]] {
    return get_attr_of_mpi<Kind, Names>(handle, keyval, value, flag);
  }
  void* found;
  if (value == nullptr || flag == nullptr ||
      !objects<Kind>.find_at_home(facts::to_key(handle), &found)) [[unlikely]] {
    return get_attr_slow<Kind, Names>(handle, keyval, value, flag);
  }
  const attrcache_table* const table = &static_cast<const Anchor*>(found)->table;
  if (table == nullptr) __builtin_unreachable();
  int inside = renumbered(keyval);
  // Computed anew: else what ours() has computed would keep a register, in MPI's own gets, too.
  ATTRCACHE_INLINE_OPAQUE(inside);
  switch (attrcache_inline_look(table, inside, attrcache_inline_offset(inside),
                                static_cast<void**>(value))) {
    case ATTRCACHE_INLINE_POINTER:
    case ATTRCACHE_INLINE_ADDRESS:
      *flag = 1;
      return MPI_SUCCESS;
    case ATTRCACHE_INLINE_FAR:
      return get_attr_far<Kind, Names>(handle, keyval, value, flag, table);
    case ATTRCACHE_INLINE_UNSURE:
      return get_attr_slow<Kind, Names>(handle, keyval, value, flag);
    default:
      break;
  }
  const attrcache_kind* const kind = kind_of<Kind>();
  if (kind == nullptr) __builtin_unreachable();
  ATTRCACHE_INLINE_OPAQUE(inside);  // so that a hit keeps nothing for this
  if (attrcache_inline_is_absent(kind, inside, attrcache_inline_offset(inside))) {
    *flag = 0;
    int success = MPI_SUCCESS;
    ATTRCACHE_INLINE_OPAQUE(success);  // so not one return with the hit's, which would cost a jump
    return success;
  }
  return get_attr_slow<Kind, Names>(handle, keyval, value, flag);
}

template <typename Kind, typename Names>
[[gnu::noinline]] int delete_attr_slow(typename Kind::Handle handle, int keyval) {
  if (is_passed_on(Doing::kDelete, Kind::kNumber, keyval))
    return Names::natively().delete_attr(handle, keyval);
  return mpi::delete_attr<Kind, Names>(handle, keyval);
}

template <typename Kind, typename Names>
[[gnu::always_inline]] inline int delete_attr(typename Kind::Handle handle, int keyval) {
  void* anchor;
  if (!ours(keyval) || !objects<Kind>.find_at_home(facts::to_key(handle), &anchor) || watched())
      [[unlikely]] {
    return delete_attr_slow<Kind, Names>(handle, keyval);
  }
  return mpi::delete_attr_fast<Kind, Names>(&static_cast<Anchor*>(anchor)->table, handle, keyval);
}

}  // namespace

extern "C" {

#define ATTRCACHE_KIND(Kind, word, Comm, ...)                                                  \
  ATTRCACHE_ENTRY int MPI_##Comm##_create_keyval(MPI_##Comm##_copy_attr_function* copy_fn,     \
                                                 MPI_##Comm##_delete_attr_function* delete_fn, \
                                                 int* keyval, void* extra_state) {             \
    return create_keyval<Kind::kNumber, Typed<Kind>>(copy_fn, delete_fn, keyval, extra_state,  \
                                                     __builtin_return_address(0));             \
  }                                                                                            \
  ATTRCACHE_ENTRY int MPI_##Comm##_free_keyval(int* keyval) {                                  \
    return free_keyval<Kind::kNumber, Typed<Kind>>(keyval);                                    \
  }                                                                                            \
  ATTRCACHE_ENTRY int MPI_##Comm##_set_attr(Kind::Handle handle, int keyval, void* value) {    \
    return set_attr<Kind, Typed<Kind>>(handle, keyval, value);                                 \
  }                                                                                            \
  ATTRCACHE_ENTRY int MPI_##Comm##_get_attr(Kind::Handle handle, int keyval, void* value,      \
                                            int* flag) {                                       \
    return get_attr<Kind, Typed<Kind>>(handle, keyval, value, flag);                           \
  }                                                                                            \
  ATTRCACHE_ENTRY int MPI_##Comm##_delete_attr(Kind::Handle handle, int keyval) {              \
    return delete_attr<Kind, Typed<Kind>>(handle, keyval);                                     \
  }
#include "mpi/native/kinds.def"

ATTRCACHE_ENTRY int MPI_Keyval_create(MPI_Copy_function* copy_fn, MPI_Delete_function* delete_fn,
                                      int* keyval, void* extra_state) {
  return create_keyval<ATTRCACHE_COMMUNICATOR, Mpi1>(copy_fn, delete_fn, keyval, extra_state,
                                                     __builtin_return_address(0));
}
ATTRCACHE_ENTRY int MPI_Keyval_free(int* keyval) {
  return free_keyval<ATTRCACHE_COMMUNICATOR, Mpi1>(keyval);
}
ATTRCACHE_ENTRY int MPI_Attr_put(MPI_Comm comm, int keyval, void* value) {
  return set_attr<Communicator, Mpi1>(comm, keyval, value);
}
ATTRCACHE_ENTRY int MPI_Attr_get(MPI_Comm comm, int keyval, void* value, int* flag) {
  return get_attr<Communicator, Mpi1>(comm, keyval, value, flag);
}
ATTRCACHE_ENTRY int MPI_Attr_delete(MPI_Comm comm, int keyval) {
  return delete_attr<Communicator, Mpi1>(comm, keyval);
}

}  // extern "C"

}  // namespace attrcache::mpi::c
