#include "analysis/export/output_file.h"

#include "analysis/store/trace_name.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace sonde::exports {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBuffer = 1 << 20;

}  // namespace

OutputFile::OutputFile(std::FILE* file, fs::path path, bool replace) noexcept
    : file_(file), path_(std::move(path)), replace_(replace) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : file_(std::exchange(other.file_, nullptr)),
      path_(std::move(other.path_)),
      replace_(other.replace_),
      part_(std::move(other.part_)) {}

OutputFile::~OutputFile() {
  if (file_ == nullptr || part_.empty())
    return;
  std::fclose(file_);
  std::error_code ignored;
  fs::remove(part_, ignored);
}

Result<OutputFile> OutputFile::create(const fs::path& path, bool replace) {
  if (path.empty())
    return OutputFile(stdout, {}, replace);
  SONDE_TRY(store::checkOutput(path, replace));
  const fs::path part = store::partOf(path);
  std::FILE* const file = std::fopen(part.c_str(), replace ? "wbe" : "wbxe");
  if (file == nullptr)
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("cannot create '{}': {}: give another name with -o",
                             part.string(),
                             std::generic_category().message(errno))};
  std::setvbuf(file, nullptr, _IOFBF, kBuffer);
  OutputFile output(file, path, replace);
  output.part_ = part;
  return output;
}

Error OutputFile::failure() const {
  return {ErrorCode::Io,
          fmt::format("cannot write {} ({}): {}",
                      path_.empty() ? "to standard output" : fmt::format("'{}'", path_.string()),
                      std::generic_category().message(errno),
                      path_.empty() ? "send it elsewhere" : "give another place with -o")};
}

Result<void> OutputFile::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size())
    return {};
  if (path_.empty() && errno == EPIPE)
    return {};
  return failure();
}

Result<void> OutputFile::close() {
  if (std::fclose(std::exchange(file_, nullptr)) != 0)
    return failure();
  return store::takeName(part_, path_, replace_);
}

Result<void> OutputFile::finish() {
  if (path_.empty())
    return std::fflush(std::exchange(file_, nullptr)) == 0 || errno == EPIPE
               ? Result<void>()
               : Result<void>(failure());
  auto closed = close();
  std::error_code ignored;
  if (!closed)
    fs::remove(part_, ignored);
  return closed;
}

}  // namespace sonde::exports
