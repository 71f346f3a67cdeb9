// HTA's breakdowns of device time: temporal, overlap, by type of kernel, by kernel, and possible
// stragglers among ranks. Times are whole microseconds. Pure functions.
//
// If HTA's code differs from its documentation, this follows the documentation. Unrecorded launches
// are not mistaken for the first event of the file, nor operators for kernels, and
// `ncclDevKernel_…` (NCCL 2.19 and later) counts as a kernel of NCCL. docs/devices.md lists all
// differences.
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
  std::int64_t idle = 0;        // part of it: no event ran, nor a synchronisation of a stream
  std::int64_t compute = 0;
  std::int64_t nonCompute() const noexcept { return kernelTime - idle - compute; }

  std::int64_t communication = 0;  // unions, for `ranks[]`; HTA does not report these two here
  std::int64_t memory = 0;
};
Temporal temporalOf(const RankEvents& rank);

// get_comm_comp_overlap: the share of communication time in which the rank computes; unset without
// communication.
std::optional<double> overlapOf(const RankEvents& rank);

// get_gpu_kernel_breakdown, first table: how long exactly these types ran, over all ranks.
struct TypeTime {
  std::string types;  // "COMPUTATION overlapping COMMUNICATION"
  std::int64_t sum = 0;
  double share = 0;  // of all sums
};
std::vector<TypeTime> typeTimes(const std::vector<RankEvents>& ranks);  // longest first

// get_gpu_kernel_breakdown, second table. If a type has more than ten kernels, those after 0.8 of
// the running sum become "others". The values of each row are then sums over kernels.
struct KernelTime {
  std::string name;
  EventType type = EventType::Other;
  std::int64_t sum = 0;
  std::int64_t max = 0;
  std::int64_t min = 0;
  double mean = 0;
  double deviation = 0;  // of a sample; 0 for one kernel
};
std::vector<KernelTime> kernelTimes(const RankEvents& rank);  // by type, then by name

// get_potential_stragglers, two candidates: not empty if two ranks have long collectives.
std::vector<std::int64_t> stragglersOf(const std::vector<RankEvents>& ranks);

}  // namespace sonde::engine::hta
