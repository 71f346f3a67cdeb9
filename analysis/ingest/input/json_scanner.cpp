#include "analysis/ingest/input/json_scanner.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace sonde::ingest {
namespace {

constexpr std::size_t kBlock = 64;

// A mask with one bit for each byte of the block that equals `wanted`.
#ifdef __SSE2__
std::uint64_t bytesEqual(const char* block, char wanted) noexcept {
  const __m128i pattern = _mm_set1_epi8(wanted);
  std::uint64_t mask = 0;
  for (std::size_t at = 0; at < kBlock; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + at));
    const int equal = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, pattern));
    mask |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(equal)) << at;
  }
  return mask;
}

// A mask of '[' and '{', or of ']' and '}': these pairs differ in only one bit.
std::uint64_t brackets(const char* block, char square) noexcept {
  const __m128i pattern = _mm_set1_epi8(static_cast<char>(square | 0x20));
  const __m128i bit = _mm_set1_epi8(0x20);
  std::uint64_t mask = 0;
  for (std::size_t at = 0; at < kBlock; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + at));
    const int equal = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_or_si128(bytes, bit), pattern));
    mask |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(equal)) << at;
  }
  return mask;
}
#else
std::uint64_t bytesEqual(const char* block, char wanted) noexcept {
  std::uint64_t mask = 0;
  for (std::size_t at = 0; at < kBlock; ++at)
    mask |= static_cast<std::uint64_t>(block[at] == wanted) << at;
  return mask;
}

std::uint64_t brackets(const char* block, char square) noexcept {
  return bytesEqual(block, square) | bytesEqual(block, static_cast<char>(square | 0x20));
}
#endif

// Bit n of the result is the XOR of bits 0 to n.
constexpr std::uint64_t prefixXor(std::uint64_t bits) noexcept {
  for (int shift = 1; shift < 64; shift *= 2)
    bits ^= bits << shift;
  return bits;
}

// A mask of the bytes that a preceding backslash escapes.
std::uint64_t escapedBytes(std::uint64_t backslashes, std::uint64_t& carry) noexcept {
  if (backslashes == 0)
    return std::exchange(carry, 0);
  std::uint64_t escaped = carry;
  carry = 0;
  for (std::uint64_t left = backslashes & ~escaped; left != 0;) {
    const int at = std::countr_zero(left);
    if (at == 63) {
      carry = 1;
      break;
    }
    escaped |= std::uint64_t{2} << at;
    left &= ~(std::uint64_t{3} << at);  // an escaped backslash escapes nothing
  }
  return escaped;
}

}  // namespace

// Masks of the 64 bytes outside of strings.
struct JsonScanner::Block {
  std::uint64_t opening = 0;
  std::uint64_t closing = 0;
  std::uint64_t commas = 0;
};

void JsonScanner::scanBits(const Block& block, std::size_t at, Stop stop, Found& found) noexcept {
  for (std::uint64_t left = block.opening | block.closing | block.commas; left != 0;
       left &= left - 1) {
    const std::uint64_t bit = left & -left;
    const std::size_t place = at + static_cast<std::size_t>(std::countr_zero(left));
    if ((block.closing & bit) != 0 && depth_ == 0) {
      found.end = place;
      return;
    }
    depth_ += static_cast<std::int64_t>((block.opening & bit) != 0) -
              static_cast<std::int64_t>((block.closing & bit) != 0);
    if ((block.commas & bit) == 0 || depth_ != 0)
      continue;
    found.comma = place;
    if (stop == Stop::AtComma)
      return;
  }
}

void JsonScanner::scanBlock(const Block& block, std::size_t at, Stop stop, Found& found) noexcept {
  const int closing = std::popcount(block.closing);
  if (depth_ > closing)  // no element ends in this block
    depth_ += std::popcount(block.opening) - closing;
  else
    scanBits(block, at, stop, found);
}

JsonScanner::Found JsonScanner::scan(std::string_view text, Stop stop) noexcept {
  Found found;
  const auto stopped = [&] {
    return found.end != kNone || (stop == Stop::AtComma && found.comma != kNone);
  };
  for (std::size_t at = 0; at < text.size() && !stopped(); at += kBlock) {
    std::array<char, kBlock> padded;
    const char* bytes = text.data() + at;
    const std::size_t size = std::min(kBlock, text.size() - at);
    if (size < kBlock) {
      padded.fill(' ');
      std::memcpy(padded.data(), bytes, size);
      bytes = padded.data();
    }
    const std::uint64_t escaped = escapedBytes(bytesEqual(bytes, '\\'), escaped_);
    const std::uint64_t quotes = bytesEqual(bytes, '"') & ~escaped;
    const std::uint64_t strings = prefixXor(quotes) ^ inString_;
    const Block block{brackets(bytes, '[') & ~strings,
                      brackets(bytes, ']') & ~strings,
                      bytesEqual(bytes, ',') & ~strings};
    scanBlock(block, at, stop, found);
    // State continues after the text's last byte, not after the padding.
    if (size < kBlock)
      escaped_ = (escaped >> size) & 1;
    inString_ = ((strings >> (size - 1)) & 1) != 0 ? ~std::uint64_t{0} : 0;
  }
  return found;
}

}  // namespace sonde::ingest
