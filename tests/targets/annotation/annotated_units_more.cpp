#include "plugins/api/sonde.h"

extern "C" void annotateInAnotherUnit() {
  SONDE_SCOPE(SONDE_OPERATION, "in C++");
}

namespace {
const int kBeforeMain = (sonde_mark("before main"), 0);
}
