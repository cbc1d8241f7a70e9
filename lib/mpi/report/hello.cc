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

// Adds a line to the head of a message. One that would make it too long is left out.
void add(std::string& head, const char* name, const std::string& value) {
  const std::string line = std::string(name) + " " + value + "\n";
  if (head.size() + line.size() < 4096) head += line;
}

// The head of a message with that many bytes, without the token.
std::string head_of(size_t size) {
  const Identity& i = identity();
  std::string head;
  add(head, "host", i.host);
  add(head, "pid", std::to_string(getpid()));
  add(head, "asked", std::to_string(process_moment()));
  if (i.size > 0) {
    add(head, "rank", std::to_string(i.rank));
    add(head, "size", std::to_string(i.size));
  }
  if (i.parent) add(head, "spawned", "1");
  add(head, "world", world_name());
  const char* nodes = std::getenv("SLURM_STEP_NODELIST");
  if (nodes != nullptr) add(head, "nodes", nodes);
  add(head, "length", std::to_string(size));
  return head;
}

bool send(const char* what, const std::string& head, const void* bytes, size_t size) {
  const bool sent = channel::send(what, head.c_str(), bytes, size);
  if (!sent && is_wanted("ATTRCACHE_VERBOSE")) {
    std::fprintf(stderr, "attrcache[%d]: can't reach the launcher from %s\n", getpid(),
                 identity().host);
  }
  return sent;
}

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
  std::string head = head_of(0);
  add(head, "mpi", behaviour().name);
  if (declined != nullptr) add(head, "declined", declined);
  const std::string left = declined == nullptr ? left_to_mpi() : "";
  if (!left.empty()) add(head, "left", left);
  send("hello", head, nullptr, 0);
}

bool tell_launcher(const char* what, const void* bytes, size_t size) {
  return channel::exists() && send(what, head_of(size), bytes, size);
}

}  // namespace attrcache::mpi
