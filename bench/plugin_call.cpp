// Measures the cost of a plugin's recording for its thread, in ns, under a real recorder. It is a
// plugin itself, and measures before `true` begins:
//
//   build/dev/bin/sonde run -f -o /tmp/plugin.sonde --plugin build/dev/bench/libplugin_call.so --
//   true
//
// Two clock reads are timed beside each batch. A pause after it lets the recorder keep up: the
// run's summary must not report losses.

#include "bench/batches.h"
#include "plugins/api/sonde_plugin.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr int kCalls = 20'000;
constexpr int kBatches = 40;

struct Measured {
  std::vector<double> call;
  std::vector<double> scope;
  std::vector<double> value;
  std::vector<double> text;
};

void measure(const sonde_plugin_host* host, Measured& measured) {
  const auto intern = [&](const char* text) { return host->intern(host, text, strlen(text)); };
  const uint32_t name = intern("a name of usual length");
  const uint32_t counter = host->counter(host, "bench", "");
  const auto add = [&](std::vector<double>& to, auto body) {
    to.push_back(sonde::bench::nsEach(kCalls, body));
    usleep(100'000);
  };
  add(measured.call, [&](int) {
    const uint64_t begin = host->now(host);
    asm volatile("" : : : "memory");
    host->call(host, SONDE_PLUGIN_API, name, begin, host->now(host));
  });
  add(measured.scope, [&](int) {
    const sonde_plugin_event scope = host->begin(host, SONDE_PLUGIN_API, name);
    asm volatile("" : : : "memory");
    host->end(host, scope);
  });
  add(measured.value, [&](int at) { host->value(host, counter, at); });
  add(measured.text, [&](int) { intern("a name of usual length"); });
}

int start(const sonde_plugin_host* host) {
  Measured measured;
  std::vector<double> clocks;
  for (int batch = 0; batch < kBatches; ++batch) {
    clocks.push_back(sonde::bench::nsOfTwoClockReads(kCalls));
    measure(host, measured);
  }
  std::printf("ns: median (lower and upper tenth) of %d batches\n", kBatches);
  sonde::bench::print("two clock reads", clocks);
  sonde::bench::print("now, now, call", measured.call);
  sonde::bench::print("begin, end", measured.scope);
  sonde::bench::print("value", measured.value);
  sonde::bench::print("intern", measured.text);
  return 0;
}

}  // namespace

const sonde_plugin sonde_plugin_descriptor = {
    SONDE_PLUGIN_HEAD, "bench", "", "1.0", "measures itself", start, nullptr, nullptr};
