#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tools/docs makes a site of the present sources, without a warning; the site and the documents have no dead link; its
# search finds functions, guarantees and the words of guides.

source tests/packaging/lib.sh

expect "usage: tools/docs FOLDER" tools/docs --help
! tools/docs >"$work/log" 2>&1 || fail "tools/docs without a folder succeeded"
root=$(dirname -- "$(dirname -- "$(readlink -f -- tools/docs)")") # with the files that documents link to
"$root/tools/docs" "$work/site" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
/usr/bin/python3 -B - "$root/tools/docs" "$work/site" <<'TEXT' >"$work/log" || fail "$(cat "$work/log")"
import html, importlib.machinery, pathlib, re, sys, urllib.parse

site = pathlib.Path(sys.argv[2])
pages = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
links, dead = 0, []
for page, text in pages.items():
    for found in re.findall(r'(?:href|src)="([^"]*)"', text):
        there = urllib.parse.urlsplit(html.unescape(found))
        if there.scheme or there.netloc:
            continue
        links += 1
        target = (page.parent / urllib.parse.unquote(there.path)).resolve() if there.path else page
        names = pages.get(target, "")
        if not target.exists() or there.fragment and target in pages and 'id="%s"' % there.fragment not in names:
            dead.append("%s: %s" % (page.relative_to(site), found))
print("\n".join(dead) or "%d pages, %d links" % (len(pages), links))
index = (site / "searchindex.js").read_text(encoding="utf-8").lower()
lacking = [word for word in ("attrcache_give_back", "keyval", "borrow", "slurm", "mutant") if word not in index]
print("not in the search:", lacking)
docs = importlib.machinery.SourceFileLoader("docs", sys.argv[1]).load_module()
docs.linked("[a](nowhere.c), [b](README.md)", "README.md", {"README.md"})
sys.exit(bool(dead or lacking) or len(pages) < 25 or links < 1000 or docs.dead != ["README.md: nowhere.c"])
TEXT
echo "passed: $(head -n 1 "$work/log")"
