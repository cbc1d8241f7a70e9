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
// (a borrower, a copy_fn) is counted in the slot. A delete_fn that fails gives the value back, if
// the slot is empty meanwhile, or has what the failed set has put there; if not, it is gone, as with
// attrcache.

#ifndef BENCH_CONTENDERS_LOCKED_OBJECT_H_
#define BENCH_CONTENDERS_LOCKED_OBJECT_H_

#include <emmintrin.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace bench {

// Callbacks with the parameters of MPI's. Null: none; a value is then not copied, or not deleted.
struct LockedCallbacks {
  int (*copy_fn)(void* object, int key, void* extra, void* in, void* out, int* flag);
  int (*delete_fn)(void* object, int key, void* value, void* extra);
  void* extra;
};

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

  explicit LockedObject(void* as = nullptr) : as_(as) {}
  LockedObject(const LockedObject&) = delete;
  ~LockedObject() {
    delete_all();
    for (Array* array = array_; array != nullptr;) {
      Array* const older = array->older;
      std::free(array);
      array = older;
    }
  }

  // Keys are numbers from 0 on. To be called before the key's first use.
  static void define(int key, const LockedCallbacks& callbacks) {
    if (callbacks_.size() <= static_cast<size_t>(key)) callbacks_.resize(key + 1);
    callbacks_[key] = callbacks;
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

  // Copies to an object that no other thread knows. Stops at the first copy_fn that fails.
  int copy_to(LockedObject& to) {
    lock_.lock();
    for (unsigned key = 0; array_.load() != nullptr && key < array_.load()->size; ++key) {
      const int k = static_cast<int>(key);
      Slot* const slot = find(k);
      if (slot == nullptr) continue;
      const LockedCallbacks& c = callbacks_of(k);
      if (c.copy_fn == nullptr) {
        to.at(k).put(k, slot->value, ++to.clock_);
        continue;
      }
      ++slot->holders;
      const Held held = {slot->value, k, slot->number};
      lock_.unlock();
      void* copy = nullptr;
      int flag = 0;
      const int code = c.copy_fn(as_, k, c.extra, held.value, &copy, &flag);
      give_back(held);
      if (code != 0) return code;
      if (flag != 0) to.at(k).put(k, copy, ++to.clock_);
      lock_.lock();
    }
    lock_.unlock();
    return 0;
  }

  // For the object's last user.
  void delete_all() {
    for (unsigned key = 0; array_.load() != nullptr && key < array_.load()->size; ++key)
      erase(static_cast<int>(key));
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

  static const LockedCallbacks& callbacks_of(int key) {
    static constexpr LockedCallbacks kNone = {};
    return static_cast<size_t>(key) < callbacks_.size() ? callbacks_[key] : kNone;
  }

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

  int run_delete(int key, void* value) {
    const LockedCallbacks& c = callbacks_of(key);
    return c.delete_fn == nullptr ? 0 : c.delete_fn(as_, key, value, c.extra);
  }

  // Ends what has taken `old` out of the slot, with the lock held. restore(slot) puts it back.
  template <typename Restore>
  [[gnu::always_inline]] int removed(int key, const Slot& old, Restore restore) {
    const bool held = old.is(key) && old.holders != 0;
    if (held) left_.push_back(old);
    lock_.unlock();
    if (held || !old.is(key) || callbacks_of(key).delete_fn == nullptr) return 0;
    const int code = run_delete(key, old.value);
    if (code == 0) return 0;
    lock_.lock();
    restore(at(key));
    lock_.unlock();
    return code;
  }

  static inline std::vector<LockedCallbacks> callbacks_;

  std::atomic<Array*> array_{nullptr};
  SmallLock lock_;
  uint64_t clock_ = 0;
  std::vector<Slot> left_;  // taken out, and still held
  void* const as_;
};

}  // namespace bench

#endif  // BENCH_CONTENDERS_LOCKED_OBJECT_H_
