#include "cli/report/report_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde::cli {
namespace {

// The size in bytes of the longest beginning of `text` that fits into `room` characters and ends
// before a space, or of its first word.
std::size_t lineEnd(std::string_view text, std::size_t room) {
  std::size_t end = std::string_view::npos;
  std::size_t characters = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == ' ' && (characters <= room || end == std::string_view::npos))
      end = at;
    if ((text[at] & 0xC0) != 0x80)
      ++characters;
  }
  return characters <= room ? text.size() : std::min(end, text.size());
}

}  // namespace

void appendLines(Lines& lines, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(cutTo(std::string(text.substr(0, end)), kReportWidth));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void appendWrapped(Lines& lines, std::string_view text, std::size_t indent) {
  while (!text.empty()) {
    const std::size_t end = lineEnd(text, kReportWidth - indent);
    appendLines(lines, std::string(indent, ' ').append(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void appendLabelled(Lines& lines, std::string_view label, std::string_view text) {
  const std::size_t first = lines.size();
  appendWrapped(lines, text, kLabelWidth);
  if (lines.size() > first)
    lines[first].replace(0, label.size(), label);
}

void appendTable(Lines& lines, Table table, std::size_t limit) {
  const std::size_t hidden = table.rows.size() > limit ? table.rows.size() - limit : 0;
  table.rows.resize(table.rows.size() - hidden);
  appendLines(lines, renderText(table, 2, kReportWidth));
  if (hidden > 0)
    appendLines(lines, fmt::format("  … {} more: --full", hidden));
}

std::string operationName(const std::string& kind, const std::string& name) {
  return cutTo(kind == name ? name : fmt::format("{} {}", kind, name), 34);
}

std::string counted(std::int64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", humanCount(count), count == 1 ? one : many);
}

}  // namespace sonde::cli
