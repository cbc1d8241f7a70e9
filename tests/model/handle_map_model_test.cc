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

// How a thread tells others of a handle, as a program that passes it on, or MPI that reuses it.
struct Flag {
  Atomic<int> word{0};
  void raise() { word.store(1, kRelease); }
  bool seen() const { return word.load(kAcquire) != 0; }
};

struct Handles {
  HandleMap map;
  Object objects[4];
  Object filler;
  uintptr_t handle_of[4] = {};
  bool is_free[4] = {};
  Object* kept[4] = {};     // what the insert of its handle returned
  Object* found = nullptr;  // by a thread that looks beside inserts of one handle
  Flag freed, created, inserted;

  // As the interposer does when it first sees a handle.
  void insert(uintptr_t handle, int object) {
    objects[object].body.write(object + 1);
    auto* result = static_cast<Object*>(map.insert(handle, &objects[object]));
    expect(result != nullptr, "there is memory");
    handle_of[object] = handle;
    kept[object] = result;
  }
  // The object, whose body must be readable, or null.
  Object* find(uintptr_t handle) { return checked(static_cast<Object*>(map.find(handle))); }
  Object* find_at_home(uintptr_t handle) {
    void* object = nullptr;
    return map.find_at_home(handle, &object) ? checked(static_cast<Object*>(object)) : nullptr;
  }
  // As MPI_Comm_free does: first the map forgets the handle, then the object's table ends.
  void free(uintptr_t handle, int object) {
    map.erase(handle);
    objects[object].body.write(0);
    is_free[object] = true;
  }
  // After the threads have run.
  void finish() {
    for (int object = 0; object < 4; ++object) {
      if (kept[object] == nullptr) continue;
      const Object* const there = find(handle_of[object]);
      expect(is_free[object] ? there != &objects[object] : there == kept[object],
             "it is there in the end, and all inserts agree; what was freed is gone");
    }
    expect(found == nullptr || found == kept[0], "and so does a thread that has found it");
    map.reset();
  }

 private:
  Object* checked(Object* object) {
    if (object == nullptr) return nullptr;
    expect(object >= objects && object < objects + 4, "an entry is complete, and of this map");
    expect(object->body.read() == object - objects + 1, "and its object lives");
    return object;
  }
};

// ---- What threads do ----

// Handles of other objects.
constexpr auto fill(int count) {
  return [count](Handles& h) {
    for (int f = 0; f < count; ++f) h.map.insert(kFirst + f, &h.filler);
  };
}
constexpr auto insert(uintptr_t handle, int object) {
  return [=](Handles& h) { h.insert(handle, object); };
}

constexpr auto free_first = [](Handles& h) { h.free(kHandle, 0); };

void find_against_insert(Options bound, int before) {
  const auto find_twice = [](Handles& h) {
    const Object* first = h.find(kHandle);
    const Object* again = h.find(kHandle);
    expect(first == nullptr || again == first, "what was found stays");
  };
  run_race<Handles>(bound, fill(before), insert(kHandle, 0), find_twice,
                    [](Handles& h) { h.find_at_home(kHandle); });
}
TEST(HandleMapModel, FindAgainstFirstInsert) { find_against_insert({}, 0); }
TEST(HandleMapModel, FindAgainstInsert) { find_against_insert({}, 3); }
TEST(HandleMapModel, FindAgainstInsertThatGrows) { find_against_insert({}, kBeforeGrowth); }

TEST(HandleMapModel, FindOfALiveHandleAgainstGrowth) {
  const auto collide = [](Handles& h) {
    void* object;
    expect(!h.map.find_at_home(kCollides, &object), "they collide");
  };
  const auto find_live = [](Handles& h) {
    expect(h.find(kCollides) == &h.objects[1], "a live handle is found throughout");
    const Object* at_home = h.find_at_home(kHandle);
    expect(at_home == nullptr || at_home == &h.objects[0], "at its home slot, too, if at all");
  };
  run_race<Handles>(
      {}, in_turn(fill(kBeforeGrowth - 2), insert(kHandle, 0), insert(kCollides, 1), collide),
      insert(kFirst + 500, 2), insert(kFirst + 501, 3), find_live);
}

void two_inserts(Options bound, int before) {
  run_race<Handles>(bound, fill(before), insert(kHandle, 0), insert(kHandle, 1),
                    [](Handles& h) { h.found = h.find(kHandle); });
}
TEST(HandleMapModel, TwoInsertsOfOneHandle) { two_inserts({}, 3); }
TEST(HandleMapModel, TwoFirstInsertsOfOneHandle) { two_inserts({}, 0); }
TEST(HandleMapModel, TwoInsertsOfOneHandleThatGrow) { two_inserts({}, kBeforeGrowth); }

// Handles that collide come and go, and one that lives is found all the time. An erased slot before
// it must not stop the probe, nor mislead it when it is used again.
TEST(HandleMapModel, FindBehindErasedAgainstEraseAndInsert) {
  const auto find_live = [](Handles& h) {
    expect(h.find(kCollides) == &h.objects[1], "a live handle is found");
  };
  const auto find_at_home = [](Handles& h) {
    expect(h.find_at_home(kCollides) == &h.objects[1], "and it is at its home slot");
  };
  run_race<Handles>({}, in_turn(insert(kHandle, 0), insert(kCollides, 1)),
                    in_turn(free_first, insert(colliding(kCollides), 2)), find_live, find_at_home);
}
// The same, when the probe's slots have only just been written, by another thread.
TEST(HandleMapModel, FindOfAnnouncedHandleBehindAnother) {
  const auto announce = [](Handles& h) { h.inserted.raise(); };
  const auto find_announced = [](Handles& h) {
    if (h.inserted.seen()) expect(h.find(kCollides) == &h.objects[1], "it is found");
  };
  run_race<Handles>({}, fill(1),
                    in_turn(insert(kHandle, 0), insert(kCollides, 1), announce, free_first),
                    find_announced);
}

// A handle is freed, given out again by MPI, and used by a third thread.
void reuse(Options bound, int before) {
  const auto free_and_tell = [](Handles& h) {
    h.free(kHandle, 0);
    h.freed.raise();
  };
  const auto insert_again = [](Handles& h) {
    if (!h.freed.seen()) return;
    h.created.raise();
    h.insert(kHandle, 1);
    h.inserted.raise();
  };
  const auto find_new = [](Handles& h) {
    const bool there = h.inserted.seen();
    if (!h.created.seen()) return;
    const Object* at_home = h.find_at_home(kHandle);
    expect(at_home == nullptr || at_home == &h.objects[1],
           "at its home slot: the new object or none");
    const Object* found = h.find(kHandle);
    expect(found == &h.objects[1] || (found == nullptr && !there), "the new object, or not yet");
  };
  run_race<Handles>(bound, in_turn(fill(before), insert(kHandle, 0)), free_and_tell, insert_again,
                    find_new);
}
TEST(HandleMapModel, Reuse) { reuse({}, 3); }
// The handle leaves an erased slot, so its array is full, and the new entry is in another.
TEST(HandleMapModel, ReuseInAnotherArray) { reuse({3}, kBeforeGrowth - 1); }

}  // namespace
}  // namespace attrcache::model
