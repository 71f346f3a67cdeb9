/* A made-up simulator of bouncing balls. It represents a site's own library, which knows nothing of
 * Sonde. */
#ifndef BALLSIM_H
#define BALLSIM_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ballsim ballsim;

/* Creates balls that rest one metre apart, the lowest at one metre; NULL if there is no memory. */
ballsim* ballsim_create(int balls);
/* Lets them fall and bounce for `seconds`; returns their energy in joules. */
double ballsim_step(ballsim* world, double seconds);
void ballsim_destroy(ballsim* world);

#ifdef __cplusplus
}
#endif
#endif
