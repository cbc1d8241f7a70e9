/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#pragma once
#include <stdbool.h>
extern bool ompi_ftmpi_enabled;
