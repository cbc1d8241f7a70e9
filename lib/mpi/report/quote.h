// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef ATTRCACHE_MPI_REPORT_QUOTE_H_
#define ATTRCACHE_MPI_REPORT_QUOTE_H_

#include <string>
#include <string_view>

namespace attrcache::mpi::report {

// Returns what goes between the quotes of a JSON string. Bytes that aren't UTF-8 become question
// marks.
std::string quoted(std::string_view text);

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_REPORT_QUOTE_H_
