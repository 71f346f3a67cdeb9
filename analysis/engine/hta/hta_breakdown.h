// HTA's breakdowns of what devices did: temporal, overlap, by type of kernel, by kernel, and the
// ranks that may be stragglers. Times are whole microseconds. Pure functions.
//
// Where HTA's code does other than it says, this does what it says: launches that are not recorded
// are not taken for the first event of the file, operators for kernels, nor `ncclDevKernel_…` (NCCL
// 2.19 and later) for no kernel of NCCL's. docs/devices.md has them all.
#pragma once

#include "analysis/engine/hta/hta_trace.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::hta {

// get_temporal_breakdown
struct Temporal {
  std::int64_t kernelTime = 0;  // from the first begin to the last end
  std::int64_t idle = 0;        // of it: nothing ran, nor synchronised a stream
  std::int64_t compute = 0;
  std::int64_t nonCompute() const noexcept { return kernelTime - idle - compute; }

  std::int64_t communication = 0;  // unions, for `ranks[]`; HTA has none of these two here
  std::int64_t memory = 0;
};
Temporal temporalOf(const RankEvents& rank);

// get_comm_comp_overlap: the share of communication in which the rank computes; none without any.
std::optional<double> overlapOf(const RankEvents& rank);

// get_gpu_kernel_breakdown, its first table: over all ranks, how long exactly these types ran.
struct TypeTime {
  std::string types;  // "COMPUTATION overlapping COMMUNICATION"
  std::int64_t sum = 0;
  double share = 0;  // of all sums
};
std::vector<TypeTime> typeTimes(const std::vector<RankEvents>& ranks);  // the longest first

// Its second table. Of more than ten kernels of a type those that come after 0.8 of the running sum
// are "others"; the values of each row are then sums of kernels.
struct KernelTime {
  std::string name;
  EventType type = EventType::Other;
  std::int64_t sum = 0;
  std::int64_t max = 0;
  std::int64_t min = 0;
  double mean = 0;
  double deviation = 0;  // of a sample; 0 of one
};
std::vector<KernelTime> kernelTimes(const RankEvents& rank);  // by type, then by name

// get_potential_stragglers, of two candidates: never empty where two ranks have long collectives.
std::vector<std::int64_t> stragglersOf(const std::vector<RankEvents>& ranks);

}  // namespace sonde::engine::hta
