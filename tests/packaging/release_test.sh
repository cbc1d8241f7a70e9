#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# What tools/release makes of a commit is the same in another clone, under another umask and in another time zone; its
# checksums and signature are right, and the entry for Bazel's registry fits. (tools/release itself checks that the tarballs build and
# pass their tests.)

source tests/packaging/lib.sh
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b.invalid GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b.invalid
export GIT_CONFIG_GLOBAL=/dev/null GNUPGHOME=$work/gpg

mkdir "$work/one" "$GNUPGHOME"
chmod 700 "$GNUPGHOME"
trap 'gpgconf --kill gpg-agent; rm -rf "$work"' EXIT
cp -RL BUILD MODULE.bazel CMakeLists.txt ./*.md LICENSE-* lib tools "$work/one"
git -C "$work/one" init -q
git -C "$work/one" add -A
git -C "$work/one" commit -qm "All of it"
git clone -q "$work/one" "$work/two"
gpg --batch --quiet --passphrase '' --quick-gen-key 'A <a@b.invalid>' default default never 2>"$work/log" || fail "$(cat "$work/log")"
"$work/one/tools/release" --untested --key a@b.invalid --url https://a.invalid/b "$work/first" >"$work/log" || fail "$(cat "$work/log")"
(
  umask 077
  TZ=Asia/Tokyo "$work/two/tools/release" --untested "$work/second" >"$work/log" || fail "$(cat "$work/log")"
)
gpg --quiet --verify "$work/first/SHA256SUMS.asc" 2>"$work/log" || fail "$(cat "$work/log")"
diff "$work/first/SHA256SUMS" "$work/second/SHA256SUMS" || fail "two runs made different files"
(cd "$work/second" && sha256sum --quiet -c SHA256SUMS) || fail "the checksums are wrong"
(($(wc -l <"$work/first/SHA256SUMS") == 4)) || fail "not four files: $(cat "$work/first/SHA256SUMS")"

# The tarball has what was committed, and nothing else.
sources=$(cd "$work/first" && ls -- *.tar.gz | grep -v -e one-file -e documents)
tar xzf "$work/first/$sources" -C "$work"
diff -r --exclude=.git "$work/one" "$work/${sources%.tar.gz}" || fail "committed (<) and packed (>) are not the same"
expect /man3/attrcache_get.3 tar tzf "$work/first/${sources%.tar.gz}-documents.tar.gz"

bill=$work/first/${sources%.tar.gz}.spdx.json
python3 -m json.tool "$bill" >/dev/null || fail "the bill of materials is no JSON"
# The entry for Bazel's registry fits the tarball.
entry=$(echo "$work"/first/modules/attrcache/*)
git -C "$work/${sources%.tar.gz}" apply "$entry/patches/version.patch"
diff "$entry/MODULE.bazel" "$work/${sources%.tar.gz}/MODULE.bazel" || fail "the entry's MODULE.bazel (<) isn't the patched one"
grep -qxF "    version = \"${entry##*/}\"," "$entry/MODULE.bazel" || fail "no version in $(cat "$entry/MODULE.bazel")"
for made in "$work/first/$sources" "$entry/patches/version.patch"; do
  expect "sha256-$(python3 -c 'import base64, hashlib, sys; print(base64.b64encode(hashlib.sha256(open(sys.argv[1], "rb").read()).digest()).decode())' "$made")" cat "$entry/source.json"
done
expect "\"https://a.invalid/b/$sources\"" cat "$entry/source.json"
echo "passed"
