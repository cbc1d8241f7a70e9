/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#pragma once
#define OPAL_LIKELY(expression) __builtin_expect(!!(expression), 1)
#define OPAL_UNLIKELY(expression) __builtin_expect(!!(expression), 0)
