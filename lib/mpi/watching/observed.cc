// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/watching/observed.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "mpi/native/constants.h"
#include "mpi/native/exceptions.h"
#include "mpi/native/native.h"
#include "mpi/native/origin.h"
#include "mpi/objects/process.h"
#include "mpi/objects/tsan.h"
#include "mpi/recording/clock.h"
#include "mpi/recording/keyvals.h"
#include "mpi/recording/trace.h"
#include "platform/memory.h"

namespace attrcache::mpi {

// The extra_state of an observed keyval.
struct Observed {
  attrcache_callbacks program;
  int kind;
  report::Maker* maker;  // null: not counted
  bool checks;           // whether what the callbacks return is looked at
  int keyval;
};

namespace {

using Callback = attrcache_callback;

// Runs when the keyval is gone.
void end_observed(void* extra_state, void* context) {
  auto* observed = static_cast<Observed*>(extra_state);
  const attrcache_callbacks program = observed->program;
  tsan::acquire(observed->keyval);
  kProcessMemory.destroy(observed);
  if (program.destructor != nullptr) program.destructor(program.extra_state, context);
}

template <typename Function>
Function* as(Callback* callback) {
  return reinterpret_cast<Function*>(callback);
}
template <typename Function>
Callback* any(Function* function) {
  return reinterpret_cast<Callback*>(function);
}

// ---- Counting and timing ----

// Exists while a callback runs on this thread. Callbacks can nest.
class Running {
 public:
  Running(const Observed& observed, int keyval, bool copies)
      : maker_(observed.maker), keyval_(keyval), copies_(copies), outer_(innermost_) {
    innermost_ = this;
    tsan::acquire(keyval);
    start_ = report::now();
  }
  ~Running() {
    const uint64_t time = report::now() - start_;
    innermost_ = outer_;
    tsan::release(keyval_);
    if (outer_ != nullptr) outer_->inner_time_ += time;
    if (maker_ == nullptr) return;
    report::Counts& c = maker_->counts;
    count(copies_ ? c.copy_calls : c.delete_calls);
    c.nanoseconds.fetch_add(time, kRelaxed);
    c.own_nanoseconds.fetch_add(time > inner_time_ ? time - inner_time_ : 0, kRelaxed);
    if (code_ != 0) {
      count(c.failed);
      c.last_failure.store(code_, kRelaxed);
    }
    report::trace_callback(*maker_, keyval_, copies_, code_, start_, time);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  // Makes the call, and returns the callback's code. If an exception leaves it, it goes on from
  // here once the call is counted.
  template <typename Call>
  static int run(const Observed& observed, int keyval, bool copies, Call call) {
    {
      Running running(observed, keyval, copies);
      const auto make_call = [&] { running.code_ = call(); };
      const auto by_pointer = [](void* made) { (*static_cast<decltype(make_call)*>(made))(); };
      if (keep_exception(by_pointer, const_cast<void*>(static_cast<const void*>(&make_call))) == 0)
        return running.code_;
    }
    let_exception_go_on();
    return ATTRCACHE_CALLBACK_THREW;
  }

 private:
  static thread_local constinit Running* innermost_;
  report::Maker* maker_;
  const int keyval_;
  const bool copies_;
  Running* outer_;
  uint64_t start_;
  uint64_t inner_time_ = 0;
  int code_ = ATTRCACHE_CALLBACK_THREW;  // stays so unless the callback returns
};
thread_local constinit Running* Running::innermost_ = nullptr;

// ---- Checking what callbacks return ----

// Whether MPI knows the code. True if that can't be found out. (In MPICH, MPI_LASTUSEDCODE limits
// classes, and not the codes of MPI_Add_error_code; and MPI_Error_class never fails.)
bool is_error_code(int code) {
  if (ending() || !initialized() || finalized()) return true;
  int* last = nullptr;
  int flag = 0;
  if (native().comm.get_attr(native().world, MPI_LASTUSEDCODE, &last, &flag) != MPI_SUCCESS ||
      flag == 0) {
    return true;
  }
  using Classify = int(int, int*);
  static auto* const classify = reinterpret_cast<Classify*>(find_symbol("PMPI_Error_class"));
  if (code > *last && behaviour().natively == &MisuseText::mpich) classify(code, &code);
  return code >= 0 && code <= *last;
}

void caught_in(Misuse sort, const Observed& o, int keyval, Callback* callback,
               const char* detail = nullptr) {
  caught(sort, {Doing::kUnknown, o.kind, keyval, detail},
         function_place(reinterpret_cast<const void*>(callback)));
}

void look_at_code(const Observed& o, int keyval, Callback* callback, int code) {
  if (code == MPI_SUCCESS || is_error_code(code)) return;
  char detail[32];
  std::snprintf(detail, sizeof detail, "it returns %d", code);
  caught_in(Misuse::kCallbackCode, o, keyval, callback, detail);
}

// What the flag and the value hold before a copy callback runs: numbers that no callback would
// give, and no address.
constexpr int kNoFlag = 0x7a5c3e19;
constexpr uint64_t kNoValue = 0x7a5c3e197a5c3e19;

// Looks at what a successful copy callback has left in flag and value. A flag that it hasn't set
// becomes 0, as without this check, since it is 0 before the call then. `wrote_value` is false only
// if the callback certainly gave no value.
void look_at_copy(const Observed& o, int keyval, int* flag, bool wrote_value) {
  if (*flag == kNoFlag) {
    *flag = 0;
    caught_in(Misuse::kFlagUnset, o, keyval, o.program.copy_fn);
  } else if (*flag != 0 && !wrote_value) {
    caught_in(Misuse::kValueUnset, o, keyval, o.program.copy_fn);
  }
}

void look_at_c_flag(const Observed& o, int keyval, int flag) {
  if (flag == 0 || flag == 1 || flag == kNoFlag) return;
  char detail[32];
  std::snprintf(detail, sizeof detail, "flag = %d", flag);
  caught_in(Misuse::kFlagOdd, o, keyval, o.program.copy_fn, detail);
}

// ---- In C ----

using Object = std::conditional_t<facts::kHandleForm == ATTRCACHE_HANDLE_INT, int, void*>;

int copy_c(Object object, int keyval, void* extra_state, void* in, void* out, int* flag) {
  const auto& o = *static_cast<Observed*>(extra_state);
  const auto call = [&](void* to) {
    return Running::run(o, keyval, true, [&] {
      return as<int(Object, int, void*, void*, void*, int*)>(o.program.copy_fn)(
          object, keyval, o.program.extra_state, in, to, flag);
    });
  };
  if (!o.checks) return call(out);
  uint64_t value = kNoValue;
  *flag = kNoFlag;
  const int code = call(&value);
  look_at_code(o, keyval, o.program.copy_fn, code);
  if (code == MPI_SUCCESS) {
    look_at_c_flag(o, keyval, *flag);
    look_at_copy(o, keyval, flag, value != kNoValue);
  }
  if (value == kNoValue) value = 0;
  // A callback that stores an int has left the other half as it was.
  if (value >> 32 == kNoValue >> 32) value &= 0xffffffff;
  std::memcpy(out, &value, sizeof value);
  return code;
}

template <typename Handle>
int delete_c(Handle object, int keyval, void* value, void* extra_state) {
  const auto& o = *static_cast<Observed*>(extra_state);
  const int code = Running::run(o, keyval, false, [&] {
    return as<int(Handle, int, void*, void*)>(o.program.delete_fn)(object, keyval, value,
                                                                   o.program.extra_state);
  });
  if (o.checks) look_at_code(o, keyval, o.program.delete_fn, code);
  return code;
}

// Values as they were set (entries/extensions.cc). These are not checked.
int copy_raw(void* object, int keyval, void* extra_state, void* context, attrcache_tag tag,
             intptr_t in, attrcache_tag* tag_out, intptr_t* out, int* flag) {
  const auto& o = *static_cast<Observed*>(extra_state);
  return Running::run(o, keyval, true, [&] {
    return as<attrcache_copy_raw_fn>(o.program.copy_fn)(object, keyval, o.program.extra_state,
                                                        context, tag, in, tag_out, out, flag);
  });
}

int delete_raw(void* object, int keyval, void* extra_state, void* context, attrcache_tag tag,
               intptr_t value) {
  const auto& o = *static_cast<Observed*>(extra_state);
  return Running::run(o, keyval, false, [&] {
    return as<attrcache_delete_raw_fn>(o.program.delete_fn)(object, keyval, o.program.extra_state,
                                                            context, tag, value);
  });
}

// ---- In Fortran ----

// `extra_state` points to where attrcache keeps the keyval's extra_state. That is a whole pointer,
// whatever type Fortran sees there.
template <typename Value>
Observed& observed_at(Value* extra_state) {
  void* observed;
  std::memcpy(&observed, extra_state, sizeof observed);
  return *static_cast<Observed*>(observed);
}
template <typename Value>
Value* own_extra_state(Observed& o) {
  return reinterpret_cast<Value*>(&o.program.extra_state);
}

template <typename Value>
void copy_fortran(int* object, int* keyval, Value* extra_state, Value* in, Value* out, int* flag,
                  int* ierror) {
  Observed& o = observed_at(extra_state);
  const int key = *keyval;
  const auto call = [&](Value* to) {
    Running::run(o, key, true, [&] {
      as<void(int*, int*, Value*, Value*, Value*, int*, int*)>(o.program.copy_fn)(
          object, keyval, own_extra_state<Value>(o), in, to, flag, ierror);
      return *ierror;
    });
  };
  if (!o.checks) return call(out);
  Value value = static_cast<Value>(kNoValue);
  *flag = kNoFlag;
  call(&value);
  look_at_code(o, key, o.program.copy_fn, *ierror);
  // An INTEGER of 4 bytes may have that value by chance, so nothing is concluded from it.
  const bool wrote_value = value != static_cast<Value>(kNoValue) || sizeof(Value) < 8;
  if (*ierror == MPI_SUCCESS) look_at_copy(o, key, flag, wrote_value);
  *out = wrote_value ? value : 0;
}

template <typename Value>
void delete_fortran(int* object, int* keyval, Value* value, Value* extra_state, int* ierror) {
  Observed& o = observed_at(extra_state);
  const int key = *keyval;
  Running::run(o, key, false, [&] {
    as<void(int*, int*, Value*, Value*, int*)>(o.program.delete_fn)(
        object, keyval, value, own_extra_state<Value>(o), ierror);
    return *ierror;
  });
  if (o.checks) look_at_code(o, key, o.program.delete_fn, *ierror);
}

// ---- All ----

Callbacks observers(int kind, attrcache_language language) {
  switch (language) {
    case ATTRCACHE_FORTRAN_FINT:
      return {any(copy_fortran<int>), any(delete_fortran<int>)};
    case ATTRCACHE_FORTRAN_AINT:
      return {any(copy_fortran<intptr_t>), any(delete_fortran<intptr_t>)};
    case ATTRCACHE_RAW:
      return {any(copy_raw), any(delete_raw)};
    default:
      // Files' handles are pointers in all MPIs.
      return {any(copy_c), kind == kFile ? any(delete_c<void*>) : any(delete_c<Object>)};
  }
}

bool calls_copy(const attrcache_callbacks& c) {
  return c.copy_fn != ATTRCACHE_NULL_COPY_FN && c.copy_fn != ATTRCACHE_DUP_FN;
}

}  // namespace

Creation::Creation(int kind, const attrcache_callbacks& callbacks, const report::Source& source)
    : callbacks_(callbacks) {
  report::Maker* const maker = counting() ? report::find_maker(kind, source) : nullptr;
  // Those of MPIX_*_create_keyval_x (a context) are attrcache's own functions.
  const bool checks = checking() && callbacks.context == nullptr;
  if (maker == nullptr && !checking() && !tsan::is_there()) return;
  observed_ = kProcessMemory.make<Observed>(Observed{callbacks, kind, maker, checks, kNoKeyval});
  if (observed_ == nullptr) return;
  const Callbacks ours = observers(kind, callbacks.language);
  if (calls_copy(callbacks)) callbacks_.copy_fn = ours.copy_fn;
  if (callbacks.delete_fn != ATTRCACHE_NULL_DELETE_FN) callbacks_.delete_fn = ours.delete_fn;
  callbacks_.extra_state = observed_;
  callbacks_.destructor = end_observed;
}

Creation::~Creation() {
  if (observed_ != nullptr) kProcessMemory.destroy(observed_);
}

void Creation::done(int keyval) {
  tsan::release(keyval);
  if (observed_ == nullptr) return;
  observed_->keyval = keyval;
  if (observed_->maker != nullptr || checking())
    report::created(observed_->kind, keyval, observed_->maker);
  observed_ = nullptr;
}

}  // namespace attrcache::mpi
