// Turns its own recording off, pauses it, and turns it on again, between pushes and pops and inside
// ranges.
#include "tests/targets/host/own_control.h"

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
  control->recording.store(sonde::wire::kGateOpen);
  nvtxRangePop();
  nvtxRangePushA("inner");
  nvtxRangePop();
  const nvtxRangeId_t crossing = nvtxRangeStartA("crossing");
  control->recording.store(sonde::wire::kGateOutline);
  const nvtxRangeId_t unseen = nvtxRangeStartA("unseen");
  nvtxRangeEnd(crossing);
  control->recording.store(sonde::wire::kGateOpen);
  nvtxRangeEnd(unseen);
  nvtxMarkA("before the end");
  nvtxRangePop();
}
