/* SPDX-License-Identifier: Apache-2.0 OR MIT */
extern int ompi_instance_count;

/* Each only returns the error; in Open MPI they call the object's error handler, or
 * MPI_COMM_WORLD's. */
#define OMPI_ERRHANDLER_RETURN(ret, object, error, function) \
  do {                                                       \
    if (0 != (ret)) return (void)(object), (error);          \
    return 0;                                                \
  } while (0)
#define OMPI_ERRHANDLER_NOHANDLE_RETURN(ret, error, function) \
  do {                                                        \
    if (0 != (ret)) return (error);                           \
    return 0;                                                 \
  } while (0)
