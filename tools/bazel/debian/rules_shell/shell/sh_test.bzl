# SPDX-License-Identifier: Apache-2.0 OR MIT

sh_test = native.sh_test
