#include <sonde/sonde.h>

#include <cstdio>

int main() {
  SONDE_SCOPE(SONDE_PHASE, "train");
  for (int number = 0; number < 3; ++number) {
    SONDE_SCOPE(SONDE_ITERATION, "iteration");
    SONDE_SCOPE(SONDE_OPERATION, "step");
    sonde_iteration_info(/*samples=*/32, /*tokens=*/0, /*flops=*/0);
    sonde_scalar("loss", 0.25);
  }
  std::puts("done");
}
