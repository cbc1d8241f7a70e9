// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/recording/keyvals.h"

#include <type_traits>

#include "keyval/id.h"
#include "mpi/native/facts.h"
#include "mpi/native/kinds.h"
#include "mpi/objects/process.h"
#include "mpi/recording/clock.h"
#include "mpi/recording/trace.h"
#include "platform/memory.h"

namespace attrcache::mpi::report {

// The extra_state of a keyval's wrapped callbacks.
struct Wrapped {
  attrcache_callbacks callbacks;  // the program's callbacks
  int kind;
  int keyval;
  Maker* maker;
};

namespace {

// The record of an index. Later keyvals with the same index use it again.
struct Record {
  Atomic<int> keyval;  // 0: none
  Atomic<bool> freed;
  Maker* maker;
};

constexpr uint32_t kIndices = 1u << 17;
constinit Atomic<Record*> records[kAllKinds][kIndices];

Record* find_record(int kind, int keyval) {
  // (MR5) Both acquires pair with the releases in done().
  Record* record = records[kind][id::index(id::of(keyval))].load(kAcquire);
  return record != nullptr && record->keyval.load(kAcquire) == keyval ? record : nullptr;
}

void add(Atomic<uint64_t>& counter, uint64_t n) { counter.fetch_add(n, kRelaxed); }

// The destructor of a wrapped extra_state. It runs when the keyval is gone and no other has its
// index yet.
void end_keyval(void* extra_state) {
  auto* wrapped = static_cast<Wrapped*>(extra_state);
  if (Record* record = find_record(wrapped->kind, wrapped->keyval)) {
    record->keyval.store(0, kRelease);
  }
  const attrcache_callbacks callbacks = wrapped->callbacks;
  kProcessMemory.destroy(wrapped);
  if (callbacks.destructor != nullptr) callbacks.destructor(callbacks.extra_state);
}

// Exists while a callback runs on this thread. Callbacks can nest.
class Running {
 public:
  Running(const Wrapped& wrapped, bool copies)
      : maker_(wrapped.maker), keyval_(wrapped.keyval), copies_(copies), outer_(innermost_) {
    innermost_ = this;
    start_ = now();
    aside_ = time_aside;
  }
  ~Running() {
    const uint64_t time = now() - start_ - (time_aside - aside_);
    innermost_ = outer_;
    if (outer_ != nullptr) outer_->inner_time_ += time;
    Counts& c = maker_->counts;
    add(copies_ ? c.copy_calls : c.delete_calls, 1);
    add(c.nanoseconds, time);
    add(c.own_nanoseconds, time > inner_time_ ? time - inner_time_ : 0);
    if (code_ != 0) {
      add(c.failed, 1);
      c.last_failure.store(code_, kRelaxed);
    }
    trace_callback(*maker_, keyval_, copies_, code_, start_, time);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  int ended(int code) {
    code_ = code;
    return code;
  }

 private:
  static thread_local constinit Running* innermost_;
  Maker* maker_;
  const int keyval_;
  const bool copies_;
  Running* outer_;
  uint64_t start_;
  uint64_t aside_;
  uint64_t inner_time_ = 0;
  int code_ = ATTRCACHE_CALLBACK_THREW;  // stays so unless ended() is called
};
thread_local constinit Running* Running::innermost_ = nullptr;

template <typename Function>
Function* as(attrcache_callback* callback) {
  return reinterpret_cast<Function*>(callback);
}
template <typename Function>
attrcache_callback* any(Function* function) {
  return reinterpret_cast<attrcache_callback*>(function);
}

// ---- In C ----

using Object = std::conditional_t<facts::kHandleForm == ATTRCACHE_HANDLE_INT, int, void*>;

int copy_c(Object object, int keyval, void* extra_state, void* in, void* out, int* flag) {
  const auto& w = *static_cast<Wrapped*>(extra_state);
  Running running(w, true);
  return running.ended(as<int(Object, int, void*, void*, void*, int*)>(w.callbacks.copy_fn)(
      object, keyval, w.callbacks.extra_state, in, out, flag));
}

template <typename Handle>
int delete_c(Handle object, int keyval, void* value, void* extra_state) {
  const auto& w = *static_cast<Wrapped*>(extra_state);
  Running running(w, false);
  return running.ended(as<int(Handle, int, void*, void*)>(w.callbacks.delete_fn)(
      object, keyval, value, w.callbacks.extra_state));
}

// As it was set (entries/extensions.cc).
int copy_raw(void* object, int keyval, void* extra_state, void* context, attrcache_tag tag,
             intptr_t in, attrcache_tag* tag_out, intptr_t* out, int* flag) {
  const auto& w = *static_cast<Wrapped*>(extra_state);
  Running running(w, true);
  return running.ended(as<attrcache_copy_raw_fn>(w.callbacks.copy_fn)(
      object, keyval, w.callbacks.extra_state, context, tag, in, tag_out, out, flag));
}

int delete_raw(void* object, int keyval, void* extra_state, void* context, attrcache_tag tag,
               intptr_t value) {
  const auto& w = *static_cast<Wrapped*>(extra_state);
  Running running(w, false);
  return running.ended(as<attrcache_delete_raw_fn>(w.callbacks.delete_fn)(
      object, keyval, w.callbacks.extra_state, context, tag, value));
}

// ---- In Fortran ----

// `extra_state` points to where attrcache keeps the keyval's extra_state. That is a whole pointer,
// whatever type Fortran sees there.
template <typename Value>
Wrapped& wrapped_at(Value* extra_state) {
  return **reinterpret_cast<Wrapped**>(extra_state);
}
template <typename Value>
Value* own_extra_state(Wrapped& w) {
  return reinterpret_cast<Value*>(&w.callbacks.extra_state);
}

template <typename Value>
void copy_fortran(int* object, int* keyval, Value* extra_state, Value* in, Value* out, int* flag,
                  int* ierror) {
  Wrapped& w = wrapped_at(extra_state);
  Running running(w, true);
  as<void(int*, int*, Value*, Value*, Value*, int*, int*)>(w.callbacks.copy_fn)(
      object, keyval, own_extra_state<Value>(w), in, out, flag, ierror);
  running.ended(*ierror);
}

template <typename Value>
void delete_fortran(int* object, int* keyval, Value* value, Value* extra_state, int* ierror) {
  Wrapped& w = wrapped_at(extra_state);
  Running running(w, false);
  as<void(int*, int*, Value*, Value*, int*)>(w.callbacks.delete_fn)(
      object, keyval, value, own_extra_state<Value>(w), ierror);
  running.ended(*ierror);
}

// ---- Both ----

struct Wrappers {
  attrcache_callback* copy_fn;
  attrcache_callback* delete_fn;
};

Wrappers wrappers(int kind, attrcache_language language) {
  switch (language & ~ATTRCACHE_DELETE_ONCE) {
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
bool calls_delete(const attrcache_callbacks& c) { return c.delete_fn != ATTRCACHE_NULL_DELETE_FN; }

}  // namespace

Creation::Creation(int kind, const attrcache_callbacks& callbacks, const Source& source)
    : callbacks_(callbacks) {
  Maker* maker = counting() ? find_maker(kind, source) : nullptr;
  if (maker == nullptr) return;
  wrapped_ = kProcessMemory.make<Wrapped>(Wrapped{callbacks, kind, 0, maker});
  if (wrapped_ == nullptr) return;
  const Wrappers ours = wrappers(kind, callbacks.language);
  if (calls_copy(callbacks)) callbacks_.copy_fn = ours.copy_fn;
  if (calls_delete(callbacks)) callbacks_.delete_fn = ours.delete_fn;
  callbacks_.extra_state = wrapped_;
  callbacks_.destructor = end_keyval;
}

Creation::~Creation() {
  if (wrapped_ != nullptr) kProcessMemory.destroy(wrapped_);
}

void Creation::done(int keyval) {
  Wrapped* const wrapped = wrapped_;
  wrapped_ = nullptr;
  if (wrapped == nullptr) return;
  wrapped->keyval = keyval;
  add(wrapped->maker->counts.created, 1);
  const uint32_t index = id::index(id::of(keyval));
  Atomic<Record*>& entry = records[wrapped->kind][index];
  // Relaxed, because only the caller has this index now. Its last user has left it long ago.
  Record* record = entry.load(kRelaxed);
  if (record == nullptr) {
    record = kProcessMemory.make<Record>();
    if (record == nullptr) return;
  }
  record->maker = wrapped->maker;
  record->freed.store(false, kRelaxed);
  record->keyval.store(keyval, kRelease);  // (MR5)
  entry.store(record, kRelease);           // (MR5)
}

void unwrap(attrcache_callbacks& callbacks) {
  if (callbacks.destructor == end_keyval) {
    callbacks = static_cast<Wrapped*>(callbacks.extra_state)->callbacks;
  }
}

Maker* maker_of(int kind, int keyval) {
  Record* record = find_record(kind, keyval);
  return record != nullptr ? record->maker : nullptr;
}

void got(int kind, int keyval, bool found) {
  static constinit Atomic<unsigned> threads{0};  // relaxed: only spreads threads over the parts
  static thread_local const unsigned mine = threads.fetch_add(1, kRelaxed) % kReadParts;
  if (Maker* maker = maker_of(kind, keyval)) {
    Reads& reads = maker->counts.reads[mine];
    add(found ? reads.found : reads.absent, 1);
  }
}

bool first_free(int kind, int keyval) {
  Record* record = find_record(kind, keyval);
  return record != nullptr && !record->freed.exchange(true, kRelaxed);
}

}  // namespace attrcache::mpi::report
