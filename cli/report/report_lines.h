// The lines of a text report: 100 characters at most, long texts wrapped or cut, tables with what
// was left out counted. Plain values: no thread rules.
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

// Each line of `text`, cut to the width.
void appendLines(Lines& lines, std::string_view text);
// One paragraph, broken at spaces, each line indented by `indent`; a longer word is cut.
void appendWrapped(Lines& lines, std::string_view text, std::size_t indent);
// The same with `label` before the first line and the text in a column of its own.
void appendLabelled(Lines& lines, std::string_view label, std::string_view text);
// The first `limit` rows; a last line counts the others.
void appendTable(Lines& lines, Table table, std::size_t limit);

// "backward", "module fc1": of a kind, by its name.
std::string operationName(const std::string& kind, const std::string& name);
// "1 rank", "12,020 events".
std::string counted(std::int64_t count, std::string_view one, std::string_view many);

}  // namespace sonde::cli
