// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// How the program leaves callbacks and error handlers: C++ exceptions, those of other languages,
// longjmp, the end of a thread. Each arrives where it would natively, however the program is linked
// with its unwinder and C++ runtime, and nothing that the left call has begun is mistaken for
// something that goes on.

#include <pthread.h>
#include <unwind.h>

#include <csetjmp>
#include <exception>
#include <stdexcept>

#include "check.h"

namespace {

bool angry;   // callbacks throw
bool rude;    // they return an error instead
bool exits;   // they end their thread instead
int deleted;  // by delete callbacks that succeeded
_Unwind_Exception foreign;
bool foreign_gone;

int copy(MPI_Comm, int, void*, void* in, void* out, int* flag) {
  if (angry) throw std::runtime_error("copy");
  *static_cast<void**>(out) = in;
  *flag = 1;
  return MPI_SUCCESS;
}
template <typename Object>
int del(Object, int, void* value, void*) {
  if (exits) pthread_exit(nullptr);
  if (rude) return MPI_ERR_OTHER;
  if (angry && value == &foreign) _Unwind_RaiseException(&foreign);
  if (angry) throw 42;
  ++deleted;
  return MPI_SUCCESS;
}

// What a call ends by: 0 if it returns, 1 if in std::exception, 2 if in an int, 3 in anything else.
template <typename Call>
int thrown_by(Call call) {
  int what = 0;
  try {
    call();
  } catch (const std::exception& e) {
    what = 1;
  } catch (int i) {
    what = i == 42 ? 2 : -1;
  } catch (...) {
    what = 3;
  }
  CHECK(std::uncaught_exceptions() == 0 && std::current_exception() == nullptr);
  return what;
}

bool has(MPI_Comm comm, int key, void* expected) {
  void* value = nullptr;
  int flag = 0;
  MPI_Comm_get_attr(comm, key, &value, &flag);
  return flag && value == expected;
}

void callbacks_throw(int key) {
  int x, y;
  MPI_Comm comm, dup;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_attr(comm, key, &x);
  angry = true;
  CHECK(thrown_by([&] { MPI_Comm_delete_attr(comm, key); }) == 2);
  CHECK(thrown_by([&] { MPI_Comm_set_attr(comm, key, &y); }) == 2);
  CHECK(thrown_by([&] { MPI_Comm_dup(comm, &dup); }) == 1);
  CHECK(has(comm, key, &x));
  const MPI_Comm freed = comm;
  CHECK(thrown_by([&] { MPI_Comm_free(&comm); }) == 2);
  CHECK(comm == freed);
  angry = false;
  MPI_Comm_set_attr(comm, key, &foreign);
  foreign.exception_class = 0x1234;
  foreign.exception_cleanup = [](_Unwind_Reason_Code, _Unwind_Exception*) { foreign_gone = true; };
  angry = true;
  CHECK(thrown_by([&] { MPI_Comm_delete_attr(comm, key); }) == 3 && foreign_gone);
  angry = false;
  deleted = 0;
  CHECK(MPI_Comm_dup(comm, &dup) == MPI_SUCCESS && has(dup, key, &foreign));
  MPI_Comm_free(&dup);
  CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS && deleted == 2);

  int type_key;
  MPI_Datatype type;
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, del<MPI_Datatype>, &type_key, nullptr);
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_set_attr(type, type_key, &x);
  angry = true;
  CHECK(thrown_by([&] { MPI_Type_free(&type); }) == 2);
  angry = false;
  CHECK(type != MPI_DATATYPE_NULL);  // MPICH's count of it is wrong now, so it can't be freed again
  MPI_Type_free_keyval(&type_key);
}

// Several attributes: each value is deleted once, although one of their callbacks throws.
void one_of_several_throws(int key) {
  static int throws_once;
  const auto once = [](MPI_Comm, int, void*, void*) {
    if (throws_once++ == 0) throw 42;
    return MPI_SUCCESS;
  };
  int x, other;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, once, &other, nullptr);
  MPI_Comm_set_attr(comm, key, &x);
  MPI_Comm_set_attr(comm, other, &x);
  deleted = 0;
  CHECK(thrown_by([&] { MPI_Comm_free(&comm); }) == 2);
  CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS && deleted == 1);
  MPI_Comm_free_keyval(&other);
}

std::jmp_buf out;
bool jumps;
void handler(MPI_Comm*, int*, ...) {
  if (jumps) std::longjmp(out, 1);
  throw 42;
}

// From a place further down the stack than that of the call which was left.
[[gnu::noinline]] void use(MPI_Comm comm, int key, void* value) {
  volatile char deep[500];
  deep[0] = 0;
  MPI_Comm dup;
  MPI_Comm_set_attr(comm, key, value);
  CHECK(has(comm, key, value));
  MPI_Comm_dup(comm, &dup);
  CHECK(has(dup, key, value));
  deleted = 0;
  MPI_Comm_free(&dup);
  CHECK(deleted == 1 + (deep[0] != 0));
}

// Makes a call fail on `comm`, and leaves it by the error handler.
template <typename Call>
void leave(Call call) {
  if (jumps) {
    if (setjmp(out) == 0) {
      call();
      CHECK(!"left");
    }
  } else {
    CHECK(thrown_by(call) == 2);
  }
}

void handlers_leave(int key) {
  int x, y;
  MPI_Errhandler errhandler;
  MPI_Comm_create_errhandler(handler, &errhandler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler);
  for (int call = 0; call < 10; ++call) {
    jumps = call % 2;
    MPI_Comm comm, dup;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_errhandler(comm, errhandler);
    MPI_Comm_set_attr(comm, key, &x);
    rude = true;
    switch (call / 2) {
      case 0:
        leave([&] { MPI_Comm_set_attr(comm, key, &y); });
        break;
      case 1:
        leave([&] { MPI_Comm_delete_attr(comm, key); });
        break;
      case 2:
        leave([&] { MPI_Comm_free(&comm); });
        break;
      case 3:
        leave([&] { MPI_Comm_free_keyval(nullptr); });
        break;
      default:
        // MPI fails before it comes to any attribute.
        leave([&] {
          dup = MPI_COMM_NULL;
          MPI_Comm_free(&dup);
        });
        leave([&] { MPI_Comm_set_attr(MPI_COMM_NULL, key, &x); });
    }
    rude = false;
    use(comm, key, &y);
    deleted = 0;
    MPI_Comm_free(&comm);
    CHECK(deleted == 1);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&errhandler);
}

// A thread that ends in a callback: the failed delete has ended before, and the value is there.
void thread_ends(int key) {
  struct Arguments {
    MPI_Comm comm;
    int key;
  } arguments = {MPI_COMM_SELF, key};
  MPI_Comm_set_attr(MPI_COMM_SELF, key, &arguments);
  exits = true;
  pthread_t thread;
  const auto body = [](void* of) -> void* {
    const auto& a = *static_cast<Arguments*>(of);
    MPI_Comm_delete_attr(a.comm, a.key);
    return of;
  };
  pthread_create(&thread, nullptr, body, &arguments);
  void* returned = &arguments;
  pthread_join(thread, &returned);
  CHECK(returned == nullptr);
  exits = false;
  CHECK(has(MPI_COMM_SELF, key, &arguments));
  deleted = 0;
  CHECK(MPI_Comm_delete_attr(MPI_COMM_SELF, key) == MPI_SUCCESS && deleted == 1);
}

}  // namespace

int main(int argc, char** argv) {
  int provided;
  // With MPI_THREAD_MULTIPLE, MPICH's lock would stay locked.
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int key;
  MPI_Comm_create_keyval(copy, del<MPI_Comm>, &key, nullptr);
  callbacks_throw(key);
  handlers_leave(key);
  if (served()) {  // natively the MPIs' own state is damaged then
    one_of_several_throws(key);
    thread_ends(key);
  }
  MPI_Comm_free_keyval(&key);
  const int status = check_report();
  MPI_Finalize();
  return status;
}
