/* Needs a library that is in none of the loader's folders. */
#include "plugins/api/sonde_plugin.h"

int plugin_missing(void);

static int start(const sonde_plugin_host* host) {
  (void)host;
  return plugin_missing();
}

const sonde_plugin sonde_plugin_descriptor = {
    SONDE_PLUGIN_HEAD, "linker", "", "0.1", "needs what is not there", start, NULL, NULL};
