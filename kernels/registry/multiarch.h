// CATENA_MULTIARCH before a function: the function is compiled for the baseline, AVX2 and AVX-512, and one version is
// chosen at program start. Functions that it calls must be inlined (ND_FN, always_inline) to be compiled the same way.
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && \
    !defined(CATENA_NO_MULTIARCH)
#define CATENA_HAS_MULTIARCH
#define CATENA_MULTIARCH __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define CATENA_MULTIARCH
#endif
