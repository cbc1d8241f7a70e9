# SPDX-License-Identifier: Apache-2.0 OR MIT

sh_binary = native.sh_binary
