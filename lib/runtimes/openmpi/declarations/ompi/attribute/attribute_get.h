/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "../../../attribute_get.h" /* the adapter's own */
