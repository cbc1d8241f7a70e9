// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The striped references of one keyval (lib/keyval/references.h).

#include "keyval/references.h"

#include "keyval/references.cc"
#include "tests/model/genmc/harness.h"

namespace attrcache::genmc {

constexpr id::Keyval key(unsigned generation) { return id::make(0, generation, 0); }
constexpr unsigned kStripes = 2;

// A keyval: holders of a reference read it, its end writes it.
struct Keyval {
  References::Counter exact{0};
  References::Counter stripes[kStripes] = {};
  volatile int content = 1;
  int ended = 0;

  void begin() { References::reset(exact, key(3)); }
  References references() { return {exact, {stripes, 0, kStripes - 1}}; }
  void open(unsigned ordinal) { references().open(ordinal, key(3), 0); }
  // Starts with its stripes open.
  void begin_open() {
    begin();
    for (unsigned ordinal = 0; ordinal < kStripes; ++ordinal) open(ordinal);
  }
  bool take(unsigned ordinal) {  // as in Registry
    stripe::Name name;
    if (!References::acquire_open(stripes[ordinal], key(3), &name)) {
      if (!references().acquire_exact(key(3))) return false;
      open(ordinal);
    }
    expect(content == 1);
    return true;
  }
  void drop(unsigned ordinal) {
    expect(content == 1);
    if (References::drop_open(stripes[ordinal])) return;
    open(ordinal);
    if (references().drop_exact()) end();
  }
  void close() {
    if (References::end_unused(exact, key(3))) return end();
    if (references().close(key(3)) == References::Closed::kEnded) end();
  }
  void end() {
    content = 0;
    ++ended;
  }
};
constinit Keyval k;

template <unsigned kOrdinal>
constexpr auto use = [] {
  if (k.take(kOrdinal)) k.drop(kOrdinal);
};
constexpr auto close = [] { k.close(); };

template <unsigned kSecond>
void use_twice_and_close() {
  k.begin_open();
  run(use<0>, use<kSecond>, close);
  expect(k.ended == 1);
  expect(!k.take(0) && !k.take(1));
}

// Two threads take and drop a reference, on stripes that are open or that they open, beside a free.
void open_stripes() { use_twice_and_close<1>(); }
void one_open_stripe() { use_twice_and_close<0>(); }
void unopened_stripe() {
  k.begin();
  run(use<0>, close);
  expect(k.ended == 1);
}

// Two references that were taken on one stripe are dropped on others.
void dropped_elsewhere() {
  k.begin_open();
  k.take(0);
  k.take(0);
  run([] { k.drop(1); }, [] { k.drop(0); }, close);
  expect(k.ended == 1);
}

// A thread that learns that the keyval is gone sees what was done before the last reference went.
constinit volatile int attached = 1;
void gone_after_the_last_value() {
  k.begin_open();
  k.take(0);
  const auto last = [] {
    attached = 0;
    k.drop(0);
  };
  const auto told = [] {
    if (k.take(1)) {
      k.drop(1);
    } else {
      expect(attached == 0);
    }
  };
  run(last, close, told);
  expect(k.ended == 1);
}

}  // namespace attrcache::genmc

ATTRCACHE_GENMC_MAIN
