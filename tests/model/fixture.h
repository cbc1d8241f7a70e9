// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The fixture of models of the C API: a domain with two objects and up to three keyvals, which the
// model's threads use. It records every call with its result, and for every value what happened to
// it. At the end it checks both records.
//
// A value's body and a keyval's extra_state are cells that aren't atomic. A thread writes the body
// before it sets the value, copy_fn and borrowers read it, and delete_fn writes it. So the explorer
// finds a race wherever the library breaks a promised order: when a delete_fn runs beside a copy_fn
// of the same value, or a destructor beside a callback, or a borrowed value is deleted.

#ifndef ATTRCACHE_TESTS_MODEL_FIXTURE_H_
#define ATTRCACHE_TESTS_MODEL_FIXTURE_H_

#include <cstring>

#include "attrcache/attrcache.h"
#include "table/table.h"
#include "tests/model/attribute_spec.h"
#include "tests/model/explorer/explore.h"
#include "tests/model/explorer/plain.h"
#include "tests/support/counts.h"

namespace attrcache::model {

class Fixture {
 public:
  static constexpr int kObjects = 4;
  static constexpr int kKeys = 3;
  static constexpr int kValues = 10;

  struct Value {
    Plain<int> body;
    int attached = 0;  // by a set that succeeded, or by a copy
    int refused = 0;   // by a set that failed
    int deleted = 0;   // delete_fn succeeded
    int failed = 0;    // delete_fn failed
    int failures = 0;  // how often delete_fn is to fail
    int held = 0;      // by borrows, now
    bool was_held = false;
    bool no_delete_fn = false;  // set under a keyval without delete_fn
  };
  struct Key {
    Fixture* fixture = nullptr;
    Plain<int> extra;
    int keyval = 0;
    int destroyed = 0;
    bool freed = false;
    bool no_delete_fn = false;  // it has no delete_fn
    bool deletes_once = false;  // a value is gone even if its delete_fn fails
    bool no_copies = false;     // copy_fn says that nothing is to be attached
    // If set, delete_fn and copy_fn call these with the value's number.
    void (*on_delete)(Fixture&, int value) = nullptr;
    void (*on_copy)(Fixture&, int value) = nullptr;
  };

  explicit Fixture(unsigned stripes = 1, unsigned flags = 0);

  // kCopy: a copy_fn and a delete_fn; kDeleteOnce: a delete_fn, with destructor semantics
  enum Callbacks { kNone, kDelete, kDeleteOnce, kCopy };
  // Whether the stripes of the caller's group are open from the start, or opened by their first
  // use.
  enum class Stripes { kOpen, kNotOpen };
  Key& make_key(Callbacks callbacks, Stripes stripes = Stripes::kOpen);

  // Calls of the C API, with the numbers of an object, a keyval and a value. Each call is recorded.
  int set(int object, int key, int value);
  bool set_if_absent(int object, int key, int value);  // whether it has attached the value
  int get(int object, int key);                        // returns the value's number, or 0
  int get_body(int object, int key);  // also reads the body: only if no thread deletes the value
  int erase(int object, int key);
  int free(int key);
  bool borrow(int object, int key, attrcache_borrowed* borrowed);
  void give_back(attrcache_borrowed* borrowed);
  void use(int object, int key);  // borrows and gives back, if there is something
  int copy(int from, int to);
  int erase_all(int object, attrcache_delete_mode mode = ATTRCACHE_STOP_AT_FAILURE);
  void abandon(int object);

  // To be called when the threads have ended. Checks everything, and ends the domain.
  void finish();

  int depth = 0;  // for callbacks
  Key keys[kKeys];
  Value values[kValues + 1];  // from 1 on
  attrcache_domain* domain() const { return domain_; }
  attrcache_kind* kind() const { return kind_; }
  attrcache_table& table(int object) { return tables_[object]; }

 private:
  struct Begin {
    Moment moment;
    int recorded;  // how many calls had ended: tells nested calls of one thread from earlier ones
  };
  struct Recorded {
    Call call;
    Begin begin;
    Moment end;
  };
  // A call that is under way in a thread. Its first step is recorded when its delete_fn begins, its
  // second one when it ends.
  struct Calling {
    struct Of {              // an attribute of the object
      int first = -1;        // the record of the first step
      bool claimed = false;  // the slot says that the value is being deleted
      bool failed = false;   // delete_fn failed
      Begin ended = {};      // when delete_fn returned
    };
    Calling* outer;
    enum Kind { kOther, kSet, kDelete, kFree, kCopy } kind;
    int object;
    int key;    // or -1 for all
    int value;  // the one to be set
    Begin begin;
    Of of[kKeys];
  };
  class CallScope;

  Begin begin() const { return {now(), recorded_}; }
  static int copy_fn(void*, int, void* extra, void* in, void* out, int* flag);
  static int delete_fn(void*, int, void* value, void* extra);
  static void destructor(void* extra, void* context);
  int delete_value(Key& key, int n);

  static constexpr uint8_t attribute(int object, int key) {
    return static_cast<uint8_t>(object * kKeys + key);
  }
  int number(const void* value) const;
  int record(Call::Kind kind, int attribute, int value, int result, const Begin& begin,
             int deletion = 0);
  Calling* own_call(Calling::Kind kind, const void* object, int key);
  Calling::Of* begin_delete_fn(const void* object, int key, int value);
  void end_delete(Calling& call, int key, bool kept);
  int attached_now(int object, int key);
  void check_history(uint8_t attribute, int now);
  void check_values();

  attrcache_domain* domain_ = nullptr;
  attrcache_kind* kind_ = nullptr;
  int keys_made_ = 0;
  alignas(64) attrcache_table tables_[kObjects] = {};
  Calling* calling_[kMaxThreads + 1] = {};  // the innermost of each thread
  Recorded records_[32];
  int recorded_ = 0;
  bool gives_up_ = false;  // values whose deletion is handed off
};

inline bool is_as_new(const attrcache_table& table) {
  static constexpr attrcache_table kNew = ATTRCACHE_TABLE_INIT;
  return std::memcmp(&table, &kNew, sizeof(table)) == 0;
}

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_FIXTURE_H_
