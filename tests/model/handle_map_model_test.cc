// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The interposer's handle map: finds, which take no lock, against inserts, growth, erasure and the
// reuse of handles.
//
// Objects have a body that isn't atomic. So it is a race if an entry is found before its object is
// written, or after its handle was freed.

#include "mpi/objects/handle_map.h"
#include "platform/memory.h"
#include "tests/model/run_model.h"

namespace attrcache::model {
namespace {

using mpi::HandleMap;

struct Object {
  Plain<int> body;
};

// Handles like MPICH's, counted up. The first array has 64 places and grows at the 33rd handle.
constexpr uintptr_t kFirst = 0x84000000;
constexpr int kBeforeGrowth = 32;

// The place in the first array, as HandleMap::hash computes it: tests need handles that collide.
constexpr unsigned place(uintptr_t handle) { return handle * uint64_t{0x40c593c3} >> 12 & 63; }
constexpr uintptr_t colliding(uintptr_t with) {
  uintptr_t handle = with + 1;
  while (place(handle) != place(with)) ++handle;
  return handle;
}
constexpr uintptr_t kHandle = kFirst + 1000;
constexpr uintptr_t kCollides = colliding(kHandle);

struct Handles {
  HandleMap map;
  Object objects[4];
  Object filler;

  // Before the threads run: handles of other objects.
  void fill(int count) {
    for (int f = 0; f < count; ++f) map.insert(kFirst + f, &filler);
  }
  // As the interposer does when it first sees a handle.
  Object* insert(uintptr_t handle, int object) {
    objects[object].body.write(object + 1);
    auto* kept = static_cast<Object*>(map.insert(handle, &objects[object]));
    expect(kept != nullptr, "there is memory");
    return kept;
  }
  // The object, whose body must be readable, or null.
  Object* find(uintptr_t handle) {
    auto* object = static_cast<Object*>(map.find(handle));
    return checked(object);
  }
  Object* find_at_home(uintptr_t handle) {
    void* object = nullptr;
    return map.find_at_home(handle, &object) ? checked(static_cast<Object*>(object)) : nullptr;
  }
  // As MPI_Comm_free does: first the map forgets the handle, then the object's table ends.
  void free(uintptr_t handle, int object) {
    map.erase(handle);
    objects[object].body.write(0);
  }
  // After the threads have run.
  void finish() { map.reset(); }

 private:
  Object* checked(Object* object) {
    if (object == nullptr) return nullptr;
    expect(object >= objects && object < objects + 4, "an entry is complete, and of this map");
    expect(object->body.read() == object - objects + 1, "and its object lives");
    return object;
  }
};

// How a thread tells others of a handle, as a program that passes it on, or MPI that reuses it.
struct Flag {
  Atomic<int> word{0};
  void raise() { word.store(1, kRelease); }
  bool seen() const { return word.load(kAcquire) != 0; }
};

void find_against_insert(Bound bound, int before) {
  run_model(bound, [=] {
    Handles h;
    h.fill(before);
    spawn([&h] { h.insert(kHandle, 0); });
    spawn([&h] {
      const Object* first = h.find(kHandle);
      const Object* again = h.find(kHandle);
      expect(first == nullptr || again == first, "what was found stays");
    });
    spawn([&h] { h.find_at_home(kHandle); });
    join();
    expect(h.find(kHandle) == &h.objects[0], "it is there in the end");
    h.finish();
  });
}

TEST(HandleMapModel, FindAgainstFirstInsert) { find_against_insert({}, 0); }
TEST(HandleMapModel, FindAgainstInsert) { find_against_insert({}, 3); }
TEST(HandleMapModel, FindAgainstInsertThatGrows) { find_against_insert({}, kBeforeGrowth); }

TEST(HandleMapModel, FindOfALiveHandleAgainstGrowth) {
  run_model({}, [] {
    Handles h;
    h.fill(kBeforeGrowth - 2);
    h.insert(kHandle, 0);
    h.insert(kCollides, 1);
    void* object;
    expect(!h.map.find_at_home(kCollides, &object), "they collide");
    spawn([&h] { h.insert(kFirst + 500, 2); });
    spawn([&h] { h.insert(kFirst + 501, 3); });
    spawn([&h] {
      expect(h.find(kCollides) == &h.objects[1], "a live handle is found throughout");
      const Object* at_home = h.find_at_home(kHandle);
      expect(at_home == nullptr || at_home == &h.objects[0], "at its home slot, too, if at all");
    });
    join();
    expect(h.find(kFirst + 500) == &h.objects[2], "the first is there");
    expect(h.find(kFirst + 501) == &h.objects[3], "the second is there");
    expect(h.find(kHandle) == &h.objects[0], "and those that were");
    h.finish();
  });
}

void two_inserts(Bound bound, int before) {
  run_model(bound, [=] {
    Handles h;
    h.fill(before);
    Object* kept[2] = {};
    spawn([&] { kept[0] = h.insert(kHandle, 0); });
    spawn([&] { kept[1] = h.insert(kHandle, 1); });
    Object* found = nullptr;
    spawn([&] { found = h.find(kHandle); });
    join();
    expect(kept[0] == kept[1], "two inserts agree");
    expect(h.find(kHandle) == kept[0], "and so does the map");
    expect(found == nullptr || found == kept[0], "and the thread that finds it");
    h.finish();
  });
}

TEST(HandleMapModel, TwoInsertsOfOneHandle) { two_inserts({}, 3); }
TEST(HandleMapModel, TwoFirstInsertsOfOneHandle) { two_inserts({}, 0); }
TEST(HandleMapModel, TwoInsertsOfOneHandleThatGrow) { two_inserts({}, kBeforeGrowth); }

// Handles that collide come and go, and one that lives is found all the time. An erased slot before
// it must not stop the probe, nor mislead it when it is used again.
TEST(HandleMapModel, FindBehindErasedAgainstEraseAndInsert) {
  run_model({}, [] {
    Handles h;
    h.insert(kHandle, 0);
    h.insert(kCollides, 1);
    spawn([&h] {
      h.free(kHandle, 0);
      h.insert(colliding(kCollides), 2);
    });
    spawn([&h] { expect(h.find(kCollides) == &h.objects[1], "a live handle is found"); });
    spawn(
        [&h] { expect(h.find_at_home(kCollides) == &h.objects[1], "and it is at its home slot"); });
    join();
    expect(h.find(kHandle) == nullptr, "the freed one is gone");
    h.finish();
  });
}

// The same, when the probe's slots have only just been written, by another thread.
TEST(HandleMapModel, FindOfAnnouncedHandleBehindAnother) {
  run_model({}, [] {
    Handles h;
    h.fill(1);
    Flag announced;
    spawn([&] {
      h.insert(kHandle, 0);
      h.insert(kCollides, 1);
      announced.raise();
      h.free(kHandle, 0);
    });
    spawn([&] {
      if (announced.seen()) expect(h.find(kCollides) == &h.objects[1], "it is found");
    });
    join();
    h.finish();
  });
}

// A handle is freed, given out again by MPI, and used by a third thread.
void reuse(Bound bound, int before) {
  run_model(bound, [=] {
    Handles h;
    h.fill(before);
    h.insert(kHandle, 0);
    Flag freed, created, inserted;
    spawn([&] {
      h.free(kHandle, 0);
      freed.raise();
    });
    spawn([&] {
      if (!freed.seen()) return;
      created.raise();
      h.insert(kHandle, 1);
      inserted.raise();
    });
    spawn([&] {
      const bool there = inserted.seen();
      if (!created.seen()) return;
      const Object* at_home = h.find_at_home(kHandle);
      expect(at_home == nullptr || at_home == &h.objects[1],
             "at its home slot: the new object or none");
      const Object* found = h.find(kHandle);
      expect(found == &h.objects[1] || (found == nullptr && !there), "the new object, or not yet");
    });
    join();
    expect(h.find(kHandle) != &h.objects[0], "the old entry is gone");
    h.finish();
  });
}

TEST(HandleMapModel, Reuse) { reuse({}, 3); }
// The handle leaves an erased slot, so its array is full, and the new entry is in another.
TEST(HandleMapModel, ReuseInAnotherArray) { reuse({3}, kBeforeGrowth - 1); }

}  // namespace
}  // namespace attrcache::model
