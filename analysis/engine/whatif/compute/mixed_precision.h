// The questions how long an iteration would take with numbers of two bytes, or of one. Free
// functions.
#pragma once

#include "analysis/engine/whatif/question.h"

namespace sonde::engine::whatif {

struct MixedPrecision {
  double matrix = 3;  // how many times as fast products of matrices are
  double memory = 2;  // and all other kernels
};

// Kernels of forward and backward passes are faster by their class. The optimizer, copies,
// collectives, calls, and kernels that compute with two bytes already stay as they are. Without a
// known optimizer all kernels count.
//
// Source: "Daydream: Accurately Estimating the Efficacy of Optimizations for DNN Training"
// (ATC'20), section 5.1, whose factors are the defaults.
//
// NotFound: the trace has no kernels that would be faster. InvalidArgument: a factor is not above
// 0.
Question mixedPrecision(MixedPrecision of);

// Products of matrices of two-byte numbers are `matrix` times as fast with numbers of one byte
// (fp8), all other kernels stay: the conversions are part of kernels beside them. By default by
// the peaks of NVIDIA's Hopper and AMD's MI300X, so at best.
//
// NotFound: the trace has no products of matrices of two-byte numbers. InvalidArgument: the factor
// is not above 0.
Question fp8(double matrix = 2);

}  // namespace sonde::engine::whatif
