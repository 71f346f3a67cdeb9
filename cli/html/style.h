// The style sheet of HTML reports. A plain value.
#pragma once

#include <string_view>

namespace sonde::cli {

// CSS without characters that HTML escapes. Light or dark as the reader's system is.
extern const std::string_view kReportStyle;

}  // namespace sonde::cli
