/* Makes each invalid request a number of times; its valid requests in between are recorded. */
#include "plugins/api/sonde.h"
#include "plugins/api/sonde_plugin.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const sonde_plugin_host* host;
static uint32_t name;
static sonde_plugin_event held;

static uint32_t text(const char* given) {
  return host->intern(host, given, strlen(given));
}

static void misuse_texts(void) {
  static char long_text[20000];
  memset(long_text, 'x', sizeof long_text - 1);
  host->intern(host, NULL, 5);
  host->intern(host, "short", (size_t)-1);
  host->counter(host, NULL, "s");
  host->counter(host, "a", NULL);
  host->counter(host, long_text, "s");
  host->note(host, SONDE_PLUGIN_WARNING, NULL);
  host->argument_text(host, host->mark(host, name), name, NULL, 3);
}

static void misuse_scopes(void) {
  sonde_plugin_event outer;
  uint32_t annotation = sonde_begin(SONDE_OPERATION, "the program's own");
  host->begin(host, 3, name); /* iteration */
  host->begin(host, 200, name);
  host->begin(host, 0x10d, name); /* api, and more */
  host->begin(host, SONDE_PLUGIN_API, 0);
  host->begin(host, SONDE_PLUGIN_API, 0xffffff);
  outer = host->begin(host, SONDE_PLUGIN_OPERATION, text("outer"));
  host->end(host, outer);
  host->end(host, outer);        /* twice */
  host->end(host, outer + 1000); /* never */
  host->end(host, ~(sonde_plugin_event)0);
  host->end(host, (outer & ~(sonde_plugin_event)0xffffffff) | annotation);
  host->argument_int(host, outer, name, 1);
  sonde_end(annotation);
}

static void misuse_calls(void) {
  const uint64_t now = host->now(host);
  const sonde_plugin_event first = host->call(host, SONDE_PLUGIN_API, text("first"), now, now);
  host->call(host, SONDE_PLUGIN_API, name, now, now - 1);
  host->call(host, SONDE_PLUGIN_API, name, 0, now);
  host->call(host, SONDE_PLUGIN_API, name, now, ~(uint64_t)0);
  host->call(host, 99, name, now, now);
  host->call(host, SONDE_PLUGIN_API, 0x7fffffff, now, now);
  host->mark(host, 0);
  host->mark(host, text("second"));
  host->argument_int(host, first, name, 1); /* of what is not the last */
  host->argument_int(host, first, 0, 1);
  host->note(host, 77, "no such severity");
}

static void misuse_counters(void) {
  const uint32_t good = host->counter(host, "good", "things");
  char counter[32];
  int at;
  host->value(host, 0, 1);
  host->value(host, good + 5000, 1);
  host->value(host, good + 7, 1);
  host->value(host, good, NAN);
  host->value(host, good, INFINITY);
  host->value(host, good, 42);
  for (at = 0; at < 1100; ++at) {
    snprintf(counter, sizeof counter, "counter %d", at);
    host->counter(host, counter, "");
  }
}

static void* elsewhere(void* unused) {
  host->end(host, held); /* another thread's */
  return unused;
}

static int start(const sonde_plugin_host* given) {
  static const sonde_plugin_host copy;
  pthread_t thread;
  host = given;
  errno = 4711;
  name = text("name");
  copy.size == 0 ? given->mark(&copy, name) : 0;
  given->mark(NULL, name);
  misuse_texts();
  misuse_scopes();
  misuse_calls();
  misuse_counters();
  if (errno != 4711)
    abort();
  held = host->begin(host, SONDE_PLUGIN_OPERATION, text("held"));
  pthread_create(&thread, NULL, elsewhere, NULL);
  pthread_join(thread, NULL);
  host->end(host, held);
  return 0;
}

__attribute__((destructor)) static void at_the_very_end(void) {
  if (host == NULL)
    return;
  host->mark(host, name);
  host->begin(host, SONDE_PLUGIN_API, name);
  host->enabled(host); /* to ask is no mistake */
}

const sonde_plugin sonde_plugin_descriptor = {
    SONDE_PLUGIN_HEAD, "misuser", "", "0.1", "asks for what cannot be", start, NULL, NULL};
