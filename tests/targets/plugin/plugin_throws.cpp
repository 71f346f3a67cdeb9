// Throws in the callback named in PLUGIN_THROWS (start, stop or forked); with PLUGIN_THROWS_INT an
// int, not an exception.
#include "plugins/api/sonde_plugin.h"

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace {

const sonde_plugin_host* gHost = nullptr;

void throwIn(const char* callback) {
  const char* where = std::getenv("PLUGIN_THROWS");
  if (where == nullptr || std::strcmp(where, callback) != 0)
    return;
  if (std::getenv("PLUGIN_THROWS_INT") != nullptr)
    throw 7;
  throw std::runtime_error(std::string("no luck in ") + callback);
}

void mark(const char* name) {
  gHost->mark(gHost, gHost->intern(gHost, name, std::strlen(name)));
}

int start(const sonde_plugin_host* host) {
  gHost = host;
  mark("before");
  throwIn("start");
  mark("after start");
  return 0;
}

void stop() {
  throwIn("stop");
  mark("after stop");
}

void forked() {
  throwIn("forked");
  mark("after forked");
}

}  // namespace

const sonde_plugin sonde_plugin_descriptor = {
    SONDE_PLUGIN_HEAD, "thrower", "", "0.1", "throws", start, stop, forked};
