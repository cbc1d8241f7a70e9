/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Prints what a header of the standard ABI says: compiled with lib/mpi/native/mpi_abi/abi.h, and
 * with an MPI's own, it must print the same (field.sh).
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define VALUE(name) printf("%s %jd\n", #name, (intmax_t)(intptr_t)(name))
#define TYPE(name) printf("%s %zu\n", #name, sizeof(name))
/* The compiler compares: the function has this type, or it warns. */
#define FUNCTION(name, ...)                  \
  do {                                       \
    typedef __VA_ARGS__;                     \
    type* const function = (name*)0;         \
    printf("%s %d\n", #name, function != 0); \
  } while (0)
#define DECLARED(name, ...)                                                         \
  do {                                                                              \
    typedef __VA_ARGS__;                                                            \
    printf("%s %d\n", #name, __builtin_types_compatible_p(__typeof__(name), type)); \
  } while (0)

int main(void) {
  TYPE(MPI_Comm);
  TYPE(MPI_Datatype);
  TYPE(MPI_Win);
  TYPE(MPI_Info);
  TYPE(MPI_Errhandler);
  TYPE(MPI_Session);
  TYPE(MPI_Aint);

  VALUE(MPI_COMM_NULL);
  VALUE(MPI_COMM_WORLD);
  VALUE(MPI_COMM_SELF);
  VALUE(MPI_WIN_NULL);
  VALUE(MPI_DATATYPE_NULL);

  VALUE(MPI_SUCCESS);
  VALUE(MPI_ERR_ARG);
  VALUE(MPI_ERR_OTHER);
  VALUE(MPI_ERR_KEYVAL);
  VALUE(MPI_ERR_NO_MEM);
  VALUE(MPI_MAX_OBJECT_NAME);
  VALUE(MPI_MAX_LIBRARY_VERSION_STRING);
  VALUE(MPI_THREAD_SINGLE);
  VALUE(MPI_THREAD_FUNNELED);
  VALUE(MPI_THREAD_SERIALIZED);
  VALUE(MPI_THREAD_MULTIPLE);

  VALUE(MPI_KEYVAL_INVALID);
  VALUE(MPI_TAG_UB);
  VALUE(MPI_IO);
  VALUE(MPI_HOST);
  VALUE(MPI_WTIME_IS_GLOBAL);
  VALUE(MPI_APPNUM);
  VALUE(MPI_LASTUSEDCODE);
  VALUE(MPI_UNIVERSE_SIZE);
  VALUE(MPI_WIN_BASE);
  VALUE(MPI_WIN_DISP_UNIT);
  VALUE(MPI_WIN_SIZE);
  VALUE(MPI_WIN_CREATE_FLAVOR);
  VALUE(MPI_WIN_MODEL);

  VALUE(MPI_COMM_NULL_COPY_FN);
  VALUE(MPI_COMM_DUP_FN);
  VALUE(MPI_COMM_NULL_DELETE_FN);
  VALUE(MPI_TYPE_NULL_COPY_FN);
  VALUE(MPI_TYPE_DUP_FN);
  VALUE(MPI_TYPE_NULL_DELETE_FN);
  VALUE(MPI_WIN_NULL_COPY_FN);
  VALUE(MPI_WIN_DUP_FN);
  VALUE(MPI_WIN_NULL_DELETE_FN);

  FUNCTION(MPI_Comm_copy_attr_function, int type(MPI_Comm, int, void*, void*, void*, int*));
  FUNCTION(MPI_Comm_delete_attr_function, int type(MPI_Comm, int, void*, void*));
  FUNCTION(MPI_Type_copy_attr_function, int type(MPI_Datatype, int, void*, void*, void*, int*));
  FUNCTION(MPI_Type_delete_attr_function, int type(MPI_Datatype, int, void*, void*));
  FUNCTION(MPI_Win_copy_attr_function, int type(MPI_Win, int, void*, void*, void*, int*));
  FUNCTION(MPI_Win_delete_attr_function, int type(MPI_Win, int, void*, void*));

  DECLARED(PMPI_Init, int type(int*, char***));
  DECLARED(PMPI_Init_thread, int type(int*, char***, int, int*));
  DECLARED(PMPI_Session_init, int type(MPI_Info, MPI_Errhandler, MPI_Session*));
  DECLARED(PMPI_Session_finalize, int type(MPI_Session*));
  DECLARED(PMPI_Comm_rank, int type(MPI_Comm, int*));
  DECLARED(PMPI_Comm_size, int type(MPI_Comm, int*));
  DECLARED(PMPI_Abort, int type(MPI_Comm, int));
  return 0;
}
