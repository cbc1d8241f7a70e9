/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "../../../../proposed.h" /* the adapter's own */
