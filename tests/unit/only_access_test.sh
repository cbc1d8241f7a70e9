#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Atomic accesses are made by lib/platform/atomic.h, and by its neighbours for 16 bytes, so that a model build can put
# a scheduler behind them; and only lib/platform/memory.h allocates, so that a test can make every allocation fail.
# Arguments: the sources; none: all of lib/, seen from the root of the repository.

set -uo pipefail

if (($# == 0)); then
  mapfile -t files < <(find lib -name '*.h' -o -name '*.hpp' -o -name '*.cc')
else
  files=("$@")
fi
((${#files[@]} > 20)) || { echo "only ${#files[@]} sources?"; exit 1; }

failed=0
# Comments are not code.
search() {
  local pattern=$1 door=$2 file
  for file in "${files[@]}"; do
    [[ $file == *"$door" || $file == *.hpp ]] && continue
    if sed -E 's://.*$::; s:/\*.*\*/::; s:^ \*.*::; s:^/\*.*::' "$file" | grep -nE "$pattern" |
      sed "s:^:$file\: :" | grep .; then
      failed=1
    fi
  done
}

search 'std::atomic|<atomic>|std::memory_order|atomic_thread_fence|__sync_' platform/atomic.h
# Placement new, written new (memory), allocates nothing.
search '\b(malloc|calloc|realloc|aligned_alloc|posix_memalign|strdup) *\(|\bnew +[A-Za-z_:]|\bnew *\[|\bdelete +[a-z]|std::(vector|string|map|deque|list|unordered_map|function|make_unique|make_shared)\b' platform/memory.h

((failed == 0)) && echo "only these files do"
exit "$failed"
