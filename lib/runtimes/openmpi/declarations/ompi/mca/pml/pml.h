/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#pragma once
typedef struct mca_pml_base_module_t {
  int pml_max_tag;
} mca_pml_base_module_t;
extern mca_pml_base_module_t mca_pml;
