// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/report/life.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "mpi/handover/folder.h"
#include "mpi/handover/kept.h"
#include "mpi/native/native.h"
#include "mpi/objects/process.h"
#include "mpi/recording/clock.h"
#include "mpi/recording/trace.h"
#include "mpi/report/document.h"
#include "mpi/report/hello.h"
#include "mpi/watching/misuse.h"

namespace attrcache::mpi::report {
namespace {

constinit std::mutex life_lock;  // of what follows
constinit bool begun = false;
constinit bool watching_self = false;
constinit bool handed_over = false;
constinit pid_t process_id = 0;
constinit uint64_t started = 0;
constinit int rank = 0;
constinit int ranks = 1;
int (*finalize_code)(MPI_Comm) = nullptr;

std::string setting(const char* name) {
  const char* value = secure_getenv(name);
  return value != nullptr ? value : "";
}

// A value that isn't such a number is reported on standard error.
double number(const char* name, double most, double otherwise) {
  const std::string value = setting(name);
  if (value.empty()) return otherwise;
  char* end;
  const double given = std::strtod(value.c_str(), &end);
  if (*end == '\0' && given >= 0 && given <= most) return given;
  std::fprintf(stderr, "attrcache: %s=%s: not a number from 0 to %.0f; taking %.0f\n", name,
               value.c_str(), most, otherwise);
  return otherwise;
}

// How many events this rank keeps. Unless the environment sets it, thousands of ranks keep few
// each, so that one process can hold them all.
size_t most_events() {
  constexpr size_t kOfAllRanks = 500'000;
  const size_t share = kOfAllRanks / static_cast<size_t>(ranks);
  const auto most = static_cast<size_t>(number("ATTRCACHE_TRACE_EVENTS", 1e8, 50'000));
  if (!setting("ATTRCACHE_TRACE_EVENTS").empty() || most < share) return most;
  return share > 0 ? share : 1;
}

void hand_over(bool finalized, bool partial) {
  const std::lock_guard held(life_lock);
  // Once only, and not in a child of fork.
  if (!begun || handed_over || process_id != getpid()) return;
  handed_over = !partial;
  const std::string bytes = document({rank, ranks, now() - started, finalized, partial});
  const std::string folder = report_folder();
  const int error = folder.empty() ? ENOENT : leave_in_folder(folder, "json", bytes);
  const bool to_launcher = setting("ATTRCACHE_REPORT") == "launcher";
  // The launcher may still print where that is, before it is ended itself.
  if (error == 0 && partial && to_launcher) tell_launcher("partial", "1", 1);
  if (error == 0 || (to_launcher && tell_launcher("report", bytes.data(), bytes.size()))) {
    kept::remove();
  } else {
    std::fprintf(stderr,
                 "attrcache[%d]: rank %d on %s can't hand its part of the report over: %s%s%s\n",
                 getpid(), rank, identity().host, folder.c_str(), folder.empty() ? "" : ": ",
                 std::strerror(error));
  }
}

int self_deleted(MPI_Comm self, int, void*, void*) {
  hand_over(true, false);
  return finalize_code(self);
}

// It calls nothing of MPI's, which may be in any state.
[[gnu::destructor]] void process_exits() { hand_over(false, false); }

// Attaches the report's attribute to MPI_COMM_SELF. This happens before the program can attach
// anything there, so it is deleted last.
bool watch_self() {
  if (!initialized() || finalized()) return false;  // a program that uses MPI sessions alone
  const Identity& self = identity();
  if (self.size == 0) return false;
  rank = self.rank;
  ranks = self.size;
  int keyval;
  return native().comm.create_keyval(copy_nothing, self_deleted, &keyval, nullptr) == MPI_SUCCESS &&
         native().comm.set_attr(native().self, keyval, nullptr) == MPI_SUCCESS;
}

// ---- SIGTERM ----

// A document can't be made in a signal handler, so the handler wakes a thread, which makes it and
// ends the process by the same signal.
sem_t terminated;

void on_signal(int) {
  if (getpid() != process_id) {  // a child of fork, which doesn't have the thread
    signal(SIGTERM, SIG_DFL);
    raise(SIGTERM);
    return;
  }
  const int saved = errno;
  sem_post(&terminated);
  errno = saved;
}

void* wait_for_signal(void*) {
  while (sem_wait(&terminated) != 0) {
  }
  hand_over(false, true);
  signal(SIGTERM, SIG_DFL);
  kill(getpid(), SIGTERM);
  return nullptr;
}

// Unless the program has a handler of its own, or sets one later.
void watch_signal() {
  struct sigaction there = {};
  if (sigaction(SIGTERM, nullptr, &there) != 0 || there.sa_handler != SIG_DFL) return;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sem_init(&terminated, 0, 0);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const bool made = pthread_create(&thread, nullptr, wait_for_signal, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!made) return;
  pthread_detach(thread);
  struct sigaction ours = {};
  ours.sa_handler = on_signal;
  ours.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &ours, nullptr);
}

}  // namespace

bool wanted() {
  static const bool is = !setting("ATTRCACHE_REPORT").empty();
  return is;
}

void begin(int (*code_at_finalize)(MPI_Comm)) {
  if (!wanted()) return;
  const std::lock_guard held(life_lock);
  finalize_code = code_at_finalize;
  if (!watching_self) watching_self = watch_self();
  keep_head({rank, ranks, 0, false, true});
  if (begun) return;
  begun = true;
  process_id = getpid();
  started = now();
  record_misuse();
  if (!setting("ATTRCACHE_TRACE").empty()) {
    start_tracing(most_events(),
                  static_cast<uint64_t>(number("ATTRCACHE_TRACE_SLOW", 1e9, 10) * 1000));
  }
  watch_signal();
}

void hand_over_at_abort() {
  hand_over(false, true);
  handed_over = true;  // some MPIs call delete callbacks of MPI_COMM_SELF within MPI_Abort
}

}  // namespace attrcache::mpi::report
