#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Each `new (memory) T` in lib/ says how the object begins: T() or T{...}. Plain `T;` leaves members without an
# initializer undefined even where the memory was zeroed before, because the compiler may drop the zeroing, and g++ 16
# does. No test run shows it where the compiler does not. Arguments: the sources; none: all of lib/, seen from the root
# of the repository.

set -uo pipefail

if (($# == 0)); then
  mapfile -t files < <(find lib -name '*.h' -o -name '*.hpp' -o -name '*.cc')
else
  files=("$@")
fi
((${#files[@]} > 50)) || { echo "only ${#files[@]} sources?"; exit 1; }

bare='\bnew +\([^()]*(\([^()]*\)[^()]*)*\) *[A-Za-z_][A-Za-z_:<>, ]*;'
for broken in 'return new (memory) Anchor;' 'auto* t = new (std::nothrow) attrcache::Pair<int, T>;' 'x = new (at(0)) T;'; do
  [[ $broken =~ ${bare#'\b'} ]] || { echo "is not found: $broken"; exit 1; }
done
for file in "${files[@]}"; do sed -E "s://.*$::; s:^:$file\: :" "$file"; done | grep -E "$bare" && exit 1
echo "every placement new initializes"
