// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The C++ bindings of MPI-2, where the MPI still brings them (MPICH, and Open MPI before 5): keyvals made in C++, by
// functions with references and bool&, used in C++ and in C, beside keyvals made in C.

#include <mpi.h>

#if defined(OPEN_MPI) && !OMPI_BUILD_CXX_BINDINGS

#include "check.h"
#include "peer.h"

// That there are none is checked as well: mpi.h alone might fail to say that there are.
#include <dlfcn.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  check_begin();
  peer_bug("it has no C++ bindings, MPI::Comm::Create_keyval for one");
  CHECK(dlsym(RTLD_DEFAULT, "_ZTVN3MPI4CommE") == nullptr);
  // Callers of this program count keyvals.
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, nullptr);
  CHECK(keyval != MPI_KEYVAL_INVALID);
  MPI_Comm_free_keyval(&keyval);
  const int failed = check_report();
  MPI_Finalize();
  return failed;
}

#else

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

int checks;
int failures;
int me;
std::string did;

void check(bool good, int line) {
  ++checks;
  if (good) return;
  ++failures;
  std::printf("rank %d: FAILED cxx.cc:%d (%s)\n", me, line, did.c_str());
}
#define CHECK(condition) check((condition), __LINE__)

void note(const char* what, void* value) {
  did += what + std::to_string(reinterpret_cast<long>(value)) + ";";
}

int extra;

int copy_comm(const MPI::Comm& comm, int, void* extra_state, void* in, void* out, bool& flag) {
  CHECK(extra_state == &extra && comm.Get_size() > 0);
  note("copy ", in);
  *static_cast<void**>(out) = static_cast<char*>(in) + 100;
  flag = true;
  return MPI_SUCCESS;
}
int delete_comm(MPI::Comm& comm, int, void* value, void* extra_state) {
  CHECK(extra_state == &extra && comm.Get_size() > 0);
  note("del ", value);
  return MPI_SUCCESS;
}
#ifdef OPEN_MPI
using TypeValue = const void*;  // its only callback of that shape
#else
using TypeValue = void*;
#endif
int copy_type(const MPI::Datatype&, int, void*, TypeValue in, void* out, bool& flag) {
  note("copy ", const_cast<void*>(in));
  *static_cast<void**>(out) = const_cast<void*>(in);
  flag = true;
  return MPI_SUCCESS;
}
int delete_type(MPI::Datatype&, int, void* value, void*) {
  note("del ", value);
  return MPI_SUCCESS;
}
int copy_win(const MPI::Win&, int, void*, void*, void*, bool& flag) {
  flag = false;
  return MPI_SUCCESS;
}
int delete_win(MPI::Win&, int, void* value, void*) {
  note("del ", value);
  return MPI_SUCCESS;
}

void* value_of(long n) { return reinterpret_cast<void*>(n); }

void communicators() {
  int key = MPI::Comm::Create_keyval(copy_comm, delete_comm, &extra);
  MPI::Intracomm comm = MPI::COMM_SELF.Dup();
  void* value = nullptr;
  CHECK(!comm.Get_attr(key, &value));
  comm.Set_attr(key, value_of(1));
  CHECK(comm.Get_attr(key, &value) && value == value_of(1));
  int flag = 0;
  MPI_Comm_get_attr(comm, key, &value, &flag);  // in C, too
  CHECK(flag && value == value_of(1));
  MPI::Intracomm dup = comm.Dup();
  CHECK(dup.Get_attr(key, &value) && value == value_of(101));
  dup.Free();
  CHECK(did == "copy 1;del 101;");
  did.clear();
  MPI_Comm_set_attr(comm, key, value_of(2));
  CHECK(did == "del 1;");
  comm.Delete_attr(key);
  CHECK(did == "del 1;del 2;");
  did.clear();

  int c_key;
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &c_key, nullptr);
  comm.Set_attr(c_key, value_of(7));
  CHECK(comm.Get_attr(c_key, &value) && value == value_of(7));
  int* upper_bound = nullptr;
  CHECK(MPI::COMM_WORLD.Get_attr(MPI::TAG_UB, &upper_bound) && *upper_bound >= 32767);
  comm.Set_attr(key, value_of(3));
  MPI::Comm::Free_keyval(key);
  CHECK(key == MPI::KEYVAL_INVALID);
  MPI_Comm_free_keyval(&c_key);
  comm.Free();
  CHECK(did == "del 3;");
  did.clear();
}

void datatypes() {
  int key = MPI::Datatype::Create_keyval(copy_type, delete_type, nullptr);
  MPI::Datatype type = MPI::INT.Create_contiguous(2);
  void* value = nullptr;
  type.Set_attr(key, value_of(4));
  MPI::Datatype dup = type.Dup();
  CHECK(dup.Get_attr(key, &value) && value == value_of(4));
  dup.Free();
  type.Delete_attr(key);
  CHECK(did == "copy 4;del 4;del 4;");
  did.clear();
  type.Free();
  MPI::Datatype::Free_keyval(key);
}

void windows() {
  static int memory[2];
  int key = MPI::Win::Create_keyval(copy_win, delete_win, nullptr);
  MPI::Win win = MPI::Win::Create(memory, sizeof memory, 1, MPI::INFO_NULL, MPI::COMM_SELF);
  void* value = nullptr;
  win.Set_attr(key, value_of(5));
  CHECK(win.Get_attr(key, &value) && value == value_of(5));
  win.Free();
  CHECK(did == "del 5;");
  MPI::Win::Free_keyval(key);
}

}  // namespace

int main(int argc, char** argv) {
  MPI::Init(argc, argv);
  me = MPI::COMM_WORLD.Get_rank();
  communicators();
  datatypes();
  windows();
  if (failures == 0) std::printf("rank %d: %d checks passed\n", me, checks);
  std::fflush(stdout);
  MPI::Finalize();
  return failures != 0;
}

#endif
