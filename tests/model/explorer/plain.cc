// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/model/explorer/plain.h"

#include "tests/model/explorer/engine.h"

namespace attrcache::model {

void touch(const void* memory) {
  const uint16_t block = heap().block_of(memory);
  const View* view = concurrent ? &engine().view() : nullptr;
  if (const char* error = heap().access(block, engine().current(), view)) engine().fail(error);
}

void Races::read(const void* cell) {
  touch(cell);
  if (!concurrent) return;
  const unsigned self = engine().current();
  const View& view = engine().view();
  for (unsigned t = 0; t < kMaxThreads; ++t) {
    if (t != self && view.at[t] < writes_[t]) engine().fail("race: a write, and this read");
  }
  reads_[self] = view.at[self];
}

void Races::write(const void* cell) {
  touch(cell);
  if (!concurrent) return;
  const unsigned self = engine().current();
  const View& view = engine().view();
  for (unsigned t = 0; t < kMaxThreads; ++t) {
    if (t == self) continue;
    if (view.at[t] < writes_[t]) engine().fail("race: a write, and this write");
    if (view.at[t] < reads_[t]) engine().fail("race: a read, and this write");
  }
  writes_[self] = view.at[self];
}

}  // namespace attrcache::model
