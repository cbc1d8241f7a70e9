// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// When counting begins, and when a rank hands over what it has counted (document.h).
//
//   ATTRCACHE_REPORT        counts, and leaves the document in this folder
//   ATTRCACHE_TRACE         not empty: the document has a trace, too
//   ATTRCACHE_TRACE_SLOW    from how many microseconds on an operation is in the trace; default 10
//   ATTRCACHE_TRACE_EVENTS  how many events are kept per rank; default 50000, or fewer if there are
//                           many ranks, so that all together keep 500000
//
// Counting begins when MPI_Init has returned (entries/init.cc), or with the first keyval if that
// comes earlier. It ends in MPI_Finalize, which first of all deletes the attributes of
// MPI_COMM_SELF in the reverse order of setting. The last of them is the report's, so the program's
// own callbacks on MPI_COMM_SELF have run by then. A process that never gets there hands over when
// it exits, without MPI; one that calls MPI_Abort, or that SIGTERM ends, does so then, and its
// document is marked as partial. One that is killed leaves what it has kept (handover/kept.h). No
// rank waits for another one.

#ifndef ATTRCACHE_MPI_REPORT_LIFE_H_
#define ATTRCACHE_MPI_REPORT_LIFE_H_

#include "mpi/native/facts.h"

namespace attrcache::mpi::report {

// Whether the environment asks for a report.
bool wanted();

// Call this when the process begins to be served, and again when MPI_Init has returned.
// `code_at_finalize` gives what the report's delete callback must return.
void begin(int (*code_at_finalize)(MPI_Comm));

// Hands over what has been counted so far, marked as partial, unless all was handed over already.
// Nothing is handed over after that. Any thread may call it; a signal handler may not.
void hand_over_at_abort();

}  // namespace attrcache::mpi::report

#endif  // ATTRCACHE_MPI_REPORT_LIFE_H_
