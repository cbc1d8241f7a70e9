// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The functions of attrcache/mpix.h; those by which MPICH's Fortran binding works on any MPI with
// the standard ABI (MPIX_*_as_fortran); and MPI_File_close and MPI_Finalize, because attributes end
// there (serving/unanchored.h), as they do in MPI_Session_finalize (init.cc).

#include <cstdlib>

#include "mpi/entries/operations.h"
#include "mpi/native/constants.h"
#include "mpi/native/entry.h"
#include "mpi/native/native.h"
#include "mpi/serving/begin.h"
#include "mpi/serving/lifetime.h"
#include "mpi/serving/unanchored.h"
#include "mpi/watching/watch.h"
#include "runtimes/as_set.h"

namespace attrcache::mpi::extensions {
namespace {

using UsersDestructor = void(void* extra_state);

// Whether a keyval may be made: MPI_SUCCESS, or the code of the error, raised unless MPI is over.
int may_create(const int* keyval, const Process** state) {
  if (over()) return MPI_ERR_OTHER;
  return keyval != nullptr ? begin(state) : raise_on_world(MPI_ERR_ARG);
}

// What a function returns that has made a keyval, or failed to. No MPI could make it instead.
int made(int result) {
  return result == ATTRCACHE_OK ? MPI_SUCCESS : raise_on_world(error_code(result, 0));
}

// A call that has attached is a set, and is counted and traced as one. (It takes no time worth
// measuring, because it calls nothing back.)
template <typename Kind, typename Names>
int set_attr_if_absent(typename Kind::Handle handle, int keyval, void* value, void* present,
                       int* flag) {
  Anchor* anchor = find_anchor<Kind>(handle);
  if (anchor == nullptr) {
    note_handle<Kind>(handle, Doing::kSetIfAbsent, keyval);
    if (is_null<Kind>(handle)) return Names::natively().set_attr(handle, keyval, nullptr);
    const int code = touch<Kind>(handle, Attach::kYes, &anchor);
    if (code != MPI_SUCCESS) return code;
  }
  const uint8_t watch = watched();
  if (watch & kChecked) watch_set(Doing::kSetIfAbsent, Kind::kNumber, keyval);
  if (flag == nullptr) return raise_in_set<Kind, Names>(handle, MPI_ERR_ARG);
  if (watch & kSanitized) tsan::release(keyval);
  const int result = attrcache_set_if_absent(
      kind_of<Kind>(), &anchor->table, facts::to_object(handle), keyval,
      reinterpret_cast<intptr_t>(value), ATTRCACHE_AS_POINTER, static_cast<void**>(present));
  if (watch & kSanitized) tsan::acquire(keyval);
  if (result < ATTRCACHE_OK)
    return fail_to_change<Kind, Names, Doing::kSetIfAbsent>(handle, result, keyval);
  *flag = result == ATTRCACHE_OK;
  if (*flag && watch != 0) [[unlikely]] {
    count(counts.sets);
    const report::Operation set(report::What::kSet, Kind::kNumber, keyval);
  }
  return MPI_SUCCESS;
}

// ---- Sessions and files ----

// What native.h has of MPI's own functions. MPI has none of these, so their errors are raised here.
template <typename Kind>
struct MpixNames {
  using InC = MpixNames;
  using Handle = typename Kind::Handle;
  static MpixNames natively() { return {}; }
  static int free_keyval(int*) { return raise_on_world(MPI_ERR_KEYVAL); }
  static int set_attr(Handle handle, int, void*) { return raise_on<Kind>(handle, MPI_ERR_KEYVAL); }
  static int get_attr(Handle handle, int, void*, int*) {
    return raise_on<Kind>(handle, MPI_ERR_KEYVAL);
  }
  static int delete_attr(Handle handle, int) { return raise_on<Kind>(handle, MPI_ERR_KEYVAL); }
};

template <typename Kind>
int create_keyval(int (*delete_fn)(typename Kind::Handle, int, void*, void*),
                  UsersDestructor* destructor, unsigned flags, int* keyval, void* extra_state,
                  const void* caller) {
  const Process* state;
  if (const int code = may_create(keyval, &state); code != MPI_SUCCESS) return code;
  auto* const any = reinterpret_cast<attrcache_callback*>(delete_fn);
  attrcache_callbacks callbacks = callbacks_of(ATTRCACHE_C, nullptr, any, extra_state);
  callbacks.flags = flags;
  if (destructor != nullptr) {
    callbacks.destructor = [](void* extra, void* users) {
      reinterpret_cast<UsersDestructor*>(users)(extra);
    };
    callbacks.context = reinterpret_cast<void*>(destructor);
  }
  return made(mpi::create_keyval(*state, Kind::kNumber, callbacks, keyval, {caller, nullptr, any}));
}

template <typename Kind>
int free_keyval(int* keyval) {
  if (keyval == nullptr) return raise_on_world(MPI_ERR_ARG);
  if (process() == nullptr) {
    note_passed_on(Doing::kFree, Kind::kNumber, *keyval);
    return raise_on_world(MPI_ERR_KEYVAL);
  }
  return mpi::free_keyval<MpixNames<Kind>>(Kind::kNumber, keyval);
}

// ---- Communicators, datatypes and windows ----

// Only MPI's own function of that name can do this under a keyval that attrcache hasn't made. If
// there is none, MPI refuses a keyval that never is one.
template <typename Kind>
int refuse_to_set_if_absent(typename Kind::Handle handle, int, void*, void*, int*) {
  return Typed<Kind>::natively().set_attr(handle, MPI_KEYVAL_INVALID, nullptr);
}

// Its callbacks get values as they were set.
template <typename Kind>
int create_keyval_x(typename Kind::CopyFn* copy_fn, typename Kind::DeleteFn* delete_fn,
                    UsersDestructor* destructor, unsigned flags, int* keyval, void* extra_state,
                    const void* caller) {
  const Process* state;
  if (const int code = may_create(keyval, &state); code != MPI_SUCCESS) return code;
  const Callbacks fns =
      recognize_c<Kind::kNumber>(reinterpret_cast<attrcache_callback*>(copy_fn),
                                 reinterpret_cast<attrcache_callback*>(delete_fn));
  attrcache_callbacks callbacks =
      callbacks_of(ATTRCACHE_RAW, fns.copy_fn, fns.delete_fn, extra_state);
  callbacks.flags = flags;
  if (call_as_set(&callbacks, destructor, facts::kHandleForm == ATTRCACHE_HANDLE_INT) !=
      ATTRCACHE_OK)
    return raise_on_world(MPI_ERR_NO_MEM);
  const int result = mpi::create_keyval(*state, Kind::kNumber, callbacks, keyval,
                                        {caller, fns.copy_fn, fns.delete_fn});
  if (result != ATTRCACHE_OK) std::free(callbacks.context);
  return made(result);
}

// MPI's own function of that name, if it has it.
template <typename Function>
Function* if_there(const char* name, Function* otherwise) {
  void* const found = find_symbol_in_libraries(name);
  return found != nullptr ? reinterpret_cast<Function*>(found) : otherwise;
}

}  // namespace

extern "C" {

// NOLINTBEGIN: MPI's names.
#define ATTRCACHE_CREATE(Kind, x, flags)                                                       \
  ATTRCACHE_ENTRY int MPIX_##Kind##_create_keyval##x(MPIX_##Kind##_delete_fn* delete_fn,       \
                                                     UsersDestructor* destructor, int* keyval, \
                                                     void* extra_state) {                      \
    return create_keyval<Kind>(delete_fn, destructor, flags, keyval, extra_state,              \
                               __builtin_return_address(0));                                   \
  }
#define ATTRCACHE_MPIX(Kind)                                                                       \
  using MPIX_##Kind##_delete_fn = int(Kind::Handle, int, void*, void*);                            \
  ATTRCACHE_ENTRY int MPIX_##Kind##_create_keyval(MPIX_##Kind##_delete_fn* delete_fn, int* keyval, \
                                                  void* extra_state) {                             \
    return create_keyval<Kind>(delete_fn, nullptr, 0, keyval, extra_state,                         \
                               __builtin_return_address(0));                                       \
  }                                                                                                \
  ATTRCACHE_CREATE(Kind, _x, 0)                                                                    \
  ATTRCACHE_CREATE(Kind, _once, ATTRCACHE_DELETE_ONCE)                                             \
  ATTRCACHE_ENTRY int MPIX_##Kind##_free_keyval(int* keyval) { return free_keyval<Kind>(keyval); } \
  ATTRCACHE_ENTRY int MPIX_##Kind##_set_attr(Kind::Handle object, int keyval, void* value) {       \
    return mpi::set_attr<Kind, MpixNames<Kind>>(object, keyval, reinterpret_cast<intptr_t>(value), \
                                                ATTRCACHE_AS_POINTER);                             \
  }                                                                                                \
  ATTRCACHE_ENTRY int MPIX_##Kind##_set_attr_if_absent(Kind::Handle object, int keyval,            \
                                                       void* value, void* present, int* flag) {    \
    return set_attr_if_absent<Kind, MpixNames<Kind>>(object, keyval, value, present, flag);        \
  }                                                                                                \
  ATTRCACHE_ENTRY int MPIX_##Kind##_get_attr(Kind::Handle object, int keyval, void* value,         \
                                             int* flag) {                                          \
    return mpi::get_attr<Kind, MpixNames<Kind>>(object, keyval, static_cast<void**>(value), flag,  \
                                                attrcache_get);                                    \
  }                                                                                                \
  ATTRCACHE_ENTRY int MPIX_##Kind##_delete_attr(Kind::Handle object, int keyval) {                 \
    return mpi::delete_attr<Kind, MpixNames<Kind>>(object, keyval);                                \
  }

ATTRCACHE_MPIX(Session)
ATTRCACHE_MPIX(File)

ATTRCACHE_OVERRIDE(File_close, (MPI_File * file), {
  const int ended = end_unanchored<File>(file);
  const int code = next(file);
  return ended != MPI_SUCCESS ? ended : code;
})

// Usually nothing is left then (finalize_attribute_deleted(), serving/begin.cc). But while a
// session lives, MPICH doesn't delete that attribute.
ATTRCACHE_OVERRIDE(Finalize, (), {
  const int code = next();
  if (code == MPI_SUCCESS) world_ended();
  const int ended = process() != nullptr && !takes_no_calls() ? end_all_unanchored() : MPI_SUCCESS;
  return code != MPI_SUCCESS ? code : ended;
})

#define ATTRCACHE_CREATE_X(name, Kind, once)                                                \
  ATTRCACHE_ENTRY int name(Kind::CopyFn* copy_fn, Kind::DeleteFn* delete_fn,                \
                           UsersDestructor* destructor, int* keyval, void* extra_state) {   \
    return create_keyval_x<Kind>(copy_fn, delete_fn, destructor, once, keyval, extra_state, \
                                 __builtin_return_address(0));                              \
  }
#define ATTRCACHE_KIND(Kind, word, Comm, ...)                                                    \
  ATTRCACHE_CREATE_X(MPIX_##Comm##_create_keyval_x, Kind, 0)                                     \
  ATTRCACHE_CREATE_X(MPIX_##Comm##_create_keyval_once, Kind, ATTRCACHE_DELETE_ONCE)              \
  ATTRCACHE_ENTRY int MPIX_##Comm##_set_attr_if_absent(Kind::Handle handle, int keyval,          \
                                                       void* value, void* present, int* flag) {  \
    static const auto next =                                                                     \
        if_there("PMPIX_" #Comm "_set_attr_if_absent", refuse_to_set_if_absent<Kind>);           \
    if (is_passed_on(Doing::kSetIfAbsent, Kind::kNumber, keyval))                                \
      return next(handle, keyval, value, present, flag);                                         \
    return set_attr_if_absent<Kind, Typed<Kind>>(handle, keyval, value, present, flag);          \
  }                                                                                              \
  ATTRCACHE_ENTRY int MPIX_##Comm##_set_attr_as_fortran(Kind::Handle handle, int keyval,         \
                                                        void* value) {                           \
    static const auto next =                                                                     \
        if_there("PMPIX_" #Comm "_set_attr_as_fortran", Typed<Kind>::natively().set_attr);       \
    if (is_passed_on(Doing::kSet, Kind::kNumber, keyval)) return next(handle, keyval, value);    \
    return mpi::set_attr<Kind, Typed<Kind>>(handle, keyval, reinterpret_cast<intptr_t>(value),   \
                                            ATTRCACHE_AS_AINT);                                  \
  }                                                                                              \
  ATTRCACHE_ENTRY int MPIX_##Comm##_get_attr_as_fortran(Kind::Handle handle, int keyval,         \
                                                        void* value, int* flag) {                \
    static const auto next =                                                                     \
        if_there("PMPIX_" #Comm "_get_attr_as_fortran", Typed<Kind>::natively().get_attr);       \
    if (is_passed_on(Doing::kGet, Kind::kNumber, keyval))                                        \
      return next(handle, keyval, value, flag);                                                  \
    return mpi::get_attr<Kind, Typed<Kind>>(handle, keyval, static_cast<intptr_t*>(value), flag, \
                                            attrcache_get_aint);                                 \
  }
#include "mpi/native/kinds.def"
// NOLINTEND

}  // extern "C"

}  // namespace attrcache::mpi::extensions
