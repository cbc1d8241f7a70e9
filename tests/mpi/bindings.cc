// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Uses attrcache/mpi2.hpp: code in the style of MPI-2's C++ bindings, on MPIs that may have none.

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1

#include <string>

#include "attrcache/mpi2.hpp"
#include "check.h"

namespace MPI = attrcache::mpi2;

namespace {

struct State {
  int copies = 0;
  int deletions = 0;
};

// Callbacks in the shapes of the three kinds. `Cached` is Comm, Datatype or Win.
template <typename Cached, typename In>
int copy(const Cached& old, int, void* extra_state, In in, void* out, bool& flag) {
  const typename Cached::Handle handle = old;
  static_cast<void>(handle);
  ++static_cast<State*>(extra_state)->copies;
  *static_cast<const void**>(out) = static_cast<const char*>(in) + 1;
  flag = true;
  return MPI_SUCCESS;
}

template <typename Cached>
int remove(Cached&, int, void*, void* extra_state) {
  ++static_cast<State*>(extra_state)->deletions;
  return MPI_SUCCESS;
}

// What all three kinds do. `dup` is null for windows.
template <typename Cached, typename In>
void use(typename Cached::Handle handle,
         int (*dup)(typename Cached::Handle, typename Cached::Handle*),
         int (*free)(typename Cached::Handle*)) {
  State state;
  char text[] = "text";
  void* value = nullptr;
  const Cached object(handle);
  int keyval = Cached::Create_keyval(copy<Cached, In>, remove<Cached>, &state);
  int shared = Cached::Create_keyval(Cached::DUP_FN, Cached::NULL_DELETE_FN, nullptr);
  int alone = Cached::Create_keyval(Cached::NULL_COPY_FN, Cached::NULL_DELETE_FN, nullptr);
  CHECK(!object.Get_attr(keyval, &value));
  for (const int key : {keyval, shared, alone}) object.Set_attr(key, text);
  CHECK(object.Get_attr(keyval, &value) && value == text);
  if (dup != nullptr) {
    typename Cached::Handle made;
    dup(handle, &made);
    const Cached copied(made);
    CHECK(copied.Get_attr(keyval, &value) && value == text + 1);
    CHECK(copied.Get_attr(shared, &value) && value == text);
    CHECK(!copied.Get_attr(alone, &value));
    free(&made);
    CHECK(state.copies == 1 && state.deletions == 1);
  }
  state.deletions = 0;
  object.Set_attr(keyval, text + 2);
  const int saved = keyval;
  Cached::Free_keyval(keyval);
  CHECK(keyval == MPI::KEYVAL_INVALID && state.deletions == 1);
  for (const int key : {saved, shared, alone}) object.Delete_attr(key);
  CHECK(state.deletions == 2);
  Cached::Free_keyval(shared);
  Cached::Free_keyval(alone);
}

int throw_code(MPI::Comm&, int, void*, void* angry) {
  if (*static_cast<bool*>(angry)) throw MPI::Exception(MPI_ERR_TAG);
  return MPI_SUCCESS;
}
int throw_success(const MPI::Comm&, int, void*, void*, void*, bool&) {
  throw MPI::Exception(MPI_SUCCESS);
}
int throw_string(const MPI::Comm&, int, void*, void*, void*, bool&) {
  throw std::string("no MPI error");
}

template <typename Call>
bool throws(Call call) {
  try {
    call();
  } catch (const MPI::Exception& e) {
    return e.Get_error_code() != MPI_SUCCESS && e.Get_error_class() != MPI_SUCCESS &&
           *e.Get_error_string() != '\0';
  }
  return false;
}

// With an error handler that returns, errors are thrown as exceptions. No exception passes
// through MPI.
void fail() {
  MPI_Comm comm, copied = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const MPI::Comm cached(comm);
  bool angry = true;
  int keyval = MPI::Comm::Create_keyval(throw_string, throw_code, &angry);
  cached.Set_attr(keyval, &angry);
  CHECK(throws([&] { cached.Delete_attr(keyval); }));
  void* value = nullptr;
  CHECK(MPI_Comm_dup(comm, &copied) != MPI_SUCCESS);
  CHECK(throws([&] { cached.Get_attr(MPI::KEYVAL_INVALID, &value); }));
  CHECK(throws([&] { cached.Set_attr(MPI::KEYVAL_INVALID, value); }));
  angry = false;
  CHECK(cached.Get_attr(keyval, &value) && value == &angry);
  cached.Delete_attr(keyval);
  MPI::Comm::Free_keyval(keyval);
  keyval = MPI::Comm::Create_keyval(throw_success, MPI::Comm::NULL_DELETE_FN, nullptr);
  cached.Set_attr(keyval, &angry);
  CHECK(MPI_Comm_dup(comm, &copied) != MPI_SUCCESS);
  MPI::Comm::Free_keyval(keyval);
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  check_begin();

  use<MPI::Comm, void*>(MPI_COMM_SELF, MPI_Comm_dup, MPI_Comm_free);

  MPI_Datatype type;
  MPI_Type_contiguous(3, MPI_INT, &type);
  use<MPI::Datatype, const void*>(type, MPI_Type_dup, MPI_Type_free);
  MPI_Type_free(&type);

  alignas(64) static int memory;  // MPICH reports a base that it has aligned
  MPI_Win win;
  MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  use<MPI::Win, void*>(win, nullptr, MPI_Win_free);
  void* base = nullptr;
  CHECK(MPI::Win(win).Get_attr(MPI_WIN_BASE, &base) && base == &memory);
  MPI_Win_free(&win);

  fail();
  MPI_Finalize();
  return check_report();
}
