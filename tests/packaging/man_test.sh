#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Every exported function and every installed tool has a man page. The page has the words of the header
# or of the tool's --help, and man shows it without warnings.

source tests/packaging/lib.sh

python3 tools/man/generate.py "$work/man"
[[ -n $(exported libattrcache.so.1) ]] || fail "nothing is exported"
# Inline functions have pages, too.
inline=$(sed -n 's/^static inline .*\(attrcache_[a-z_]*\)(.*/\1/p' lib/include/attrcache/attrcache.h)
[[ -n $inline ]] || fail "no function is inline"
diff <({ exported libattrcache.so.1 | sed 's/@.*//'; echo "$inline"; } | sort) \
  <(cd "$work/man/man3" && ls -- *.3 | sed 's/\.3$//' | sort) || fail "exported (<) and described (>) differ"
[[ -f $work/man/man1/attrcache-run.1 ]] || fail "the launcher has no page"

plain=(--no-hyphenation --no-justification) # as by default in newer groffs
shown() {
  MANWIDTH=100 LC_ALL=C.UTF-8 man "${plain[@]}" -M "$work/man" "$@" | col -bx
}
# As man shows them with --warnings, in one run.
groff -k -t -mandoc -wmac -Tutf8 "$work"/man/man?/* 2>"$work/complaints" >"$work/shown"
[[ ! -s $work/complaints ]] || fail "$(cat "$work/complaints")"
for title in NAME SYNOPSIS DESCRIPTION; do
  lacking=$(grep -L "^\.SH $title\$" "$work"/man/man?/*) || true
  [[ -z $lacking ]] || fail "no $title in $lacking"
done
lacking=$(grep -L '^attrcache_[a-z_]* \\- .' "$work"/man/man3/*) || true
[[ -z $lacking ]] || fail "no description in $lacking"
lacking=$(grep -l 'Errors:' "$work"/man/man3/* | xargs grep -L '^\.SH ERRORS') || true
[[ -z $lacking ]] || fail "no list of errors in $lacking"

# Each word of the header's comment is on the page, because the page is made from it.
words() { tr -cs "A-Za-z_'" '\n' | tr 'A-Z' 'a-z' | LC_ALL=C sort -u; }
MANWIDTH=1000 LC_ALL=C.UTF-8 man "${plain[@]}" -M "$work/man" 3 attrcache_get | col -bx | words >"$work/page"
sed -n '/^\/\* Reads an attribute as C does/,/\*\//p' lib/include/attrcache/attrcache.h | sed 's/\[.*//' |
  words >"$work/header"
(($(wc -l <"$work/header") > 30)) || fail "the comment on attrcache_get was not found"
missing=$(LC_ALL=C comm -23 "$work/header" "$work/page")
[[ -z $missing ]] || fail "man attrcache_get lacks: $missing"
grep -q ATTRCACHE_ERR_KEYVAL_STALE <(shown 3 attrcache_get) || fail "its errors are not listed"
[[ $(shown 7 attrcache | grep -c 'Success\.') == 1 ]] || fail "attrcache(7): exactly one result must be Success"
shown 1 attrcache-run >"$work/run"
for title in OPTIONS "EXIT STATUS" ENVIRONMENT FILES EXAMPLES; do
  grep -qx "$title" "$work/run" || fail "attrcache-run(1) has no $title"
done
[[ $(shown 1 attrcache-check-mpi) == *"EXIT STATUS"*"EXAMPLES"* ]] || fail "attrcache-check-mpi(1) lacks sections"
# Each word of --help is on its page, and each kind of misuse.
missing=$(LC_ALL=C comm -23 <(tools/attrcache-run --help | words) <(MANWIDTH=1000 shown 1 attrcache-run | words))
[[ -z $(grep -vx "or\|usage" <<<"$missing") ]] || fail "man attrcache-run lacks: $missing"
shown 7 attrcache-misuse >"$work/misuse"
while read -r sort; do
  grep -q "^ *$sort\$" "$work/misuse" || fail "attrcache-misuse(7) lacks $sort"
done < <(sed -n 's/^ATTRCACHE_MISUSE(\w*, "\([a-z0-9-]*\)".*/\1/p' lib/mpi/native/misuse.def)
[[ $(tools/attrcache-run --version) == "attrcache-run (attrcache) $(tools/version)" ]] || fail "attrcache-run --version"
echo "passed"
