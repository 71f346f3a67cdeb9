#include "analysis/engine/whatif/selector.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <utility>

namespace sonde::engine::whatif {
namespace {

constexpr std::array<const char*, kKeys> kNames = {
    "kind", "name", "operator", "module", "operation", "rank", "stream", "collective"};

Error invalid(std::string message) {
  return {ErrorCode::InvalidArgument, std::move(message)};
}

std::optional<Key> keyOf(std::string_view word) {
  const auto found = std::find(kNames.begin(), kNames.end(), word);
  if (found == kNames.end())
    return std::nullopt;
  return static_cast<Key>(found - kNames.begin());
}

// Reads one condition after the other.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool isAtEnd() const { return at_ >= text_.size(); }

  Result<Condition> next() {
    const std::size_t colon = text_.find(':', at_);
    if (colon == std::string_view::npos)
      return invalid(
          fmt::format("'{}' is not KEY:PATTERN, such as name:*gemm*", text_.substr(at_)));
    const std::string_view word = text_.substr(at_, colon - at_);
    const auto key = keyOf(word);
    if (!key)
      return invalid(
          fmt::format("unknown key '{}': the keys are {}", word, fmt::join(kNames, ", ")));
    at_ = colon + 1;
    SONDE_TRY_ASSIGN(std::string glob, value());
    if (glob.empty())
      return invalid(fmt::format("'{}:' has no pattern", word));
    return Condition{*key, std::move(glob)};
  }

 private:
  Result<std::string> value() {
    if (at_ < text_.size() && text_[at_] == '"')
      return quoted();
    const std::size_t comma = std::min(text_.find(',', at_), text_.size());
    std::string found(text_.substr(at_, comma - at_));
    at_ = comma + 1;
    return found;
  }

  Result<std::string> quoted() {
    std::string found;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size())
        ++at_;
      found += text_[at_];
    }
    if (at_ >= text_.size())
      return invalid(fmt::format("the quote in '{}' is not closed", text_));
    ++at_;
    if (at_ < text_.size() && text_[at_] != ',')
      return invalid(fmt::format("'{}' follows the quote where a comma should", text_.substr(at_)));
    ++at_;
    return found;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

const char* nameOf(Key key) noexcept {
  return kNames[static_cast<std::size_t>(key)];
}

std::optional<std::string> Selector::globOf(Key key) const {
  for (const Condition& each : conditions)
    if (each.key == key)
      return each.glob;
  return std::nullopt;
}

Result<Selector> parseSelector(std::string_view text) {
  if (text.empty())
    return invalid("a selector is empty; it has the form KEY:PATTERN, such as name:*gemm*");
  Selector selector;
  selector.text = text;
  for (Reader reader(text); !reader.isAtEnd();) {
    SONDE_TRY_ASSIGN(Condition condition, reader.next());
    if (selector.globOf(condition.key))
      return invalid(fmt::format("'{}' has the key '{}' twice", text, nameOf(condition.key)));
    selector.conditions.push_back(std::move(condition));
  }
  return selector;
}

Result<SelectorValue> parseSelectorValue(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos)
    return invalid(fmt::format("'{}' is not SELECTOR=VALUE, such as name:*gemm*=0.5", text));
  SONDE_TRY_ASSIGN(Selector selector, parseSelector(text.substr(0, equals)));
  return SelectorValue{std::move(selector), std::string(text.substr(equals + 1))};
}

bool matches(const std::string& glob, const std::string& text) {
  return fnmatch(glob.c_str(), text.c_str(), FNM_NOESCAPE) == 0;
}

}  // namespace sonde::engine::whatif
