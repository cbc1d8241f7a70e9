/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the adapter needs of Open MPI's internal headers, in our own words: just enough to compile
 * it, and to run it under adapter_test, without Open MPI. In Open MPI's own tree none of this
 * folder is there.
 */
#ifndef STANDS_IN_FOR_OMPI_CONFIG_H
#define STANDS_IN_FOR_OMPI_CONFIG_H

#define BEGIN_C_DECLS
#define END_C_DECLS
#define OMPI_DECLSPEC
#define OPAL_ENABLE_FT_MPI 1
#define SIZEOF_INT 4
#define OMPI_SIZEOF_FORTRAN_INTEGER 4

typedef int ompi_fortran_logical_t;

#endif
