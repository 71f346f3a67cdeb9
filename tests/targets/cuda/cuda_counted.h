// Shared by the parts of cuda_counted: its stream, and launches on the simulated device.
#pragma once

#include "plugins/api/sonde.h"
#include "tests/cudasim/cudasim.h"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace counted {

inline cudaStream_t gStream = nullptr;

inline void check(cudaError_t error) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "cuda_counted: %s\n", cudaGetErrorString(error));
    std::exit(3);
  }
}

inline void launch(const std::string& name, unsigned blocks, cudaStream_t stream) {
  check(cudaLaunchKernel(
      cudasimKernel(name.c_str(), 20000 * blocks), dim3{blocks}, dim3{64}, nullptr, 0, stream));
}

class Scope {
 public:
  Scope(std::uint32_t kind, const char* name) : scope_(sonde_begin(kind, name)) {}
  ~Scope() { sonde_end(scope_); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  sonde_scope scope_;
};

// The EVENTs are described in cuda_counted.cpp; "" is none.
void happen(const std::string& event);
// Work in the second context, if there is one.
void inSecondContext();

}  // namespace counted
