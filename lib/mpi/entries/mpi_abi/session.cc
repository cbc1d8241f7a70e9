// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/entries/session.h"
