// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Ends the build with a message where the library is not known to work. It is included before every
// other header, so that the message comes before any other error.

#ifndef ATTRCACHE_PLATFORM_SUPPORTED_H_
#define ATTRCACHE_PLATFORM_SUPPORTED_H_

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "attrcache: the library is C++17 (g++ 11 or clang 13, or later, with -std=c++17)"
#elif !defined(__GNUC__)
#error "attrcache: the compiler must be g++ or clang: inline assembly and attributes are theirs"
#elif !defined(__unix__) && !defined(__APPLE__)
#error "attrcache: no system without POSIX threads is supported"
#elif defined(__x86_64__) && !defined(__LP64__)
#error "attrcache: x32 is not supported; build for x86-64 or i386"
#elif __GCC_ATOMIC_LLONG_LOCK_FREE != 2 && !defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_8)
#error "attrcache: this processor has no 8-byte atomic access; perhaps a later one has (-march=...)"
#elif defined(ATTRCACHE_LSE2) && !defined(__aarch64__)
#error "attrcache: ATTRCACHE_LSE2 is for AArch64"
#endif

#if defined(__SANITIZE_THREAD__)
#define ATTRCACHE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ATTRCACHE_TSAN 1
#endif
#endif

#if __cplusplus < 202002L && defined(__clang__)
// C++17 lets compilers ignore attributes that they don't know, such as [[likely]].
#pragma clang diagnostic ignored "-Wc++20-extensions"
#endif

#endif  // ATTRCACHE_PLATFORM_SUPPORTED_H_
