// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/report/gather.h"

#include <sched.h>
#include <time.h>

#include <cstdio>

#include "mpi/native/native.h"
#include "mpi/recording/clock.h"
#include "mpi/report/calls.h"

namespace attrcache::mpi::report {
namespace {

// After this time rank 0 says what it waits for (nanoseconds).
constexpr uint64_t kPatience = 5'000'000'000;

class Deadline {
 public:
  Deadline(double seconds, bool speaks)
      : start_(now()), limit_(static_cast<uint64_t>(seconds * 1e9)), speaks_(speaks) {}

  // Waits until the request is done or the time is over. Returns whether it is done.
  bool wait(MPI_Request& request) {
    for (;;) {
      int flag = 0;
      if (calls().test(&request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
      if (flag != 0) return true;
      const uint64_t waited = now() - start_;
      if (waited > limit_) return false;
      if (waited > kPatience && speaks_) {
        std::fprintf(
            stderr,
            "attrcache: the report waits for the other ranks to finalize MPI (at most %.0f "
            "s; ATTRCACHE_REPORT_WAIT)\n",
            static_cast<double>(limit_) / 1e9);
        speaks_ = false;
      }
      if (waited < 1'000'000) {
        sched_yield();
      } else {
        const timespec nap = {0, 100'000};
        nanosleep(&nap, nullptr);
      }
    }
  }

 private:
  const uint64_t start_;
  const uint64_t limit_;
  bool speaks_;
};

// The memory that MPI reads and writes. If a rank never comes, MPI may go on using it, so it is
// never freed then.
struct Buffers {
  int size;
  std::string mine;
  std::vector<int> sizes;
  std::vector<int> starts;
  std::string all;
};

}  // namespace

std::vector<std::string> gather(const std::string& mine, int rank, int ranks, double seconds) {
  std::vector<std::string> parts;
  if (ranks == 1) return {mine};
  auto* b = new Buffers{static_cast<int>(mine.size()), mine, {}, {}, {}};
  const auto only_mine = [&]() -> std::vector<std::string> {
    return rank == 0 ? std::vector<std::string>{mine} : std::vector<std::string>{};
  };
  Deadline deadline(seconds, rank == 0);
  MPI_Request request;
  const MpiCalls& mpi = calls();
  const MPI_Comm world = native().world;
  if (rank == 0) {
    b->sizes.resize(static_cast<size_t>(ranks));
    b->starts.resize(static_cast<size_t>(ranks));
  }
  if (mpi.igather(&b->size, sizeof(int), native().byte, b->sizes.data(), sizeof(int), native().byte,
                  0, world, &request) != MPI_SUCCESS ||
      !deadline.wait(request)) {
    return only_mine();
  }
  if (rank == 0) {
    int total = 0;
    for (int r = 0; r < ranks; ++r) {
      b->starts[static_cast<size_t>(r)] = total;
      total += b->sizes[static_cast<size_t>(r)];
    }
    b->all.resize(static_cast<size_t>(total));
  }
  if (mpi.igatherv(b->mine.data(), b->size, native().byte, b->all.data(), b->sizes.data(),
                   b->starts.data(), native().byte, 0, world, &request) != MPI_SUCCESS ||
      !deadline.wait(request)) {
    return only_mine();
  }
  for (int r = 0; rank == 0 && r < ranks; ++r) {
    const auto i = static_cast<size_t>(r);
    parts.emplace_back(b->all, static_cast<size_t>(b->starts[i]), static_cast<size_t>(b->sizes[i]));
  }
  delete b;
  return parts;
}

}  // namespace attrcache::mpi::report
