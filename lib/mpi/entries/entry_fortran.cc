// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The functions that programs call in Fortran: the 20 of mpif.h and `use mpi`, in every name
// mangling that a Fortran compiler may use (mpi_x_, mpi_x, mpi_x__, MPI_X), and the 15 of mpi_f08
// (mpi_x_f08_). MPI-1's functions and their callbacks take values of type INTEGER, the others
// INTEGER(KIND=MPI_ADDRESS_KIND). All arguments are passed by reference.
//
// A handle of mpi_f08 is a derived type of one INTEGER that is passed by reference, so here it is
// an INTEGER. The functions of mpi_f08 thus differ from mpif.h's only in that the caller may leave
// IERROR out (a null pointer). So whatever MPI has to answer goes to its mpif.h functions.

#include "mpi/entries/operations.h"
#include "mpi/native/entry.h"
#include "runtimes/known_in_fortran.h"

namespace attrcache::mpi::fortran {
namespace {

using Callback = attrcache_callback;

// MPI's Fortran functions of one interface: `Value` is the INTEGER of MPI-1 or the
// INTEGER(KIND=MPI_ADDRESS_KIND) of MPI-2.
template <typename Value>
struct FortranCalls {
  void (*create_keyval)(Callback*, Callback*, MPI_Fint*, Value*, MPI_Fint*);
  void (*free_keyval)(MPI_Fint*, MPI_Fint*);
  void (*set_attr)(MPI_Fint*, MPI_Fint*, Value*, MPI_Fint*);
  void (*get_attr)(MPI_Fint*, MPI_Fint*, Value*, MPI_Fint*, MPI_Fint*);
  void (*delete_attr)(MPI_Fint*, MPI_Fint*, MPI_Fint*);
};

struct AllCalls {
  FortranCalls<MPI_Fint> mpi1;
#define ATTRCACHE_KIND(kind, word, Comm, comm, ...) FortranCalls<MPI_Aint> comm;
#include "mpi/native/kinds.def"
};

template <typename Value>
void find(FortranCalls<Value>& calls, int family) {
  for_each_operation(calls, [family](auto& function, int operation) {
    resolve(function, ("p" + in_fortran("MPI_" + operation_name(family, operation)) + "_").c_str());
  });
}

// Looked up at run time, like native().
const AllCalls& calls() {
  static const AllCalls found = [] {
    AllCalls all;
    find(all.mpi1, kMpi1Family);
#define ATTRCACHE_KIND(kind, word, Comm, comm, ...) find(all.comm, k##kind);
#include "mpi/native/kinds.def"
    return all;
  }();
  return found;
}

template <typename Kind>
typename Kind::Handle handle(MPI_Fint fortran) {
  if constexpr (facts::kHandleForm == ATTRCACHE_HANDLE_INT) return fortran;
  return native().of<Kind>().from_fortran(fortran);
}

template <typename Kind>
MPI_Fint to_fortran(typename Kind::Handle handle) {
  if constexpr (facts::kHandleForm == ATTRCACHE_HANDLE_INT) return handle;
  return native().of<Kind>().to_fortran(handle);
}

// Stores a result in the caller's IERROR argument, or nowhere if the caller left it out.
class Ierror {
 public:
  explicit Ierror(MPI_Fint* ierror) : at_(ierror != nullptr ? ierror : &unwanted_) {}
  void operator=(int code) { *at_ = code; }
  operator MPI_Fint*() { return at_; }

 private:
  MPI_Fint unwanted_ = MPI_SUCCESS;
  MPI_Fint* at_;
};

// The get of MPI-1, which can't give more than an INTEGER.
int get_fint(const attrcache_kind* kind, const attrcache_table* table, int keyval,
             MPI_Fint* value) {
  const int result = attrcache_get_fint(kind, table, keyval, value);
  if ((watched() & kChecked) && result == ATTRCACHE_OK) [[unlikely]]
    watch_fint(kind, table, keyval, *value);
  return result;
}

// The two Fortran interfaces, MPI-1's (INTEGER) and MPI-2's (INTEGER(KIND=MPI_ADDRESS_KIND)): how
// attrcache stores a value, how it calls the callbacks, and how a value is read.
template <typename Value>
struct Interface;
template <>
struct Interface<MPI_Fint> {
  static constexpr attrcache_tag kTag = ATTRCACHE_AS_FINT;
  static constexpr attrcache_language kLanguage = ATTRCACHE_FORTRAN_FINT;
  static constexpr auto read = get_fint;
};
template <>
struct Interface<MPI_Aint> {
  static constexpr attrcache_tag kTag = ATTRCACHE_AS_AINT;
  static constexpr attrcache_language kLanguage = ATTRCACHE_FORTRAN_AINT;
  static constexpr auto read = attrcache_get_aint;
};

// The functions of one kind and interface, and which of MPI's functions raise the errors (native.h).
// Open MPI needs its Fortran functions for that, because they fail differently from C's: a failed
// set or get calls no error handler, and returns a code of its own. MPICH's Fortran functions fail
// as C's do, and there C's are used, because they take the anchor's address as it is, where MPI-1's
// Fortran functions take an INTEGER.
template <typename K, typename V, FortranCalls<V> AllCalls::*kMember, typename C>
struct Names {
  using Kind = K;
  using Value = V;
  using InC = C;
  using Handle = typename Kind::Handle;
  static const FortranCalls<Value>& in_fortran() { return calls().*kMember; }

  static int free_keyval(int* keyval) {
    MPI_Fint code = MPI_SUCCESS;
    in_fortran().free_keyval(keyval, &code);
    return code;
  }
  static int set_attr(Handle handle, int keyval, void* value) {
    MPI_Fint object = to_fortran<Kind>(handle);
    auto integer = static_cast<Value>(reinterpret_cast<intptr_t>(value));
    MPI_Fint code = MPI_SUCCESS;
    in_fortran().set_attr(&object, &keyval, &integer, &code);
    return code;
  }
  static int get_attr(Handle handle, int keyval, void*, int*) {
    MPI_Fint object = to_fortran<Kind>(handle);
    Value unwanted;
    MPI_Fint logical;
    MPI_Fint code = MPI_SUCCESS;
    in_fortran().get_attr(&object, &keyval, &unwanted, &logical, &code);
    return code;
  }
  static int delete_attr(Handle handle, int keyval) {
    MPI_Fint object = to_fortran<Kind>(handle);
    MPI_Fint code = MPI_SUCCESS;
    in_fortran().delete_attr(&object, &keyval, &code);
    return code;
  }

  static decltype(auto) natively() {
    if constexpr (facts::kFortranRaisesByItself) {
      return Names{};
    } else {
      return InC::natively();
    }
  }
};

#define ATTRCACHE_KIND(Kind, word, Comm, comm, ...) \
  using Comm##Names = Names<Kind, MPI_Aint, &AllCalls::comm, Typed<Kind>>;
#include "mpi/native/kinds.def"
using Mpi1Names = Names<Communicator, MPI_Fint, &AllCalls::mpi1, Mpi1>;

template <typename N>
void create_keyval(Callback* copy_fn, Callback* delete_fn, MPI_Fint* keyval,
                   typename N::Value* extra_state, MPI_Fint* ierror, const void* caller) {
  using Kind = typename N::Kind;
  Ierror result(ierror);
  // Copies the value of extra_state, because the variable is the caller's and may be gone when a
  // callback runs.
  void* extra = reinterpret_cast<void*>(static_cast<intptr_t>(*extra_state));
  const attrcache_callbacks callbacks =
      callbacks_of(Interface<typename N::Value>::kLanguage, attrcache_known_in_fortran(copy_fn),
                   attrcache_known_in_fortran(delete_fn), extra);
  result = mpi::create_keyval(Kind::kNumber, callbacks, keyval, caller, [&] {
    MPI_Fint code = MPI_SUCCESS;
    N::in_fortran().create_keyval(copy_fn, delete_fn, keyval, extra_state, &code);
    return code;
  });
}

template <typename N>
void free_keyval(MPI_Fint* keyval, MPI_Fint* ierror) {
  using Kind = typename N::Kind;
  Ierror result(ierror);
  if (is_passed_on(Doing::kFree, Kind::kNumber, *keyval)) {
    N::in_fortran().free_keyval(keyval, result);
  } else {
    result = mpi::free_keyval<N>(Kind::kNumber, keyval);
  }
}

template <typename N>
void set_attr(MPI_Fint* object, MPI_Fint* keyval, typename N::Value* value, MPI_Fint* ierror) {
  using Kind = typename N::Kind;
  Ierror result(ierror);
  if (is_passed_on(Doing::kSet, Kind::kNumber, *keyval)) {
    N::in_fortran().set_attr(object, keyval, value, result);
  } else {
    result = mpi::set_attr<Kind, N>(handle<Kind>(*object), *keyval, *value,
                                    Interface<typename N::Value>::kTag);
  }
}

template <typename N>
void get_attr(MPI_Fint* object, MPI_Fint* keyval, typename N::Value* value, MPI_Fint* flag,
              MPI_Fint* ierror) {
  using Kind = typename N::Kind;
  Ierror result(ierror);
  if (is_passed_on(Doing::kGet, Kind::kNumber, *keyval)) {
    N::in_fortran().get_attr(object, keyval, value, flag, result);
    const int in_c = *keyval - facts::kFortranKeyvalOffset;
    if constexpr (Kind::kNumber == kCommunicator) {
      if (checking() && *flag == 0 && Kind::predefined_index(in_c) < Kind::kPredefined)
        watch_absent(handle<Kind>(*object), in_c);
    }
  } else {
    // In Fortran, 1 and 0 are .TRUE. and .FALSE. for gfortran, and for both MPIs as Debian builds
    // them.
    result = mpi::get_attr<Kind, N>(handle<Kind>(*object), *keyval, value, flag,
                                    Interface<typename N::Value>::read);
  }
}

template <typename N>
void delete_attr(MPI_Fint* object, MPI_Fint* keyval, MPI_Fint* ierror) {
  using Kind = typename N::Kind;
  Ierror result(ierror);
  if (is_passed_on(Doing::kDelete, Kind::kNumber, *keyval)) {
    N::in_fortran().delete_attr(object, keyval, result);
  } else {
    result = mpi::delete_attr<Kind, N>(handle<Kind>(*object), *keyval);
  }
}

}  // namespace
}  // namespace attrcache::mpi::fortran

// Defines a function under all of its manglings.
#define ATTRCACHE_SPELLED(lower, UPPER, parameters, call)                       \
  ATTRCACHE_ENTRY void lower##_ parameters { attrcache::mpi::fortran::call; }   \
  ATTRCACHE_ENTRY void lower parameters __attribute__((alias(#lower "_")));     \
  ATTRCACHE_ENTRY void lower##__ parameters __attribute__((alias(#lower "_"))); \
  ATTRCACHE_ENTRY void UPPER parameters __attribute__((alias(#lower "_")));

// Also defines the function's mpi_f08 name, which takes the same arguments.
#define ATTRCACHE_SPELLED_F08(lower, UPPER, parameters, call) \
  ATTRCACHE_SPELLED(lower, UPPER, parameters, call)           \
  ATTRCACHE_ENTRY void lower##_f08_ parameters __attribute__((alias(#lower "_")));

#define ATTRCACHE_CREATE(Spelled, lower, UPPER, Names)                                           \
  Spelled(lower, UPPER,                                                                          \
          (attrcache_callback * copy_fn, attrcache_callback * delete_fn, MPI_Fint * keyval,      \
           attrcache::mpi::fortran::Names::Value * extra_state, MPI_Fint * ierror),              \
          create_keyval<attrcache::mpi::fortran::Names>(copy_fn, delete_fn, keyval, extra_state, \
                                                        ierror, __builtin_return_address(0)))
#define ATTRCACHE_FREE(Spelled, lower, UPPER, Names)            \
  Spelled(lower, UPPER, (MPI_Fint * keyval, MPI_Fint * ierror), \
          free_keyval<attrcache::mpi::fortran::Names>(keyval, ierror))
#define ATTRCACHE_SET(Spelled, lower, UPPER, Names)                                             \
  Spelled(lower, UPPER,                                                                         \
          (MPI_Fint * object, MPI_Fint * keyval, attrcache::mpi::fortran::Names::Value * value, \
           MPI_Fint * ierror),                                                                  \
          set_attr<attrcache::mpi::fortran::Names>(object, keyval, value, ierror))
#define ATTRCACHE_GET(Spelled, lower, UPPER, Names)                                             \
  Spelled(lower, UPPER,                                                                         \
          (MPI_Fint * object, MPI_Fint * keyval, attrcache::mpi::fortran::Names::Value * value, \
           MPI_Fint * flag, MPI_Fint * ierror),                                                 \
          get_attr<attrcache::mpi::fortran::Names>(object, keyval, value, flag, ierror))
#define ATTRCACHE_DELETE(Spelled, lower, UPPER, Names)                             \
  Spelled(lower, UPPER, (MPI_Fint * object, MPI_Fint * keyval, MPI_Fint * ierror), \
          delete_attr<attrcache::mpi::fortran::Names>(object, keyval, ierror))

extern "C" {

#define ATTRCACHE_KIND(Kind, word, Comm, comm, COMM, ...)                                         \
  ATTRCACHE_CREATE(ATTRCACHE_SPELLED_F08, mpi_##comm##_create_keyval, MPI_##COMM##_CREATE_KEYVAL, \
                   Comm##Names)                                                                   \
  ATTRCACHE_FREE(ATTRCACHE_SPELLED_F08, mpi_##comm##_free_keyval, MPI_##COMM##_FREE_KEYVAL,       \
                 Comm##Names)                                                                     \
  ATTRCACHE_SET(ATTRCACHE_SPELLED_F08, mpi_##comm##_set_attr, MPI_##COMM##_SET_ATTR, Comm##Names) \
  ATTRCACHE_GET(ATTRCACHE_SPELLED_F08, mpi_##comm##_get_attr, MPI_##COMM##_GET_ATTR, Comm##Names) \
  ATTRCACHE_DELETE(ATTRCACHE_SPELLED_F08, mpi_##comm##_delete_attr, MPI_##COMM##_DELETE_ATTR,     \
                   Comm##Names)
#include "mpi/native/kinds.def"

ATTRCACHE_CREATE(ATTRCACHE_SPELLED, mpi_keyval_create, MPI_KEYVAL_CREATE, Mpi1Names)
ATTRCACHE_FREE(ATTRCACHE_SPELLED, mpi_keyval_free, MPI_KEYVAL_FREE, Mpi1Names)
ATTRCACHE_SET(ATTRCACHE_SPELLED, mpi_attr_put, MPI_ATTR_PUT, Mpi1Names)
ATTRCACHE_GET(ATTRCACHE_SPELLED, mpi_attr_get, MPI_ATTR_GET, Mpi1Names)
ATTRCACHE_DELETE(ATTRCACHE_SPELLED, mpi_attr_delete, MPI_ATTR_DELETE, Mpi1Names)

}  // extern "C"
