// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "callback/executor.h"

#include "callback/language.h"

namespace attrcache {
namespace {

int as_int(void* object) { return static_cast<int>(reinterpret_cast<intptr_t>(object)); }

int fortran_handle(const KeyvalCallbacks& callbacks, void* object) {
  return callbacks.fortran_handle != nullptr ? callbacks.fortran_handle(object) : as_int(object);
}

// The address of extra_state, which a Fortran callback gets by reference. It is the address of the
// keyval's own copy, not of the creator's variable. So what one callback writes there is what the
// next one reads.
template <typename T>
T* fortran_extra_state(KeyvalCallbacks& callbacks) {
  return reinterpret_cast<T*>(&callbacks.functions.extra_state);
}

template <typename Shape>
Shape* shape(attrcache_callback* callback) {
  return reinterpret_cast<Shape*>(callback);
}

Copied copy_c(KeyvalCallbacks& callbacks, const CallbackArguments& arguments) {
  void* out = nullptr;
  int flag = 0;
  void* in = seen_by_c(arguments.at, arguments.tag);
  attrcache_callback* fn = callbacks.functions.copy_fn;
  void* extra = callbacks.functions.extra_state;
  const int code = callbacks.handle == ATTRCACHE_HANDLE_INT
                       ? shape<attrcache_copy_int_fn>(fn)(as_int(arguments.object),
                                                          arguments.keyval, extra, in, &out, &flag)
                       : shape<attrcache_copy_fn>(fn)(arguments.object, arguments.keyval, extra, in,
                                                      &out, &flag);
  return {code, flag != 0, reinterpret_cast<uint64_t>(out), ATTRCACHE_AS_POINTER};
}

int delete_c(KeyvalCallbacks& callbacks, const CallbackArguments& arguments) {
  void* value = seen_by_c(arguments.at, arguments.tag);
  attrcache_callback* fn = callbacks.functions.delete_fn;
  void* extra = callbacks.functions.extra_state;
  return callbacks.handle == ATTRCACHE_HANDLE_INT
             ? shape<attrcache_delete_int_fn>(fn)(as_int(arguments.object), arguments.keyval, value,
                                                  extra)
             : shape<attrcache_delete_fn>(fn)(arguments.object, arguments.keyval, value, extra);
}

template <typename Value, typename Shape>
Copied copy_fortran(KeyvalCallbacks& callbacks, const CallbackArguments& arguments,
                    attrcache_tag tag) {
  int object = fortran_handle(callbacks, arguments.object);
  int keyval = arguments.keyval;
  Value in = static_cast<Value>(*arguments.at);
  Value out = 0;
  int flag = 0;
  int ierror = 0;
  shape<Shape>(callbacks.functions.copy_fn)(&object, &keyval, fortran_extra_state<Value>(callbacks),
                                            &in, &out, &flag, &ierror);
  return {ierror, flag != 0, stored(out, tag), tag};
}

template <typename Value, typename Shape>
int delete_fortran(KeyvalCallbacks& callbacks, const CallbackArguments& arguments) {
  int object = fortran_handle(callbacks, arguments.object);
  int keyval = arguments.keyval;
  Value value = static_cast<Value>(*arguments.at);
  int ierror = 0;
  shape<Shape>(callbacks.functions.delete_fn)(&object, &keyval, &value,
                                              fortran_extra_state<Value>(callbacks), &ierror);
  return ierror;
}

}  // namespace

Copied run_copy(KeyvalCallbacks& callbacks, const CallbackArguments& arguments) noexcept {
  try {
    switch (callbacks.functions.language) {
      case ATTRCACHE_FORTRAN_FINT:
        return copy_fortran<int, attrcache_copy_fint_fn>(callbacks, arguments, ATTRCACHE_AS_FINT);
      case ATTRCACHE_FORTRAN_AINT:
        return copy_fortran<intptr_t, attrcache_copy_aint_fn>(callbacks, arguments,
                                                              ATTRCACHE_AS_AINT);
      default:
        return copy_c(callbacks, arguments);
    }
  } catch (...) {
    return {ATTRCACHE_CALLBACK_THREW, false, 0, ATTRCACHE_AS_POINTER};
  }
}

int run_delete(KeyvalCallbacks& callbacks, const CallbackArguments& arguments) noexcept {
  try {
    switch (callbacks.functions.language) {
      case ATTRCACHE_FORTRAN_FINT:
        return delete_fortran<int, attrcache_delete_fint_fn>(callbacks, arguments);
      case ATTRCACHE_FORTRAN_AINT:
        return delete_fortran<intptr_t, attrcache_delete_aint_fn>(callbacks, arguments);
      default:
        return delete_c(callbacks, arguments);
    }
  } catch (...) {
    return ATTRCACHE_CALLBACK_THREW;
  }
}

void run_destructor(KeyvalCallbacks& callbacks) noexcept {
  if (callbacks.functions.destructor == nullptr) return;
  try {
    callbacks.functions.destructor(callbacks.functions.extra_state);
  } catch (...) {
  }
}

}  // namespace attrcache
