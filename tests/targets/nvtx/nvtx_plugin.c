/* A library with its own copy of NVTX. */
#include <nvtx3/nvToolsExt.h>

#define EXPORTED __attribute__((visibility("default")))

void pluginWork(void);
void pluginPush(const char* name);
void pluginPop(void);

EXPORTED void pluginWork(void) {
  nvtxRangePushA("in the library");
  nvtxRangePop();
}

EXPORTED void pluginPush(const char* name) {
  nvtxRangePushA(name);
}

EXPORTED void pluginPop(void) {
  nvtxRangePop();
}
