// The lines of a text report: at most 100 characters, long texts wrapped or cut, omitted table rows
// counted. Plain values: no thread rules.
#pragma once

#include "cli/text/table.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::cli {

using Lines = std::vector<std::string>;

inline constexpr int kReportWidth = 100;
inline constexpr std::size_t kLabelWidth = 11;

// Adds each line of `text`, cut to the width.
void appendLines(Lines& lines, std::string_view text);
// Adds one paragraph, broken at spaces, each line indented by `indent`; cuts longer words.
void appendWrapped(Lines& lines, std::string_view text, std::size_t indent);
// The same with `label` before the first line and the text in a column of its own.
void appendLabelled(Lines& lines, std::string_view label, std::string_view text);
// Adds the first `limit` rows, and a line with the number of others.
void appendTable(Lines& lines, Table table, std::size_t limit);

// "backward", "module fc1": kind and name.
std::string operationName(const std::string& kind, const std::string& name);
// "1 rank", "12,020 events".
std::string counted(std::int64_t count, std::string_view one, std::string_view many);

}  // namespace sonde::cli
