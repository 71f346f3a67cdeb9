#include "analysis/ingest/pickle/pickle_reader.h"

#include "analysis/ingest/pickle/pickle_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde::ingest {
namespace {

constexpr std::uint64_t kLeastMemory = 16 << 20;
constexpr std::uint64_t kMostMemory = 1 << 30;
constexpr std::uint64_t kTimesFile = 64;

}  // namespace

std::uint64_t memoryForValues(std::uint64_t fileBytes) noexcept {
  return std::clamp(std::min(fileBytes, kMostMemory) * kTimesFile, kLeastMemory, kMostMemory);
}

Result<std::string> readWhole(ByteSource source) {
  constexpr std::size_t kChunk = 1 << 20;
  std::string bytes;
  for (;;) {
    const std::size_t before = bytes.size();
    if (before > kMostMemory)
      return Error{ErrorCode::Unsupported,
                   fmt::format("'{}' has more than 1 GiB: give a dump with fewer entries",
                               source.path().string())};
    bytes.resize(before + kChunk);
    SONDE_TRY_ASSIGN(const std::size_t read, source.read({bytes.data() + before, kChunk}));
    bytes.resize(before + read);
    if (read == 0)
      return bytes;
  }
}

Result<ValueTree> readPickle(std::string bytes, const std::filesystem::path& file) {
  const std::uint64_t limit = memoryForValues(bytes.size());
  ValueTree tree(std::move(bytes), limit);
  SONDE_TRY(runPickle(tree, file.string()));
  if (const auto fault = tree.findFault())
    return Error{ErrorCode::Corrupt,
                 fmt::format("'{}': a value of the pickle {}: give the file as PyTorch wrote it",
                             file.string(),
                             *fault)};
  return tree;
}

}  // namespace sonde::ingest
