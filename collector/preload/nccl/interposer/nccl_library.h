// The NCCL of this process, and the recorder of its calls. Any thread.
#pragma once

#include "collector/preload/loading/interposed_library.h"
#include "collector/preload/nccl/nccl_hooks.h"

namespace sonde::preload::nccl {

// nullptr: no recorder. Set before the program's own code runs.
const Hooks* hooks() noexcept;

extern InterposedLibrary gNccl;

// A function of NCCL that Sonde intercepts. Constant-initialised.
template <typename Function>
class RealNccl : public Interposed<Function> {
 public:
  constexpr explicit RealNccl(const char* name) noexcept : Interposed<Function>(gNccl, name) {}
};

}  // namespace sonde::preload::nccl
