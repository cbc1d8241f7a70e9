// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The one place that calls user code: copy_fn, delete_fn and destructors, each in its keyval's
// convention, synchronously, on the calling thread, with no lock held, so a callback may call any
// function of the library. The library is compiled without exceptions; one that leaves a callback
// is caught by the runtime's own function for that (catch_exceptions), and becomes the code
// ATTRCACHE_CALLBACK_THREW.

#ifndef ATTRCACHE_CALLBACK_EXECUTOR_H_
#define ATTRCACHE_CALLBACK_EXECUTOR_H_

#include <cstdint>

#include "attrcache/attrcache.h"
#include "callback/language.h"

namespace attrcache {

// How the callbacks of a kind are called. The last two are the kind's own, the others its domain's.
struct CallingConvention {
  attrcache_catch_exceptions* catch_exceptions = nullptr;  // null: no exception leaves a callback
  bool fint_is_64_bits = false;                            // a Fortran INTEGER
  int fortran_false = 0;
  attrcache_handle_form handle = ATTRCACHE_HANDLE_POINTER;
  int (*fortran_handle)(void* object) = nullptr;  // null: it is the object's low bits
};

// Whether a value is gone even if its delete_fn has failed.
inline bool deletes_once(const attrcache_callbacks& callbacks) {
  return (callbacks.flags & ATTRCACHE_DELETE_ONCE) != 0;
}

// What a copy_fn returned.
struct Copied {
  int code;  // 0: success
  bool flag;
  uint64_t value;
  attrcache_tag tag;
};

// The calls of C, which are by far the most common. They are inlined, so that they cost no more
// than the call itself.
namespace in_c {

inline int as_int(void* object) { return static_cast<int>(reinterpret_cast<intptr_t>(object)); }

// The callback, as a function of that type. The asm hides from the compiler which function it is,
// so that it doesn't warn where a test has functions of other types.
template <typename Shape>
Shape* shape(attrcache_callback* callback) {
  asm("" : "+r"(callback));
  return reinterpret_cast<Shape*>(callback);
}

// `in` is the value as C sees it, and `value` its bits.
[[gnu::always_inline]] inline Copied copy(const attrcache_callbacks& callbacks,
                                          const CallingConvention& convention, void* object,
                                          int keyval, void* in, uint64_t value, attrcache_tag tag) {
  void* out = nullptr;
  int flag = 0;
  attrcache_callback* fn = callbacks.copy_fn;
  void* extra = callbacks.extra_state;
  const int code =
      convention.handle == ATTRCACHE_HANDLE_INT
          ? shape<attrcache_copy_int_fn>(fn)(as_int(object), keyval, extra, in, &out, &flag)
          : shape<attrcache_copy_fn>(fn)(object, keyval, extra, in, &out, &flag);
  // A function that returns the address it was given, as MPI's own DUP_FN does, means the value:
  // the address is that of a copy, which ends with the call.
  if (tag != ATTRCACHE_AS_POINTER && out == in) [[unlikely]]
    return {code, flag != 0, value, tag};
  return {code, flag != 0, stored(reinterpret_cast<intptr_t>(out), ATTRCACHE_AS_POINTER),
          ATTRCACHE_AS_POINTER};
}

// `value` as C sees it.
[[gnu::always_inline]] inline int erase(const attrcache_callbacks& callbacks,
                                        const CallingConvention& convention, void* object,
                                        int keyval, void* value) {
  attrcache_callback* fn = callbacks.delete_fn;
  void* extra = callbacks.extra_state;
  return convention.handle == ATTRCACHE_HANDLE_INT
             ? shape<attrcache_delete_int_fn>(fn)(as_int(object), keyval, value, extra)
             : shape<attrcache_delete_fn>(fn)(object, keyval, value, extra);
}

}  // namespace in_c

// The same in any language, and where exceptions are caught.
[[gnu::noinline]] Copied run_copy_in_language(attrcache_callbacks& callbacks,
                                              const CallingConvention& convention, void* object,
                                              int keyval, uint64_t value, attrcache_tag tag);
[[gnu::noinline]] int run_delete_in_language(attrcache_callbacks& callbacks,
                                             const CallingConvention& convention, void* object,
                                             int keyval, uint64_t value, attrcache_tag tag);

// Runs a copy_fn other than NULL_COPY_FN and DUP_FN. It gets a copy of a value that C reads at its
// address, because another value may take its place in the slot.
[[gnu::always_inline]] inline Copied run_copy(attrcache_callbacks& callbacks,
                                              const CallingConvention& convention, void* object,
                                              int keyval, uint64_t value, attrcache_tag tag) {
  if (tag == ATTRCACHE_AS_POINTER && callbacks.language == ATTRCACHE_C &&
      convention.catch_exceptions == nullptr) [[likely]] {
    return in_c::copy(callbacks, convention, object, keyval, as_pointer(value), value, tag);
  }
  return run_copy_in_language(callbacks, convention, object, keyval, value, tag);
}

// Runs a delete_fn that isn't NULL_DELETE_FN, and returns its code. It, too, gets such a copy.
[[gnu::always_inline]] inline int run_delete(attrcache_callbacks& callbacks,
                                             const CallingConvention& convention, void* object,
                                             int keyval, uint64_t value, attrcache_tag tag) {
  if (tag == ATTRCACHE_AS_POINTER && callbacks.language == ATTRCACHE_C &&
      convention.catch_exceptions == nullptr) [[likely]] {
    return in_c::erase(callbacks, convention, object, keyval, as_pointer(value));
  }
  return run_delete_in_language(callbacks, convention, object, keyval, value, tag);
}

// Runs the destructor. An exception that it throws is dropped: there is nobody to be told of it.
void run_destructor(attrcache_callbacks& callbacks, const CallingConvention& convention);

}  // namespace attrcache

#endif  // ATTRCACHE_CALLBACK_EXECUTOR_H_
