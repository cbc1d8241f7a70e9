// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/report/life.h"

#include <unistd.h>

#include <cinttypes>
#include <climits>
#include <cstdio>
#include <mutex>

#include "mpi/native/native.h"
#include "mpi/recording/clock.h"
#include "mpi/recording/probe.h"
#include "mpi/recording/trace.h"
#include "mpi/report/calls.h"
#include "mpi/report/gather.h"
#include "mpi/report/output.h"
#include "mpi/report/settings.h"
#include "mpi/report/wire.h"
#include "mpi/serving/anchor_callbacks.h"
#include "mpi/watching/misuse.h"

namespace attrcache::mpi::report {
namespace {

constinit std::mutex lock;  // serializes probe::begun()
constinit bool begun = false;
constinit bool watching_self = false;
constinit pid_t process = 0;
constinit uint64_t started = 0;
constinit Atomic<bool> reported{false};
constinit int rank = 0;
constinit int ranks = 1;

// Whether a report may be written: once only, and not in a child of fork.
bool may_report() { return begun && process == getpid() && !reported.exchange(true, kRelaxed); }

Part collect_part(bool in_finalize) {
  Part part = {collect(in_finalize), collect_timeline()};
  part.summary.rank = rank;
  part.summary.finalized = in_finalize;
  return part;
}

// Packs a part for gather(). If it is too large for that, the last moments of its timeline are
// dropped.
std::string pack_to_fit(Part& part) {
  const size_t most = static_cast<size_t>(INT_MAX / ranks);
  std::string bytes = pack(part);
  while (bytes.size() > most && !part.timeline.moments.empty()) {
    const size_t keep = part.timeline.moments.size() / 2;
    part.timeline.dropped += part.timeline.moments.size() - keep;
    part.timeline.moments.resize(keep);
    bytes = pack(part);
  }
  return bytes;
}

int report_together(MPI_Comm self, int, void*, void*) {
  const int code = code_at_finalize(self);
  if (!may_report()) return code;
  Part mine = collect_part(true);
  std::vector<Part> parts;
  for (const std::string& bytes : gather(pack_to_fit(mine), rank, ranks, settings().wait)) {
    Part part;
    if (unpack(bytes, &part)) parts.push_back(std::move(part));
  }
  if (rank == 0) write_all(parts, ranks, settings(), "");
  return code;
}

// Writes this process's own report when it exits. It calls nothing of MPI's, which may be in any
// state.
[[gnu::destructor]] void report_alone() {
  if (!may_report()) return;
  char suffix[32] = "";
  if (ranks > 1) std::snprintf(suffix, sizeof suffix, ".rank%d", rank);
  if (!watching_self) std::snprintf(suffix, sizeof suffix, ".process%d", process);
  write_all({collect_part(false)}, ranks, settings(), suffix);
}

int copy_nothing(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

// Attaches the report's attribute to MPI_COMM_SELF. This happens before the program can attach
// anything there, so it is deleted last.
bool watch_self() {
  if (!initialized() || finalized()) return false;  // a program that uses MPI sessions alone
  const MpiCalls& mpi = calls();
  int keyval;
  return mpi.comm_rank(native().world, &rank) == MPI_SUCCESS &&
         mpi.comm_size(native().world, &ranks) == MPI_SUCCESS &&
         native().comm.create_keyval(copy_nothing, report_together, &keyval, nullptr) ==
             MPI_SUCCESS &&
         native().comm.set_attr(native().self, keyval, nullptr) == MPI_SUCCESS;
}

}  // namespace

// Called when the process begins to be served, and again when MPI_Init has returned. A later call
// does no more than attach the report's attribute to MPI_COMM_SELF, if that wasn't possible before.
void begin() {
  const std::lock_guard held(lock);
  if (!settings().any()) return;
  if (!watching_self) watching_self = watch_self();
  if (begun) return;
  begun = true;
  process = getpid();
  started = now();
  record_misuse();
  if (!settings().trace.empty()) start_tracing(settings().events_of(ranks), settings().slow);
}

uint64_t since_begin() { return now() - started; }

}  // namespace attrcache::mpi::report

namespace attrcache::mpi {
void probe::begun(const Process&) { report::begin(); }
}  // namespace attrcache::mpi
