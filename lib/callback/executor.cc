// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "callback/executor.h"

#include "callback/language.h"

namespace attrcache {
namespace {

int as_int(void* object) { return static_cast<int>(reinterpret_cast<intptr_t>(object)); }

int fortran_handle(const Hooks& hooks, void* object) {
  return hooks.fortran_handle != nullptr ? hooks.fortran_handle(object) : as_int(object);
}

// The address of extra_state as a Fortran callback's by-reference argument. It is the keyval's own
// copy, not the creator's variable, so what a callback writes there the next one reads.
template <typename T>
T* fortran_extra_state(Hooks& hooks) {
  return reinterpret_cast<T*>(&hooks.callbacks.extra_state);
}

template <typename Shape>
Shape* shape(attrcache_callback* callback) {
  return reinterpret_cast<Shape*>(callback);
}

Copied copy_c(Hooks& hooks, const Subject& s) {
  void* out = nullptr;
  int flag = 0;
  void* in = seen_by_c(s.at, s.tag);
  attrcache_callback* fn = hooks.callbacks.copy_fn;
  void* extra = hooks.callbacks.extra_state;
  const int code =
      hooks.handle == ATTRCACHE_HANDLE_INT
          ? shape<attrcache_copy_int_fn>(fn)(as_int(s.object), s.keyval, extra, in, &out, &flag)
          : shape<attrcache_copy_fn>(fn)(s.object, s.keyval, extra, in, &out, &flag);
  return {code, flag != 0, reinterpret_cast<uint64_t>(out), ATTRCACHE_AS_POINTER};
}

int delete_c(Hooks& hooks, const Subject& s) {
  void* value = seen_by_c(s.at, s.tag);
  attrcache_callback* fn = hooks.callbacks.delete_fn;
  void* extra = hooks.callbacks.extra_state;
  return hooks.handle == ATTRCACHE_HANDLE_INT
             ? shape<attrcache_delete_int_fn>(fn)(as_int(s.object), s.keyval, value, extra)
             : shape<attrcache_delete_fn>(fn)(s.object, s.keyval, value, extra);
}

template <typename Value, typename Shape>
Copied copy_fortran(Hooks& hooks, const Subject& s, attrcache_tag tag) {
  int object = fortran_handle(hooks, s.object);
  int keyval = s.keyval;
  Value in = static_cast<Value>(*s.at);
  Value out = 0;
  int flag = 0;
  int ierror = 0;
  shape<Shape>(hooks.callbacks.copy_fn)(&object, &keyval, fortran_extra_state<Value>(hooks), &in,
                                        &out, &flag, &ierror);
  return {ierror, flag != 0, stored(out, tag), tag};
}

template <typename Value, typename Shape>
int delete_fortran(Hooks& hooks, const Subject& s) {
  int object = fortran_handle(hooks, s.object);
  int keyval = s.keyval;
  Value value = static_cast<Value>(*s.at);
  int ierror = 0;
  shape<Shape>(hooks.callbacks.delete_fn)(&object, &keyval, &value,
                                          fortran_extra_state<Value>(hooks), &ierror);
  return ierror;
}

}  // namespace

Copied run_copy(Hooks& hooks, const Subject& s) noexcept {
  try {
    switch (hooks.callbacks.language) {
      case ATTRCACHE_FORTRAN_FINT:
        return copy_fortran<int, attrcache_copy_fint_fn>(hooks, s, ATTRCACHE_AS_FINT);
      case ATTRCACHE_FORTRAN_AINT:
        return copy_fortran<intptr_t, attrcache_copy_aint_fn>(hooks, s, ATTRCACHE_AS_AINT);
      default:
        return copy_c(hooks, s);
    }
  } catch (...) {
    return {ATTRCACHE_CALLBACK_THREW, false, 0, ATTRCACHE_AS_POINTER};
  }
}

int run_delete(Hooks& hooks, const Subject& s) noexcept {
  try {
    switch (hooks.callbacks.language) {
      case ATTRCACHE_FORTRAN_FINT:
        return delete_fortran<int, attrcache_delete_fint_fn>(hooks, s);
      case ATTRCACHE_FORTRAN_AINT:
        return delete_fortran<intptr_t, attrcache_delete_aint_fn>(hooks, s);
      default:
        return delete_c(hooks, s);
    }
  } catch (...) {
    return ATTRCACHE_CALLBACK_THREW;
  }
}

void run_destructor(Hooks& hooks) noexcept {
  if (hooks.callbacks.destructor == nullptr) return;
  try {
    hooks.callbacks.destructor(hooks.callbacks.extra_state);
  } catch (...) {
  }
}

}  // namespace attrcache
