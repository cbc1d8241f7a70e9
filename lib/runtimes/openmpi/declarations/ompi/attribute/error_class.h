/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "../../../../error_class.h" /* the adapter's own */
