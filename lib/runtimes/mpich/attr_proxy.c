/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The Fortran bindings call these to say that the functions of a new keyval are Fortran.
 */
#include "attrcache/attrcache.h"
#include "mpi_fortimpl.h"

/* After both. */
#include "known_in_fortran.h"

void MPII_Keyval_set_f90_proxy(int keyval) {
  MPII_Keyval_set_fortran(keyval, 0, attrcache_known_in_fortran);
}

void MPII_Keyval_set_f77_proxy(int keyval) {
  MPII_Keyval_set_fortran(keyval, 1, attrcache_known_in_fortran);
}
