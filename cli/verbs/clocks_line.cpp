#include "cli/verbs/clocks_line.h"

#include "cli/report/report_lines.h"
#include "cli/text/table.h"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

namespace sonde::cli {

std::string clocksLine(const engine::align::Alignment& alignment) {
  if (alignment.hosts.size() < 2)
    return "";
  if (const std::string obstacle = alignment.obstacle(); !obstacle.empty())
    return fmt::format("clocks: not aligned, {}\n", obstacle);
  std::vector<std::string> others;
  for (const engine::align::HostAlignment& host : alignment.hosts)
    if (host.known != engine::align::FittedClock::Known::BothSides)
      others.push_back(host.host);
  return fmt::format(
      "clocks: {} aligned, residual {}{}{}\n",
      counted(static_cast<std::int64_t>(alignment.hosts.size() - others.size()), "host", "hosts"),
      humanDuration(alignment.worstResidualNs()),
      others.empty() ? "" : "; unknown: ",
      fmt::join(others, ", "));
}

}  // namespace sonde::cli
