/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What is proposed for MPI's attributes, as functions for MPI programs in C and C++:
 *
 *   attributes on sessions and files (mpi-forum/mpi-issues #1004), which are never duplicated, so
 *   their keyvals have no copy function;
 *
 *   create_keyval_x, as MPICH has it since 5.1: `destructor` is called once, with extra_state, when
 *   the keyval has been freed and its last attribute is gone. The callbacks get values as they were
 *   set, in any language;
 *
 *   create_keyval_once: the same with destructor semantics (#839). The delete function runs once
 *   for each value, which is gone even if it fails; the call that ran it returns its code all the
 *   same, and a set that returns such a code has attached nothing. (Otherwise a value whose delete
 *   function fails stays attached.)
 *
 *   set_attr_if_absent: attaches `value` in one step if nothing is attached, or if what is attached
 *   is being deleted by another thread or up the stack; *flag says whether it did. If not, the
 *   void* at `present` (which may be null) is what get_attr would give. It calls nothing back. Of
 *   any number of threads that call it at once, exactly one attaches; with get_attr and then
 *   set_attr, two may both find nothing, and the second's set deletes what the first is using.
 *   For keyvals that the program has made; errors as of set_attr.
 *
 * They exist if attrcache serves the program (attrcache-run), or is built into the MPI. They are
 * weak symbols: a program links with any MPI, and tests for a function before calling it:
 *
 *     if (MPIX_Session_create_keyval != NULL) ...
 *
 * Compile the files that do so as position-independent code (-fPIE or -fPIC, the default of most
 * compilers). With -fno-pie the test is decided when the program is linked: it finds only what that
 * MPI has itself, and nothing of attrcache-run's.
 *
 * Include any mpi.h before this header, which needs no library (mpicc -Ilib/include ...). It
 * declares the functions on sessions if the MPI has sessions.
 *
 * The functions are local, as thread-safe as the MPI's, and fail as MPI's own attribute functions
 * do, through the object's error handler. There are no predefined attributes. Deleting an attribute
 * that isn't attached is no error. MPI_Session_finalize, MPI_File_close, and MPI_Finalize for all
 * objects that are left, first delete every attribute, the youngest first. If delete functions
 * fail, the object ends all the same, and the call returns the code of the first. (A session that
 * outlives MPI_Finalize loses its attributes there. It may get new ones.)
 */
#ifndef ATTRCACHE_MPIX_H_
#define ATTRCACHE_MPIX_H_

#ifndef MPI_VERSION
#error "include mpi.h before attrcache/mpix.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define ATTRCACHE_WEAK __attribute__((weak))

typedef void MPIX_Destructor_function(void* extra_state);

#define ATTRCACHE_MPIX(Kind, Object)                                                          \
  int MPIX_##Kind##_create_keyval_x(                                                          \
      MPI_##Kind##_copy_attr_function* copy_fn, MPI_##Kind##_delete_attr_function* delete_fn, \
      MPIX_Destructor_function* destructor, int* keyval, void* extra_state) ATTRCACHE_WEAK;   \
  int MPIX_##Kind##_create_keyval_once(                                                       \
      MPI_##Kind##_copy_attr_function* copy_fn, MPI_##Kind##_delete_attr_function* delete_fn, \
      MPIX_Destructor_function* destructor, int* keyval, void* extra_state) ATTRCACHE_WEAK;   \
  int MPIX_##Kind##_set_attr_if_absent(Object object, int keyval, void* value, void* present, \
                                       int* flag) ATTRCACHE_WEAK;

ATTRCACHE_MPIX(Comm, MPI_Comm)
ATTRCACHE_MPIX(Type, MPI_Datatype)
ATTRCACHE_MPIX(Win, MPI_Win)

/* delete_fn and destructor may be null. `value` of get_attr is the address of a void*. */
#define ATTRCACHE_MPIX_ALONE(Kind)                                                                \
  typedef int MPIX_##Kind##_delete_attr_function(MPI_##Kind object, int keyval, void* value,      \
                                                 void* extra_state);                              \
  int MPIX_##Kind##_create_keyval(MPIX_##Kind##_delete_attr_function* delete_fn, int* keyval,     \
                                  void* extra_state) ATTRCACHE_WEAK;                              \
  int MPIX_##Kind##_create_keyval_x(MPIX_##Kind##_delete_attr_function* delete_fn,                \
                                    MPIX_Destructor_function* destructor, int* keyval,            \
                                    void* extra_state) ATTRCACHE_WEAK;                            \
  int MPIX_##Kind##_create_keyval_once(MPIX_##Kind##_delete_attr_function* delete_fn,             \
                                       MPIX_Destructor_function* destructor, int* keyval,         \
                                       void* extra_state) ATTRCACHE_WEAK;                         \
  int MPIX_##Kind##_free_keyval(int* keyval) ATTRCACHE_WEAK;                                      \
  int MPIX_##Kind##_set_attr(MPI_##Kind object, int keyval, void* value) ATTRCACHE_WEAK;          \
  int MPIX_##Kind##_set_attr_if_absent(MPI_##Kind object, int keyval, void* value, void* present, \
                                       int* flag) ATTRCACHE_WEAK;                                 \
  int MPIX_##Kind##_get_attr(MPI_##Kind object, int keyval, void* value, int* flag)               \
      ATTRCACHE_WEAK;                                                                             \
  int MPIX_##Kind##_delete_attr(MPI_##Kind object, int keyval) ATTRCACHE_WEAK;

ATTRCACHE_MPIX_ALONE(File)
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
ATTRCACHE_MPIX_ALONE(Session)
#endif

#undef ATTRCACHE_MPIX
#undef ATTRCACHE_MPIX_ALONE
#undef ATTRCACHE_WEAK

#ifdef __cplusplus
}
#endif

#endif /* ATTRCACHE_MPIX_H_ */
