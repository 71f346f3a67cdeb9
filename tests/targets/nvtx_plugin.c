/* A library with a copy of NVTX of its own. */
#include <nvtx3/nvToolsExt.h>

void pluginWork(void);

__attribute__((visibility("default"))) void pluginWork(void) {
  nvtxRangePushA("in the library");
  nvtxRangePop();
}
