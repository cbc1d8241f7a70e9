// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The fixtures of nearly every test of the C API: a domain that ends with the test, and objects.

#ifndef ATTRCACHE_TESTS_SUPPORT_FIXTURE_H_
#define ATTRCACHE_TESTS_SUPPORT_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstring>
#include <type_traits>
#include <vector>

#include "attrcache/attrcache.h"

namespace attrcache::support {

// Options, or callbacks, of which one member isn't as usual.
template <typename Struct, typename Member>
Struct with(Member Struct::*member, std::type_identity_t<Member> value) {
  Struct made = {};
  made.*member = value;
  return made;
}

// As attrcache::catch_exceptions.
inline int catch_exceptions(void (*call)(void* argument), void* argument) {
  try {
    call(argument);
  } catch (...) {
    return 1;
  }
  return 0;
}

// The kind of that number, which exists.
inline attrcache_kind* kind_of(attrcache_domain* domain, int number) {
  attrcache_kind* kind = nullptr;
  EXPECT_EQ(attrcache_kind_of(domain, number, &kind), ATTRCACHE_OK);
  return kind;
}

// A domain, in which callbacks may throw. When it ends, no attribute may be attached any more.
class Universe {
 public:
  explicit Universe(const attrcache_domain_options* given = nullptr) {
    attrcache_domain_options options = {};
    if (given != nullptr) options = *given;
    options.catch_exceptions = &catch_exceptions;
    EXPECT_EQ(attrcache_domain_create(&options, &domain_), ATTRCACHE_OK);
  }
  ~Universe() {
    if (domain_ == nullptr) return;
    attrcache_leaks leaks = {};
    EXPECT_EQ(attrcache_domain_destroy(domain_, ATTRCACHE_DESTROY_IF_UNUSED, &leaks), ATTRCACHE_OK);
    EXPECT_EQ(leaks.attributes, 0u);
  }
  Universe(const Universe&) = delete;
  Universe& operator=(const Universe&) = delete;

  attrcache_domain* domain() const { return domain_; }
  attrcache_kind* kind(int number = ATTRCACHE_COMMUNICATOR) const {
    return kind_of(domain_, number);
  }
  attrcache_counters counters() const {
    attrcache_counters counters = {};
    EXPECT_EQ(attrcache_domain_counters(domain_, &counters), ATTRCACHE_OK);
    return counters;
  }
  // Hands the domain over to a test that destroys it itself.
  attrcache_domain* release() {
    attrcache_domain* domain = domain_;
    domain_ = nullptr;
    return domain;
  }

 private:
  attrcache_domain* domain_ = nullptr;
};

// An object as a runtime has it. The end of its scope deletes all its attributes, as MPI_Finalize
// does.
struct Object {
  explicit Object(attrcache_kind* of) : kind(of) {}
  ~Object() { EXPECT_EQ(attrcache_delete_all(kind, &table, this, ATTRCACHE_DRAIN, nullptr), 0); }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  int set(int keyval, intptr_t value, int* code = nullptr) {
    return attrcache_set_as(kind, &table, this, keyval, value, ATTRCACHE_AS_POINTER, code);
  }
  int set_as(int keyval, intptr_t value, attrcache_tag tag) {
    return attrcache_set_as(kind, &table, this, keyval, value, tag, nullptr);
  }
  int set_if_absent(int keyval, intptr_t value, void** present,
                    attrcache_tag tag = ATTRCACHE_AS_POINTER) {
    return attrcache_set_if_absent(kind, &table, this, keyval, value, tag, present);
  }
  int get(int keyval, void** value) const { return attrcache_get(kind, &table, keyval, value); }
  int erase(int keyval, int* code = nullptr) {
    return attrcache_delete(kind, &table, this, keyval, code);
  }
  int copy_to(Object& other, int* code = nullptr) {
    return attrcache_copy_all(kind, &table, this, &other.table, &other, code);
  }
  int free(attrcache_delete_mode mode = ATTRCACHE_STOP_AT_FAILURE, int* code = nullptr) {
    return attrcache_delete_all(kind, &table, this, mode, code);
  }

  // Returns the attached value, or kAbsent if there is none. An error fails the test.
  static constexpr intptr_t kAbsent = -987654321;
  intptr_t value(int keyval) const {
    void* value = nullptr;
    const int result = get(keyval, &value);
    if (result == ATTRCACHE_ABSENT) return kAbsent;
    EXPECT_EQ(result, ATTRCACHE_OK) << attrcache_strerror(result);
    return reinterpret_cast<intptr_t>(value);
  }
  // The same as Fortran reads it.
  int fint(int keyval) const {
    int value = 0;
    EXPECT_EQ(attrcache_get_fint(kind, &table, keyval, &value), ATTRCACHE_OK);
    return value;
  }
  intptr_t aint(int keyval) const {
    intptr_t value = 0;
    EXPECT_EQ(attrcache_get_aint(kind, &table, keyval, &value), ATTRCACHE_OK);
    return value;
  }
  std::vector<attrcache_attribute_info> list() const {
    size_t count = 0;
    EXPECT_EQ(attrcache_attribute_list(kind, &table, nullptr, 0, &count), ATTRCACHE_OK);
    std::vector<attrcache_attribute_info> infos(count);
    EXPECT_EQ(attrcache_attribute_list(kind, &table, infos.data(), infos.size(), &count),
              ATTRCACHE_OK);
    if (count < infos.size()) infos.resize(count);  // other threads have deleted some
    return infos;
  }
  bool all_zero() const {
    static constexpr attrcache_table kZero = ATTRCACHE_TABLE_INIT;
    return std::memcmp(&table, &kZero, sizeof(table)) == 0;
  }

  attrcache_kind* const kind;
  attrcache_table table = ATTRCACHE_TABLE_INIT;
};

// A function of any type.
template <typename Function>
attrcache_callback* callback(Function* function) {
  return reinterpret_cast<attrcache_callback*>(function);
}

inline int make_keyval(attrcache_kind* kind, attrcache_callback* copy_fn,
                       attrcache_callback* delete_fn, void* extra_state = nullptr,
                       attrcache_language language = ATTRCACHE_C,
                       void (*destructor)(void*, void*) = nullptr) {
  attrcache_callbacks callbacks = {};
  callbacks.language = language;
  callbacks.copy_fn = copy_fn;
  callbacks.delete_fn = delete_fn;
  callbacks.extra_state = extra_state;
  callbacks.destructor = destructor;
  int keyval = ATTRCACHE_KEYVAL_INVALID;
  EXPECT_EQ(attrcache_keyval_create(kind, &callbacks, &keyval), ATTRCACHE_OK);
  return keyval;
}

// Defines a predefined keyval.
inline int define(attrcache_kind* kind, int number, attrcache_tag tag = ATTRCACHE_AS_INT,
                  attrcache_where where = ATTRCACHE_PER_KIND, intptr_t value = 0,
                  attrcache_compute_fn* compute = nullptr, void* context = nullptr) {
  attrcache_predefined p = {};
  p.number = number;
  p.tag = tag;
  p.where = where;
  p.value = value;
  p.compute = compute;
  p.context = context;
  return attrcache_keyval_define(kind, &p);
}

}  // namespace attrcache::support

#endif  // ATTRCACHE_TESTS_SUPPORT_FIXTURE_H_
