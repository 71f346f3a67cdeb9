// Which probes record in which iterations of a self-calibrating run (`sonde run --calibrate`).
// Iterations are grouped into blocks. The block's number alone decides which probes are on, so all
// ranks of a job switch alike. In the first block all probes are on, so that they learn what the
// program is. Each following group of four blocks, in an order that the seed decides, has two
// blocks with all probes on, one with all maskable probes off, and one in which each maskable probe
// is on or off independently.
#pragma once

#include "collector/wire/words.h"

#include <cstdint>

namespace sonde::wire {

constexpr std::uint32_t probeBit(Probe probe) noexcept {
  return std::uint32_t{1} << static_cast<int>(probe);
}

// The probes that may be switched off and on. Probes that record what the program reports about
// itself, or that a trace cannot be assembled without, are never switched off.
inline constexpr std::uint32_t kMaskableProbes =
    probeBit(Probe::Torch) | probeBit(Probe::Gloo) | probeBit(Probe::Net) | probeBit(Probe::Mpi) |
    probeBit(Probe::Nccl) | probeBit(Probe::Cuda) | probeBit(Probe::Io) | probeBit(Probe::Sync) |
    probeBit(Probe::Python) | probeBit(Probe::Stack) | probeBit(Probe::Tensor) |
    probeBit(Probe::Memory) | probeBit(Probe::Plugin);

inline constexpr std::uint32_t kLeastBlockIterations = 5;
inline constexpr std::uint32_t kBlockIterations = 10;  // default; the run may set another value
inline constexpr std::uint64_t kBlocksOfTurn = 4;

struct CalibrationRule {
  std::uint32_t blockIterations;  // 0: all probes record in all iterations
  std::uint32_t maskable;         // the requested probes among kMaskableProbes
  std::uint64_t seed;             // the same on all ranks of a job
  std::uint32_t always;           // 1: `maskable` probes are off in all iterations
  std::uint32_t reserved;
};

// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014): returns
// number `at` of the sequence that `seed` starts.
constexpr std::uint64_t splitMix(std::uint64_t seed, std::uint64_t at) noexcept {
  std::uint64_t mixed = seed + (at + 1) * 0x9e37'79b9'7f4a'7c15;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58'476d'1ce4'e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d0'49bb'1331'11eb;
  return mixed ^ (mixed >> 31);
}

// The probes that are off in a block. When `torch` is off, `tensor` is off too, because the hooks
// of `torch` find the tensors.
constexpr std::uint32_t maskedProbes(const CalibrationRule& rule, std::uint64_t block) noexcept {
  if (rule.always != 0)
    return rule.maskable;
  if (block == 0)
    return 0;
  const std::uint64_t order = splitMix(rule.seed, 2 * ((block - 1) / kBlocksOfTurn));
  const std::uint64_t place = (block - 1) % kBlocksOfTurn;
  const std::uint64_t without = order % kBlocksOfTurn;
  const std::uint64_t mixed = (without + 1 + (order >> 8) % (kBlocksOfTurn - 1)) % kBlocksOfTurn;
  if (place == without)
    return rule.maskable;
  if (place != mixed)
    return 0;
  auto masked = static_cast<std::uint32_t>(splitMix(rule.seed, 2 * block + 1)) & rule.maskable;
  if ((masked & probeBit(Probe::Torch)) != 0)
    masked |= rule.maskable & probeBit(Probe::Tensor);
  return masked;
}

// The probes that are off in the iteration with this number.
constexpr std::uint32_t maskedProbesOf(const CalibrationRule& rule, std::int64_t number) noexcept {
  return rule.blockIterations == 0 || number < 0
             ? 0
             : maskedProbes(rule, static_cast<std::uint64_t>(number) / rule.blockIterations);
}

}  // namespace sonde::wire
