#include "rules/facts/saved_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace sonde::rules {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostElements = std::int64_t{1} << 26;
constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);

template <typename T>
double loadAs(const char* bytes) {
  T value{};
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<double>(value);
}

// IEEE 754 binary16.
double loadHalf(const char* bytes) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0x1f)
    return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  return sign *
         (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 0x400, exponent - 25));
}

// The upper half of a float.
double loadBfloat16(const char* bytes) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

struct Type {
  std::string_view description;  // as NumPy writes it
  std::string_view dtype;        // as the trace names it; empty: any
  std::size_t bytes;
  double (*load)(const char*);
};

constexpr std::array<Type, 10> kTypes = {{{"|b1", "", 1, loadAs<std::uint8_t>},
                                          {"|u1", "", 1, loadAs<std::uint8_t>},
                                          {"|i1", "", 1, loadAs<std::int8_t>},
                                          {"<i2", "", 2, loadAs<std::int16_t>},
                                          {"<i4", "", 4, loadAs<std::int32_t>},
                                          {"<i8", "", 8, loadAs<std::int64_t>},
                                          {"<f2", "", 2, loadHalf},
                                          {"<u2", "bfloat16", 2, loadBfloat16},
                                          {"<f4", "", 4, loadAs<float>},
                                          {"<f8", "", 8, loadAs<double>}}};

Result<fs::path> placeOf(const fs::path& folder, const std::string& file) {
  if (file.empty())
    return Error{ErrorCode::InvalidArgument,
                 "the tensor was not saved: set save = true in the --tensors file"};
  std::error_code problem;
  const fs::path root = fs::canonical(folder.empty() ? fs::path(".") : folder, problem);
  const fs::path place = problem ? fs::path() : fs::canonical(root / file, problem);
  if (problem)
    return Error{ErrorCode::Io,
                 fmt::format("cannot open {} in the folder of the trace ({}): check the trace that "
                             "was recorded, beside its .tensors folder",
                             file,
                             problem.message())};
  const auto [end, ignored] = std::mismatch(root.begin(), root.end(), place.begin(), place.end());
  if (fs::path(file).is_absolute() || end != root.end() || !fs::is_regular_file(place, problem))
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} is not a file in the folder of the trace: it is not read", file)};
  return place;
}

// The text behind 'key': in the header, up to one of `ends`.
std::optional<std::string_view> valueOf(std::string_view header,
                                        std::string_view key,
                                        std::string_view ends) {
  const std::size_t at = header.find(key);
  if (at == std::string_view::npos)
    return std::nullopt;
  std::string_view value = header.substr(at + key.size());
  value.remove_prefix(std::min(value.find_first_not_of(" ("), value.size()));
  return value.substr(0, value.find_first_of(ends));
}

std::optional<std::vector<std::int64_t>> shapeOf(std::string_view text) {
  std::vector<std::int64_t> shape;
  while (!text.empty()) {
    text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
    if (text.empty())
      break;
    std::int64_t size = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (problem != std::errc() || size < 0)
      return std::nullopt;
    shape.push_back(size);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  return shape;
}

bool holds(const std::vector<std::int64_t>& shape, std::int64_t elements) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape)
    if (__builtin_mul_overflow(count, size, &count))
      return false;
  return count == elements;
}

std::string readHeader(std::istream& file) {
  std::array<char, kMagic.size() + 2> start{};
  if (!file.read(start.data(), start.size()) ||
      std::string_view(start.data(), kMagic.size()) != kMagic)
    return "";
  const auto low = static_cast<unsigned char>(start[kMagic.size()]);
  const auto high = static_cast<unsigned char>(start[kMagic.size() + 1]);
  std::string header(static_cast<std::size_t>(low | high << 8), '\0');
  return file.read(header.data(), static_cast<std::streamsize>(header.size())) ? header : "";
}

const Type* typeOf(std::string_view header, const TensorFact& fact) {
  const auto description = valueOf(header, "'descr': '", "'");
  const auto type = std::find_if(kTypes.begin(), kTypes.end(), [&](const Type& each) {
    return description == each.description && (each.dtype.empty() || each.dtype == fact.dtype);
  });
  return type == kTypes.end() ? nullptr : &*type;
}

}  // namespace

Result<SavedTensor> readSavedTensor(const fs::path& folder, const TensorFact& fact) {
  SONDE_TRY_ASSIGN(const fs::path place, placeOf(folder, fact.file));
  const std::string where = fmt::format("{} at byte {}", place.string(), fact.fileOffset);
  if (fact.elements > kMostElements)
    return Error{ErrorCode::Unsupported,
                 fmt::format("{} has {} elements, and rules read at most {}: select other tensors",
                             where,
                             fact.elements,
                             kMostElements)};
  std::ifstream file(place, std::ios::binary);
  if (fact.fileOffset < 0 || !file.seekg(fact.fileOffset))
    return Error{ErrorCode::Io, fmt::format("cannot read {}", where)};
  const std::string header = readHeader(file);
  const auto shape = shapeOf(valueOf(header, "'shape': ", ")").value_or("?"));
  if (!shape || !holds(*shape, fact.elements) ||
      valueOf(header, "'fortran_order': ", ",") != "False")
    return Error{ErrorCode::Corrupt,
                 fmt::format("{} is not a tensor of {} elements in NumPy's format: record it again",
                             where,
                             fact.elements)};
  const Type* const type = typeOf(header, fact);
  if (type == nullptr)
    return Error{ErrorCode::Unsupported,
                 fmt::format("{} is of a type that rules do not read", where)};
  std::error_code problem;
  std::string bytes;
  const auto size = static_cast<std::size_t>(fact.elements) * type->bytes;
  if (fs::file_size(place, problem) >= size && !problem)
    bytes.resize(size);
  if (bytes.size() != size || !file.read(bytes.data(), static_cast<std::streamsize>(size)))
    return Error{ErrorCode::Corrupt, fmt::format("{} ends early: record it again", where)};
  SavedTensor tensor{*shape, std::vector<double>(static_cast<std::size_t>(fact.elements))};
  for (std::size_t at = 0; at < tensor.values.size(); ++at)
    tensor.values[at] = type->load(bytes.data() + at * type->bytes);
  return tensor;
}

}  // namespace sonde::rules
