// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Ends the build with a message where the library is not known to work. It is included before every
// other header, so that the message comes before any other error.

#ifndef ATTRCACHE_PLATFORM_SUPPORTED_H_
#define ATTRCACHE_PLATFORM_SUPPORTED_H_

#if !defined(__cplusplus) || __cplusplus < 202002L
#error "attrcache: the library is C++20 (g++ 12 or clang 14, or later, with -std=c++20)"
#elif !defined(__linux__)
#error "attrcache: no other system than Linux is supported yet (lib/include/README.md)"
#elif !defined(__LP64__)
#error "attrcache: only 64-bit builds are supported: a value is 8 bytes, and a pointer"
#elif __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "attrcache: big-endian processors are not supported: an int is read where its pointer is"
#elif !defined(__x86_64__) && !defined(__aarch64__)
#error "attrcache: no 16-byte atomic access is known for this processor (known: x86-64, AArch64)"
#endif

#endif  // ATTRCACHE_PLATFORM_SUPPORTED_H_
