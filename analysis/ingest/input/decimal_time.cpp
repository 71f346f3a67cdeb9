#include "analysis/ingest/input/decimal_time.h"

#include "analysis/ingest/input/ascii.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace sonde::ingest {
namespace {

// The parts of a JSON number: its digits without the point form an integer, times 10^exponent.
struct Decimal {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  std::int64_t exponent = 0;
};

std::string_view takeDigits(std::string_view& text) noexcept {
  std::size_t count = 0;
  while (count < text.size() && isDigit(text[count]))
    ++count;
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

bool takeExponent(std::string_view& text, std::int64_t& exponent) noexcept {
  if (text.empty() || (text.front() != 'e' && text.front() != 'E'))
    return true;
  text.remove_prefix(1);
  const bool negative = !text.empty() && text.front() == '-';
  if (!text.empty() && (text.front() == '-' || text.front() == '+'))
    text.remove_prefix(1);
  const std::string_view digits = takeDigits(text);
  if (digits.empty())
    return false;
  // A larger exponent is far out of range either way.
  constexpr std::int64_t kFar = 1'000'000;
  std::int64_t value = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc{})
    value = kFar;
  value = std::min(value, kFar);
  exponent = negative ? -value : value;
  return true;
}

std::optional<Decimal> takeApart(std::string_view text) noexcept {
  Decimal number;
  if (!text.empty() && text.front() == '-') {
    number.negative = true;
    text.remove_prefix(1);
  }
  number.whole = takeDigits(text);
  if (number.whole.empty())
    return {};
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    number.fraction = takeDigits(text);
    if (number.fraction.empty())
      return {};
  }
  if (!takeExponent(text, number.exponent) || !text.empty())
    return {};
  return number;
}

// The digits of both parts as one sequence.
class Digits {
 public:
  explicit Digits(const Decimal& number) noexcept : number_(number) {}
  std::int64_t size() const noexcept {
    return static_cast<std::int64_t>(number_.whole.size() + number_.fraction.size());
  }
  unsigned at(std::int64_t index) const noexcept {
    const auto place = static_cast<std::size_t>(index);
    const char digit = place < number_.whole.size()
                           ? number_.whole[place]
                           : number_.fraction[place - number_.whole.size()];
    return static_cast<unsigned>(digit - '0');
  }
  bool anyFrom(std::int64_t index) const noexcept {
    for (; index < size(); ++index)
      if (at(index) != 0)
        return true;
    return false;
  }

 private:
  const Decimal& number_;
};

bool appendDigit(std::uint64_t& value, unsigned digit) noexcept {
  return !__builtin_mul_overflow(value, std::uint64_t{10}, &value) &&
         !__builtin_add_overflow(value, std::uint64_t{digit}, &value);
}

// The first `kept` digits, rounded by the following ones.
std::optional<std::uint64_t> roundedAt(const Digits& digits, std::int64_t kept) noexcept {
  std::uint64_t value = 0;
  for (std::int64_t index = 0; index < kept; ++index) {
    if (index >= digits.size() && value == 0)
      return 0;  // zero stays zero, whatever the exponent
    if (!appendDigit(value, index < digits.size() ? digits.at(index) : 0))
      return {};
  }
  if (kept < 0 || kept >= digits.size())
    return value;
  const unsigned next = digits.at(kept);
  const bool half = next == 5 && !digits.anyFrom(kept + 1);
  const bool up = next > 5 || (next == 5 && (!half || value % 2 == 1));
  if (up && __builtin_add_overflow(value, std::uint64_t{1}, &value))
    return {};
  return value;
}

}  // namespace

std::optional<std::int64_t> scaledDecimal(std::string_view text, int scale) noexcept {
  const std::optional<Decimal> number = takeApart(text);
  if (!number)
    return {};
  const std::int64_t kept =
      static_cast<std::int64_t>(number->whole.size()) + number->exponent + scale;
  const std::optional<std::uint64_t> magnitude = roundedAt(Digits(*number), kept);
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!magnitude || *magnitude > kMost)
    return {};
  const auto value = static_cast<std::int64_t>(*magnitude);
  return number->negative ? -value : value;
}

}  // namespace sonde::ingest
