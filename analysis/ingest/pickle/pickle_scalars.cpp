#include "analysis/ingest/pickle/pickle_scalars.h"

#include "analysis/ingest/pickle/pickle_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

namespace sonde::ingest {

PickledNode readText(PickleInput& input, ValueTree& tree, unsigned width, ValueKind kind) {
  SONDE_TRY_ASSIGN(const std::string_view text, input.counted(width));
  return tree.addText(text, kind);
}

PickledNode readSignedText(PickleInput& input, ValueTree& tree) {
  SONDE_TRY_ASSIGN(const std::uint64_t length, input.number(4));
  if (length > INT32_MAX)
    return input.damaged("has a negative length");
  SONDE_TRY_ASSIGN(const std::string_view text, input.take(length));
  return tree.addText(text);
}

PickledNode readUnsigned(PickleInput& input, ValueTree& tree, unsigned width) {
  SONDE_TRY_ASSIGN(const std::uint64_t value, input.number(width));
  return tree.addInteger(static_cast<std::int64_t>(value));
}

PickledNode readTextNumber(PickleInput& input, ValueTree& tree) {
  SONDE_TRY_ASSIGN(const std::string_view text, input.line());
  if (text == "00" || text == "01")
    return tree.addBool(text == "01");
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    return input.damaged("has no whole number of 64 bits");
  return tree.addInteger(value);
}

// Two's complement, little-endian.
PickledNode readLong(PickleInput& input, ValueTree& tree, unsigned width) {
  SONDE_TRY_ASSIGN(const std::string_view bytes, input.counted(width));
  constexpr unsigned kBits = 8;
  const auto byteAt = [&](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
  const bool isNegative = !bytes.empty() && (byteAt(bytes.size() - 1) & 0x80U) != 0;
  const unsigned fill = isNegative ? 0xFFU : 0;
  std::size_t size = bytes.size();
  while (size > sizeof(std::int64_t) && byteAt(size - 1) == fill &&
         (byteAt(size - 2) & 0x80U) == (fill & 0x80U))
    --size;
  const std::size_t first = size > sizeof(std::int64_t) ? size - sizeof(std::int64_t) : 0;
  std::uint64_t value = isNegative ? ~std::uint64_t{0} : 0;
  for (std::size_t at = size; at > first; --at)
    value = (value << kBits) | byteAt(at - 1);
  const auto leading = static_cast<std::int64_t>(value);
  if (first == 0)
    return tree.addInteger(leading);
  const auto bits = static_cast<int>(std::min<std::size_t>(kBits * first, 1 << 16));
  return tree.addReal(std::ldexp(static_cast<double>(leading), bits));
}

PickledNode readSigned(PickleInput& input, ValueTree& tree) {
  SONDE_TRY_ASSIGN(const std::uint64_t value, input.number(4));
  return tree.addInteger(static_cast<std::int32_t>(value));
}

PickledNode readTextLong(PickleInput& input, ValueTree& tree) {
  SONDE_TRY_ASSIGN(std::string_view text, input.line());
  if (text.ends_with('L'))
    text.remove_suffix(1);
  const char* const last = text.data() + text.size();
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), last, value);
  if (error == std::errc{} && end == last)
    return tree.addInteger(value);
  double real = 0;
  const auto parsed = std::from_chars(text.data(), last, real);
  if (error != std::errc::result_out_of_range || parsed.ec != std::errc{} || parsed.ptr != last)
    return input.damaged("has no whole number");
  return tree.addReal(real);
}

PickledNode readTextReal(PickleInput& input, ValueTree& tree) {
  SONDE_TRY_ASSIGN(const std::string_view text, input.line());
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    return input.damaged("has no number");
  return tree.addReal(value);
}

// Big-endian.
PickledNode readReal(PickleInput& input, ValueTree& tree) {
  SONDE_TRY_ASSIGN(const std::string_view bytes, input.take(sizeof(double)));
  std::array<char, sizeof(double)> reversed{};
  std::reverse_copy(bytes.begin(), bytes.end(), reversed.begin());
  double value = 0;
  std::memcpy(&value, reversed.data(), sizeof value);
  return tree.addReal(value);
}

PickledNode readQuotedText(PickleInput& input, ValueTree& tree) {
  SONDE_TRY_ASSIGN(const std::string_view literal, input.line());
  auto text = unquoted(literal);
  if (!text)
    return input.damaged("has no text in quotes");
  const auto kept = tree.keep(*std::move(text));
  return kept ? tree.addText(*kept) : ValueTree::kFull;
}

PickledNode readUnicodeText(PickleInput& input, ValueTree& tree) {
  SONDE_TRY_ASSIGN(const std::string_view escaped, input.line());
  auto text = unescaped(escaped);
  if (!text)
    return input.damaged("has an invalid escape");
  const auto kept = tree.keep(*std::move(text));
  return kept ? tree.addText(*kept) : ValueTree::kFull;
}

}  // namespace sonde::ingest
