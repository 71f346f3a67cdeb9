#include "plugins/host/descriptor.h"

#include "base/utf8.h"
#include "plugins/api/plugin_check.h"
#include "plugins/host/elf_file.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <system_error>

namespace sonde::plugins {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostItems = 64;
constexpr std::size_t kMostName = 31;
constexpr std::size_t kMostLine = 200;

bool isControl(char letter) {
  return static_cast<unsigned char>(letter) < ' ';
}

// The pointers of a descriptor are filled in when it is loaded; what comes before is in the file.
Result<void> checkHead(const fs::path& path, const DescriptorKind& kind) {
  const auto file = ElfFile::open(path);
  if (!file)
    return refusedPlugin(path, file.error().message);
  const auto bytes = file->exported(kind.symbol, kind.bytes);
  if (!bytes)
    return refusedPlugin(path, bytes.error().message + ": see `docs/plugins.md`");
  DescriptorHead head;
  std::memcpy(&head, bytes->data(), std::min(bytes->size(), sizeof head));
  if (head.abi != kind.abi)
    return refusedPlugin(path,
                         fmt::format("it was built for {} ABI {}, and this Sonde has {}: build it "
                                     "with this Sonde's {}",
                                     kind.content,
                                     head.abi,
                                     kind.abi,
                                     kind.header));
  if (head.size < kind.bytes || bytes->size() < kind.bytes)
    return refusedPlugin(path,
                         fmt::format("its {} has {} bytes, but ABI {} has {}: begin it with {}",
                                     kind.symbol,
                                     std::min<std::size_t>(head.size, bytes->size()),
                                     kind.abi,
                                     kind.bytes,
                                     kind.head));
  if (!isName(head.name))
    return refusedPlugin(path,
                         fmt::format("its name '{}' is invalid: use a to z, 0 to 9, - and _, a "
                                     "letter first",
                                     std::string(head.name, lengthIn(head.name))));
  if (lengthIn(head.version) == sizeof head.version)
    return refusedPlugin(path, "its version has no terminating zero");
  return {};
}

}  // namespace

Error refusedPlugin(const fs::path& path, const std::string& why) {
  return {ErrorCode::InvalidArgument, fmt::format("plugin {}: {}", path.string(), why)};
}

Result<const void*> loadDescriptor(const fs::path& path, const DescriptorKind& kind) {
  std::error_code failure;
  const fs::path whole = fs::canonical(path, failure);
  if (failure)
    return refusedPlugin(path, failure.message());
  SONDE_TRY(checkHead(whole, kind));
  void* const library = dlopen(whole.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    return refusedPlugin(whole,
                         fmt::format("the loader refuses it: {}", why == nullptr ? "" : why));
  }
  const void* const found = dlsym(library, kind.symbol);
  if (found == nullptr)
    return refusedPlugin(whole, fmt::format("it exports no object {}", kind.symbol));
  return found;
}

Error faultyPlugin(const std::string& what, const std::string& why) {
  return {ErrorCode::InvalidArgument, fmt::format("{} {}", what, why)};
}

Result<void> checkName(const std::string& what, const char* text, const std::string& marks) {
  const std::string_view name = text == nullptr ? "" : text;
  const auto isLetter = [](char each) { return each >= 'a' && each <= 'z'; };
  const bool isFine = !name.empty() && name.size() <= kMostName && isLetter(name.front()) &&
                      std::all_of(name.begin(), name.end(), [&](char each) {
                        return isLetter(each) || (each >= '0' && each <= '9') ||
                               marks.find(each) != std::string::npos;
                      });
  if (isFine)
    return {};
  return faultyPlugin(what,
                      fmt::format("has an invalid name: use a to z, 0 to 9{}, a letter first, and "
                                  "at most {} of them",
                                  marks == "-_" ? ", - and _" : " and " + marks,
                                  kMostName));
}

Result<void> checkLine(const std::string& what, const char* text) {
  const std::string_view line = text == nullptr ? "" : text;
  if (text == nullptr || !isText(line) || line.size() > kMostLine ||
      std::any_of(line.begin(), line.end(), isControl))
    return faultyPlugin(what,
                        fmt::format("is not one line of UTF-8 with at most {} bytes", kMostLine));
  return {};
}

Result<void> checkArray(const std::string& what, const void* items, std::size_t count) {
  if (count > kMostItems || (count > 0 && items == nullptr))
    return faultyPlugin(what, fmt::format("are missing, or more than {}", kMostItems));
  return {};
}

std::string lineOf(const char* text, std::size_t mostBytes) {
  std::string line = toText(std::string_view(text, strnlen(text, mostBytes)));
  std::replace_if(line.begin(), line.end(), isControl, ' ');
  return line;
}

}  // namespace sonde::plugins
