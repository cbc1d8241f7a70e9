// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/objects/process.h"

#include <cstdlib>

#include "mpi/native/native.h"

namespace attrcache::mpi {

constinit Atomic<Process*> process_state{nullptr};
constinit Atomic<bool> ending_state{false};
constinit Atomic<uint8_t> watch_state{0};
constinit Counts counts;
constinit Atomic<long> mpi_users{0};

bool session_lives(long besides) {
  if constexpr (facts::kSeesSessions) {
    return mpi_users.load(kRelaxed) > besides;
  } else {
    static const auto* const count =
        static_cast<const volatile int*>(find_symbol_in_libraries(facts::kSessionCount));
    return count != nullptr && *count > besides;
  }
}

bool takes_no_calls() { return finalized() && !session_lives(0); }

bool is_wanted(const char* variable) {
  const char* wish = secure_getenv(variable);
  return wish != nullptr && *wish != '\0' && *wish != '0';
}

}  // namespace attrcache::mpi
