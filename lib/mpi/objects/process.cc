// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/objects/process.h"

#include <cstdlib>

namespace attrcache::mpi {

constinit Atomic<Process*> process_state{nullptr};
constinit Atomic<uint8_t> attention_state{kNotServing};
constinit Atomic<uint8_t> watch_state{0};
constinit Counts counts;

bool wants_words() {
  const char* wish = std::getenv("ATTRCACHE_VERBOSE");
  return wish != nullptr && *wish != '\0' && *wish != '0';
}

}  // namespace attrcache::mpi
