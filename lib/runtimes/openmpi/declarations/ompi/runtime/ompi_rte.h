/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#pragma once
#include <stdint.h>

typedef struct opal_process_info_t {
  uint32_t app_num;
  uint32_t univ_size;
} opal_process_info_t;
extern opal_process_info_t opal_process_info;
#define ompi_process_info opal_process_info
