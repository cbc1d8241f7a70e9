// SPDX-License-Identifier: Apache-2.0
//
// What a contender's source file provides: a class of static functions. All are to be inlined into
// the loops; what they call lives where it lives.

#ifndef BENCH_HARNESS_CONTENDER_H_
#define BENCH_HARNESS_CONTENDER_H_

#include <concepts>

namespace bench {

template <class C>
concept Contends = requires(typename C::Object& object, typename C::Handle handle,
                            typename C::Key key, void* value) {
  // What attributes are attached to, and how the caller holds it.
  { C::handle(object) } -> std::convertible_to<typename C::Handle>;
  // How many bytes of an empty object are there for the sake of attributes, heap excluded.
  { C::kBytes } -> std::convertible_to<long>;
  // A key whose attributes are copied as they are and deleted without a call.
  { C::create_key(&key) } -> std::convertible_to<bool>;
  { C::free_key(&key) } -> std::convertible_to<bool>;
  // Whether something is attached, and then what.
  { C::get(handle, key, &value) } -> std::convertible_to<bool>;
  // Where others may set at the same time, it has to learn which value it replaced, by a lock or an
  // exchange: that one is to be deleted, once. (An array without a lock doesn't: it is the floor.)
  { C::set(handle, key, value) } -> std::convertible_to<bool>;
};

template <class C>
concept Deletes = requires(typename C::Handle handle, typename C::Key key) {
  { C::erase(handle, key) } -> std::convertible_to<bool>;
};

// A get that keeps the value from being deleted until it is given back; both.
template <class C>
concept Borrows = requires(typename C::Handle handle, typename C::Key key, void* value) {
  { C::borrow(handle, key, &value) } -> std::convertible_to<bool>;
};

// Copies an object's attributes to a new object, which it then frees.
template <class C>
concept Dups = requires(typename C::Handle handle) {
  { C::dup_free(handle) } -> std::convertible_to<bool>;
};

// An object with an attribute that the runtime attached, not the user.
template <class C>
concept Predefines = requires(typename C::Key key) {
  { C::predefined(&key) } -> std::convertible_to<typename C::Handle>;
};

// Keys come from a registry, which is worth measuring; others only count.
template <class C>
concept Registers = requires {
  requires C::kRegistersKeys;
};

// Each thread holds one of these while it works.
template <class C>
concept NeedsThread = requires {
  typename C::Thread;
};

// To be called now and then by each thread that works.
template <class C>
concept NeedsQuiescence = requires {
  C::quiescent();
};

}  // namespace bench

#endif  // BENCH_HARNESS_CONTENDER_H_
