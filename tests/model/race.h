// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Helpers for models of one attribute: race({}, attached(), set(2), erase) explores a set beside a
// delete of an attribute that was attached before. They use the attribute of object 0 under key 0
// unless they say otherwise.

#ifndef ATTRCACHE_TESTS_MODEL_RACE_H_
#define ATTRCACHE_TESTS_MODEL_RACE_H_

#include "tests/model/run_model.h"

namespace attrcache::model {

struct Setting {
  Options bound = {2, 1};
  unsigned stripes = 1;
};

// Explores threads that each run one of `threads`, after `prepare` has run.
template <typename Prepare, typename... Threads>
void race(const Setting& setting, Prepare prepare, Threads... threads) {
  run_model(setting.bound, [=] {
    Fixture f(setting.stripes);
    prepare(f);
    spawn_each(f, threads...);
    join();
    f.finish();
  });
}

// ---- What threads do ----

inline auto set(int value) {
  return [=](Fixture& f) { f.set(0, 0, value); };
}
inline auto set_if_absent(int value) {
  return [=](Fixture& f) { f.set_if_absent(0, 0, value); };
}
constexpr auto erase = [](Fixture& f) { f.erase(0, 0); };
constexpr auto get = [](Fixture& f) { f.get(0, 0); };
constexpr auto get_body = [](Fixture& f) { f.get_body(0, 0); };
constexpr auto use = [](Fixture& f) { f.use(0, 0); };
constexpr auto use_what_is_there = [](Fixture& f) {
  attrcache_borrowed borrowed = {};
  expect(f.borrow(0, 0, &borrowed), "there is always a value to borrow");
  f.give_back(&borrowed);
};
constexpr auto copy = [](Fixture& f) { f.copy(0, 1); };
constexpr auto free_keyval = [](Fixture& f) { f.free(0); };
// Whether the object could be freed already.
inline bool is_freed(Fixture& f) {
  const int result = f.erase_all(0);
  expect(result == ATTRCACHE_OK || result == ATTRCACHE_ERR_BUSY, "freed, or not yet");
  return result == ATTRCACHE_OK;
}
constexpr auto delete_all = [](Fixture& f) { is_freed(f); };

// ---- What was done before ----

inline auto keyval(Fixture::Callbacks callbacks = Fixture::kDelete) {
  return [=](Fixture& f) { f.make_key(callbacks); };
}
// Value 1 is attached.
inline auto attached(Fixture::Callbacks callbacks = Fixture::kDelete) {
  return in_turn(keyval(callbacks), set(1));
}
// And value 2, under a second keyval.
constexpr auto attach_second = [](Fixture& f) {
  f.make_key(Fixture::kDelete);
  f.set(0, 1, 2);
};
// It was held once, so its holders are full readers.
inline auto was_held(Fixture::Callbacks callbacks = Fixture::kDelete) {
  return in_turn(attached(callbacks), use);
}
// And so often that it is light.
inline auto often_held(Fixture::Callbacks callbacks = Fixture::kDelete) {
  return in_turn(was_held(callbacks), use, use);
}
// The delete_fn of a value fails this often.
inline auto fails(int value = 1, int times = 1) {
  return [=](Fixture& f) { f.values[value].failures = times; };
}
// Callbacks of the key call a function with the value.
using OnCallback = void (*)(Fixture&, int value);
inline auto on_delete(OnCallback call, int key = 0) {
  return [=](Fixture& f) { f.keys[key].on_delete = call; };
}
inline auto on_copy(OnCallback call) {
  return [=](Fixture& f) { f.keys[0].on_copy = call; };
}

}  // namespace attrcache::model

#endif  // ATTRCACHE_TESTS_MODEL_RACE_H_
