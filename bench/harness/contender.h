// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What a contender's source file provides: a class of static functions. They are inlined into the
// measured loops. What they call in turn is wherever the contender has it, in a library for
// example.

#ifndef BENCH_HARNESS_CONTENDER_H_
#define BENCH_HARNESS_CONTENDER_H_

#include <concepts>
#include <utility>

namespace bench {

// C::Object is what attributes are attached to. Callers refer to it by its address, or by
// C::handle(object), if there is such a function. If making one is expensive in itself, and not to
// be measured, C declares kDearObjects.
template <class C>
[[gnu::always_inline]] inline auto handle(typename C::Object& object) {
  if constexpr (requires { C::handle(object); }) {
    return C::handle(object);
  } else {
    return &object;
  }
}
template <class C>
using Handle = decltype(handle<C>(std::declval<typename C::Object&>()));

template <class C>
concept Contends = requires(Handle<C> handle, int key, void* value) {
  // The key's attributes are copied as they are, and deleted without a callback.
  { C::create_key(&key) } -> std::convertible_to<bool>;
  { C::free_key(&key) } -> std::convertible_to<bool>;
  // If others may set at the same time, set must learn which value it replaced (by a lock or an
  // exchange), because that value has to be deleted exactly once. Only the array without a lock
  // doesn't: it shows the least that a set can cost.
  { C::set(handle, key, value) } -> std::convertible_to<bool>;
};

// get returns whether something is attached, and stores it in value. A contender that has get has erase, too.
template <class C>
concept Gets = requires(Handle<C> handle, int key, void* value) {
  { C::get(handle, key, &value) } -> std::convertible_to<bool>;
  { C::erase(handle, key) } -> std::convertible_to<bool>;
};

// set_if_absent attaches the value if nothing is attached; else it stores what is. Returns whether it did.
template <class C>
concept SetsIfAbsent = requires(Handle<C> handle, int key, void* value) {
  { C::set_if_absent(handle, key, value, &value) } -> std::convertible_to<bool>;
};

// borrow gets the value, keeps it from being deleted, and then gives it back. Some contenders do
// only this. replace attaches a new value (contenders/used.h) and frees the one before as soon as
// nobody uses it. use keeps it alive, looks at it, and lets go. begin_use, if there is one, prepares
// an object for both.
template <class C>
concept Borrows = requires(Handle<C> handle, int key, void* value) {
  { C::borrow(handle, key, &value) } -> std::convertible_to<bool>;
  { C::replace(handle) } -> std::convertible_to<bool>;
  { C::use(handle) } -> std::convertible_to<bool>;
};

// dup_free copies an object's attributes to a new object and then frees that.
template <class C>
concept Dups = requires(Handle<C> handle) {
  { C::dup_free(handle) } -> std::convertible_to<bool>;
};

// The contender has a registry of keys, whose cost is measured. The others only count keys.
// create_calling_key makes a key whose values are deleted by a callback, which does nothing.
// predefined returns an object that has an attribute of the runtime's own, and stores its key.
template <class C>
concept Registers = requires(int key) {
  { C::create_calling_key(&key) } -> std::convertible_to<bool>;
  { C::predefined(&key) } -> std::convertible_to<Handle<C>>;
};

// Each thread must hold a Thread while it uses the contender.
template <class C>
concept NeedsThread = requires {
  typename C::Thread;
};

}  // namespace bench

#endif  // BENCH_HARNESS_CONTENDER_H_
