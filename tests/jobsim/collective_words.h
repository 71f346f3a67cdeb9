// The words of a trace for the collectives of a simulated job. Plain values.
#pragma once

#include "analysis/model/words.h"
#include "tests/jobsim/job.h"

#include <string_view>

namespace sonde::jobsim {

struct CollectiveWords {
  model::CollectiveOp op;
  std::string_view call;    // the slice of a call on the host
  std::string_view kernel;  // of a device
};

inline CollectiveWords wordsOf(Collective op) {
  switch (op) {
    case Collective::Allreduce:
      return {model::CollectiveOp::Allreduce, "allreduce", "ncclDevKernel_AllReduce_Sum_f32_RING"};
    case Collective::Allgather:
      return {model::CollectiveOp::Allgather, "allgather", "ncclDevKernel_AllGather_RING"};
    case Collective::ReduceScatter:
      return {model::CollectiveOp::ReduceScatter,
              "reducescatter",
              "ncclDevKernel_ReduceScatter_Sum_f32_RING"};
    case Collective::Alltoall:
      return {model::CollectiveOp::Alltoall, "alltoall", "ncclDevKernel_SendRecv"};
    case Collective::Barrier:
      break;
  }
  return {model::CollectiveOp::Barrier, "barrier", "ncclDevKernel_AllReduce_Sum_f32_RING"};
}

}  // namespace sonde::jobsim
