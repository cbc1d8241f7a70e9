// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "callback/executor.h"

#include <type_traits>

#include "callback/language.h"

namespace attrcache {
namespace {

using in_c::as_int;
using in_c::shape;

// One attribute, as a callback gets it.
struct CallbackArguments {
  const CallingConvention& convention;
  void* object;
  int keyval;  // the int that users know
  const uint64_t& value;
  attrcache_tag tag;

  // The Fortran INTEGER that callbacks get for the object.
  int fortran_handle() const {
    const auto convert = convention.fortran_handle;
    return convert != nullptr ? convert(object) : as_int(object);
  }
};

// The address of extra_state, or of its low part, which a Fortran callback gets by reference. It is
// the address of the keyval's own copy, not of the creator's variable. So the next callback reads
// what one writes there.
template <typename T>
T* fortran_extra_state(attrcache_callbacks& callbacks) {
  auto* bytes = reinterpret_cast<char*>(&callbacks.extra_state);
  return reinterpret_cast<T*>(bytes + (kBigEndian ? sizeof(void*) - sizeof(T) : 0));
}

Copied copy_raw(attrcache_callbacks& callbacks, const CallbackArguments& arguments) {
  attrcache_tag tag = arguments.tag;
  intptr_t out = 0;
  int flag = 0;
  const int code = shape<attrcache_copy_raw_fn>(callbacks.copy_fn)(
      arguments.object, arguments.keyval, callbacks.extra_state, callbacks.context, arguments.tag,
      seen_as_aint(arguments.value), &tag, &out, &flag);
  if (tag == ATTRCACHE_AS_FINT && arguments.convention.fint_is_64_bits) tag = ATTRCACHE_AS_AINT;
  return {code, flag != 0, stored(out, tag), tag};
}

int delete_raw(attrcache_callbacks& callbacks, const CallbackArguments& arguments) {
  return shape<attrcache_delete_raw_fn>(callbacks.delete_fn)(
      arguments.object, arguments.keyval, callbacks.extra_state, callbacks.context, arguments.tag,
      seen_as_aint(arguments.value));
}

// Fortran callbacks, by the type of an INTEGER and that of values and extra_state.
template <typename Fint, typename Value>
using CopyFortran = void(Fint* object, Fint* keyval, Value* extra_state, Value* in, Value* out,
                         Fint* flag, Fint* ierror);
template <typename Fint, typename Value>
using DeleteFortran = void(Fint* object, Fint* keyval, Value* value, Value* extra_state,
                           Fint* ierror);
static_assert(std::is_same_v<CopyFortran<int, int>, attrcache_copy_fint_fn> &&
              std::is_same_v<CopyFortran<int, intptr_t>, attrcache_copy_aint_fn> &&
              std::is_same_v<DeleteFortran<int, int>, attrcache_delete_fint_fn> &&
              std::is_same_v<DeleteFortran<int, intptr_t>, attrcache_delete_aint_fn>);

// `kTag` is what the copy is set as.
template <typename Fint, typename Value, attrcache_tag kTag>
Copied copy_fortran(attrcache_callbacks& callbacks, const CallbackArguments& arguments) {
  Fint object = arguments.fortran_handle();
  Fint keyval = arguments.keyval;
  Value in = static_cast<Value>(arguments.value);
  Value out = 0;
  Fint flag = arguments.convention.fortran_false;
  Fint ierror = 0;
  shape<CopyFortran<Fint, Value>>(callbacks.copy_fn)(
      &object, &keyval, fortran_extra_state<Value>(callbacks), &in, &out, &flag, &ierror);
  return {static_cast<int>(ierror), flag != arguments.convention.fortran_false, stored(out, kTag),
          kTag};
}

template <typename Fint, typename Value>
int delete_fortran(attrcache_callbacks& callbacks, const CallbackArguments& arguments) {
  Fint object = arguments.fortran_handle();
  Fint keyval = arguments.keyval;
  Value value = static_cast<Value>(arguments.value);
  Fint ierror = 0;
  shape<DeleteFortran<Fint, Value>>(callbacks.delete_fn)(
      &object, &keyval, &value, fortran_extra_state<Value>(callbacks), &ierror);
  return static_cast<int>(ierror);
}

// Calls copy_fn in the convention of the keyval's language. Where INTEGERs have 64 bits, Fortran's
// two conventions are one.
Copied copy_in_language(attrcache_callbacks& callbacks, const CallbackArguments& arguments) {
  switch (callbacks.language) {
    case ATTRCACHE_FORTRAN_FINT:
      if (!arguments.convention.fint_is_64_bits)
        return copy_fortran<int, int, ATTRCACHE_AS_FINT>(callbacks, arguments);
      [[fallthrough]];
    case ATTRCACHE_FORTRAN_AINT:
      return arguments.convention.fint_is_64_bits
                 ? copy_fortran<int64_t, int64_t, ATTRCACHE_AS_AINT>(callbacks, arguments)
                 : copy_fortran<int, intptr_t, ATTRCACHE_AS_AINT>(callbacks, arguments);
    case ATTRCACHE_RAW:
      return copy_raw(callbacks, arguments);
    default:
      return in_c::copy(callbacks, arguments.convention, arguments.object, arguments.keyval,
                        seen_by_c(arguments.value, &arguments.value, arguments.tag),
                        arguments.value, arguments.tag);
  }
}

int delete_in_language(attrcache_callbacks& callbacks, const CallbackArguments& arguments) {
  switch (callbacks.language) {
    case ATTRCACHE_FORTRAN_FINT:
      if (!arguments.convention.fint_is_64_bits)
        return delete_fortran<int, int>(callbacks, arguments);
      [[fallthrough]];
    case ATTRCACHE_FORTRAN_AINT:
      return arguments.convention.fint_is_64_bits
                 ? delete_fortran<int64_t, int64_t>(callbacks, arguments)
                 : delete_fortran<int, intptr_t>(callbacks, arguments);
    case ATTRCACHE_RAW:
      return delete_raw(callbacks, arguments);
    default:
      return in_c::erase(callbacks, arguments.convention, arguments.object, arguments.keyval,
                         seen_by_c(arguments.value, &arguments.value, arguments.tag));
  }
}

// Makes the call, which an exception may leave.
template <typename Call>
void catching(const CallingConvention& convention, Call call) {
  if (convention.catch_exceptions == nullptr) return call();
  convention.catch_exceptions([](void* argument) { (*static_cast<Call*>(argument))(); }, &call);
}

}  // namespace

Copied run_copy_in_language(attrcache_callbacks& callbacks, const CallingConvention& convention,
                            void* object, int keyval, uint64_t value, attrcache_tag tag) {
  const CallbackArguments arguments = {convention, object, keyval, value, tag};
  Copied copied = {ATTRCACHE_CALLBACK_THREW, false, 0, ATTRCACHE_AS_POINTER};
  catching(convention, [&] { copied = copy_in_language(callbacks, arguments); });
  return copied;
}

int run_delete_in_language(attrcache_callbacks& callbacks, const CallingConvention& convention,
                           void* object, int keyval, uint64_t value, attrcache_tag tag) {
  const CallbackArguments arguments = {convention, object, keyval, value, tag};
  int code = ATTRCACHE_CALLBACK_THREW;
  catching(convention, [&] { code = delete_in_language(callbacks, arguments); });
  return code;
}

void run_destructor(attrcache_callbacks& callbacks, const CallingConvention& convention) {
  catching(convention, [&] { callbacks.destructor(callbacks.extra_state, callbacks.context); });
}

}  // namespace attrcache
