#include "recorder/options/capture_rule.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

namespace sonde::recorder {
namespace {

using Kind = wire::CaptureRule::Kind;

std::optional<std::int64_t> wholeNumber(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && at == end && value >= 0 ? std::optional(value) : std::nullopt;
}

Error wrong(const std::string& text, const char* expected) {
  return {ErrorCode::InvalidArgument, fmt::format("--capture {}: {}", text, expected)};
}

Result<CaptureRule> iterations(const std::string& text, std::string_view value) {
  const auto dash = value.find('-');
  const auto first = wholeNumber(value.substr(0, dash));
  const bool open = dash != std::string_view::npos && dash + 1 == value.size();
  const auto last = open ? std::optional(std::numeric_limits<std::int64_t>::max())
                    : dash == std::string_view::npos ? first
                                                     : wholeNumber(value.substr(dash + 1));
  if (!first || !last || *last < *first)
    return wrong(text, "write iterations:A-B with whole numbers, A not above B");
  CaptureRule rule;
  rule.kind = Kind::Iterations;
  rule.first = *first;
  rule.last = *last;
  return rule;
}

Result<CaptureRule> parseRule(const std::string& text) {
  const auto colon = text.find(':');
  const std::string_view kind = std::string_view(text).substr(0, colon);
  const std::string_view value =
      colon == std::string::npos ? std::string_view() : std::string_view(text).substr(colon + 1);
  if (kind == "iterations")
    return iterations(text, value);
  CaptureRule rule;
  if (kind == "every") {
    const auto every = wholeNumber(value);
    if (!every || *every == 0 || *every > std::numeric_limits<std::uint32_t>::max())
      return wrong(text, "write every:N with a whole number above 0");
    rule.every = static_cast<std::uint32_t>(*every);
    return rule;
  }
  if (kind == "range") {
    if (value.empty() || value.size() >= sizeof wire::CaptureRule::range)
      return wrong(text, "write range:NAME with the name of an annotation, of at most 127 bytes");
    rule.kind = Kind::Range;
    rule.range = value;
    return rule;
  }
  return wrong(text, "write iterations:A-B, every:N or range:NAME");
}

}  // namespace

Result<CaptureRule> parseCapture(const std::string& text) {
  SONDE_TRY_ASSIGN(CaptureRule rule, parseRule(text));
  rule.text = text;
  return rule;
}

}  // namespace sonde::recorder
