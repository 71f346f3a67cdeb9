// What CUDA says of a stream. Any thread.
#pragma once

namespace sonde::preload::nccl {

// Whether what is launched into the stream now is captured into a CUDA graph. NCCL asks the same in
// each of its calls. False where there is no libcuda.
bool isCaptured(const void* stream) noexcept;

// Where there was no libcuda there may be one now.
void findDriverAgain() noexcept;

}  // namespace sonde::preload::nccl
