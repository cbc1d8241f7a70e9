// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The measured loops. They do what a program that uses attributes would do, and nothing else. Each
// turn reads the object, the key and the value from volatile memory and uses the result, so that
// the compiler can neither move work out of the loop nor drop it, for any contender. A loop is
// compiled once per contender and never inlined.

#ifndef BENCH_HARNESS_LOOPS_H_
#define BENCH_HARNESS_LOOPS_H_

#include <cstdint>

namespace bench {

// What the loops of one thread read and write. No other thread uses its cache lines, nor (hence
// 128) the lines that the processor fetches in pairs with them.
template <class C>
struct alignas(128) Inputs {
  typename C::Handle volatile object;
  typename C::Key volatile key;
  void* volatile value;
  uintptr_t volatile sum;
  const typename C::Key* keys;
  const typename C::Handle* objects;
  long count;
  long at = 0;
};

template <class C>
[[gnu::noinline]] bool loop_get(Inputs<C>& in, long times) {
  uintptr_t sum = 0;
  for (; times != 0; --times) {
    void* value;
    if (!C::get(in.object, in.key, &value)) [[unlikely]]
      return false;
    sum += reinterpret_cast<uintptr_t>(value);
  }
  in.sum = sum;
  return true;
}

template <class C>
[[gnu::noinline]] bool loop_borrow(Inputs<C>& in, long times) {
  uintptr_t sum = 0;
  for (; times != 0; --times) {
    void* value;
    if (!C::borrow(in.object, in.key, &value)) [[unlikely]]
      return false;
    sum += reinterpret_cast<uintptr_t>(value);
  }
  in.sum = sum;
  return true;
}

template <class C>
[[gnu::noinline]] bool loop_borrow_100(Inputs<C>& in, long times) {
  for (; times != 0; --times) {
    if (!C::borrow_100(in.object, in.key)) [[unlikely]]
      return false;
  }
  return true;
}

template <class C>
[[gnu::noinline]] bool loop_get_absent(Inputs<C>& in, long times) {
  for (; times != 0; --times) {
    void* value;
    if (C::get(in.object, in.key, &value)) [[unlikely]]
      return false;
  }
  return true;
}

// Gets the attribute of many objects, one after the other.
template <class C>
[[gnu::noinline]] bool loop_get_each(Inputs<C>& in, long times) {
  uintptr_t sum = 0;
  long i = in.at;
  for (; times != 0; --times) {
    void* value;
    if (!C::get(in.objects[i], in.key, &value)) [[unlikely]]
      return false;
    sum += reinterpret_cast<uintptr_t>(value);
    if (++i == in.count) i = 0;
  }
  in.sum = sum;
  in.at = i;
  return true;
}

template <class C>
[[gnu::noinline]] bool loop_set(Inputs<C>& in, long times) {
  for (; times != 0; --times) {
    if (!C::set(in.object, in.key, in.value)) [[unlikely]]
      return false;
  }
  return true;
}

template <class C>
[[gnu::noinline]] bool loop_set_delete(Inputs<C>& in, long times) {
  for (; times != 0; --times) {
    if (!C::set(in.object, in.key, in.value)) [[unlikely]]
      return false;
    C::erase(in.object, in.key);  // finds nothing if another thread has deleted it before
  }
  return true;
}

template <class C>
[[gnu::noinline]] bool loop_create_free(Inputs<C>&, long times) {
  for (; times != 0; --times) {
    typename C::Key key;
    if (!C::create_key(&key)) [[unlikely]]
      return false;
    if (!C::free_key(&key)) [[unlikely]]
      return false;
  }
  return true;
}

// Makes an object, attaches so many values to it, and frees it.
template <class C, int kAttributes>
[[gnu::noinline]] bool loop_object(Inputs<C>& in, long times) {
  for (; times != 0; --times) {
    typename C::Object object;
    asm volatile("" : : "r"(C::handle(object)));  // so that the compiler can't leave it out
    for (int a = 0; a < kAttributes; ++a) {
      if (!C::set(C::handle(object), in.keys[a], in.value)) [[unlikely]]
        return false;
    }
  }
  return true;
}

template <class C>
[[gnu::noinline]] bool loop_dup_free(Inputs<C>& in, long times) {
  for (; times != 0; --times) {
    if (!C::dup_free(in.object)) [[unlikely]]
      return false;
  }
  return true;
}

}  // namespace bench

#endif  // BENCH_HARNESS_LOOPS_H_
