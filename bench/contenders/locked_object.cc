// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What most would write first: get without a lock, and in each object one small lock, which every
// other call takes, and lets go around callbacks.
//
// get. A slot's first 16 bytes are its value and the number of its key. They are stored under the
// lock and loaded without it, by one instruction each (on x86-64 with AVX, an aligned 16-byte move is
// one access), so get never waits. An array that is too short is replaced by one twice as long, and
// kept until the object ends, because a get may still be reading it. Such a get began before the set
// that needed more room had ended, so it may find what was there before.
//
// Exactly once. Whoever takes a value out of its slot, under the lock, deletes it: after the lock is
// let go, unless somebody holds it; then it goes to a list, and the last holder deletes it. A holder
// is counted in the slot. A delete_fn that fails gives the value back, if the slot is empty
// meanwhile, or has what the failed set has put there; if not, it is gone, as with attrcache. There
// is no copy_fn.

#include <emmintrin.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "bench/contenders/used.h"
#include "bench/harness/describe.h"

namespace {

// Four bytes: free, taken, or taken and waited for.
class SmallLock {
 public:
  void lock() {
    int was = 0;
    if (state_.compare_exchange_strong(was, 1, std::memory_order_acquire)) [[likely]]
      return;
    while (state_.exchange(2, std::memory_order_acquire) != 0) state_.wait(2);
  }
  void unlock() {
    if (state_.exchange(0, std::memory_order_release) == 2) state_.notify_one();
  }

 private:
  std::atomic<int> state_{0};
};

class LockedObject {
 public:
  struct Held {
    void* value;
    int key;
    uint64_t number;
  };

  // By key, with the parameters of MPI's. A key that is beyond, or has null, has none.
  using DeleteFn = int (*)(void* object, int key, void* value, void* extra);
  static inline std::vector<DeleteFn> delete_fns;

  LockedObject() = default;
  LockedObject(const LockedObject&) = delete;
  ~LockedObject() {
    const unsigned keys = array_.load() == nullptr ? 0 : array_.load()->size;
    for (unsigned key = 0; key < keys; ++key) erase(static_cast<int>(key));
    for (Array* array = array_; array != nullptr;) {
      Array* const older = array->older;
      std::free(array);
      array = older;
    }
  }

  [[gnu::always_inline]] bool get(int key, void** value) const {
    const Array* const array = array_.load(std::memory_order_acquire);
    if (array == nullptr || static_cast<unsigned>(key) >= array->size) return false;
    return array->slots()[key].read(key, value);
  }

  // If delete_fn of the value that was replaced fails, the result is its code and `value` isn't
  // attached; or 0, if `value` is held or gone by then, and remains the object's.
  int set(int key, void* value) {
    lock_.lock();
    Slot& slot = at(key);
    const Slot old = slot;
    slot.put(key, value, ++clock_);
    const uint64_t number = clock_;
    bool refused = false;
    const int code = removed(key, old, [=, &refused](Slot& now) {
      if (!now.is(key) || now.number != number || now.holders != 0) return;
      now.put(key, old.value, old.number);
      refused = true;
    });
    return refused ? code : 0;
  }

  // False, and what is attached: something is.
  bool set_if_absent(int key, void* value, void** present) {
    lock_.lock();
    Slot& slot = at(key);
    const bool absent = !slot.is(key);
    if (absent) slot.put(key, value, ++clock_);
    *present = slot.value;
    lock_.unlock();
    return absent;
  }

  // The result of delete_fn.
  int erase(int key) {
    lock_.lock();
    Slot* const slot = find(key);
    if (slot == nullptr) {
      lock_.unlock();
      return 0;
    }
    const Slot old = *slot;
    slot->clear();
    return removed(key, old, [=](Slot& now) {
      if (!now.is(key)) now.put(key, old.value, old.number);
    });
  }

  bool borrow(int key, Held* held) {
    lock_.lock();
    Slot* const slot = find(key);
    if (slot != nullptr) {
      ++slot->holders;
      *held = {slot->value, key, slot->number};
    }
    lock_.unlock();
    return slot != nullptr;
  }

  // The result of the delete_fn that was left to this holder, if any.
  int give_back(const Held& held) {
    lock_.lock();
    if (Slot* const slot = find(held.key); slot != nullptr && slot->number == held.number) {
      --slot->holders;
      lock_.unlock();
      return 0;
    }
    for (Slot& left : left_) {
      if (left.number != held.number) continue;
      if (--left.holders != 0) break;
      left = left_.back();
      left_.pop_back();
      lock_.unlock();
      return run_delete(held.key, held.value);
    }
    lock_.unlock();
    return 0;
  }

  // Copies to an object that no other thread knows.
  void copy_to(LockedObject& to) {
    lock_.lock();
    const Array* const array = array_.load(std::memory_order_relaxed);
    for (int key = 0; array != nullptr && key < static_cast<int>(array->size); ++key) {
      if (Slot* const slot = find(key)) to.at(key).put(key, slot->value, ++to.clock_);
    }
    lock_.unlock();
  }

 private:
  struct alignas(16) Slot {
    void* value;
    uint64_t key_and_1;  // 0: empty
    uint64_t number;     // the attachment's own, in its object; it and `holders` need the lock
    uint64_t holders;

    bool is(int key) const { return key_and_1 == static_cast<uint64_t>(key) + 1; }
    [[gnu::always_inline]] bool read(int key, void** found) const {
      __m128i both;
      asm volatile("movdqa %1, %0" : "=x"(both) : "m"(*this) : "memory");
      if (_mm_cvtsi128_si64(_mm_unpackhi_epi64(both, both)) != static_cast<int64_t>(key) + 1)
        return false;
      *found = reinterpret_cast<void*>(_mm_cvtsi128_si64(both));
      return true;
    }
    void write(void* v, uint64_t k) {
      const __m128i both = _mm_set_epi64x(static_cast<int64_t>(k),
                                          static_cast<int64_t>(reinterpret_cast<uintptr_t>(v)));
      asm volatile("movdqa %1, %0" : "+m"(*this) : "x"(both) : "memory");  // stores release on x86
    }
    void put(int key, void* v, uint64_t n) {
      number = n;
      holders = 0;
      write(v, static_cast<uint64_t>(key) + 1);
    }
    void clear() { write(nullptr, 0); }
  };
  struct alignas(32) Array {
    Array* older;
    unsigned size;
    Slot* slots() { return reinterpret_cast<Slot*>(this + 1); }
    const Slot* slots() const { return reinterpret_cast<const Slot*>(this + 1); }
  };

  Slot* find(int key) {
    Array* const array = array_.load(std::memory_order_relaxed);
    if (array == nullptr || static_cast<unsigned>(key) >= array->size) return nullptr;
    Slot& slot = array->slots()[key];
    return slot.is(key) ? &slot : nullptr;
  }

  Slot& at(int key) {
    Array* array = array_.load(std::memory_order_relaxed);
    if (array == nullptr || static_cast<unsigned>(key) >= array->size) [[unlikely]]
      array = grow(array, static_cast<unsigned>(key));
    return array->slots()[key];
  }

  [[gnu::noinline]] Array* grow(Array* old, unsigned key) {
    unsigned size = old == nullptr ? 4 : 2 * old->size;
    while (size <= key) size *= 2;
    const size_t bytes = sizeof(Array) + size * sizeof(Slot);
    auto* const array = static_cast<Array*>(std::aligned_alloc(32, bytes));
    std::memset(static_cast<void*>(array), 0, bytes);
    array->older = old;
    array->size = size;
    if (old != nullptr)
      std::memcpy(static_cast<void*>(array->slots()), old->slots(), old->size * sizeof(Slot));
    array_.store(array, std::memory_order_release);
    return array;
  }

  DeleteFn delete_fn_of(int key) {
    const auto at = static_cast<size_t>(key);
    return at < delete_fns.size() ? delete_fns[at] : nullptr;
  }

  int run_delete(int key, void* value) {
    const DeleteFn delete_fn = delete_fn_of(key);
    return delete_fn == nullptr ? 0 : delete_fn(this, key, value, nullptr);
  }

  // Ends what has taken `old` out of the slot, with the lock held. restore(slot) puts it back.
  template <typename Restore>
  [[gnu::always_inline]] int removed(int key, const Slot& old, Restore restore) {
    const bool held = old.is(key) && old.holders != 0;
    if (held) left_.push_back(old);
    lock_.unlock();
    if (held || !old.is(key) || delete_fn_of(key) == nullptr) return 0;
    const int code = run_delete(key, old.value);
    if (code == 0) return 0;
    lock_.lock();
    restore(at(key));
    lock_.unlock();
    return code;
  }

  std::atomic<Array*> array_{nullptr};
  SmallLock lock_;
  uint64_t clock_ = 0;
  std::vector<Slot> left_;  // taken out, and still held
};

struct Locked : bench::CountedKeys {
  using Object = LockedObject;

  static bool get(Object* object, int key, void** value) { return object->get(key, value); }
  static bool borrow(Object* object, int key, void** value) {
    Object::Held held;
    if (!object->borrow(key, &held)) return false;
    *value = held.value;
    return object->give_back(held) == 0;
  }
  static bool set(Object* object, int key, void* value) { return object->set(key, value) == 0; }
  static bool set_if_absent(Object* object, int key, void* value, void** present) {
    return object->set_if_absent(key, value, present);
  }
  static bool erase(Object* object, int key) { return object->erase(key) == 0; }
  static bool dup_free(Object* object) {
    Object copy;
    return object->copy_to(copy), true;
  }

  // A key that the harness doesn't use, for values that are freed.
  static constexpr int kUsed = 100;
  static bool replace(Object* object) { return object->set(kUsed, bench::Used::make()) == 0; }
  static bool use(Object* object) {
    Object::Held held;
    if (!object->borrow(kUsed, &held)) return false;
    static_cast<bench::Used*>(held.value)->check();
    return object->give_back(held) == 0;
  }
};

int free_used(void*, int, void* value, void*) {
  bench::Used::free(value);
  return 0;
}

}  // namespace

bench::Contender bench::make_contender(int*, char**) {
  LockedObject::delete_fns.resize(Locked::kUsed + 1);
  LockedObject::delete_fns[Locked::kUsed] = free_used;
  return describe<Locked>("locked_object");
}
