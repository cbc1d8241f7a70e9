/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "../../../attribute.h" /* the adapter's own */
