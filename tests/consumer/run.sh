#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Builds and runs the module in this folder, as attrcache's users do: with none of attrcache's own settings. Arguments are
# more options of Bazel. Status 77: this Bazel has no modules.

set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
if ! bazel --nohome_rc help mod >/dev/null 2>&1; then
  echo "left out: this Bazel has no modules"
  exit 77
fi
options=()
if [[ -e ../../debian.bazelrc ]]; then # tools/setup: Debian's Bazel, which downloads nothing
  root=$(cd ../.. && pwd)
  # Not the overrides of attrcache's dev dependencies, which aren't there.
  readarray -t options < <(sed -n "s|%workspace%|$root|; /--registry=\|\/absent\//s/^common:debian //p" ../../.bazelrc)
  options+=(--noenable_workspace) # Bazel 7 would download what its own WORKSPACE names
fi
scratch=$(mktemp -d)
trap 'chmod -R u+w "$scratch" && rm -rf "$scratch"' EXIT
bazel --nohome_rc --batch --output_user_root="$scratch" test --lockfile_mode=off --symlink_prefix=/ --test_output=errors \
  ${options[@]+"${options[@]}"} "$@" //...
