/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* attrcache's results as error classes of MPI. To be included after attrcache.h and mpi.h. */
#ifndef ATTRCACHE_RUNTIMES_ERROR_CLASS_H_
#define ATTRCACHE_RUNTIMES_ERROR_CLASS_H_

/* `code` is what a failed callback returned. */
static inline int attrcache_error_class(int result, int code) {
  switch (result) {
    case ATTRCACHE_OK:
    case ATTRCACHE_ABSENT:
    case ATTRCACHE_PRESENT:
      return MPI_SUCCESS;
    case ATTRCACHE_ERR_CALLBACK:
      return code == ATTRCACHE_CALLBACK_THREW ? MPI_ERR_OTHER : code;
    case ATTRCACHE_ERR_KEYVAL_INVALID:
    case ATTRCACHE_ERR_KEYVAL_UNKNOWN:
    case ATTRCACHE_ERR_KEYVAL_STALE:
    case ATTRCACHE_ERR_KEYVAL_KIND:
    case ATTRCACHE_ERR_KEYVAL_PREDEFINED:
      return MPI_ERR_KEYVAL;
    case ATTRCACHE_ERR_NULL:
    case ATTRCACHE_ERR_ARGUMENT:
      return MPI_ERR_ARG;
    case ATTRCACHE_ERR_MEMORY:
    case ATTRCACHE_ERR_KEYVALS_EXHAUSTED:
      return MPI_ERR_NO_MEM;
    default:
      return MPI_ERR_OTHER;
  }
}

#endif /* ATTRCACHE_RUNTIMES_ERROR_CLASS_H_ */
