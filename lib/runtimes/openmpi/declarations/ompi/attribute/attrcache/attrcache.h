/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "attrcache/attrcache.h"
