#include <sonde/sonde.h>
#include <stdio.h>

int main(void) {
  sonde_scope phase = sonde_begin(SONDE_PHASE, "train");
  sonde_scope step = SONDE_BEGIN("step");
  sonde_scalar("loss", 0.25);
  sonde_mark("checkpoint due");
  sonde_metadata("algorithm", "sgd");
  sonde_end(step);
  sonde_end(phase);
  puts("done");
  return 0;
}
