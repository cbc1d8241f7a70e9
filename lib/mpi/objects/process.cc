// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/objects/process.h"

#include <cstdlib>

#include "mpi/native/native.h"

namespace attrcache::mpi {

constinit Atomic<Process*> process_state{nullptr};
constinit Atomic<uint8_t> attention_state{kNotServing};
constinit Atomic<uint8_t> watch_state{0};
constinit Counts counts;
constinit Atomic<long> mpi_users{0};

namespace {

bool session_lives() {
  if constexpr (facts::kSeesSessions) {
    return mpi_users.load(kRelaxed) > 0;
  } else {
    static const auto* const count =
        static_cast<const volatile int*>(find_symbol_in_libraries(facts::kSessionCount));
    return count != nullptr && *count > 0;
  }
}

}  // namespace

bool takes_no_calls() { return finalized() && !session_lives(); }

bool wants_words() {
  const char* wish = std::getenv("ATTRCACHE_VERBOSE");
  return wish != nullptr && *wish != '\0' && *wish != '0';
}

}  // namespace attrcache::mpi
