// Sonde's libraries that go along with libsonde_preload.so where a run asks for their probe. Those
// that stand in front of another library's functions go only into programs that may call it,
// because where it is absent their functions would make it look present. Constants; no code.
#pragma once

#include "collector/wire/words.h"

#include <cstddef>
#include <cstdint>

namespace sonde::core {

struct Companion {
  wire::Probe probe;  // without which it does not go at all
  const char* file;   // beside libsonde_preload.so
  // Of the environment, names the file to a process that makes others; further files that go
  // along with it follow, each after a colon.
  const char* variable;
  bool everywhere;       // into every program that the recorder goes into; else …
  const char* needs[4];  // … where a library whose name begins so is needed, …
  const char* ranks[4];  // … or one of these is in the environment
};

// PyTorch's libraries need NCCL in their turn. Whatever an MPI's launcher starts may load MPI late.
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

// A set of them: bit 1 << index.
using CompanionSet = std::uint32_t;
inline constexpr CompanionSet kAllCompanions = (1U << kCompanionCount) - 1;

constexpr CompanionSet companionBit(std::size_t index) noexcept {
  return CompanionSet{1} << index;
}

}  // namespace sonde::core
