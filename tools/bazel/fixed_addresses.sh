#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs a command without address space randomization where that is allowed, else as it is.

if setarch -R true 2>/dev/null; then
  exec setarch -R "$@"
fi
exec "$@"
