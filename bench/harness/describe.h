// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Makes a Contender from a contender's class. Here is the only list of all operations.

#ifndef BENCH_HARNESS_DESCRIBE_H_
#define BENCH_HARNESS_DESCRIBE_H_

#include <string>

#include "bench/harness/prepared.h"

namespace bench {

template <Contends C>
Operation operation(const char* name, long attributes, Which which, Loop<C> loop) {
  Parameters usual;
  usual.attributes = attributes;
  return {.name = name, .parameters = usual, .prepare = [=](const Parameters& parameters) {
            return std::make_unique<PreparedLoop<C>>(loop, which, parameters);
          }};
}

template <Contends C>
Contender describe(const std::string& name, const Limits& limits = {}) {
  static_assert(Gets<C> || Borrows<C>, "else there is nothing to measure");
  using O = Once<C>;
  Contender contender;
  contender.name = name;
  contender.limits = limits;
  contender.register_thread = register_thread<C>;
  contender.end = [] { Keys<C>::free_all(); };

  auto add = [&](const char* operation_name, long attributes, Which which, Loop<C> loop) {
    contender.operations.push_back(operation<C>(operation_name, attributes, which, loop));
  };
  // Objects of an MPI cost much by themselves.
  if constexpr (Gets<C> && !requires { C::kDearObjects; }) {
    add("object_0", 0, Which::kFirst, repeat<O::template object<0>, C>);
    add("object_4", 0, Which::kFirst, repeat<O::template object<4>, C>);
  }
  if constexpr (Borrows<C>) {
    add("borrow", 1, Which::kFirst, repeat<O::borrow, C>);
    add("use", 0, Which::kReplaced, repeat<O::use, C>);
    add("replace", 0, Which::kReplaced, repeat<O::replace, C>);
    add("use_replace", 0, Which::kReplaced, repeat<O::use_replace, C>);
  }
  if constexpr (Gets<C>) {
    add("get_hit", 1, Which::kFirst, repeat<O::get, C>);
    add("get_first_of_64", 64, Which::kFirst, repeat<O::get, C>);
    add("get_last_of_64", 64, Which::kLast, repeat<O::get, C>);
    add("get_absent", 1, Which::kAbsent, repeat<O::get_absent, C>);
    add("set", 1, Which::kFirst, repeat<O::set, C>);
    add("set_delete", 1, Which::kFirst, repeat<O::set_delete, C>);
    if constexpr (Registers<C>) {
      add("get_predefined", 1, Which::kPredefined, repeat<O::get, C>);
      add("set_calling", 0, Which::kCalling, repeat<O::set, C>);
      add("set_delete_calling", 0, Which::kCalling, repeat<O::set_delete, C>);
      add("create_free", 1, Which::kFirst, repeat<O::create_free, C>);
    }
    if constexpr (SetsIfAbsent<C>) {
      add("if_absent", 1, Which::kFirst, repeat<O::if_absent, C>);
      add("if_absent_delete", 0, Which::kFirst, repeat<O::if_absent_delete, C>);
    }
    if constexpr (Dups<C>) add("dup_free_8", 8, Which::kFirst, repeat<O::dup_free, C>);
  }
  return contender;
}

}  // namespace bench

#endif  // BENCH_HARNESS_DESCRIBE_H_
