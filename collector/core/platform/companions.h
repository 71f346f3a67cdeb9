// Sonde's libraries that accompany libsonde_preload.so if a run requests their probe. Libraries
// that intercept another library's functions go only into programs that may call it: where that
// library is absent, their functions would make it look present. Constants; no code.
#pragma once

#include "collector/wire/words.h"

#include <cstddef>
#include <cstdint>

namespace sonde::core {

struct Companion {
  wire::Probe probe;  // the library is used only with this probe
  const char* file;   // next to libsonde_preload.so
  // The environment variable that names the file to a process that starts others. Further files
  // that accompany it follow, each after a colon.
  const char* variable;
  bool everywhere;  // goes into every program that the recorder goes into; else …
  // … into programs that need a library whose name starts with one of these, …
  const char* needs[4];
  const char* ranks[4];  // … or whose environment has one of these
};

// PyTorch's libraries need NCCL. Programs that an MPI's launcher starts may load MPI late.
inline constexpr Companion kCompanions[] = {
    {wire::Probe::Nccl,
     "libsonde_nccl.so",
     "SONDE_NCCL_LIBRARY",
     false,
     {"libnccl.so.", "libtorch_cuda.so", "libtorch.so", nullptr},
     {nullptr}},
    {wire::Probe::Mpi,
     "libsonde_mpi.so",
     "SONDE_MPI_LIBRARY",
     false,
     {"libmpi", nullptr},
     {"OMPI_COMM_WORLD_RANK=", "PMI_RANK=", "PMIX_RANK=", nullptr}},
    {wire::Probe::Stack, "libsonde_stack.so", "SONDE_STACK_LIBRARY", true, {nullptr}, {nullptr}},
    {wire::Probe::Sync, "libsonde_sync.so", "SONDE_SYNC_LIBRARY", true, {nullptr}, {nullptr}},
    {wire::Probe::Plugin,
     "libsonde_plugin.so",
     "SONDE_PLUGIN_LIBRARIES",
     true,
     {nullptr},
     {nullptr}},
    {wire::Probe::Memory, "libsonde_memory.so", "SONDE_MEMORY_LIBRARY", true, {nullptr}, {nullptr}},
};
inline constexpr std::size_t kCompanionCount = sizeof kCompanions / sizeof kCompanions[0];

// A set of companions: bit 1 << index.
using CompanionSet = std::uint32_t;
inline constexpr CompanionSet kAllCompanions = (1U << kCompanionCount) - 1;

constexpr CompanionSet companionBit(std::size_t index) noexcept {
  return CompanionSet{1} << index;
}

}  // namespace sonde::core
