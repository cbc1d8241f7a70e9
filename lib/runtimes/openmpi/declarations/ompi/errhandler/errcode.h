/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#pragma once
extern int ompi_mpi_errcode_lastused;
