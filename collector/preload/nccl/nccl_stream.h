// CUDA's state of a stream. Any thread.
#pragma once

namespace sonde::preload::nccl {

// Whether work launched into the stream now is captured into a CUDA graph. NCCL queries the same in
// each of its calls. False without a libcuda.
bool isCaptured(const void* stream) noexcept;

// If there was no libcuda, there may be one now.
void findDriverAgain() noexcept;

}  // namespace sonde::preload::nccl
