// Macros for wrappers of MPI's functions. There is no destructor around a forwarded call, so that
// exceptions of MPI's error handlers pass through.
#pragma once

#include "collector/core/platform/hooks.h"
#include "collector/preload/mpi/interposer/mpi_library.h"

#define SONDE_MPI_WORDS(...) __VA_ARGS__

// Defines MPI_<name> and PMPI_<name>. `handler(real, name, arguments…)` makes the call and records
// it. Calls that MPI makes inside its own functions are not the program's. PMPI_… counts only if
// MPI's Fortran interface calls it for the program: a program or tool that calls PMPI_ does not
// want it to be seen.
#define SONDE_MPI_AS(prefix, name, shown, parameters, arguments, handler, isForwarded)      \
  SONDE_EXPORT int prefix##name(parameters) {                                               \
    static constinit sonde::preload::mpi::RealMpi<int (*)(parameters)> real{#prefix #name}; \
    static constinit sonde::preload::mpi::Name called{shown #name};                         \
    const void* const caller = __builtin_return_address(0);                                 \
    if (__builtin_expect(!real.find(caller), 0))                                            \
      return sonde::preload::mpi::kOtherError;                                              \
    if (!sonde::preload::mpi::isActive())                                                   \
      return real()(arguments);                                                             \
    const sonde::preload::mpi::Caller who = sonde::preload::mpi::callerAt(caller);          \
    if (isForwarded)                                                                        \
      return real()(arguments);                                                             \
    return handler(real(), called, arguments);                                              \
  }
#define SONDE_MPI(name, parameters, arguments, handler)     \
  SONDE_MPI_AS(MPI_,                                        \
               name,                                        \
               "MPI_",                                      \
               SONDE_MPI_WORDS(parameters),                 \
               SONDE_MPI_WORDS(arguments),                  \
               handler,                                     \
               who == sonde::preload::mpi::Caller::Library) \
  SONDE_MPI_AS(PMPI_,                                       \
               name,                                        \
               "MPI_",                                      \
               SONDE_MPI_WORDS(parameters),                 \
               SONDE_MPI_WORDS(arguments),                  \
               handler,                                     \
               who != sonde::preload::mpi::Caller::Fortran)

// An extension of one library, MPIX_<name>.
#define SONDE_MPI_EXTENSION(name, parameters, arguments, handler) \
  SONDE_MPI_AS(MPIX_,                                             \
               name,                                              \
               "MPIX_",                                           \
               SONDE_MPI_WORDS(parameters),                       \
               SONDE_MPI_WORDS(arguments),                        \
               handler,                                           \
               who == sonde::preload::mpi::Caller::Library)       \
  SONDE_MPI_AS(PMPIX_,                                            \
               name,                                              \
               "MPIX_",                                           \
               SONDE_MPI_WORDS(parameters),                       \
               SONDE_MPI_WORDS(arguments),                        \
               handler,                                           \
               who != sonde::preload::mpi::Caller::Fortran)

// A function that from MPI 4 on also exists for large counts, as MPI_<name>_c: `handler<int>` and
// `handler<std::int64_t>`.
#define SONDE_MPI_COUNTED(name, parameters, arguments, handler)                          \
  SONDE_MPI(name, SONDE_MPI_WORDS(parameters), SONDE_MPI_WORDS(arguments), handler<int>) \
  SONDE_MPI(                                                                             \
      name##_c, SONDE_MPI_WORDS(parameters), SONDE_MPI_WORDS(arguments), handler<std::int64_t>)
