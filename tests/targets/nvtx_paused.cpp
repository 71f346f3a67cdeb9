// Turns its own recording off and on again between pushes and pops.
#include "tests/targets/own_control.h"

#include <nvtx3/nvToolsExt.h>

int main() {
  sonde::wire::ControlPage* const control = sonde::test::ownControl();
  if (control == nullptr)
    return 1;
  nvtxRangePushA("outer");
  control->recording.store(0);
  nvtxRangePushA("unseen");
  nvtxRangePop();
  nvtxRangePushA("unseen");
  control->recording.store(1);
  nvtxRangePop();
  nvtxRangePushA("inner");
  nvtxRangePop();
  nvtxMarkA("before the end");
  nvtxRangePop();
}
