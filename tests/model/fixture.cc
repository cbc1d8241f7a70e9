// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/model/fixture.h"

#include "keyval/registry.h"
#include "table/meta.h"
#include "tests/support/processors.h"

namespace attrcache::model {

Fixture::Fixture(unsigned stripes, unsigned flags) {
  support::processors = stripes;
  attrcache_domain_options options = {};
  options.flags = flags;
  expect(attrcache_domain_create(&options, &domain_) == ATTRCACHE_OK, "a domain is made");
  attrcache_kind_of(domain_, ATTRCACHE_COMMUNICATOR, &kind_);
}

Fixture::Key& Fixture::make_key(Callbacks callbacks, Stripes stripes) {
  Key& key = keys[keys_made_++];
  key.fixture = this;
  key.extra.write(1);
  key.no_delete_fn = callbacks == kNone;
  key.deletes_once = callbacks == kDeleteOnce;
  attrcache_callbacks given = {};
  if (key.deletes_once) given.flags = ATTRCACHE_DELETE_ONCE;
  if (callbacks == kCopy) given.copy_fn = reinterpret_cast<attrcache_callback*>(&copy_fn);
  if (callbacks != kNone) given.delete_fn = reinterpret_cast<attrcache_callback*>(&delete_fn);
  given.extra_state = &key;
  given.destructor = &destructor;
  expect(attrcache_keyval_create(kind_, &given, &key.keyval) == ATTRCACHE_OK, "a keyval is made");
  Registry& registry = Registry::of(kind_);
  const id::Keyval made = id::of(key.keyval);
  if (stripes == Stripes::kOpen && registry.acquire(made) != stripe::Name::kNone)
    registry.drop(made);
  return key;
}

int Fixture::number(const void* value) const {
  return value != nullptr ? static_cast<int>(static_cast<const Value*>(value) - values) : 0;
}

class Fixture::CallScope {
 public:
  CallScope(Fixture& fixture, Calling::Kind kind, int object, int key, int value = 0)
      : innermost_(fixture.calling_[now().thread]), call{innermost_,      kind, object, key, value,
                                                         fixture.begin(), {}} {
    innermost_ = &call;
  }
  ~CallScope() { innermost_ = call.outer; }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  Calling*& innermost_;

 public:
  Calling call;
};

// The call that runs a callback for an attribute, if it is the innermost one of this thread.
Fixture::Calling* Fixture::own_call(Calling::Kind kind, const void* object, int key) {
  Calling* const call = calling_[now().thread];
  const bool is = call != nullptr && call->kind == kind && object == &tables_[call->object] &&
                  (call->key == key || call->key < 0);
  return is ? call : nullptr;
}

// Records the first step of the set or delete that runs a delete_fn. Null if the deletion was left
// to this thread, or the attribute's history isn't followed.
Fixture::Calling::Of* Fixture::begin_delete_fn(const void* object, int key, int value) {
  if (object != &tables_[0]) return nullptr;
  if (Calling* const set = own_call(Calling::kSet, object, key)) {
    Calling::Of& of = set->of[key];
    if (of.first >= 0) return nullptr;
    of.first = record(Call::kSet, attribute(0, key), set->value, ATTRCACHE_OK, set->begin);
    return &of;
  }
  // Read from memory without an access that the explorer would see.
  SlotContent now;
  std::memcpy(&now, &Table::of(&tables_[0]).inline_slots[key], sizeof(now));
  const bool claimed = meta::visible(now.meta) && meta::deleting(now.meta) &&
                       now.value == reinterpret_cast<uintptr_t>(&values[value]);
  Calling* const free = own_call(Calling::kFree, object, key);
  Calling* const call = free != nullptr ? free : own_call(Calling::kDelete, object, key);
  if (call == nullptr || (free != nullptr && !claimed)) return nullptr;
  if (free != nullptr) end_delete(*free, key, free->of[key].failed);  // for the value before
  Calling::Of& of = call->of[key];
  if (of.first >= 0) return nullptr;
  of.claimed = claimed;
  of.first = record(Call::kBegins, attribute(0, key), value, 0, call->begin, recorded_ + 1);
  return &of;
}

// Records the second step of a delete, if there was a first one.
void Fixture::end_delete(Calling& call, int key, bool kept) {
  Calling::Of& of = call.of[key];
  if (of.first < 0) return;
  // If the value was taken out of the slot first, and then deleted, its end may have come at once.
  const Begin begin = of.claimed ? of.ended : Begin{call.begin.moment, of.first + 1};
  record(Call::kEnds, attribute(0, key), 0, kept ? ATTRCACHE_ERR_CALLBACK : ATTRCACHE_OK, begin,
         of.first + 1);
  of.first = -1;
}

int Fixture::delete_fn(void* object, int, void* value, void* extra) {
  auto& key = *static_cast<Key*>(extra);
  Fixture& fixture = *key.fixture;
  const int n = fixture.number(value);
  note("delete_fn of value", n);
  expect(key.extra.read() == 1, "delete_fn: the keyval is alive");
  Calling::Of* const of = fixture.begin_delete_fn(object, static_cast<int>(&key - fixture.keys), n);
  const int code = fixture.delete_value(key, n);
  note("delete_fn returns", code);
  if (of != nullptr) {
    of->failed = code != 0;
    of->ended = fixture.begin();
  }
  return code;
}

int Fixture::delete_value(Key& key, int n) {
  Fixture& fixture = *this;
  Value& v = values[n];
  expect(v.held == 0, "a value that is deleted isn't borrowed");
  if (key.on_delete != nullptr) key.on_delete(fixture, n);  // which may still copy the value
  v.body.write(v.body.read() + 1000);
  const bool fails = v.failures > 0;
  if (fails) --v.failures;
  if (fails && !key.deletes_once) {
    ++v.failed;
    v.body.write(n);
    return 77;
  }
  ++v.deleted;
  expect(v.deleted == 1, "a value is deleted once");
  return fails ? 77 : 0;
}

// The copy of value n is value n + 5.
int Fixture::copy_fn(void* object, int, void* extra, void* in, void* out, int* flag) {
  auto& key = *static_cast<Key*>(extra);
  Fixture& fixture = *key.fixture;
  const int n = fixture.number(in);
  note("copy_fn of value", n);
  *flag = 0;
  expect(key.extra.read() == 1, "copy_fn: the keyval is alive");
  expect(fixture.values[n].body.read() == n, "copy_fn: the value is not deleted");
  const int k = static_cast<int>(&key - fixture.keys);
  if (Calling* const copy = fixture.own_call(Calling::kCopy, object, k)) {
    int deletion = 0;
    for (Calling* c = copy; c != nullptr && deletion == 0; c = c->outer) {
      if (c->kind == Calling::kDelete && c->object == copy->object) deletion = c->of[k].first + 1;
    }
    fixture.record(Call::kCopied, attribute(copy->object, k), n, ATTRCACHE_OK, copy->begin,
                   deletion);
  }
  if (key.on_copy != nullptr) key.on_copy(fixture, n);
  if (key.no_copies) return 0;
  Value& copied = fixture.values[n + 5];
  copied.body.write(n + 5);
  ++copied.attached;
  *static_cast<void**>(out) = &copied;
  *flag = 1;
  return 0;
}

void Fixture::destructor(void* extra, void*) {
  auto& key = *static_cast<Key*>(extra);
  note("destructor", static_cast<int>(&key - key.fixture->keys));
  key.extra.write(0);
  ++key.destroyed;
  expect(key.destroyed == 1, "a keyval is destroyed once");
  expect(key.freed, "a keyval is destroyed after it was freed");
}

int Fixture::record(Call::Kind kind, int attribute, int value, int result, const Begin& at,
                    int deletion) {
  static constexpr const char* kNames[] = {
      "set:",           "get:",         "delete:", "borrow:",    "copied:",        "free:",
      "delete begins:", "delete ends:", "tries:",  "puts back:", "sets if absent:"};
  note(kNames[kind], result == ATTRCACHE_OK ? value : result);
  records_[recorded_] = {{kind, static_cast<uint8_t>(attribute), static_cast<uint8_t>(value),
                          static_cast<int8_t>(result), static_cast<uint8_t>(deletion)},
                         at,
                         now()};
  return recorded_++;
}

int Fixture::set(int object, int key, int value) {
  values[value].body.write(value);
  values[value].no_delete_fn = keys[key].no_delete_fn;
  CallScope scope(*this, Calling::kSet, object, key, value);
  const int result =
      attrcache_set_as(kind_, &tables_[object], &tables_[object], keys[key].keyval,
                       reinterpret_cast<intptr_t>(&values[value]), ATTRCACHE_AS_POINTER, nullptr);
  ++(result == ATTRCACHE_OK ? values[value].attached : values[value].refused);
  const Calling::Of& of = scope.call.of[key];
  if (of.first < 0) {
    record(Call::kSet, attribute(object, key), value, result, scope.call.begin);
  } else if (result != ATTRCACHE_OK) {
    records_[of.first].call.kind = Call::kTries;
    record(Call::kPutsBack, attribute(object, key), value,
           keys[key].deletes_once ? result : ATTRCACHE_OK, of.ended);
  }
  return result;
}

bool Fixture::set_if_absent(int object, int key, int value) {
  values[value].body.write(value);
  values[value].no_delete_fn = keys[key].no_delete_fn;
  CallScope scope(*this, Calling::kOther, object, key);
  void* present = nullptr;
  const int result = attrcache_set_if_absent(
      kind_, &tables_[object], &tables_[object], keys[key].keyval,
      reinterpret_cast<intptr_t>(&values[value]), ATTRCACHE_AS_POINTER, &present);
  ++(result == ATTRCACHE_OK ? values[value].attached : values[value].refused);
  expect((present != nullptr) == (result == ATTRCACHE_PRESENT), "what is present is told");
  record(Call::kSetsIfAbsent, attribute(object, key), present != nullptr ? number(present) : value,
         result, scope.call.begin);
  return result == ATTRCACHE_OK;
}

int Fixture::get(int object, int key) {
  const Begin at = begin();
  void* value = nullptr;
  const int result = attrcache_get(kind_, &tables_[object], keys[key].keyval, &value);
  record(Call::kGet, attribute(object, key), number(value), result, at);
  return number(value);
}

int Fixture::get_body(int object, int key) {
  const int n = get(object, key);
  if (n != 0) expect(values[n].body.read() == n, "a value that is got has a body");
  return n;
}

int Fixture::erase(int object, int key) {
  CallScope scope(*this, Calling::kDelete, object, key);
  const int result =
      attrcache_delete(kind_, &tables_[object], &tables_[object], keys[key].keyval, nullptr);
  if (scope.call.of[key].first < 0) {
    record(Call::kDelete, attribute(object, key), 0, result, scope.call.begin);
  } else {
    end_delete(scope.call, key, result == ATTRCACHE_ERR_CALLBACK && !keys[key].deletes_once);
  }
  return result;
}

int Fixture::free(int key) {
  const Begin at = begin();
  int keyval = keys[key].keyval;
  keys[key].freed = true;
  const int result = attrcache_keyval_free(kind_, &keyval);
  expect((keyval == ATTRCACHE_KEYVAL_INVALID) == (result == ATTRCACHE_OK), "free: the variable");
  for (int object = 0; object < kObjects; ++object) {
    record(Call::kFree, attribute(object, key), 0, result, at);
  }
  return result;
}

bool Fixture::borrow(int object, int key, attrcache_borrowed* borrowed) {
  CallScope scope(*this, Calling::kOther, object, key);
  const int result = attrcache_borrow(kind_, &tables_[object], keys[key].keyval, borrowed);
  if (result == ATTRCACHE_ERR_ARGUMENT) return false;  // *borrowed is in use
  const int n = result == ATTRCACHE_OK ? number(borrowed->value) : 0;
  record(Call::kBorrow, attribute(object, key), n, result, scope.call.begin);
  if (result == ATTRCACHE_OK) {
    expect(values[n].body.read() == n, "a borrowed value is not deleted");
    ++values[n].held;
    values[n].was_held = true;
  }
  return result == ATTRCACHE_OK;
}

void Fixture::give_back(attrcache_borrowed* borrowed) {
  const int n = number(borrowed->value);
  expect(values[n].body.read() == n, "a borrowed value is not deleted until given back");
  CallScope scope(*this, Calling::kOther, 0, 0);
  --values[n].held;
  expect(attrcache_give_back(borrowed) == ATTRCACHE_OK, "what was borrowed is taken back");
}

void Fixture::use(int object, int key) {
  attrcache_borrowed borrowed = {};
  if (borrow(object, key, &borrowed)) give_back(&borrowed);
}

int Fixture::copy(int from, int to) {
  CallScope scope(*this, Calling::kCopy, from, -1);
  return attrcache_copy_all(kind_, &tables_[from], &tables_[from], &tables_[to], &tables_[to],
                            nullptr);
}

int Fixture::erase_all(int object, attrcache_delete_mode mode) {
  CallScope scope(*this, Calling::kFree, object, -1);
  gives_up_ = gives_up_ || mode == ATTRCACHE_DRAIN_FINALLY;
  const int result = attrcache_delete_all(kind_, &tables_[object], &tables_[object], mode, nullptr);
  for (int key = 0; key < keys_made_; ++key) {
    end_delete(scope.call, key, scope.call.of[key].failed && mode == ATTRCACHE_STOP_AT_FAILURE);
    if (result == ATTRCACHE_OK) {
      record(Call::kDelete, attribute(object, key), 0, ATTRCACHE_OK, scope.call.begin);
    } else if (result == ATTRCACHE_ERR_BUSY && object == 0) {
      // The set found that the value it had claimed was held, and put that back.
      Begin begin = scope.call.begin;
      begin.recorded =
          1 + record(Call::kBegins, attribute(object, key), 0, 0, begin, recorded_ + 1);
      record(Call::kEnds, attribute(object, key), 0, result, begin, begin.recorded);
    }
  }
  return result;
}

void Fixture::abandon(int object) {
  const Begin at = begin();
  gives_up_ = true;
  expect(attrcache_table_abandon(kind_, &tables_[object]) == ATTRCACHE_OK, "abandoned");
  for (int key = 0; key < keys_made_; ++key) {
    record(Call::kDelete, attribute(object, key), 0, ATTRCACHE_OK, at);
  }
}

int Fixture::attached_now(int object, int key) {
  void* value = nullptr;
  const int result = attrcache_get(kind_, &tables_[object], keys[key].keyval, &value);
  return result == ATTRCACHE_OK ? number(value) : 0;
}

void Fixture::check_history(uint8_t attribute, int now) {
  History<Call> history;
  int of[kMaxOperations];
  for (int r = 0; r < recorded_; ++r) {
    if (records_[r].call.attribute != attribute) continue;
    uint32_t after = 0;
    for (unsigned i = 0; i < history.count; ++i) {
      const Recorded& a = records_[of[i]];
      const Recorded& b = records_[r];
      const bool before = a.end.thread == b.end.thread ? of[i] < b.begin.recorded
                                                       : happens_before(a.end, b.begin.moment);
      if (before) after |= 1u << i;
    }
    of[history.count] = r;
    history.add(records_[r].call, after);
  }
  Linearizer<Attribute, Call> linearizer(history, &perform);
  expect(linearizer.exists(Attribute{}, [now](const Attribute& a) { return a.value == now; }),
         "the calls on an attribute are linearizable");
}

void Fixture::check_values() {
  int attached[kValues + 1] = {};
  for (int object = 0; object < kObjects; ++object) {
    for (int key = 0; key < keys_made_; ++key) {
      const int n = attached_now(object, key);
      if (n != 0) ++attached[n];
      // A copy is recorded at its origin; its own history isn't followed.
      if (object == 0) check_history(attribute(object, key), n);
    }
  }
  for (int n = 1; n <= kValues; ++n) {
    const Value& v = values[n];
    expect(attached[n] <= 1, "a value is attached in one place");
    expect(v.refused == 0 || (v.attached == 0 && v.deleted == 0 && attached[n] == 0),
           "a refused value is nowhere");
    expect(v.refused == 0 || !v.was_held, "a refused value was never held");
    if (v.attached == 0 || v.no_delete_fn) continue;
    const bool given_up = gives_up_ && v.deleted + attached[n] == 0;
    expect(
        given_up || v.deleted + attached[n] == 1 || (v.failed != 0 && v.deleted + attached[n] == 0),
        "a value is attached, or was deleted once, or was reported");
  }
}

void Fixture::finish() {
  check_values();
  for (int n = 1; n <= kValues; ++n) values[n].failures = 0;
  for (int object = 0; object < kObjects; ++object) {
    expect(support::counts_are_right(tables_[object]), "what is attached is counted");
    expect(erase_all(object, ATTRCACHE_DRAIN) == ATTRCACHE_OK, "everything is deleted in the end");
  }
  for (int key = 0; key < keys_made_; ++key) {
    for (int k = 0; k < key; ++k)
      expect(keys[k].keyval != keys[key].keyval, "two have two numbers");
    expect(keys[key].destroyed == (keys[key].freed ? 1 : 0), "a freed keyval is gone in the end");
    keys[key].freed = true;
  }
  attrcache_counters counters;
  attrcache_domain_counters(domain_, &counters);
  expect(counters.attributes == 0, "no reference is left");
  expect(counters.reclaimable == 0, "nothing waits to be reclaimed");
  attrcache_leaks leaks;
  expect(attrcache_domain_destroy(domain_, ATTRCACHE_DESTROY_IF_UNUSED, &leaks) == ATTRCACHE_OK,
         "the domain is unused");
  for (int key = 0; key < keys_made_; ++key) {
    expect(keys[key].destroyed == 1, "every keyval is destroyed in the end");
  }
}

}  // namespace attrcache::model
