// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Callbacks that record how they were called, and then do what the test tells them to.

#ifndef ATTRCACHE_TESTS_SUPPORT_RECORDER_H_
#define ATTRCACHE_TESTS_SUPPORT_RECORDER_H_

#include <functional>
#include <vector>

#include "tests/support/fixture.h"

namespace attrcache::support {

struct Call {
  void* object;
  int keyval;
  intptr_t value;
};

// The extra_state of its keyvals. Only one thread may use it at a time.
class Recorder {
 public:
  std::vector<Call> copies;
  std::vector<Call> deletions;
  int destructions = 0;

  // What the callbacks return, unless on_copy or on_delete is set. A copy is the value + copy_adds.
  int copy_code = 0;
  int delete_code = 0;
  bool copy_flag = true;
  intptr_t copy_adds = 0;
  std::function<int(const Call&, void** out, int* flag)> on_copy;
  std::function<int(const Call&)> on_delete;
  std::function<void()> on_destroy;

  attrcache_callbacks callbacks() {
    attrcache_callbacks c = {};
    c.copy_fn = callback(&copy);
    c.delete_fn = callback(&del);
    c.extra_state = this;
    c.destructor = &destroy;
    return c;
  }
  // Creates a keyval with these callbacks.
  int keyval(attrcache_kind* kind) { return make(kind, callbacks()); }
  // Creates one without a copy_fn.
  int keyval_uncopied(attrcache_kind* kind) {
    attrcache_callbacks c = callbacks();
    c.copy_fn = ATTRCACHE_NULL_COPY_FN;
    return make(kind, c);
  }
  static int make(attrcache_kind* kind, const attrcache_callbacks& callbacks) {
    int keyval = ATTRCACHE_KEYVAL_INVALID;
    EXPECT_EQ(attrcache_keyval_create(kind, &callbacks, &keyval), ATTRCACHE_OK);
    return keyval;
  }

  std::vector<intptr_t> deleted() const { return values(deletions); }
  std::vector<intptr_t> copied() const { return values(copies); }

 private:
  static std::vector<intptr_t> values(const std::vector<Call>& calls) {
    std::vector<intptr_t> v;
    for (const Call& call : calls) v.push_back(call.value);
    return v;
  }
  static int copy(void* object, int keyval, void* extra_state, void* in, void* out, int* flag) {
    auto* self = static_cast<Recorder*>(extra_state);
    const Call call = {object, keyval, reinterpret_cast<intptr_t>(in)};
    self->copies.push_back(call);
    auto** to = static_cast<void**>(out);
    if (self->on_copy) return self->on_copy(call, to, flag);
    *to = reinterpret_cast<void*>(call.value + self->copy_adds);
    *flag = self->copy_flag;
    return self->copy_code;
  }
  static int del(void* object, int keyval, void* value, void* extra_state) {
    auto* self = static_cast<Recorder*>(extra_state);
    const Call call = {object, keyval, reinterpret_cast<intptr_t>(value)};
    self->deletions.push_back(call);
    return self->on_delete ? self->on_delete(call) : self->delete_code;
  }
  static void destroy(void* extra_state, void*) {
    auto* self = static_cast<Recorder*>(extra_state);
    ++self->destructions;
    if (self->on_destroy) self->on_destroy();
  }
};

// For on_copy: returns a copy.
inline int copy_as(intptr_t value, void** out, int* flag) {
  *out = reinterpret_cast<void*>(value);
  *flag = 1;
  return 0;
}

// Frees a keyval, but keeps the caller's copy of the int.
inline int free_keyval(attrcache_kind* kind, int keyval) {
  const int result = attrcache_keyval_free(kind, &keyval);
  if (result == ATTRCACHE_OK) {
    EXPECT_EQ(keyval, ATTRCACHE_KEYVAL_INVALID);
  }
  return result;
}

// A domain, and an object of it, with callbacks that record.
class ApiTest : public ::testing::Test {
 protected:
  explicit ApiTest(const attrcache_domain_options* options = nullptr) : universe(options) {}
  std::vector<int> keyvals(int count) {
    std::vector<int> made;
    for (int i = 0; i < count; ++i) made.push_back(recorder.keyval(kind));
    return made;
  }

  Recorder recorder;  // outlives the domain, whose end runs destructors
  Universe universe;
  attrcache_kind* kind = universe.kind();
  Object object{kind};
};

}  // namespace attrcache::support

#endif  // ATTRCACHE_TESTS_SUPPORT_RECORDER_H_
