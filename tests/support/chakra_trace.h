// Writes execution traces as MLCommons Chakra does, byte by byte, for tests of the import.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::test {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7)
    bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
inline std::string numberField(unsigned field, std::uint64_t value) {
  return varint(field << 3) + varint(value);
}
inline std::string textField(unsigned field, std::string_view text) {
  return varint(field << 3 | 2) + varint(text.size()) + std::string(text);
}

// A message, field by field, in the numbers of et_def.proto.
class ChakraMessage {
 public:
  ChakraMessage() = default;
  ChakraMessage(std::uint64_t id, std::string_view name, std::uint64_t type)
      : bytes_(numberField(1, id) + textField(2, name) + numberField(3, type)) {}

  ChakraMessage& raw(const std::string& bytes) {
    bytes_ += bytes;
    return *this;
  }
  ChakraMessage& time(std::uint64_t startMicros, std::uint64_t durMicros) {
    return raw(numberField(6, startMicros) + numberField(7, durMicros));
  }
  // As proto3 writes them: all in one field.
  ChakraMessage& deps(unsigned field, const std::vector<std::uint64_t>& ids) {
    std::string packed;
    for (const std::uint64_t id : ids)
      packed += varint(id);
    return raw(textField(field, packed));
  }
  ChakraMessage& attr(std::string_view name, const std::string& value) {
    return raw(textField(10, textField(1, name) + value));
  }
  ChakraMessage& flag(std::string_view name, bool value) {
    return attr(name, numberField(27, value ? 1 : 0));
  }
  ChakraMessage& integer(std::string_view name, std::int64_t value) {
    return attr(name, numberField(9, static_cast<std::uint64_t>(value)));
  }
  ChakraMessage& text(std::string_view name, std::string_view value) {
    return attr(name, textField(29, value));
  }
  // After its length.
  std::string bytes() const { return varint(bytes_.size()) + bytes_; }

 private:
  std::string bytes_;
};

inline std::string chakraHead() {
  return ChakraMessage().raw(textField(1, "0.0.4")).bytes();
}

enum ChakraNodeType : std::uint64_t {
  kChakraMetadata = 1,
  kChakraMemLoad = 2,
  kChakraComp = 4,
  kChakraSend = 5,
  kChakraRecv = 6,
  kChakraColl = 7,
};

// Two steps: each an iteration on the host, an operator in it, a kernel on stream 7 that depends on
// the operator, and an all-reduce on stream 20 that depends on the kernel.
inline std::string chakraRun() {
  std::string file = chakraHead();
  file += ChakraMessage(1, "[pytorch|profiler|execution_trace|process]", kChakraMetadata).bytes();
  for (std::uint64_t step = 0; step < 2; ++step) {
    const std::uint64_t at = 1'700'000'000'000'000 + 1000 * step;
    const std::uint64_t id = 10 * (step + 1);
    file += ChakraMessage(id, "ProfilerStep#" + std::to_string(step), kChakraComp)
                .time(at, 900)
                .deps(4, {1})
                .flag("is_cpu_op", true)
                .integer("tid", 5)
                .bytes();
    file += ChakraMessage(id + 1, "aten::mm", kChakraComp)
                .time(at + 10, 100)
                .deps(4, {id})
                .flag("is_cpu_op", true)
                .integer("tid", 5)
                .bytes();
    file += ChakraMessage(id + 2, "gemm", kChakraComp)
                .time(at + 50, 200)
                .deps(5, {id + 1})
                .flag("is_cpu_op", false)
                .integer("stream", 7)
                .integer("tensor_size", 4096)
                .bytes();
    file += ChakraMessage(id + 3, "ncclDevKernel_AllReduce_Sum", kChakraColl)
                .time(at + 300, 400)
                .deps(5, {id + 2})
                .flag("is_cpu_op", false)
                .integer("stream", 20)
                .integer("comm_type", 0)
                .integer("comm_size", 1 << 20)
                .text("pg_name", "dp")
                .bytes();
  }
  return file;
}

}  // namespace sonde::test
