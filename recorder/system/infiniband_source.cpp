#include "recorder/system/infiniband_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde::recorder::system {

namespace fs = std::filesystem;

namespace {

constexpr double kCountedBytes = 4;  // the counters count 32-bit words

std::vector<fs::path> entriesOf(const fs::path& folder) {
  std::error_code problem;
  std::vector<fs::path> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, problem))
    entries.push_back(entry.path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

Metric bytesTotal(std::string name) {
  return {.name = std::move(name), .unit = "bytes", .isTotal = true};
}

}  // namespace

InfinibandSource::InfinibandSource(const Roots& roots) {
  for (const fs::path& adapter : entriesOf(roots.sys / "class/infiniband")) {
    for (const fs::path& port : entriesOf(adapter / "ports"))
      ports_.push_back(
          {.name = fmt::format(
               "network {} port {}", adapter.filename().string(), port.filename().string()),
           .received = KernelFile(port / "counters/port_rcv_data"),
           .sent = KernelFile(port / "counters/port_xmit_data")});
  }
}

void InfinibandSource::sample(Readings& into) {
  for (Port& port : ports_) {
    const auto received = numberIn(port.received.read());
    const auto sent = numberIn(port.sent.read());
    if (!received || !sent || (!port.isDefined && *received == 0 && *sent == 0))
      continue;
    if (!std::exchange(port.isDefined, true)) {
      port.receivedMetric = into.define(bytesTotal(port.name + " received"));
      port.sentMetric = into.define(bytesTotal(port.name + " sent"));
    }
    into.add(port.receivedMetric, static_cast<double>(*received) * kCountedBytes);
    into.add(port.sentMetric, static_cast<double>(*sent) * kCountedBytes);
  }
}

}  // namespace sonde::recorder::system
