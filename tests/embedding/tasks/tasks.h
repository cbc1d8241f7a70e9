// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Attributes on oneTBB's task arenas and task groups. To use them in a program of your own, copy
// this file.
//
//   tasks::TaskArena arena(4);                        // a tbb::task_arena with attributes
//   keyval.set(arena, ...);                           // a library caches something on it
//   arena.execute([&] {
//     tasks::TaskGroup group;                         // inherits the arena's attributes
//     group.run([&] {
//       keyval.get(*tasks::Scope::current());         // the group's attribute
//       tasks::TaskGroup inner;                       // inherits the outer group's attributes
//       ...
//     });
//     group.wait();
//   });                                               // a group that ends deletes its attributes
//
// Arenas and groups are one kind of object, the scope, so that one keyval serves both. A new scope
// gets what the copy callbacks of its parent's attributes return. Its parent is the scope that the
// calling thread is in when it creates the new one.
//
// One rule: don't call tbb::task::suspend() in a task. The task may go on in another thread, and
// the scope that a thread is in is kept with the thread. (You may wait for tasks while you hold a
// borrow. Your thread may then run a task that replaces the value, which is deleted when you give
// it back.)

#ifndef ATTRCACHE_TESTS_EMBEDDING_TASKS_TASKS_H_
#define ATTRCACHE_TESTS_EMBEDDING_TASKS_TASKS_H_

#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <stdexcept>
#include <utility>

#include "attrcache/attrcache.hpp"

namespace tasks {

// Thrown if a new scope can't get its parent's attributes: a copy callback refused, or memory ran
// out.
class InheritanceError : public std::runtime_error {
 public:
  explicit InheritanceError(attrcache::Outcome outcome)
      : std::runtime_error(attrcache::describe(outcome.status)), outcome(outcome) {}
  const attrcache::Outcome outcome;
};

// What attributes are attached to: the part that arenas and groups have in common.
class Scope {
 public:
  // The scope that the calling thread is in, or null: outside of all arenas and groups.
  static Scope* current() { return current_; }

  // All scopes of the process are of this kind. Libraries make their keyvals of it.
  static attrcache::Kind<Scope> kind() {
    static const auto kind = *domain().add_kind<Scope>("task scope");
    return kind;
  }
  static attrcache::Domain& domain() {
    static auto domain = *attrcache::Domain::create();
    return domain;
  }

  // A function that runs `body` in this scope, wherever it is called: for oneTBB's algorithms, say,
  // whose bodies run in threads that otherwise are in no scope or in another one. Must not be
  // called after the scope has ended.
  template <typename Body>
  auto bind(Body body) {
    return [this, body = std::move(body)](auto&&... arguments) -> decltype(auto) {
      const Entry entry(*this);
      return body(std::forward<decltype(arguments)>(arguments)...);
    };
  }

  // All that attrcache needs in an object. Zeroed memory is an empty table.
  attrcache_table attributes = {};

 protected:
  explicit Scope(Scope* parent) {
    if (parent == nullptr) return;
    if (const auto outcome = kind().copy_all(*parent, *this); !outcome) {
      throw InheritanceError(outcome);  // nothing is attached to this scope then
    }
  }
  // Nobody else uses the scope any more: the arena or group around it has waited for its tasks.
  // The codes of failing callbacks are dropped, because a destructor can't report them.
  ~Scope() { static_cast<void>(kind().drain_finally(*this)); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  // A guard: while it lives, the calling thread is in a scope; then it is back in the previous one.
  // Guards nest on the thread's stack, like the tasks that a waiting thread runs in between.
  class Entry {
   public:
    explicit Entry(Scope& scope) : outer_(std::exchange(current_, &scope)) {}
    ~Entry() { current_ = outer_; }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    Scope* const outer_;
  };

  static inline thread_local Scope* current_ = nullptr;
};

template <typename T>
using Keyval = attrcache::Keyval<T, Scope>;

// A tbb::task_arena with attributes.
class TaskArena : public Scope {
 public:
  explicit TaskArena(int max_concurrency = tbb::task_arena::automatic)
      : Scope(current()), arena_(max_concurrency) {}

  // Runs `body` in the arena and in its scope, and returns what it returns.
  template <typename Body>
  auto execute(Body body) {
    return arena_.execute(bind(std::move(body)));
  }

 private:
  tbb::task_arena arena_;
};

// A tbb::task_group with attributes.
class TaskGroup : public Scope {
 public:
  TaskGroup() : Scope(current()) {}

  // A group that ends without a wait, because of an exception say, is cancelled first: tasks that
  // haven't begun never will. So no task of the group is left when its attributes are deleted.
  ~TaskGroup() {
    group_.cancel();
    try {
      group_.wait();
    } catch (...) {  // a task's exception; to see it, call wait() first
    }
  }

  // Starts a task, whose scope is this group.
  template <typename Body>
  void run(Body body) {
    group_.run(bind(std::move(body)));
  }
  // Waits for all tasks of the group, and throws what one of them has thrown.
  tbb::task_group_status wait() { return group_.wait(); }
  void cancel() { group_.cancel(); }

 private:
  tbb::task_group group_;
};

}  // namespace tasks

#endif  // ATTRCACHE_TESTS_EMBEDDING_TASKS_TASKS_H_
