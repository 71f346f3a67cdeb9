// NCCL's words and numbers for functions and data types. Stateless.
#pragma once

#include "collector/wire/words.h"

#include <cstdint>

namespace sonde::preload::nccl {

// A function of NCCL's API; `number` is ncclFunc_t's.
struct Function {
  const char* word;  // its name in the plugin interface from version 2 on
  const char* name;  // in NCCL's API
  std::uint8_t number;
  wire::CollectiveOp op;
};
// nullptr: unknown to this version of Sonde.
const Function* functionOf(const char* word) noexcept;
const Function* functionOf(std::uint8_t number) noexcept;

// Whether one of the ranks is the root.
constexpr bool hasRoot(wire::CollectiveOp op) noexcept {
  return op == wire::CollectiveOp::Broadcast || op == wire::CollectiveOp::Reduce ||
         op == wire::CollectiveOp::Gather || op == wire::CollectiveOp::Scatter;
}

constexpr bool isPeerCall(wire::CollectiveOp op) noexcept {
  return op == wire::CollectiveOp::Send || op == wire::CollectiveOp::Receive;
}

struct ElementType {
  wire::DataType type;
  std::uint32_t bytes;  // 0: unknown
};
ElementType elementType(const char* word) noexcept;
ElementType elementType(std::uint8_t number) noexcept;

// nullptr: unknown. Words are NCCL's own.
const char* algorithmWord(std::uint8_t number) noexcept;
const char* protocolWord(std::uint8_t number) noexcept;
inline const char* algorithmWord(const char* word) noexcept {
  return word;
}
inline const char* protocolWord(const char* word) noexcept {
  return word;
}

}  // namespace sonde::preload::nccl
