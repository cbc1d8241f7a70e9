/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The Fortran bindings say of a keyval that they have just made that its functions are Fortran.
 */
#include "mpi_fortimpl.h"

void MPII_Keyval_set_f90_proxy(int keyval) { MPII_Keyval_set_fortran90(keyval); }

void MPII_Keyval_set_f77_proxy(int keyval) { MPII_Keyval_set_fortran(keyval); }
