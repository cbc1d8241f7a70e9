// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/report/hello.h"

#include <time.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "mpi/handover/channel.h"
#include "mpi/handover/folder.h"
#include "mpi/native/native.h"
#include "mpi/objects/process.h"

namespace attrcache::mpi {
namespace {

constinit std::mutex lock;  // serializes asking for the rank
constinit Identity self = {};
constinit Atomic<bool> introduced{false};

// What names a job in the environment, the same for all of its ranks, so that the worlds of one
// command can be distinguished. SLURM_STEP_ID is no such name: launchers start the ranks on their
// own host by themselves, and the others in a step of Slurm's.
constexpr const char* kJobNames[] = {"PMIX_NAMESPACE", "PMI_JOBID", "PALS_APID", "ALPS_APP_ID",
                                     "FLUX_JOB_ID"};

// Hydra gives its jobs no name there. The arguments of its proxy, which has started this process,
// perhaps by way of others, say where its mpiexec listens.
std::string hydra_name() {
  char* word = nullptr;
  size_t size = 0;
  std::string name;
  for (long process = getppid(); process > 1 && name.empty();) {
    const std::string folder = "/proc/" + std::to_string(process);
    if (std::FILE* command = std::fopen((folder + "/cmdline").c_str(), "re")) {
      for (bool is_next = false; getdelim(&word, &size, '\0', command) > 0;) {
        if (is_next) name = word;
        is_next = std::strcmp(word, "--control-port") == 0;
      }
      std::fclose(command);
    }
    process = 0;
    if (std::FILE* stat = std::fopen((folder + "/stat").c_str(), "re")) {
      // PID (NAME) STATE PARENT ...
      const bool is_read = getdelim(&word, &size, '\0', stat) > 0;
      const char* end = is_read ? std::strrchr(word, ')') : nullptr;
      if (end != nullptr) std::from_chars(end + 4, end + std::strlen(end), process);
      std::fclose(stat);
    }
  }
  std::free(word);
  return name;
}

void ask(Identity& i) {
  if (gethostname(i.host, sizeof i.host) != 0) std::strcpy(i.host, "?");
  i.host[sizeof i.host - 1] = '\0';
  i.rank = -1;
  if (!initialized() || finalized()) return;
  int (*rank)(MPI_Comm, int*);
  int (*size)(MPI_Comm, int*);
  int (*get_parent)(MPI_Comm*);
  resolve(rank, "PMPI_Comm_rank");
  resolve(size, "PMPI_Comm_size");
  resolve(get_parent, "PMPI_Comm_get_parent");
  MPI_Comm parent;
  if (rank(native().world, &i.rank) != MPI_SUCCESS ||
      size(native().world, &i.size) != MPI_SUCCESS) {
    i.rank = -1;
    i.size = 0;
  }
  if (get_parent(&parent) == MPI_SUCCESS) i.parent = parent != native().null_comm;
}

// The head of a message, without the token.
class Head {
 public:
  Head(const char* what, size_t size) {
    const Identity& i = identity();
    add("host", i.host);
    add("pid", static_cast<long>(getpid()));
    add("asked", static_cast<long>(process_moment()));
    if (i.size > 0) {
      add("rank", i.rank);
      add("size", i.size);
    }
    if (i.parent) add("spawned", 1L);
    add("world", world_name().c_str());
    const char* nodes = std::getenv("SLURM_STEP_NODELIST");
    if (nodes != nullptr) add("nodes", nodes);
    add("length", static_cast<long>(size));
    what_ = what;
  }
  void add(const char* name, long value) {
    char text[32];
    std::snprintf(text, sizeof text, "%ld", value);
    add(name, text);
  }
  void add(const char* name, const char* value) {
    const size_t left = sizeof lines_ - length_;
    const int written = std::snprintf(lines_ + length_, left, "%s %s\n", name, value);
    if (written > 0 && static_cast<size_t>(written) < left) length_ += static_cast<size_t>(written);
  }
  bool send(const void* bytes, size_t size) const {
    const bool sent = channel::send(what_, lines_, bytes, size);
    if (!sent && wants_words()) {
      std::fprintf(stderr, "attrcache[%d]: can't reach the launcher from %s\n", getpid(),
                   identity().host);
    }
    return sent;
  }

 private:
  const char* what_;
  char lines_[4096] = "";
  size_t length_ = 0;
};

}  // namespace

const Identity& identity() {
  const std::lock_guard held(lock);
  if (self.size == 0) ask(self);
  return self;
}

const std::string& world_name() {
  // Never destroyed, because a process hands over at its end, too.
  static const std::string& name = *new std::string([] {
    std::string world = std::getenv("PMI_RANK") != nullptr ? hydra_name() : "";
    for (const char* variable : kJobNames) {
      const char* value = std::getenv(variable);
      if (value != nullptr) world += std::string(value) + "/";
    }
    return world;
  }());
  return name;
}

void introduce(const char* declined, std::string (*left_to_mpi)()) {
  if (!channel::exists() || introduced.exchange(true, kRelaxed)) return;
  Head head("hello", 0);
  head.add("mpi", behaviour().name);
  if (declined != nullptr) head.add("declined", declined);
  const std::string left = declined == nullptr ? left_to_mpi() : "";
  if (!left.empty()) head.add("left", left.c_str());
  head.send(nullptr, 0);
}

bool tell_launcher(const char* what, const void* bytes, size_t size) {
  if (!channel::exists()) return false;
  Head head(what, size);
  return head.send(bytes, size);
}

}  // namespace attrcache::mpi
