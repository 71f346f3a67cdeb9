#include "collector/launcher/follow_check.h"

#include "collector/launcher/elf_info.h"

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

namespace sonde::launcher {

namespace {

constexpr int kMaxScriptDepth = 5;            // as in the kernel
constexpr std::streamsize kScriptLine = 256;  // BINPRM_BUF_SIZE

#if defined(__x86_64__)
constexpr std::uint16_t kOwnMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t kOwnMachine = EM_AARCH64;
#else
#error "Sonde runs on x86-64 and AArch64 Linux"
#endif

// The interpreter that a script's first line names; nothing when it is no script.
std::optional<std::string> scriptInterpreter(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line(static_cast<std::size_t>(kScriptLine), '\0');
  file.read(line.data(), kScriptLine);
  line.resize(static_cast<std::size_t>(file.gcount()));
  if (!line.starts_with("#!"))
    return std::nullopt;
  line.resize(std::min(line.size(), line.find('\n')));
  std::istringstream words(line.substr(2));
  std::string interpreter;
  words >> interpreter;
  return interpreter;
}

bool gainsRights(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0)
    return false;
  const bool setGid = (status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0;
  return (status.st_mode & S_ISUID) != 0 || setGid ||
         getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

bool preloadsSanitizer(const std::vector<std::string>& environment) {
  constexpr std::string_view kName = "LD_PRELOAD=";
  for (const std::string& entry : environment) {
    if (!entry.starts_with(kName))
      continue;
    std::string libraries = entry.substr(kName.size());
    std::replace(libraries.begin(), libraries.end(), ':', ' ');
    std::istringstream words(libraries);
    std::string library;
    while (words >> library) {
      if (isSanitizerLibrary(library))
        return true;
    }
  }
  return false;
}

std::string reasonAgainst(const ElfInfo& elf) {
  if (!elf.is64)
    return "32-bit";
  if (elf.machine != kOwnMachine || !elf.littleEndian)
    return "another machine's program";
  if (elf.sanitizer)
    return "sanitizer";
  if (elf.interpreter.empty())
    return "static";
  const std::string loader = elf.interpreter.substr(elf.interpreter.rfind('/') + 1);
  if (loader.starts_with("ld-musl"))
    return "musl";
  return loader.starts_with("ld-linux") || loader.starts_with("ld-2.") ? "" : "another C library";
}

}  // namespace

FollowCheck checkFollow(const std::string& path, const std::vector<std::string>& environment) {
  std::string program = path;
  for (int depth = 0; depth < kMaxScriptDepth; ++depth) {
    const auto interpreter = scriptInterpreter(program);
    if (!interpreter)
      break;
    program = *interpreter;
  }
  if (gainsRights(program))
    return {false, "setuid"};
  auto elf = readElf(program);
  if (!elf &&
      elf.error().code == ErrorCode::Unsupported)  // a script without `#!`: /bin/sh reads it
    elf = readElf("/bin/sh");
  if (!elf)
    return {false, elf.error().code == ErrorCode::Io ? "not readable" : "damaged ELF file"};
  std::string reason = reasonAgainst(*elf);
  if (reason.empty() && preloadsSanitizer(environment))
    reason = "sanitizer in LD_PRELOAD";
  return {reason.empty(), reason};
}

}  // namespace sonde::launcher
