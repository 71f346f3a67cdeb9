#include "ballsim.h"

#include <stdlib.h>

struct ball {
  double height;
  double speed;
};

struct ballsim {
  int count;
  struct ball balls[];
};

ballsim* ballsim_create(int balls) {
  ballsim* world = malloc(sizeof *world + (size_t)balls * sizeof world->balls[0]);
  if (world == NULL)
    return NULL;
  world->count = balls;
  for (int at = 0; at < balls; ++at)
    world->balls[at] = (struct ball){.height = 1.0 + at, .speed = 0.0};
  return world;
}

double ballsim_step(ballsim* world, double seconds) {
  const double gravity = 9.81;
  double energy = 0;
  for (int at = 0; at < world->count; ++at) {
    struct ball* ball = &world->balls[at];
    ball->speed -= gravity * seconds;
    ball->height += ball->speed * seconds;
    if (ball->height < 0) {
      ball->height = -ball->height;
      ball->speed = -0.9 * ball->speed;
    }
    energy += gravity * ball->height + ball->speed * ball->speed / 2;
  }
  return energy;
}

void ballsim_destroy(ballsim* world) {
  free(world);
}
