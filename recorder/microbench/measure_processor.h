// Measures one processor of this machine: products of matrices, and copies of memory. Takes a few
// seconds; one thread.
#pragma once

#include "analysis/engine/models/kernels/operator_work.h"
#include "recorder/microbench/measured_time.h"

#include <chrono>
#include <string>
#include <vector>

namespace sonde::recorder::microbench {

struct MeasuredWork {
  std::string what;  // such as "512 x 512 x 512"
  engine::models::OperatorWork work;
  MeasuredTime time;
};

// Products of four-byte numbers, with Eigen's product. Libraries that use wider instructions are
// faster.
std::vector<MeasuredWork> measureProducts(std::chrono::nanoseconds budgetOfEach);
// Copies of 4 KiB to 64 MiB, from memory that the caches no longer hold.
std::vector<MeasuredWork> measureCopies(std::chrono::nanoseconds budgetOfEach);

}  // namespace sonde::recorder::microbench
