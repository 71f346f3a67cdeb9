// A tensor's elements in the host's memory, of any type and layout, as blocks of doubles. Plain
// functions; any thread.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sonde::torch {

// hooks/tensor_reader.py uses the same numbers.
enum class ElementType : std::int32_t {
  Bool = 0,
  Uint8 = 1,
  Int8 = 2,
  Int16 = 3,
  Int32 = 4,
  Int64 = 5,
  Float16 = 6,
  Bfloat16 = 7,
  Float32 = 8,
  Float64 = 9,
};

// `dimensions` sizes and strides, in elements; 0 dimensions mean one element.
struct Strided {
  const void* data;
  ElementType type;
  std::int32_t dimensions;
  const std::int64_t* sizes;
  const std::int64_t* strides;
};

struct Half {
  std::uint16_t bits;
  double value() const noexcept {
    // Moves its exponent to that of a float, including denormals.
    const std::uint32_t magnitude = static_cast<std::uint32_t>(bits & 0x7fffU) << 13;
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
    const bool isFinite = (bits & 0x7c00U) != 0x7c00U;
    const float scaled = std::bit_cast<float>(magnitude) * 0x1p112F;
    const std::uint32_t wide =
        isFinite ? std::bit_cast<std::uint32_t>(scaled) : magnitude | 0x7f80'0000U;
    return std::bit_cast<float>(wide | sign);
  }
};

struct Bfloat {
  std::uint16_t bits;
  double value() const noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

template <typename Element>
double asDouble(Element element) noexcept {
  if constexpr (requires { element.value(); })
    return element.value();
  else
    return static_cast<double>(element);
}

inline std::int64_t countOf(const Strided& tensor) noexcept {
  std::int64_t count = 1;
  for (std::int32_t at = 0; at < tensor.dimensions; ++at)
    count *= tensor.sizes[at];
  return count;
}

// Calls `take(values, count)` until all elements have been in a block, in index order.
template <typename Element, typename Take>
class Blocks {
 public:
  Blocks(const Strided& tensor, Take& take) noexcept : tensor_(tensor), take_(take) {}

  void run() {
    walk(static_cast<const Element*>(tensor_.data), 0);
    take_(block_.data(), filled_);
  }

 private:
  static constexpr std::size_t kBlock = 1024;

  void walk(const Element* at, std::int32_t dimension) {
    if (dimension == tensor_.dimensions) {
      row(at, 1, 1);
      return;
    }
    const std::int64_t size = tensor_.sizes[dimension];
    const std::int64_t stride = tensor_.strides[dimension];
    if (dimension + 1 == tensor_.dimensions) {
      row(at, size, stride);
      return;
    }
    for (std::int64_t index = 0; index < size; ++index)
      walk(at + index * stride, dimension + 1);
  }

  void row(const Element* at, std::int64_t size, std::int64_t stride) {
    while (size > 0) {
      const auto room = static_cast<std::int64_t>(kBlock - filled_);
      const std::int64_t count = std::min(size, room);
      double* const to = block_.data() + filled_;
      for (std::int64_t index = 0; index < count; ++index)
        to[index] = asDouble(at[index * stride]);
      at += count * stride;
      size -= count;
      filled_ += static_cast<std::size_t>(count);
      if (filled_ == kBlock) {
        take_(block_.data(), filled_);
        filled_ = 0;
      }
    }
  }

  const Strided& tensor_;
  Take& take_;
  std::size_t filled_ = 0;
  std::array<double, kBlock> block_;
};

// False: the type is not an ElementType.
template <typename Take>
bool eachBlock(const Strided& tensor, Take&& take) {
  const auto as = [&]<typename Element>(Element) { Blocks<Element, Take>(tensor, take).run(); };
  switch (tensor.type) {
    case ElementType::Bool:
    case ElementType::Uint8:
      as(std::uint8_t{});
      return true;
    case ElementType::Int8:
      as(std::int8_t{});
      return true;
    case ElementType::Int16:
      as(std::int16_t{});
      return true;
    case ElementType::Int32:
      as(std::int32_t{});
      return true;
    case ElementType::Int64:
      as(std::int64_t{});
      return true;
    case ElementType::Float16:
      as(Half{});
      return true;
    case ElementType::Bfloat16:
      as(Bfloat{});
      return true;
    case ElementType::Float32:
      as(float{});
      return true;
    case ElementType::Float64:
      as(double{});
      return true;
  }
  return false;
}

}  // namespace sonde::torch
