// The bytes of a pickle: the opcode that runs and its arguments. Used by readPickle() only, on its
// thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace sonde::ingest {

class PickleInput {
 public:
  // `bytes` outlive the object. `file`: for errors.
  PickleInput(std::string_view bytes, std::string file) : bytes_(bytes), file_(std::move(file)) {}

  // The code of the next opcode. Corrupt: the end of the file, where STOP should have been.
  Result<unsigned char> nextOpcode();
  // For errors about it.
  void nameOpcode(std::string_view name) noexcept { opcode_ = name; }

  // The arguments of an opcode. Corrupt: they are cut short.
  Result<std::string_view> take(std::uint64_t bytes);
  Result<std::uint64_t> number(unsigned width);      // little-endian, of `width` bytes
  Result<std::string_view> counted(unsigned width);  // as many bytes as a number before them says
  Result<std::string_view> line();                   // without its end
  Result<std::int64_t> decimal();                    // a line with a whole number
  std::size_t left() const noexcept { return bytes_.size() - at_; }

  // Errors with file, opcode and offset; "was the file copied whole?" is the remedy of damaged().
  Error damaged(std::string_view what) const;
  Error failed(std::string_view what, std::string_view remedy) const;
  Error unknownOpcode(unsigned char code) const;

 private:
  std::string_view bytes_;
  std::string file_;
  std::size_t at_ = 0;
  std::size_t opcodeAt_ = 0;
  std::string_view opcode_;  // name
};

}  // namespace sonde::ingest
