/* A program that uses the simulator: bounce [STEPS]. */
#include "ballsim.h"

#include <stdio.h>
#include <stdlib.h>

int main(int count, char** arguments) {
  const int steps = count > 1 ? atoi(arguments[1]) : 100;
  ballsim* world = ballsim_create(1000);
  double energy = 0;
  for (int step = 0; step < steps; ++step)
    energy = ballsim_step(world, 0.01);
  ballsim_destroy(world);
  printf("%.1f J\n", energy);
  return 0;
}
