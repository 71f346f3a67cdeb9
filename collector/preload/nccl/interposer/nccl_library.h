// The NCCL of this process, and who records its calls. Any thread.
#pragma once

#include "collector/preload/loading/interposed_library.h"
#include "collector/preload/nccl/nccl_hooks.h"

namespace sonde::preload::nccl {

// nullptr: nobody. Known before the program's own code runs.
const Hooks* hooks() noexcept;

extern InterposedLibrary gNccl;

// A function of NCCL's that one of Sonde's stands in front of. Constant-initialised.
template <typename Function>
class RealNccl : public Interposed<Function> {
 public:
  constexpr explicit RealNccl(const char* name) noexcept : Interposed<Function>(gNccl, name) {}
};

}  // namespace sonde::preload::nccl
