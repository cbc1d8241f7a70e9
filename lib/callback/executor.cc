// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "callback/executor.h"

#include "callback/language.h"

namespace attrcache {
namespace {

int as_int(void* object) { return static_cast<int>(reinterpret_cast<intptr_t>(object)); }

int fortran_handle(const KeyvalCallbacks& callbacks, void* object) {
  const auto convert = callbacks.convention->fortran_handle;
  return convert != nullptr ? convert(object) : as_int(object);
}

// The address of extra_state, or of its low part, which a Fortran callback gets by reference. It is
// the address of the keyval's own copy, not of the creator's variable. So what one callback writes
// there is what the next one reads.
template <typename T>
T* fortran_extra_state(KeyvalCallbacks& callbacks) {
  auto* bytes = reinterpret_cast<char*>(&callbacks.functions.extra_state);
  return reinterpret_cast<T*>(bytes + (kBigEndian ? sizeof(void*) - sizeof(T) : 0));
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
  const int code = callbacks.convention->handle == ATTRCACHE_HANDLE_INT
                       ? shape<attrcache_copy_int_fn>(fn)(as_int(arguments.object),
                                                          arguments.keyval, extra, in, &out, &flag)
                       : shape<attrcache_copy_fn>(fn)(arguments.object, arguments.keyval, extra, in,
                                                      &out, &flag);
  return {code, flag != 0, stored(reinterpret_cast<intptr_t>(out), ATTRCACHE_AS_POINTER),
          ATTRCACHE_AS_POINTER};
}

int delete_c(KeyvalCallbacks& callbacks, const CallbackArguments& arguments) {
  void* value = seen_by_c(arguments.at, arguments.tag);
  attrcache_callback* fn = callbacks.functions.delete_fn;
  void* extra = callbacks.functions.extra_state;
  return callbacks.convention->handle == ATTRCACHE_HANDLE_INT
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

// Makes the call; whether an exception left it, and was caught.
template <typename Call>
bool is_left_by_exception(const KeyvalCallbacks& callbacks, Call call) {
  attrcache_catch_exceptions* const catch_exceptions = callbacks.convention->catch_exceptions;
  if (catch_exceptions == nullptr) {
    call();
    return false;
  }
  const auto make_call = [](void* argument) { (*static_cast<Call*>(argument))(); };
  return catch_exceptions(make_call, &call) != 0;
}

}  // namespace

Copied run_copy(KeyvalCallbacks& callbacks, const CallbackArguments& arguments) {
  Copied copied = {};
  const bool thrown = is_left_by_exception(callbacks, [&] {
    switch (callbacks.functions.language) {
      case ATTRCACHE_FORTRAN_FINT:
        copied = copy_fortran<int, attrcache_copy_fint_fn>(callbacks, arguments, ATTRCACHE_AS_FINT);
        break;
      case ATTRCACHE_FORTRAN_AINT:
        copied =
            copy_fortran<intptr_t, attrcache_copy_aint_fn>(callbacks, arguments, ATTRCACHE_AS_AINT);
        break;
      default:
        copied = copy_c(callbacks, arguments);
    }
  });
  return thrown ? Copied{ATTRCACHE_CALLBACK_THREW, false, 0, ATTRCACHE_AS_POINTER} : copied;
}

int run_delete(KeyvalCallbacks& callbacks, const CallbackArguments& arguments) {
  int code = 0;
  const bool thrown = is_left_by_exception(callbacks, [&] {
    switch (callbacks.functions.language) {
      case ATTRCACHE_FORTRAN_FINT:
        code = delete_fortran<int, attrcache_delete_fint_fn>(callbacks, arguments);
        break;
      case ATTRCACHE_FORTRAN_AINT:
        code = delete_fortran<intptr_t, attrcache_delete_aint_fn>(callbacks, arguments);
        break;
      default:
        code = delete_c(callbacks, arguments);
    }
  });
  return thrown ? ATTRCACHE_CALLBACK_THREW : code;
}

void run_destructor(KeyvalCallbacks& callbacks) {
  const attrcache_callbacks& functions = callbacks.functions;
  if (functions.destructor == nullptr) return;
  static_cast<void>(is_left_by_exception(
      callbacks, [&functions] { functions.destructor(functions.extra_state); }));
}

}  // namespace attrcache
