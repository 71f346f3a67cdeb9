/* A made-up simulator of bouncing balls, in the place of one that a site has: a library that knows
 * nothing of Sonde. */
#ifndef BALLSIM_H
#define BALLSIM_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ballsim ballsim;

/* Balls that rest one metre apart, the lowest at one metre; NULL when there is no memory. */
ballsim* ballsim_create(int balls);
/* Lets them fall and bounce for so many seconds; returns their energy in joules. */
double ballsim_step(ballsim* world, double seconds);
void ballsim_destroy(ballsim* world);

#ifdef __cplusplus
}
#endif
#endif
