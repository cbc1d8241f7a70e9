// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The same program in C++: its runtime, and g++'s code, are others than C's.

#include "tsan.c"
