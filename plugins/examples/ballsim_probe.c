/* Records the calls of libballsim.so, and the energy of its worlds as a counter.
 *
 *   cc -shared -fPIC -O2 -o libballsim_probe.so ballsim_probe.c -ldl
 *   sonde run --plugin ./libballsim_probe.so -- ./bounce
 *
 * It is not linked with libballsim. It intercepts the library's functions in every recorded
 * program, and most of these do not have the library. */
#define _GNU_SOURCE
#include "ballsim.h"

#include <dlfcn.h>
#include <sonde/sonde_plugin.h>
#include <string.h>

static const sonde_plugin_host* host; /* NULL until start, and if nothing is recorded */
static uint32_t createName;
static uint32_t stepName;
static uint32_t ballsKey;
static uint32_t energy;

static int start(const sonde_plugin_host* given) {
  createName = given->intern(given, "ballsim_create", strlen("ballsim_create"));
  stepName = given->intern(given, "ballsim_step", strlen("ballsim_step"));
  ballsKey = given->intern(given, "balls", strlen("balls"));
  energy = given->counter(given, "ballsim energy", "J");
  host = given;
  return 0;
}

const sonde_plugin sonde_plugin_descriptor = {SONDE_PLUGIN_HEAD,
                                              "ballsim",
                                              "simulator",
                                              "1.0",
                                              "calls of libballsim, and its worlds' energy",
                                              start,
                                              NULL,
                                              NULL};

/* Returns the library's own function. RTLD_NEXT finds it if the program is linked with the library.
 * A library that Python loads is not in that list, but the loader finds it by its name. */
static void* real(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  void* library;
  if (found != NULL)
    return found;
  library = dlopen("libballsim.so", RTLD_LAZY | RTLD_NOLOAD);
  return library == NULL ? NULL : dlsym(library, name);
}

SONDE_PLUGIN_EXPORT ballsim* ballsim_create(int balls) {
  static ballsim* (*forward)(int);
  ballsim* world;
  uint64_t begin;
  sonde_plugin_event call;
  if (forward == NULL)
    *(void**)&forward = real("ballsim_create");
  if (host == NULL || !host->enabled(host))
    return forward(balls);
  begin = host->now(host);
  world = forward(balls);
  call = host->call(host, SONDE_PLUGIN_API, createName, begin, host->now(host));
  host->argument_int(host, call, ballsKey, balls);
  return world;
}

SONDE_PLUGIN_EXPORT double ballsim_step(ballsim* world, double seconds) {
  static double (*forward)(ballsim*, double);
  double joules;
  uint64_t begin;
  if (forward == NULL)
    *(void**)&forward = real("ballsim_step");
  if (host == NULL || !host->enabled(host))
    return forward(world, seconds);
  begin = host->now(host);
  joules = forward(world, seconds);
  host->call(host, SONDE_PLUGIN_API, stepName, begin, host->now(host));
  host->value(host, energy, joules);
  return joules;
}
