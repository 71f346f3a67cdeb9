// What a wrapper of one of MPI's functions is written with. Nothing here has a destructor around a
// forwarded call, so that what MPI's error handlers throw passes.
#pragma once

#include "collector/core/platform/hooks.h"
#include "collector/preload/mpi/interposer/mpi_library.h"

#define SONDE_MPI_WORDS(...) __VA_ARGS__

// Defines MPI_<name> and PMPI_<name>. `handler(real, name, arguments…)` makes the call and records
// it. What MPI does inside one of its functions is not the program's; as PMPI_… it counts only when
// MPI's Fortran interface calls for the program, because a program or tool that says PMPI_ does not
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

// One of a library's own, MPIX_<name>.
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

// A function that has a twin for large counts, MPI_<name>_c, from MPI 4 on: `handler<int>` and
// `handler<std::int64_t>`.
#define SONDE_MPI_COUNTED(name, parameters, arguments, handler)                          \
  SONDE_MPI(name, SONDE_MPI_WORDS(parameters), SONDE_MPI_WORDS(arguments), handler<int>) \
  SONDE_MPI(                                                                             \
      name##_c, SONDE_MPI_WORDS(parameters), SONDE_MPI_WORDS(arguments), handler<std::int64_t>)
