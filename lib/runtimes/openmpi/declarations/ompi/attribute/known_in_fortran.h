/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "../../../../known_in_fortran.h" /* the adapter's own */
