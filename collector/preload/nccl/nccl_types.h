// The types of NCCL that libsonde_nccl.so uses, so that it builds without NCCL's headers.
// tests/preload/nccl_abi_test.cpp compares them with the headers where these are installed.
#pragma once

#include <cstddef>

namespace sonde::preload::nccl {

using Communicator_t = void*;  // ncclComm_t
using Stream_t = void*;        // cudaStream_t
using Result_t = int;          // ncclResult_t, and so on: C enumerations
using DataType_t = int;
using ReduceOp_t = int;

inline constexpr Result_t kSuccess = 0;
inline constexpr Result_t kSystemError = 2;
inline constexpr Result_t kInProgress = 7;
inline constexpr int kNoColor = -1;  // NCCL_SPLIT_NOCOLOR

struct UniqueId {
  char bytes[128];
};

}  // namespace sonde::preload::nccl
