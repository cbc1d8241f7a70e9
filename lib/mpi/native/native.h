// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The MPI library underneath, called by its PMPI_ names. They are looked up at run time, so that
// the interposer can be loaded into any process, even one without MPI or one that opens its MPI
// later (as Python does). A process that calls MPI although no MPI can be found is ended with a
// message.

#ifndef ATTRCACHE_MPI_NATIVE_NATIVE_H_
#define ATTRCACHE_MPI_NATIVE_NATIVE_H_

#include <string>

#include "mpi/native/behaviour.h"
#include "mpi/native/kinds.h"
#include "platform/atomic.h"

namespace attrcache::mpi {

// MPI's attribute functions for one kind of object, or those of MPI-1.
template <typename Kind>
struct Calls {
  using Handle = typename Kind::Handle;
  int (*create_keyval)(typename Kind::CopyFn*, typename Kind::DeleteFn*, int*, void*);
  int (*free_keyval)(int*);
  int (*set_attr)(Handle, int, void*);
  int (*get_attr)(Handle, int, void*, int*);
  int (*delete_attr)(Handle, int);
  int (*call_errhandler)(Handle, int);  // null if Kind::kHasErrorHandler is false
  // Null where a handle in C is also the handle in Fortran, and where there is no Fortran.
  MPI_Fint (*to_fortran)(Handle);
  Handle (*from_fortran)(MPI_Fint);
};

// Predefined handles.
struct Predefined {
  MPI_Comm world;
  MPI_Comm self;
#define ATTRCACHE_KIND(kind, word, Comm, comm, ...) kind::Handle null_##comm;
#include "mpi/native/kinds.def"
};

struct Native : Predefined {
  const Behaviour* behaviour;  // the behaviour of this process's MPI

#define ATTRCACHE_KIND(kind, word, Comm, comm, ...) Calls<kind> comm;
#include "mpi/native/kinds.def"
  // The functions of MPI-1. Where an MPI no longer has them, these are their successors.
  Calls<Communicator> mpi1;

  int (*initialized)(int*);
  int (*finalized)(int*);

  // The addresses of the callback constants in C (facts::kConstants), by kind; after them those of
  // MPI-1. Null where a constant is a null pointer.
  attrcache_callback* constants[kFamilies][3];

  template <typename Kind>
  const Calls<Kind>& of() const;
  template <typename Kind>
  typename Kind::Handle null() const;
};

#define ATTRCACHE_KIND(kind, word, Comm, comm, ...)    \
  template <>                                          \
  inline const Calls<kind>& Native::of<kind>() const { \
    return comm;                                       \
  }                                                    \
  template <>                                          \
  inline kind::Handle Native::null<kind>() const {     \
    return null_##comm;                                \
  }
#include "mpi/native/kinds.def"

// (MN1) Points to the functions once they have been looked up. The acquire pairs with the release
// in find_native().
[[gnu::visibility("hidden")]] extern constinit Atomic<const Native*> native_table;
const Native& find_native();

inline const Native& native() {
  const Native* found = native_table.load(kAcquire);  // (MN1)
  return found != nullptr ? *found : find_native();
}

// The functions of C grouped by the names that programs call (entry_fortran.cc has Fortran's). A call
// that attrcache doesn't answer is passed on to them, and they raise the errors, so that a message
// names the function that the program called. These are MPI_Comm_set_attr and the others of a kind:
template <typename Kind>
struct Typed {
  using InC = Typed;
  static const Calls<Kind>& natively() { return native().of<Kind>(); }
};
// MPI-1's MPI_Attr_put and the others:
struct Mpi1 {
  using InC = Mpi1;
  static const Calls<Communicator>& natively() { return native().mpi1; }
};

inline const Behaviour& behaviour() { return *native().behaviour; }

// Why this process isn't served; null if it is. Behind the standard ABI any MPI will do. Behind
// another one, what attrcache does must be what that MPI does.
inline const char* why_not_served() {
  return facts::kStandardAbi || behaviour().natively != nullptr ? nullptr : behaviour().name;
}

// Whether the handle is null. MPI must then be asked in the function that the program has called,
// so that the same function raises the error.
template <Anchored Kind>
bool is_null(typename Kind::Handle handle) {
  return handle == native().null<Kind>() ||
         (facts::kHandleForm == ATTRCACHE_HANDLE_POINTER && facts::to_object(handle) == nullptr);
}

// Whether the object with this key (facts::to_key) is predefined, so that no call can free it, and
// whether MPI_Finalize deletes its attributes. No window is predefined.
template <typename Kind>
bool is_predefined(uintptr_t key) {
  if (Kind::kNumber == kDatatype) return facts::is_predefined_type(key);
  return Kind::kNumber == kCommunicator &&
         (key == facts::to_key(native().world) || key == facts::to_key(native().self));
}
template <typename Kind>
bool finalize_deletes(uintptr_t key) {
  if (!is_predefined<Kind>(key)) return false;
  if (Kind::kNumber == kDatatype) return behaviour().finalize_deletes_on_types;
  return key == facts::to_key(native().self) || behaviour().finalize_deletes_on_world;
}

// The name of an attribute function of a family, without its "MPI_": "Comm_set_attr", "Attr_put". And
// any name as Fortran writes it, without the underscores that compilers append.
inline constexpr int kOperations = 5;
std::string operation_name(int family, int operation);
std::string in_fortran(std::string name);

// Calls visit(function, operation) for each of those that an MPI has in a struct such as Calls.
template <typename OfFamily, typename Visit>
void for_each_operation(OfFamily& calls, Visit visit) {
  visit(calls.create_keyval, 0);
  visit(calls.free_keyval, 1);
  visit(calls.set_attr, 2);
  visit(calls.get_attr, 3);
  visit(calls.delete_attr, 4);
}

// Whether MPI_Init has been called; and whether MPI_Finalize has got so far that MPI no longer
// takes calls, which comes some time after ending() (objects/process.h).
bool initialized();
bool finalized();

// A copy callback for attributes that no dup is to have.
inline int copy_nothing(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

// Finds a symbol of the process's MPI, wherever that is loaded. Returns null if there is none.
// Slow.
void* find_symbol(const char* name);

// The same, but looks into MPI's libraries only, so it doesn't find a function of attrcache's that
// has the same name.
void* find_symbol_in_libraries(const char* name);

// MPI's own function that one of ours hides, or that of a tool behind attrcache, for ours to pass
// each call on to. Ends the process if there is none. Slow.
void* find_behind(const char* name);
template <typename Function>
Function* behind(const char* name) {
  return reinterpret_cast<Function*>(find_behind(name));
}

// Ends the process with a message, when there is no way to go on.
[[noreturn]] void die(const char* what, const char* detail);

// Sets a pointer to MPI's symbol of that name. Ends the process if there is none.
template <typename T>
void resolve(T& target, const char* name) {
  void* symbol = find_symbol(name);
  if (symbol == nullptr) die("the MPI library has no", name);
  target = reinterpret_cast<T>(symbol);
}

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_NATIVE_NATIVE_H_
