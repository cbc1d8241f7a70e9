// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/watching/checked.h"

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "mpi/native/fortran.h"
#include "mpi/native/native.h"
#include "mpi/native/origin.h"
#include "mpi/objects/process.h"
#include "platform/memory.h"

namespace attrcache::mpi {
namespace {

using Callback = attrcache_callback;

// What a checked keyval has as its extra_state.
struct Checked {
  attrcache_callbacks program;
  Place made;
  int kind;
};

void destroy_checked(void* extra_state) {
  kProcessMemory.destroy(static_cast<Checked*>(extra_state));
}

template <typename Function>
Function* as(Callback* callback) {
  return reinterpret_cast<Function*>(callback);
}

// ---- What callbacks return ----

// Whether MPI knows the code. True if that can't be told.
bool is_error_code(int code) {
  if (ending() || !initialized() || finalized()) return true;
  int* last = nullptr;
  int flag = 0;
  if (native().comm.get_attr(native().world, MPI_LASTUSEDCODE, &last, &flag) != MPI_SUCCESS ||
      flag == 0) {
    return true;
  }
  return code >= 0 && code <= *last;
}

void look_at_code(const Checked& c, int keyval, Callback* callback, int code) {
  if (code == MPI_SUCCESS || is_error_code(code)) return;
  char detail[32];
  std::snprintf(detail, sizeof detail, "it returns %d", code);
  caught(Misuse::kCallbackCode, {Doing::kUnknown, c.kind, keyval, detail},
         function_place(reinterpret_cast<const void*>(callback)));
}

// What the flag and the value hold before a copy callback runs: numbers that no callback would
// give, and no address.
constexpr int kNoFlag = 0x7a5c3e19;
constexpr uint64_t kNoValue = 0x7a5c3e197a5c3e19;

// Looks at what a successful copy callback has left in flag and value. Then sets the flag to what
// it would be without this check, where it is 0 before the call. `wrote_value` is false only if the
// callback certainly gave no value.
void look_at_copy(const Checked& c, int keyval, int* flag, bool wrote_value) {
  const Case the_case = {Doing::kUnknown, c.kind, keyval, nullptr};
  const Place place = function_place(reinterpret_cast<const void*>(c.program.copy_fn));
  if (*flag == kNoFlag) {
    *flag = 0;
    caught(Misuse::kFlagUnset, the_case, place);
  } else if (*flag != 0 && !wrote_value) {
    caught(Misuse::kValueUnset, the_case, place);
  }
}

void look_at_c_flag(const Checked& c, int keyval, int flag) {
  if (flag == 0 || flag == 1 || flag == kNoFlag) return;
  char detail[32];
  std::snprintf(detail, sizeof detail, "flag = %d", flag);
  caught(Misuse::kFlagOdd, {Doing::kUnknown, c.kind, keyval, detail},
         function_place(reinterpret_cast<const void*>(c.program.copy_fn)));
}

// ---- C ----

template <typename Handle>
int copy_c(Handle object, int keyval, void* extra_state, void* in, void* out, int* flag) {
  const auto& c = *static_cast<Checked*>(extra_state);
  uint64_t value = kNoValue;
  *flag = kNoFlag;
  const int code = as<int(Handle, int, void*, void*, void*, int*)>(c.program.copy_fn)(
      object, keyval, c.program.extra_state, in, &value, flag);
  look_at_code(c, keyval, c.program.copy_fn, code);
  if (code == MPI_SUCCESS) {
    look_at_c_flag(c, keyval, *flag);
    look_at_copy(c, keyval, flag, value != kNoValue);
  }
  if (value == kNoValue) value = 0;
  // A callback that stores an int has left the other half as it was.
  if (value >> 32 == kNoValue >> 32) value &= 0xffffffff;
  std::memcpy(out, &value, sizeof value);
  return code;
}

template <typename Handle>
int delete_c(Handle object, int keyval, void* value, void* extra_state) {
  const auto& c = *static_cast<Checked*>(extra_state);
  const int code = as<int(Handle, int, void*, void*)>(c.program.delete_fn)(object, keyval, value,
                                                                           c.program.extra_state);
  look_at_code(c, keyval, c.program.delete_fn, code);
  WatchedFree::hear(facts::to_object(object), keyval, c.program.delete_fn, code);
  return code;
}

// ---- Fortran ----

// The core passes the address of the keyval's extra_state, as that of an INTEGER of either size.
// What is stored there is a pointer.
template <typename Value>
Checked& of_fortran(Value* extra_state) {
  void* checked;
  std::memcpy(&checked, extra_state, sizeof checked);
  return *static_cast<Checked*>(checked);
}

template <typename Value>
void copy_fortran(int* object, int* keyval, Value* extra_state, Value* in, Value* out, int* flag,
                  int* ierror) {
  Checked& c = of_fortran(extra_state);
  const int key = *keyval;
  Value value = static_cast<Value>(kNoValue);
  *flag = kNoFlag;
  as<void(int*, int*, Value*, Value*, Value*, int*, int*)>(c.program.copy_fn)(
      object, keyval, reinterpret_cast<Value*>(&c.program.extra_state), in, &value, flag, ierror);
  look_at_code(c, key, c.program.copy_fn, *ierror);
  const bool wrote_value = value != static_cast<Value>(kNoValue);
  // An INTEGER of 4 bytes may have that value by chance, so nothing is concluded from it.
  if (*ierror == MPI_SUCCESS) look_at_copy(c, key, flag, wrote_value || sizeof(Value) < 8);
  *out = wrote_value || sizeof(Value) < 8 ? value : 0;
}

void* object_of(int number, MPI_Fint handle) {
  return with_kind(number, [handle](auto kind) {
    return facts::to_object(fortran::handle<decltype(kind)>(handle));
  });
}

template <typename Value>
void delete_fortran(int* object, int* keyval, Value* value, Value* extra_state, int* ierror) {
  Checked& c = of_fortran(extra_state);
  const int handle = *object;
  const int key = *keyval;
  as<void(int*, int*, Value*, Value*, int*)>(c.program.delete_fn)(
      object, keyval, value, reinterpret_cast<Value*>(&c.program.extra_state), ierror);
  look_at_code(c, key, c.program.delete_fn, *ierror);
  WatchedFree::hear(object_of(c.kind, handle), key, c.program.delete_fn, *ierror);
}

template <typename Function>
Callback* callback(Function* function) {
  return reinterpret_cast<Callback*>(function);
}

template <typename Handle>
attrcache_callbacks checkers_c() {
  return {sizeof(attrcache_callbacks),
          ATTRCACHE_C,
          callback(copy_c<Handle>),
          callback(delete_c<Handle>),
          nullptr,
          destroy_checked,
          nullptr,
          nullptr};
}

template <typename Value>
attrcache_callbacks checkers_fortran(attrcache_language language) {
  return {sizeof(attrcache_callbacks),
          language,
          callback(copy_fortran<Value>),
          callback(delete_fortran<Value>),
          nullptr,
          destroy_checked,
          nullptr,
          nullptr};
}

attrcache_callbacks checkers(int number, attrcache_language language) {
  const int convention = language & ~ATTRCACHE_DELETE_ONCE;
  if (convention == ATTRCACHE_FORTRAN_FINT) return checkers_fortran<MPI_Fint>(language);
  if (convention == ATTRCACHE_FORTRAN_AINT) return checkers_fortran<MPI_Aint>(language);
  if (number == kSession) return checkers_c<facts::SessionHandle>();
  if (number == kFile) return checkers_c<MPI_File>();
  return with_kind(number, [](auto kind) { return checkers_c<typename decltype(kind)::Handle>(); });
}

const Checked* checked_of(const attrcache_keyval_info& info) {
  return info.callbacks.destructor == destroy_checked
             ? static_cast<const Checked*>(info.callbacks.extra_state)
             : nullptr;
}

thread_local constinit WatchedFree* innermost_free __attribute__((tls_model("initial-exec"))) =
    nullptr;

}  // namespace

attrcache_callbacks checked(int kind, const attrcache_callbacks& callbacks) {
  // If there is a destructor, the extra_state isn't the program's, and must be destroyed by its own
  // destructor.
  if (callbacks.destructor != nullptr) return callbacks;
  auto* c = kProcessMemory.make<Checked>(Checked{callbacks, find_caller(), kind});
  if (c == nullptr) return callbacks;
  attrcache_callbacks check = checkers(kind, callbacks.language);
  if (callbacks.copy_fn == ATTRCACHE_NULL_COPY_FN || callbacks.copy_fn == ATTRCACHE_DUP_FN) {
    check.copy_fn = callbacks.copy_fn;
  }
  if (callbacks.delete_fn == ATTRCACHE_NULL_DELETE_FN) check.delete_fn = callbacks.delete_fn;
  check.language = static_cast<attrcache_language>(check.language |
                                                   (callbacks.language & ATTRCACHE_DELETE_ONCE));
  check.extra_state = c;
  return check;
}

void discard_checked(const attrcache_callbacks& callbacks) {
  if (callbacks.destructor == destroy_checked) destroy_checked(callbacks.extra_state);
}

const attrcache_callbacks& program_callbacks(const attrcache_keyval_info& info) {
  const Checked* c = checked_of(info);
  return c != nullptr ? c->program : info.callbacks;
}

Place creation_place(const attrcache_keyval_info& info) {
  const Checked* c = checked_of(info);
  if (c != nullptr) return c->made;
  Callback* known = info.callbacks.delete_fn != ATTRCACHE_NULL_DELETE_FN ? info.callbacks.delete_fn
                                                                         : info.callbacks.copy_fn;
  const auto* address = reinterpret_cast<const void*>(known);
  // The callbacks of MPICH's C++ binding are called by functions of attrcache's (mpich/proxy.cc),
  // which say nothing about the program.
  static const char here = 0;
  if (known == ATTRCACHE_NULL_COPY_FN || known == ATTRCACHE_DUP_FN ||
      same_library(address, &here)) {
    return function_place(nullptr);
  }
  return function_place(address);
}

// ---- Codes that nobody hears ----

WatchedFree::WatchedFree(int kind, void* object, bool told)
    : outer_(innermost_free), kind_(kind), object_(object), told_(told) {
  for (const WatchedFree* f = outer_; f != nullptr; f = f->outer_) {
    if (f->kind_ == kind && f->object_ == object) {
      caught(Misuse::kFreedInItsDelete, {Doing::kUnknown, kind, kNoKeyval, nullptr});
      break;
    }
  }
  innermost_free = this;
}

void WatchedFree::hear(void* object, int keyval, Callback* delete_fn, int code) {
  WatchedFree* f = innermost_free;
  if (code == MPI_SUCCESS || f == nullptr || f->object_ != object) return;
  f->lose();  // a callback that failed earlier
  f->code_ = code;
  f->keyval_ = keyval;
  f->delete_fn_ = delete_fn;
}

void WatchedFree::lose() {
  if (code_ == MPI_SUCCESS) return;
  char detail[32];
  std::snprintf(detail, sizeof detail, "code %d", code_);
  caught(Misuse::kFailureLost, {Doing::kUnknown, kind_, keyval_, detail},
         function_place(reinterpret_cast<const void*>(delete_fn_)));
  code_ = MPI_SUCCESS;
}

void WatchedFree::end(int code) {
  innermost_free = outer_;
  if (code != code_ || !told_) lose();
}

WatchedFree::Aside::Aside() : outer_(innermost_free) { innermost_free = nullptr; }
WatchedFree::Aside::~Aside() { innermost_free = outer_; }

}  // namespace attrcache::mpi
