#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Runs a command without address space randomization. Where that isn't allowed, runs it unchanged.

if setarch -R true 2>/dev/null; then
  exec setarch -R "$@"
fi
exec "$@"
