// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <attrcache/attrcache.hpp>

int main() { return attrcache::Domain::create() ? 0 : 1; }
