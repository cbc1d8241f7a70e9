// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What the fuzzer compares: one interface to a few keyvals and objects, with two implementations.
// One is the library (library.cc). The other (reference.cc) is written from the contract in
// attrcache.h, for one thread, without atomics. In both, callbacks do what the bits of their value
// say (play.cc). The results of all operations and the order of all callbacks must be the same.

#ifndef ATTRCACHE_TESTS_FUZZ_IMPLEMENTATION_H_
#define ATTRCACHE_TESTS_FUZZ_IMPLEMENTATION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attrcache/attrcache.h"

namespace attrcache::fuzz {

inline constexpr int kKinds = 4;    // the three standard ones and a registered one
inline constexpr int kObjects = 4;  // of each kind
// The most keyvals that a run creates: too few for an index to be reused.
inline constexpr int kKeyvals = 64;

// Modes of delete_all beside the API's own: attrcache_table_abandon, and the end of a failed dup.
inline constexpr auto kAbandon = static_cast<attrcache_delete_mode>(3);
inline constexpr auto kUndo = static_cast<attrcache_delete_mode>(4);

enum class Copy : uint8_t { kNull, kDup, kScript };

struct KeyvalPlan {
  int kind;
  Copy copy;
  bool deletes;  // it has a delete_fn
  bool destructor;
  bool once;   // ATTRCACHE_DELETE_ONCE
  bool frees;  // its destructor frees an object
};

struct Reading {
  int result;
  int64_t value;  // the attribute's, of 32 bits if read as `fint`
};

// An object is named by kind and number, a keyval by the order of its creation.
struct Object {
  int kind;
  int number;
};

class Implementation {
 public:
  virtual ~Implementation() = default;

  virtual int create(const KeyvalPlan& plan) = 0;
  virtual int free_keyval(int keyval) = 0;
  virtual int set(Object object, int keyval, int64_t value, attrcache_tag tag, int* code) = 0;
  // `value` is 0 unless the result is PRESENT.
  virtual Reading set_if_absent(Object object, int keyval, int64_t value) = 0;
  virtual Reading get(Object object, int keyval, bool fint) = 0;
  virtual int del(Object object, int keyval, int* code) = 0;
  virtual int copy_all(Object from, Object to, int* code) = 0;
  virtual int delete_all(Object object, attrcache_delete_mode mode, int* code) = 0;
  virtual int borrow(Object object, int keyval) = 0;  // at most one at a time
  virtual int give_back() = 0;
  virtual int touch(Object object, int keyval) = 0;      // borrows, and gives back at once
  virtual std::vector<int64_t> list(Object object) = 0;  // keyval, value, tag, keyval, ...
  virtual size_t attributes() = 0;                       // attached, in the whole domain

  std::vector<std::string> log;
  std::vector<KeyvalPlan> plans;
  int64_t next_value = 1;
  int depth = 0;
};

std::unique_ptr<Implementation> make_library();
std::unique_ptr<Implementation> make_reference();

// What callbacks do. They log themselves, then act according to the low bits of the value.
struct ScriptedCopy {
  int code;
  bool flag;
  int64_t value;
};
ScriptedCopy script_copy(Implementation& implementation, Object object, int keyval, int64_t value);
int script_delete(Implementation& implementation, Object object, int keyval, int64_t value);
void script_destructor(Implementation& implementation, int keyval);

// A value that makes callbacks act according to `script` (8 bits).
inline int64_t scripted_value(Implementation& implementation, uint8_t script) {
  return (implementation.next_value++ & 0x3fff) << 8 | script;
}

}  // namespace attrcache::fuzz

#endif  // ATTRCACHE_TESTS_FUZZ_IMPLEMENTATION_H_
