// Binds calls to the old symbol versions where glibc 2.34 introduced new ones, so that the library
// loads on glibc 2.28. Include it in every file that makes one of these calls.
#pragma once

#if defined(__x86_64__)
#define SONDE_OLD_SYMBOL(name) __asm__(".symver " #name "," #name "@GLIBC_2.2.5")
#elif defined(__aarch64__)
#define SONDE_OLD_SYMBOL(name) __asm__(".symver " #name "," #name "@GLIBC_2.17")
#endif

SONDE_OLD_SYMBOL(dladdr);
SONDE_OLD_SYMBOL(dlopen);
SONDE_OLD_SYMBOL(dlclose);
SONDE_OLD_SYMBOL(dlsym);
SONDE_OLD_SYMBOL(dlvsym);
SONDE_OLD_SYMBOL(dlerror);
SONDE_OLD_SYMBOL(pthread_create);
SONDE_OLD_SYMBOL(pthread_key_create);
SONDE_OLD_SYMBOL(pthread_mutex_timedlock);
SONDE_OLD_SYMBOL(pthread_mutex_trylock);
SONDE_OLD_SYMBOL(pthread_setspecific);
