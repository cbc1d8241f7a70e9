// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/native/exceptions.h"

#include <unwind.h>

#include <cstdint>
#include <cstdio>
#include <utility>

#include "mpi/native/native.h"

namespace attrcache::mpi {
namespace {

// Exists while keep_exception() makes its call.
struct Guard {
  void* jump[5];  // for __builtin_longjmp
  Guard* outer;
};

constinit thread_local Guard* innermost = nullptr;
constinit thread_local _Unwind_Exception* exception_kept = nullptr;
constinit thread_local unsigned times = 0;

void drop_kept() {
  _Unwind_Exception* const dropped = std::exchange(exception_kept, nullptr);
  if (dropped != nullptr && dropped->exception_cleanup != nullptr)
    dropped->exception_cleanup(_URC_FOREIGN_EXCEPTION_CAUGHT, dropped);
}

// The interposer's own unwinder must be able to go on where the program's began. All of GCC's are
// (libgcc_s, and the copies of it in programs). If another one is asked where the stack is, by
// GCC's function for that, it doesn't give an address near the guard's.
bool is_known_unwinder(_Unwind_Context* context, const Guard* guard) {
  return reinterpret_cast<uintptr_t>(guard) - _Unwind_GetCFA(context) < 1024;
}

}  // namespace

// What the unwinder asks about the frame of call_out() (a "personality"). In the first phase it
// looks for a handler: there is none here, so that an exception that nobody catches ends the
// program where it is thrown, as natively. In the second phase it unwinds up to the handler.
extern "C" _Unwind_Reason_Code attrcache_keep_exception(int, _Unwind_Action actions,
                                                        _Unwind_Exception_Class,
                                                        _Unwind_Exception* exception,
                                                        _Unwind_Context* context) {
  if (actions & _UA_SEARCH_PHASE) return _URC_CONTINUE_UNWIND;
  drop_kept();
  exception_kept = exception;
  ++times;
  if (!is_known_unwinder(context, innermost)) {
    std::fputs(
        "attrcache: an exception left a callback, and becomes an MPI error: the program's "
        "unwinder isn't GCC's\n",
        stderr);
    drop_kept();
  }
  __builtin_longjmp(innermost->jump, 1);
}

namespace {

[[gnu::noinline]] void call_out(void (*call)(void*), void* argument) {
  // 0x1b: four bytes, relative to where they stand. The operand keeps the linker from dropping the
  // function.
  asm volatile(".cfi_personality 0x1b, attrcache_keep_exception" : : "r"(attrcache_keep_exception));
  call(argument);
  asm volatile("");  // not a jump
}

}  // namespace

[[gnu::noinline]] int keep_exception(void (*call)(void*), void* argument) {
  Guard guard;
  guard.outer = innermost;
  innermost = &guard;
  const bool left = __builtin_setjmp(guard.jump) != 0;
  if (!left) call_out(call, argument);
  innermost = guard.outer;
  return left;
}

unsigned exceptions_kept() { return times; }

void let_exception_go_on() {
  _Unwind_Exception* const exception = std::exchange(exception_kept, nullptr);
  if (exception == nullptr) return;
  _Unwind_Resume_or_Rethrow(exception);
  die("nothing catches", "a callback's exception");
}

}  // namespace attrcache::mpi
