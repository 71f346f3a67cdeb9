#include <sonde/sonde.h>

#include <cstdio>

int main() {
  {
    SONDE_SCOPE(SONDE_PHASE, "train");
    SONDE_SCOPE(SONDE_OPERATION, "step");
    sonde_scalar("loss", 0.25);
  }
  std::puts("done");
}
