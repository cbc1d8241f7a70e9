/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#pragma once
#include "opal/class/opal_hash_table.h"
extern opal_hash_table_t ompi_mpi_f90_integer_hashtable, ompi_mpi_f90_real_hashtable,
    ompi_mpi_f90_complex_hashtable;
