// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The functions of attrcache/mpix.h; those by which MPICH's Fortran binding works on any MPI with
// the standard ABI (MPIX_*_as_fortran); and MPI_File_close and MPI_Finalize, because attributes end
// there (serving/unanchored.h), as they do in MPI_Session_finalize (session.cc).

#include <cstdlib>

#include "mpi/entries/names.h"
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

// Returns attrcache's result. A call that has attached is a set, and is counted and traced as one.
// (It takes no time worth measuring, because it calls nothing back.)
template <typename Kind>
int attach_if_absent(attrcache_table* table, typename Kind::Handle handle, int keyval, void* value,
                     void* present, int* flag) {
  const uint8_t watch = watched();
  if (watch & kSanitized) tsan::release(keyval);
  const int result = attrcache_set_if_absent(kind_of<Kind>(), table, facts::to_object(handle),
                                             keyval, reinterpret_cast<intptr_t>(value),
                                             ATTRCACHE_AS_POINTER, static_cast<void**>(present));
  if (watch & kSanitized) tsan::acquire(keyval);
  if (result < ATTRCACHE_OK) return result;
  *flag = result == ATTRCACHE_OK;
  if (*flag && watch != 0) [[unlikely]] {
    count(counts.sets);
    const report::Operation set(report::What::kSet, Kind::kNumber, keyval);
  }
  return result;
}

// ---- Sessions and files ----

// Raises the error of a keyval that can't be freed, as names.h does in MPI's own functions.
struct MpixNames {
  static int free_keyval(int*) { return raise_on_world(MPI_ERR_KEYVAL); }
};

// An operation of attrcache's on an object. `operation(table, &callback_code)` returns its result.
template <typename Kind, typename Operation>
int operate(Doing doing, typename Kind::Handle handle, int keyval, Operation operation) {
  static constinit attrcache_table nothing = {};
  if (process() == nullptr) {  // no keyval was made
    note_passed_on(doing, Kind::kNumber, keyval);
    return raise_on<Kind>(handle, MPI_ERR_KEYVAL);
  }
  Anchor* anchor;
  const bool sets = doing == Doing::kSet || doing == Doing::kSetIfAbsent;
  const Attach if_none = sets ? Attach::kYes : Attach::kNo;
  int code = find_unanchored<Kind>(handle, if_none, &anchor);
  if (code != MPI_SUCCESS) return code;
  attrcache_table* const table = anchor != nullptr ? &anchor->table : &nothing;
  if (checking()) {
    watch_thread(doing, Kind::kNumber, keyval);
    if (sets) watch_set(doing, Kind::kNumber, keyval);
    if (doing == Doing::kDelete) watch_delete(Kind::kNumber, table, keyval);
  }
  const int result = operation(table, &code);
  if (result >= ATTRCACHE_OK) return MPI_SUCCESS;
  note_result(result, doing, Kind::kNumber, keyval);
  return raise_on<Kind>(handle, failure(result, code));
}

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
  return mpi::free_keyval<MpixNames>(Kind::kNumber, keyval);
}

template <typename Kind>
int set_attr(typename Kind::Handle handle, int keyval, void* value) {
  return operate<Kind>(Doing::kSet, handle, keyval, [&](attrcache_table* table, int* code) {
    if (watched() != 0) count(counts.sets);
    tsan::release(keyval);
    const report::Operation operation(report::What::kSet, Kind::kNumber, keyval);
    return attrcache_set(kind_of<Kind>(), table, facts::to_object(handle), keyval, value, code);
  });
}

template <typename Kind>
int get_attr(typename Kind::Handle handle, int keyval, void* value, int* flag) {
  return operate<Kind>(Doing::kGet, handle, keyval, [&](attrcache_table* table, int*) -> int {
    if (flag == nullptr) return ATTRCACHE_ERR_NULL;
    const int result = attrcache_get(kind_of<Kind>(), table, keyval, static_cast<void**>(value));
    *flag = result == ATTRCACHE_OK;
    if (counting() && result >= ATTRCACHE_OK)
      report::got(Kind::kNumber, keyval, result == ATTRCACHE_OK);
    tsan::acquire(keyval);
    return result;
  });
}

template <typename Kind>
int delete_attr(typename Kind::Handle handle, int keyval) {
  return operate<Kind>(Doing::kDelete, handle, keyval, [&](attrcache_table* table, int* code) {
    if (watched() != 0) count(counts.deletes);
    tsan::release(keyval);
    const report::Operation operation(report::What::kDelete, Kind::kNumber, keyval);
    return attrcache_delete(kind_of<Kind>(), table, facts::to_object(handle), keyval, code);
  });
}

template <typename Kind>
int set_attr_if_absent_unanchored(typename Kind::Handle handle, int keyval, void* value,
                                  void* present, int* flag) {
  if (flag == nullptr) return raise_on<Kind>(handle, MPI_ERR_ARG);
  return operate<Kind>(Doing::kSetIfAbsent, handle, keyval, [&](attrcache_table* table, int*) {
    return attach_if_absent<Kind>(table, handle, keyval, value, present, flag);
  });
}

// ---- Communicators, datatypes and windows ----

// Only MPI's own function of that name can do this under a keyval that attrcache hasn't made. If
// there is none, MPI refuses a keyval that never is one.
template <typename Kind>
int refuse_to_set_if_absent(typename Kind::Handle handle, int, void*, void*, int*) {
  return Typed<Kind>::set_attr(handle, MPI_KEYVAL_INVALID, nullptr);
}

template <typename Kind>
int set_attr_if_absent(typename Kind::Handle handle, int keyval, void* value, void* present,
                       int* flag) {
  Anchor* anchor = find_anchor<Kind>(handle);
  if (anchor == nullptr) {
    note_handle<Kind>(handle, Doing::kSetIfAbsent, keyval);
    if (is_null<Kind>(handle)) return Typed<Kind>::set_attr(handle, keyval, nullptr);
    const int code = touch<Kind>(handle, Attach::kYes, &anchor);
    if (code != MPI_SUCCESS) return code;
  }
  if (watched() & kChecked) {
    watch_thread(Doing::kSetIfAbsent, Kind::kNumber, keyval);
    watch_set(Doing::kSetIfAbsent, Kind::kNumber, keyval);
  }
  if (flag == nullptr) return raise_in_set<Kind, Typed<Kind>>(handle, MPI_ERR_ARG);
  const int result = attach_if_absent<Kind>(&anchor->table, handle, keyval, value, present, flag);
  if (result >= ATTRCACHE_OK) return MPI_SUCCESS;
  return fail_to_set<Kind, Typed<Kind>, Doing::kSetIfAbsent>(handle, result, keyval);
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
#define ATTRCACHE_MPIX(Kind)                                                                       \
  using MPIX_##Kind##_delete_fn = int(Kind::Handle, int, void*, void*);                            \
  ATTRCACHE_ENTRY int MPIX_##Kind##_create_keyval(MPIX_##Kind##_delete_fn* delete_fn, int* keyval, \
                                                  void* extra_state) {                             \
    return create_keyval<Kind>(delete_fn, nullptr, 0, keyval, extra_state,                         \
                               __builtin_return_address(0));                                       \
  }                                                                                                \
  ATTRCACHE_ENTRY int MPIX_##Kind##_create_keyval_x(MPIX_##Kind##_delete_fn* delete_fn,            \
                                                    UsersDestructor* destructor, int* keyval,      \
                                                    void* extra_state) {                           \
    return create_keyval<Kind>(delete_fn, destructor, 0, keyval, extra_state,                      \
                               __builtin_return_address(0));                                       \
  }                                                                                                \
  ATTRCACHE_ENTRY int MPIX_##Kind##_create_keyval_once(MPIX_##Kind##_delete_fn* delete_fn,         \
                                                       UsersDestructor* destructor, int* keyval,   \
                                                       void* extra_state) {                        \
    return create_keyval<Kind>(delete_fn, destructor, ATTRCACHE_DELETE_ONCE, keyval, extra_state,  \
                               __builtin_return_address(0));                                       \
  }                                                                                                \
  ATTRCACHE_ENTRY int MPIX_##Kind##_free_keyval(int* keyval) { return free_keyval<Kind>(keyval); } \
  ATTRCACHE_ENTRY int MPIX_##Kind##_set_attr(Kind::Handle object, int keyval, void* value) {       \
    return set_attr<Kind>(object, keyval, value);                                                  \
  }                                                                                                \
  ATTRCACHE_ENTRY int MPIX_##Kind##_set_attr_if_absent(Kind::Handle object, int keyval,            \
                                                       void* value, void* present, int* flag) {    \
    return set_attr_if_absent_unanchored<Kind>(object, keyval, value, present, flag);              \
  }                                                                                                \
  ATTRCACHE_ENTRY int MPIX_##Kind##_get_attr(Kind::Handle object, int keyval, void* value,         \
                                             int* flag) {                                          \
    return get_attr<Kind>(object, keyval, value, flag);                                            \
  }                                                                                                \
  ATTRCACHE_ENTRY int MPIX_##Kind##_delete_attr(Kind::Handle object, int keyval) {                 \
    return delete_attr<Kind>(object, keyval);                                                      \
  }

ATTRCACHE_MPIX(Session)
ATTRCACHE_MPIX(File)

#define ATTRCACHE_CLOSE(name)                               \
  ATTRCACHE_ENTRY int name(MPI_File* file) {                \
    static const auto next = behind<int(MPI_File*)>(#name); \
    const int ended = end_unanchored<File>(file);           \
    const int code = next(file);                            \
    return ended != MPI_SUCCESS ? ended : code;             \
  }
ATTRCACHE_CLOSE(MPI_File_close)
ATTRCACHE_CLOSE(PMPI_File_close)

// Usually nothing is left then (finalize_attribute_deleted(), serving/begin.cc). But while a
// session lives, MPICH doesn't delete that attribute.
#define ATTRCACHE_FINALIZE(name)                                                        \
  ATTRCACHE_ENTRY int name() {                                                          \
    static const auto next = behind<int()>(#name);                                      \
    const int code = next();                                                            \
    if (code == MPI_SUCCESS) world_ended();                                             \
    const int ended =                                                                   \
        process() != nullptr && !takes_no_calls() ? end_all_unanchored() : MPI_SUCCESS; \
    return code != MPI_SUCCESS ? code : ended;                                          \
  }
ATTRCACHE_FINALIZE(MPI_Finalize)
ATTRCACHE_FINALIZE(PMPI_Finalize)

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
    if (!ours(keyval) || not_ours_to_answer()) {                                                 \
      note_passed_on(Doing::kSetIfAbsent, Kind::kNumber, keyval);                                \
      return next(handle, keyval, value, present, flag);                                         \
    }                                                                                            \
    return set_attr_if_absent<Kind>(handle, keyval, value, present, flag);                       \
  }                                                                                              \
  ATTRCACHE_ENTRY int MPIX_##Comm##_set_attr_as_fortran(Kind::Handle handle, int keyval,         \
                                                        void* value) {                           \
    static const auto next =                                                                     \
        if_there("PMPIX_" #Comm "_set_attr_as_fortran", Typed<Kind>::set_attr);                  \
    if (!ours(keyval) || not_ours_to_answer()) return next(handle, keyval, value);               \
    return mpi::set_attr<Kind, Typed<Kind>>(handle, keyval, reinterpret_cast<intptr_t>(value),   \
                                            ATTRCACHE_AS_AINT);                                  \
  }                                                                                              \
  ATTRCACHE_ENTRY int MPIX_##Comm##_get_attr_as_fortran(Kind::Handle handle, int keyval,         \
                                                        void* value, int* flag) {                \
    static const auto next =                                                                     \
        if_there("PMPIX_" #Comm "_get_attr_as_fortran", Typed<Kind>::get_attr);                  \
    if (!ours(keyval) || not_ours_to_answer()) return next(handle, keyval, value, flag);         \
    return mpi::get_attr<Kind, Typed<Kind>>(handle, keyval, static_cast<intptr_t*>(value), flag, \
                                            attrcache_get_aint);                                 \
  }
#include "mpi/native/kinds.def"
// NOLINTEND

}  // extern "C"

}  // namespace attrcache::mpi::extensions
