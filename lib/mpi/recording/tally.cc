// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/recording/tally.h"

#include <limits.h>
#include <pthread.h>

#include <cstdlib>
#include <mutex>

namespace attrcache::mpi::report {

thread_local constinit Tally this_tally{};

namespace {

// A thread that is alive.
struct Watched {
  Tally* tally = nullptr;
  Watched* next = nullptr;
  Watched* previous = nullptr;
  int rounds = 0;
};

thread_local constinit Watched me;

// Guards the list of threads and the sum of those that have ended.
constinit std::mutex lock;
constinit Watched* threads = nullptr;
constinit Tally ended{};

void add(Atomic<uint64_t>& to, const Atomic<uint64_t>& from) {
  to.store(to.load(kRelaxed) + from.load(kRelaxed), kRelaxed);
}

void hand_over() {
  const std::lock_guard held(lock);
  for (int kind = 0; kind < kMpiKinds; ++kind) {
    for (uint32_t i = 0; i < kCountedIndices; ++i) {
      add(ended.gets[kind][i].found, me.tally->gets[kind][i].found);
      add(ended.gets[kind][i].absent, me.tally->gets[kind][i].absent);
    }
  }
  (me.previous != nullptr ? me.previous->next : threads) = me.next;
  if (me.next != nullptr) me.next->previous = me.previous;
}

pthread_key_t key;

// Runs when a thread ends. The destructors of other thread-specific data may still read attributes,
// so this asks to be run again, until the last round.
void thread_ends(void* self) {
  if (++me.rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(key, self);
  } else {
    hand_over();
  }
}

// Runs in the child after a fork, which has one thread.
void after_fork() {
  threads = me.tally != nullptr ? &me : nullptr;
  me.next = me.previous = nullptr;
  lock.unlock();
}

bool make_key() {
  pthread_atfork([] { lock.lock(); }, [] { lock.unlock(); }, after_fork);
  return pthread_key_create(&key, thread_ends) == 0;
}

}  // namespace

void watch_this_thread() {
  static const bool made = make_key();
  if (me.tally != nullptr) return;
  me.tally = &this_tally;
  {
    const std::lock_guard held(lock);
    me.next = threads;
    if (threads != nullptr) threads->previous = &me;
    threads = &me;
  }
  if (made) pthread_setspecific(key, &me);
}

void uncount_absent(int kind, int keyval) {
  Atomic<uint64_t>& absent = this_tally.gets[kind][id::index(static_cast<uint32_t>(keyval))].absent;
  absent.store(absent.load(kRelaxed) - 1, kRelaxed);
}

Sum sum_of(int kind, uint32_t index) {
  const std::lock_guard held(lock);
  Sum sum = {ended.gets[kind][index].found.load(kRelaxed),
             ended.gets[kind][index].absent.load(kRelaxed)};
  for (const Watched* t = threads; t != nullptr; t = t->next) {
    sum.found += t->tally->gets[kind][index].found.load(kRelaxed);
    sum.absent += t->tally->gets[kind][index].absent.load(kRelaxed);
  }
  return sum;
}

}  // namespace attrcache::mpi::report
