#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Rules that no compiler checks in lib/. Arguments: its sources; none: all of them, seen from the root of the repository.
#
# * Atomic accesses are made by lib/platform/atomic.h, and by its neighbours for 16 bytes, so that a model build can put a
#   scheduler behind them.
# * Only lib/platform/memory.h allocates, so that a test can make every allocation fail.
# * Each `new (memory) T` says how the object begins: T() or T{...}. Plain `T;` leaves members without an initializer
#   undefined even where the memory was zeroed before, because the compiler may drop the zeroing, and g++ 16 does. No test
#   shows it if the compiler keeps it.
#
# The first two apply to the core alone, not to the interposers or the C++ headers.

set -uo pipefail

if (($# == 0)); then
  mapfile -t files < <(find lib -name '*.h' -o -name '*.hpp' -o -name '*.cc')
else
  files=("$@")
fi
((${#files[@]} > 50)) || { echo "only ${#files[@]} sources?"; exit 1; }

# FILE:LINE: TEXT, without comments and strings.
code=$(awk '
  FNR == 1 { inside = 0 }
  inside { if (!match($0, "[*]/")) next; $0 = substr($0, RSTART + 2); inside = 0 }
  { gsub("\"[^\"]*\"", "\"\""); sub("//.*", ""); gsub("/[*][^*]*[*]/", "")
    if (match($0, "/[*]")) { $0 = substr($0, 1, RSTART - 1); inside = 1 }
    print FILENAME ":" FNR ": " $0 }' "${files[@]}")
core=$(grep -vE '^[^:]*(lib/(mpi|runtimes)/|\.hpp:)' <<<"$code")

failed=0
none() { # PATTERN FILE-THAT-MAY CODE
  ! grep -E "$1" <<<"$3" | grep -v "^[^:]*$2:" || failed=1
}
none 'std::atomic|<atomic>|std::memory_order|atomic_thread_fence|__sync_' platform/atomic.h "$core"
none '\b(malloc|calloc|realloc|aligned_alloc|posix_memalign|strdup) *\(|\bnew +[A-Za-z_:]|\bnew *\[|\bdelete +[a-z]|std::(vector|string|map|deque|list|unordered_map|function|make_unique|make_shared)\b' platform/memory.h "$core"
bare='\bnew +\([^()]*(\([^()]*\)[^()]*)*\) *[A-Za-z_][A-Za-z_:<>, ]*;'
for broken in 'return new (memory) Anchor;' 'auto* t = new (std::nothrow) attrcache::Pair<int, T>;' 'x = new (at(0)) T;'; do
  grep -qE "$bare" <<<"$broken" || { echo "the pattern misses: $broken"; exit 1; }
done
none "$bare" no-file "$code"

((failed == 0)) && echo "passed"
exit "$failed"
