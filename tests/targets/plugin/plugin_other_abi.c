/* A plugin for a version of the interface that does not exist. */
#include "plugins/api/sonde_plugin.h"

#include <stdio.h>

static int start(const sonde_plugin_host* host) {
  (void)host;
  puts("a plugin of another version was started");
  return 0;
}

const sonde_plugin sonde_plugin_descriptor = {
    7, sizeof(sonde_plugin), "from-the-future", "", "9.9", "", start, NULL, NULL};
