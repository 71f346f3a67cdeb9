#include "plugins/pytorch/tensors/npy.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>

namespace sonde::torch {

namespace {

struct Layout {
  std::string_view description;  // as NumPy writes it
  std::int64_t bytes;
};

constexpr std::array<Layout, 10> kLayouts = {{{"|b1", 1},
                                              {"|u1", 1},
                                              {"|i1", 1},
                                              {"<i2", 2},
                                              {"<i4", 4},
                                              {"<i8", 8},
                                              {"<f2", 2},
                                              {"<u2", 2},
                                              {"<f4", 4},
                                              {"<f8", 8}}};

// NumPy's manual, numpy.lib.format: magic, version, length, a Python dictionary, blanks up to a
// multiple of 64 bytes with a line end as the last.
std::string headerOf(const Strided& tensor, const Layout& layout) {
  constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);
  constexpr std::size_t kLengthBytes = 2;
  std::string text =
      "{'descr': '" + std::string(layout.description) + "', 'fortran_order': False, 'shape': (";
  for (std::int32_t at = 0; at < tensor.dimensions; ++at)
    text += std::to_string(tensor.sizes[at]) + ",";
  text += "), }";
  while ((kMagic.size() + kLengthBytes + text.size() + 1) % 64 != 0)
    text += ' ';
  text += '\n';
  std::string header(kMagic);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

// Buffers bytes and writes them.
class Output {
 public:
  explicit Output(int file) : file_(file) {}

  void add(const char* bytes, std::size_t size) {
    buffer_.append(bytes, size);
    if (buffer_.size() >= kEnough)
      flush();
  }
  void flush() {
    std::size_t written = 0;
    while (error_ == 0 && written < buffer_.size()) {
      const ssize_t some = ::write(file_, buffer_.data() + written, buffer_.size() - written);
      if (some > 0)
        written += static_cast<std::size_t>(some);
      else if (errno != EINTR)
        error_ = some == 0 ? EIO : errno;
    }
    buffer_.clear();
  }
  int error() const noexcept { return error_; }

 private:
  static constexpr std::size_t kEnough = std::size_t{1} << 18;

  int file_;
  int error_ = 0;
  std::string buffer_;
};

void addElements(const Strided& tensor,
                 std::int64_t bytes,
                 const char* at,
                 std::int32_t dimension,
                 Output& output) {
  if (dimension == tensor.dimensions) {
    output.add(at, static_cast<std::size_t>(bytes));
    return;
  }
  const std::int64_t size = tensor.sizes[dimension];
  const std::int64_t stride = tensor.strides[dimension] * bytes;
  if (dimension + 1 == tensor.dimensions && stride == bytes) {
    constexpr std::int64_t kPiece = 1 << 16;
    for (std::int64_t from = 0; from < size; from += kPiece)
      output.add(at + from * bytes,
                 static_cast<std::size_t>(std::min(kPiece, size - from) * bytes));
    return;
  }
  for (std::int64_t index = 0; index < size; ++index)
    addElements(tensor, bytes, at + index * stride, dimension + 1, output);
}

}  // namespace

std::int64_t appendNpy(int file, const Strided& tensor) {
  const auto type = static_cast<std::size_t>(tensor.type);
  if (type >= kLayouts.size())
    return -EINVAL;
  const off_t begin = ::lseek(file, 0, SEEK_END);
  if (begin < 0)
    return -errno;
  Output output(file);
  const std::string header = headerOf(tensor, kLayouts[type]);
  output.add(header.data(), header.size());
  addElements(tensor, kLayouts[type].bytes, static_cast<const char*>(tensor.data), 0, output);
  output.flush();
  if (output.error() == 0)
    return begin;
  // If that fails too, the file keeps a piece that no row refers to.
  [[maybe_unused]] const int cut = ::ftruncate(file, begin);
  return -output.error();
}

}  // namespace sonde::torch
