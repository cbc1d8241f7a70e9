// SPDX-License-Identifier: Apache-2.0
//
// The MPI library underneath, reached by its PMPI_ names, which are looked up at run time: so that
// the interposer can be loaded into any process, one without MPI and one that opens its MPI later
// (as Python does) included. A process whose MPI can't be found although it calls MPI is ended with
// a message.

#ifndef ATTRCACHE_MPI_NATIVE_NATIVE_H_
#define ATTRCACHE_MPI_NATIVE_NATIVE_H_

#include "mpi/native/behaviour.h"
#include "mpi/native/kinds.h"
#include "platform/atomic.h"

namespace attrcache::mpi {

// The attribute functions of one kind.
template <typename Kind>
struct Calls {
  using Handle = typename Kind::Handle;
  int (*create_keyval)(typename Kind::CopyFn*, typename Kind::DeleteFn*, int*, void*);
  int (*free_keyval)(int*);
  int (*set_attr)(Handle, int, void*);
  int (*get_attr)(Handle, int, void*, int*);
  int (*delete_attr)(Handle, int);
  // Null where a handle is its own Fortran handle, and where there is no Fortran.
  MPI_Fint (*to_fortran)(Handle);
  Handle (*from_fortran)(MPI_Fint);
};

// Predefined handles.
struct Predefined {
  MPI_Comm world;
  MPI_Comm self;
  MPI_Comm null_comm;
  MPI_Datatype null_type;
  MPI_Datatype byte;
  MPI_Win null_win;
};

struct Native : Predefined {
  const Behaviour* behaviour;  // of this process's MPI

  Calls<Communicator> comm;
  Calls<Datatype> type;
  Calls<Window> win;
  // MPI-1. Where an MPI has them no more, their successors.
  int (*keyval_create)(MPI_Copy_function*, MPI_Delete_function*, int*, void*);
  int (*keyval_free)(int*);
  int (*attr_put)(MPI_Comm, int, void*);
  int (*attr_get)(MPI_Comm, int, void*, int*);
  int (*attr_delete)(MPI_Comm, int);

  int (*initialized)(int*);
  int (*finalized)(int*);
  int (*comm_call_errhandler)(MPI_Comm, int);
  int (*win_call_errhandler)(MPI_Win, int);

  // The callback constants of C: facts::kConstants, resolved; null where a constant is a null
  // pointer.
  attrcache_callback* constants[kKinds + 1][3];

  template <typename Kind>
  const Calls<Kind>& of() const;
  template <typename Kind>
  typename Kind::Handle null() const;
};

template <>
inline const Calls<Communicator>& Native::of<Communicator>() const {
  return comm;
}
template <>
inline const Calls<Datatype>& Native::of<Datatype>() const {
  return type;
}
template <>
inline const Calls<Window>& Native::of<Window>() const {
  return win;
}
template <>
inline MPI_Comm Native::null<Communicator>() const {
  return null_comm;
}
template <>
inline MPI_Datatype Native::null<Datatype>() const {
  return null_type;
}
template <>
inline MPI_Win Native::null<Window>() const {
  return null_win;
}

// (N1) The table once it is filled; pairs with the release in find_native.
[[gnu::visibility("hidden")]] extern constinit Atomic<const Native*> native_table;
const Native& find_native();

inline const Native& native() {
  const Native* found = native_table.load(kAcquire);  // (N1)
  return found != nullptr ? *found : find_native();
}

inline const Behaviour& behaviour() { return *native().behaviour; }

// A symbol of the process's MPI, wherever that is loaded; null if there is none. Slow.
void* find_symbol(const char* name);

// The same, looking into MPI's libraries only: passes by a definition of ours.
void* find_symbol_in_libraries(const char* name);

// Ends the process: there is no way to go on.
[[noreturn]] void die(const char* what, const char* detail);

// Sets a pointer to what has that name in MPI; ends the process if nothing has.
template <typename T>
void resolve(T& target, const char* name) {
  void* symbol = find_symbol(name);
  if (symbol == nullptr) die("the MPI library has no", name);
  target = reinterpret_cast<T>(symbol);
}

}  // namespace attrcache::mpi

#endif  // ATTRCACHE_MPI_NATIVE_NATIVE_H_
