// SPDX-License-Identifier: Apache-2.0
//
// The Fortran names of the 20 routines: mpif.h's and `use mpi`'s, in every spelling in which a
// Fortran compiler may ask for them (mpi_x_, mpi_x, mpi_x__, MPI_X), and mpi_f08's 15 (mpi_x_f08_).
// MPI-1's take INTEGER values and callbacks, the others INTEGER(KIND=MPI_ADDRESS_KIND). All
// arguments come by reference.

#include "mpi/entries/entry.h"
#include "mpi/entries/operations.h"
#include "mpi/native/constants.h"
#include "mpi/native/fortran.h"

namespace attrcache::mpi::fortran {
namespace {

// Where the result goes: the caller's IERROR, or nowhere.
class Ierror {
 public:
  explicit Ierror(MPI_Fint* ierror) : at_(ierror != nullptr ? ierror : &unwanted_) {}
  void operator=(int code) { *at_ = code; }
  operator MPI_Fint*() { return at_; }

 private:
  MPI_Fint unwanted_ = MPI_SUCCESS;
  MPI_Fint* at_;
};

// MPI-1's get, which can't give more than an INTEGER.
int get_fint(const attrcache_kind* kind, const attrcache_table* table, int keyval,
             MPI_Fint* value) {
  const int result = attrcache_get_fint(kind, table, keyval, value);
  if ((watched() & kChecked) && result == ATTRCACHE_OK) [[unlikely]]
    watch_fint(kind, table, keyval, *value);
  return result;
}

// MPI-1's face and MPI-2's: how values are meant, and how callbacks take them.
template <typename Value>
struct Face;
template <>
struct Face<MPI_Fint> {
  static constexpr attrcache_tag kTag = ATTRCACHE_AS_FINT;
  static constexpr attrcache_language kLanguage = ATTRCACHE_FORTRAN_FINT;
  static constexpr auto read = get_fint;
};
template <>
struct Face<MPI_Aint> {
  static constexpr attrcache_tag kTag = ATTRCACHE_AS_AINT;
  static constexpr attrcache_language kLanguage = ATTRCACHE_FORTRAN_AINT;
  static constexpr auto read = attrcache_get_aint;
};

template <typename Kind, typename Value>
void create(Callback* copy_fn, Callback* delete_fn, MPI_Fint* keyval, Value* extra_state,
            MPI_Fint* ierror, Calls<Value> Native::*calls, probe::Source source) {
  Ierror result(ierror);
  const Served* state = nullptr;
  if (!(ending() && finalized())) {
    // Before MPI_Init, MPI ends the program in the next line.
    if (served() == nullptr) note_passed_on(Doing::kCreate, Kind::kNumber, kNoKeyval);
    const int code = begin(&state);
    if (code != MPI_SUCCESS) {
      result = code;
      return;
    }
  }
  if (state == nullptr || state->fronted[Kind::kNumber]) {
    note_passed_on(Doing::kCreate, Kind::kNumber, kNoKeyval);
    (native().*calls).create_keyval(copy_fn, delete_fn, keyval, extra_state, result);
    return;
  }
  const Callbacks fns = recognize_fortran(copy_fn, delete_fn);
  // The value of extra_state now: the variable is the caller's, and may be gone when a callback
  // runs.
  void* extra = reinterpret_cast<void*>(static_cast<intptr_t>(*extra_state));
  const attrcache_callbacks callbacks = {fns.copy_fn, fns.delete_fn, extra, Face<Value>::kLanguage,
                                         nullptr};
  result = checking() ? create_keyval_checked(*state, Kind::kNumber, callbacks, keyval, source)
                      : create_keyval(*state, Kind::kNumber, callbacks, keyval, source);
}

template <typename Kind, typename Value>
void release(MPI_Fint* keyval, MPI_Fint* ierror, Calls<Value> Native::*calls) {
  Ierror result(ierror);
  if (!ours(*keyval) || not_ours_to_answer()) {
    note_passed_on(Doing::kFree, Kind::kNumber, *keyval);
    (native().*calls).free_keyval(keyval, result);
  } else {
    result = checking() ? free_keyval_checked(Kind::kNumber, keyval)
                        : free_keyval(Kind::kNumber, keyval);
  }
}

template <typename Kind, typename Value>
void put(MPI_Fint* object, MPI_Fint* keyval, Value* value, MPI_Fint* ierror,
         Calls<Value> Native::*calls) {
  Ierror result(ierror);
  if (!ours(*keyval) || not_ours_to_answer()) {
    note_passed_on(Doing::kSet, Kind::kNumber, *keyval);
    (native().*calls).set_attr(object, keyval, value, result);
  } else {
    result = set<Kind>(handle<Kind>(*object), *keyval, *value, Face<Value>::kTag);
  }
}

template <typename Kind, typename Value>
void get(MPI_Fint* object, MPI_Fint* keyval, Value* value, MPI_Fint* flag, MPI_Fint* ierror,
         Calls<Value> Native::*calls) {
  Ierror result(ierror);
  if (!ours(*keyval) || not_ours_to_answer()) {
    note_passed_on(Doing::kGet, Kind::kNumber, *keyval);
    (native().*calls).get_attr(object, keyval, value, flag, result);
  } else {
    // 1 and 0 are .TRUE. and .FALSE. for gfortran, and for both MPIs as Debian builds them.
    result = get_by_asking<Kind>(handle<Kind>(*object), *keyval, value, flag, Face<Value>::read);
  }
}

template <typename Kind, typename Value>
void erase(MPI_Fint* object, MPI_Fint* keyval, MPI_Fint* ierror, Calls<Value> Native::*calls) {
  Ierror result(ierror);
  if (!ours(*keyval) || not_ours_to_answer()) {
    note_passed_on(Doing::kDelete, Kind::kNumber, *keyval);
    (native().*calls).delete_attr(object, keyval, result);
  } else {
    result = remove<Kind>(handle<Kind>(*object), *keyval);
  }
}

}  // namespace
}  // namespace attrcache::mpi::fortran

// One function and its spellings.
#define ATTRCACHE_SPELLED(lower, UPPER, parameters, call)                       \
  ATTRCACHE_ENTRY void lower##_ parameters { attrcache::mpi::fortran::call; }   \
  ATTRCACHE_ENTRY void lower parameters __attribute__((alias(#lower "_")));     \
  ATTRCACHE_ENTRY void lower##__ parameters __attribute__((alias(#lower "_"))); \
  ATTRCACHE_ENTRY void UPPER parameters __attribute__((alias(#lower "_")));

// mpi_f08's takes the same arguments.
#define ATTRCACHE_SPELLED_F08(lower, UPPER, parameters, call) \
  ATTRCACHE_SPELLED(lower, UPPER, parameters, call)           \
  ATTRCACHE_ENTRY void lower##_f08_ parameters __attribute__((alias(#lower "_")));

#define ATTRCACHE_CREATE(Spelled, lower, UPPER, Kind, Value, calls)                         \
  Spelled(lower, UPPER,                                                                     \
          (attrcache_callback * copy_fn, attrcache_callback * delete_fn, MPI_Fint * keyval, \
           Value * extra_state, MPI_Fint * ierror),                                         \
          create<attrcache::mpi::Kind>(copy_fn, delete_fn, keyval, extra_state, ierror,     \
                                       &attrcache::mpi::fortran::Native::calls,             \
                                       __builtin_return_address(0)))
#define ATTRCACHE_FREE(Spelled, lower, UPPER, Kind, calls)      \
  Spelled(lower, UPPER, (MPI_Fint * keyval, MPI_Fint * ierror), \
          release<attrcache::mpi::Kind>(keyval, ierror, &attrcache::mpi::fortran::Native::calls))
#define ATTRCACHE_SET(Spelled, lower, UPPER, Kind, Value, calls)                                  \
  Spelled(lower, UPPER, (MPI_Fint * object, MPI_Fint * keyval, Value * value, MPI_Fint * ierror), \
          put<attrcache::mpi::Kind>(object, keyval, value, ierror,                                \
                                    &attrcache::mpi::fortran::Native::calls))
#define ATTRCACHE_GET(Spelled, lower, UPPER, Kind, Value, calls)                                 \
  Spelled(                                                                                       \
      lower, UPPER,                                                                              \
      (MPI_Fint * object, MPI_Fint * keyval, Value * value, MPI_Fint * flag, MPI_Fint * ierror), \
      get<attrcache::mpi::Kind>(object, keyval, value, flag, ierror,                             \
                                &attrcache::mpi::fortran::Native::calls))
#define ATTRCACHE_DELETE(Spelled, lower, UPPER, Kind, calls)                       \
  Spelled(lower, UPPER, (MPI_Fint * object, MPI_Fint * keyval, MPI_Fint * ierror), \
          erase<attrcache::mpi::Kind>(object, keyval, ierror,                      \
                                      &attrcache::mpi::fortran::Native::calls))

#define ATTRCACHE_FORTRAN_ENTRIES(name, NAME, Kind, calls)                                        \
  ATTRCACHE_CREATE(ATTRCACHE_SPELLED_F08, mpi_##name##_create_keyval, MPI_##NAME##_CREATE_KEYVAL, \
                   Kind, MPI_Aint, calls)                                                         \
  ATTRCACHE_FREE(ATTRCACHE_SPELLED_F08, mpi_##name##_free_keyval, MPI_##NAME##_FREE_KEYVAL, Kind, \
                 calls)                                                                           \
  ATTRCACHE_SET(ATTRCACHE_SPELLED_F08, mpi_##name##_set_attr, MPI_##NAME##_SET_ATTR, Kind,        \
                MPI_Aint, calls)                                                                  \
  ATTRCACHE_GET(ATTRCACHE_SPELLED_F08, mpi_##name##_get_attr, MPI_##NAME##_GET_ATTR, Kind,        \
                MPI_Aint, calls)                                                                  \
  ATTRCACHE_DELETE(ATTRCACHE_SPELLED_F08, mpi_##name##_delete_attr, MPI_##NAME##_DELETE_ATTR,     \
                   Kind, calls)

extern "C" {

ATTRCACHE_FORTRAN_ENTRIES(comm, COMM, Communicator, comm)
ATTRCACHE_FORTRAN_ENTRIES(type, TYPE, Datatype, type)
ATTRCACHE_FORTRAN_ENTRIES(win, WIN, Window, win)

ATTRCACHE_CREATE(ATTRCACHE_SPELLED, mpi_keyval_create, MPI_KEYVAL_CREATE, Communicator, MPI_Fint,
                 mpi1)
ATTRCACHE_FREE(ATTRCACHE_SPELLED, mpi_keyval_free, MPI_KEYVAL_FREE, Communicator, mpi1)
ATTRCACHE_SET(ATTRCACHE_SPELLED, mpi_attr_put, MPI_ATTR_PUT, Communicator, MPI_Fint, mpi1)
ATTRCACHE_GET(ATTRCACHE_SPELLED, mpi_attr_get, MPI_ATTR_GET, Communicator, MPI_Fint, mpi1)
ATTRCACHE_DELETE(ATTRCACHE_SPELLED, mpi_attr_delete, MPI_ATTR_DELETE, Communicator, mpi1)

}  // extern "C"
