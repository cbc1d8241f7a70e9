// SPDX-License-Identifier: Apache-2.0
//
// The Fortran names of the 20 routines: mpif.h's and `use mpi`'s, in every spelling in which a
// Fortran compiler may ask for them (mpi_x_, mpi_x, mpi_x__, MPI_X), and mpi_f08's 15 (mpi_x_f08_).
// MPI-1's take INTEGER values and callbacks, the others INTEGER(KIND=MPI_ADDRESS_KIND). All
// arguments come by reference.

#include "mpi/entries/entry.h"
#include "mpi/entries/names.h"
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

// The names of one kind and face, and by which of MPI's functions errors are raised (names.h). Open
// MPI's in Fortran do not end as C's do: a failed set or get calls no error handler there, and
// returns a code of its own. MPICH's do as C's, and C's take the anchor's address as what it is,
// where MPI-1's take an INTEGER.
template <typename K, typename V, Calls<V> Native::*kMember, typename C>
struct Names {
  using Kind = K;
  using Value = V;
  using InC = C;
  using Handle = typename Kind::Handle;
  static constexpr auto kCalls = kMember;

  static int free(int* keyval) {
    if constexpr (!facts::kFortranRaisesByItself) return InC::free(keyval);
    MPI_Fint code = MPI_SUCCESS;
    (native().*kCalls).free_keyval(keyval, &code);
    return code;
  }
  static int set(Handle handle, int keyval, void* value) {
    if constexpr (!facts::kFortranRaisesByItself) return InC::set(handle, keyval, value);
    MPI_Fint object = to_fortran<Kind>(handle);
    auto integer = static_cast<Value>(reinterpret_cast<intptr_t>(value));
    MPI_Fint code = MPI_SUCCESS;
    (native().*kCalls).set_attr(&object, &keyval, &integer, &code);
    return code;
  }
  static int get(Handle handle, int keyval, void* value, int* flag) {
    if constexpr (!facts::kFortranRaisesByItself) return InC::get(handle, keyval, value, flag);
    MPI_Fint object = to_fortran<Kind>(handle);
    Value unwanted;
    MPI_Fint logical;
    MPI_Fint code = MPI_SUCCESS;
    (native().*kCalls).get_attr(&object, &keyval, &unwanted, &logical, &code);
    return code;
  }
  static int remove(Handle handle, int keyval) {
    if constexpr (!facts::kFortranRaisesByItself) return InC::remove(handle, keyval);
    MPI_Fint object = to_fortran<Kind>(handle);
    MPI_Fint code = MPI_SUCCESS;
    (native().*kCalls).delete_attr(&object, &keyval, &code);
    return code;
  }
};

using CommNames = Names<Communicator, MPI_Aint, &Native::comm, Typed<Communicator>>;
using TypeNames = Names<Datatype, MPI_Aint, &Native::type, Typed<Datatype>>;
using WinNames = Names<Window, MPI_Aint, &Native::win, Typed<Window>>;
using Mpi1Names = Names<Communicator, MPI_Fint, &Native::mpi1, Mpi1>;

template <typename N>
void create(Callback* copy_fn, Callback* delete_fn, MPI_Fint* keyval,
            typename N::Value* extra_state, MPI_Fint* ierror, probe::Source source) {
  using Kind = typename N::Kind;
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
    (native().*N::kCalls).create_keyval(copy_fn, delete_fn, keyval, extra_state, result);
    return;
  }
  const Callbacks fns = recognize_fortran(copy_fn, delete_fn);
  // The value of extra_state now: the variable is the caller's, and may be gone when a callback
  // runs.
  void* extra = reinterpret_cast<void*>(static_cast<intptr_t>(*extra_state));
  const attrcache_callbacks callbacks = {fns.copy_fn, fns.delete_fn, extra,
                                         Face<typename N::Value>::kLanguage, nullptr};
  result = checking() ? create_keyval_checked(*state, Kind::kNumber, callbacks, keyval, source)
                      : create_keyval(*state, Kind::kNumber, callbacks, keyval, source);
}

template <typename N>
void release(MPI_Fint* keyval, MPI_Fint* ierror) {
  using Kind = typename N::Kind;
  Ierror result(ierror);
  if (!ours(*keyval) || not_ours_to_answer()) {
    note_passed_on(Doing::kFree, Kind::kNumber, *keyval);
    (native().*N::kCalls).free_keyval(keyval, result);
  } else {
    result = checking() ? free_keyval_checked<N>(Kind::kNumber, keyval)
                        : free_keyval<N>(Kind::kNumber, keyval);
  }
}

template <typename N>
void put(MPI_Fint* object, MPI_Fint* keyval, typename N::Value* value, MPI_Fint* ierror) {
  using Kind = typename N::Kind;
  Ierror result(ierror);
  if (!ours(*keyval) || not_ours_to_answer()) {
    note_passed_on(Doing::kSet, Kind::kNumber, *keyval);
    (native().*N::kCalls).set_attr(object, keyval, value, result);
  } else {
    result = set<Kind, N>(handle<Kind>(*object), *keyval, *value, Face<typename N::Value>::kTag);
  }
}

template <typename N>
void get(MPI_Fint* object, MPI_Fint* keyval, typename N::Value* value, MPI_Fint* flag,
         MPI_Fint* ierror) {
  using Kind = typename N::Kind;
  Ierror result(ierror);
  if (!ours(*keyval) || not_ours_to_answer()) {
    note_passed_on(Doing::kGet, Kind::kNumber, *keyval);
    (native().*N::kCalls).get_attr(object, keyval, value, flag, result);
  } else {
    // 1 and 0 are .TRUE. and .FALSE. for gfortran, and for both MPIs as Debian builds them.
    result = get_by_asking<Kind, N>(handle<Kind>(*object), *keyval, value, flag,
                                    Face<typename N::Value>::read);
  }
}

template <typename N>
void erase(MPI_Fint* object, MPI_Fint* keyval, MPI_Fint* ierror) {
  using Kind = typename N::Kind;
  Ierror result(ierror);
  if (!ours(*keyval) || not_ours_to_answer()) {
    note_passed_on(Doing::kDelete, Kind::kNumber, *keyval);
    (native().*N::kCalls).delete_attr(object, keyval, result);
  } else {
    result = remove<Kind, N>(handle<Kind>(*object), *keyval);
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

#define ATTRCACHE_CREATE(Spelled, lower, UPPER, Names)                                            \
  Spelled(lower, UPPER,                                                                           \
          (attrcache_callback * copy_fn, attrcache_callback * delete_fn, MPI_Fint * keyval,       \
           attrcache::mpi::fortran::Names::Value * extra_state, MPI_Fint * ierror),               \
          create<attrcache::mpi::fortran::Names>(copy_fn, delete_fn, keyval, extra_state, ierror, \
                                                 __builtin_return_address(0)))
#define ATTRCACHE_FREE(Spelled, lower, UPPER, Names)            \
  Spelled(lower, UPPER, (MPI_Fint * keyval, MPI_Fint * ierror), \
          release<attrcache::mpi::fortran::Names>(keyval, ierror))
#define ATTRCACHE_SET(Spelled, lower, UPPER, Names)                                             \
  Spelled(lower, UPPER,                                                                         \
          (MPI_Fint * object, MPI_Fint * keyval, attrcache::mpi::fortran::Names::Value * value, \
           MPI_Fint * ierror),                                                                  \
          put<attrcache::mpi::fortran::Names>(object, keyval, value, ierror))
#define ATTRCACHE_GET(Spelled, lower, UPPER, Names)                                             \
  Spelled(lower, UPPER,                                                                         \
          (MPI_Fint * object, MPI_Fint * keyval, attrcache::mpi::fortran::Names::Value * value, \
           MPI_Fint * flag, MPI_Fint * ierror),                                                 \
          get<attrcache::mpi::fortran::Names>(object, keyval, value, flag, ierror))
#define ATTRCACHE_DELETE(Spelled, lower, UPPER, Names)                             \
  Spelled(lower, UPPER, (MPI_Fint * object, MPI_Fint * keyval, MPI_Fint * ierror), \
          erase<attrcache::mpi::fortran::Names>(object, keyval, ierror))

#define ATTRCACHE_FORTRAN_ENTRIES(name, NAME, Names)                                               \
  ATTRCACHE_CREATE(ATTRCACHE_SPELLED_F08, mpi_##name##_create_keyval, MPI_##NAME##_CREATE_KEYVAL,  \
                   Names)                                                                          \
  ATTRCACHE_FREE(ATTRCACHE_SPELLED_F08, mpi_##name##_free_keyval, MPI_##NAME##_FREE_KEYVAL, Names) \
  ATTRCACHE_SET(ATTRCACHE_SPELLED_F08, mpi_##name##_set_attr, MPI_##NAME##_SET_ATTR, Names)        \
  ATTRCACHE_GET(ATTRCACHE_SPELLED_F08, mpi_##name##_get_attr, MPI_##NAME##_GET_ATTR, Names)        \
  ATTRCACHE_DELETE(ATTRCACHE_SPELLED_F08, mpi_##name##_delete_attr, MPI_##NAME##_DELETE_ATTR, Names)

extern "C" {

ATTRCACHE_FORTRAN_ENTRIES(comm, COMM, CommNames)
ATTRCACHE_FORTRAN_ENTRIES(type, TYPE, TypeNames)
ATTRCACHE_FORTRAN_ENTRIES(win, WIN, WinNames)

ATTRCACHE_CREATE(ATTRCACHE_SPELLED, mpi_keyval_create, MPI_KEYVAL_CREATE, Mpi1Names)
ATTRCACHE_FREE(ATTRCACHE_SPELLED, mpi_keyval_free, MPI_KEYVAL_FREE, Mpi1Names)
ATTRCACHE_SET(ATTRCACHE_SPELLED, mpi_attr_put, MPI_ATTR_PUT, Mpi1Names)
ATTRCACHE_GET(ATTRCACHE_SPELLED, mpi_attr_get, MPI_ATTR_GET, Mpi1Names)
ATTRCACHE_DELETE(ATTRCACHE_SPELLED, mpi_attr_delete, MPI_ATTR_DELETE, Mpi1Names)

}  // extern "C"
