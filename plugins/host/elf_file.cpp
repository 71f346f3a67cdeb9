#include "plugins/host/elf_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace sonde::plugins {
namespace {

#if defined(__x86_64__)
constexpr std::uint16_t kOwnMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t kOwnMachine = EM_AARCH64;
#endif
constexpr std::uint64_t kMostSymbols = 1 << 22;

Error notLoadable(const char* what) {
  return {ErrorCode::InvalidArgument, fmt::format("it is {}", what)};
}

Error ioError(int error) {
  return {error == ENOENT ? ErrorCode::NotFound : ErrorCode::Io,
          std::generic_category().message(error)};
}

}  // namespace

Result<ElfFile> ElfFile::open(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return ioError(errno);
  ElfFile file(fd);
  struct stat info {};
  if (fstat(fd, &info) != 0)
    return ioError(errno);
  if (!S_ISREG(info.st_mode))
    return notLoadable(S_ISDIR(info.st_mode) ? "a folder" : "no file");
  SONDE_TRY(file.readHeader());
  return file;
}

ElfFile::ElfFile(ElfFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), header_(other.header_) {}

ElfFile::~ElfFile() {
  if (fd_ >= 0)
    close(fd_);
}

bool ElfFile::readBytes(std::uint64_t offset, void* to, std::size_t bytes) const {
  const ssize_t got = pread(fd_, to, bytes, static_cast<off_t>(offset));
  return got >= 0 && static_cast<std::size_t>(got) == bytes;
}

template <typename T>
bool ElfFile::read(std::uint64_t offset, T& value) const {
  return readBytes(offset, &value, sizeof value);
}

Result<void> ElfFile::readHeader() {
  unsigned char ident[EI_NIDENT] = {};
  if (!read(0, ident) || std::memcmp(ident, ELFMAG, SELFMAG) != 0)
    return notLoadable("not a shared object");
  if (ident[EI_CLASS] != ELFCLASS64)
    return notLoadable("a 32-bit library, but Sonde records 64-bit programs");
  if (!read(0, header_) || ident[EI_DATA] != ELFDATA2LSB || header_.e_machine != kOwnMachine)
    return notLoadable("a library for another machine");
  if (header_.e_type != ET_DYN || header_.e_phentsize != sizeof(Elf64_Phdr) ||
      header_.e_shentsize != sizeof(Elf64_Shdr))
    return notLoadable("not a shared object: link it with -shared");
  Elf64_Phdr segment{};
  for (std::uint16_t at = 0; at < header_.e_phnum; ++at) {
    if (read(header_.e_phoff + at * sizeof segment, segment) && segment.p_type == PT_INTERP)
      return notLoadable("a program, not a library: link it with -shared");
  }
  return {};
}

bool ElfFile::findSection(std::uint32_t type, Elf64_Shdr& section) const {
  for (std::uint16_t at = 0; at < header_.e_shnum; ++at) {
    if (read(header_.e_shoff + at * sizeof section, section) && section.sh_type == type)
      return true;
  }
  return false;
}

bool ElfFile::hasName(const Elf64_Shdr& strings, std::uint32_t at, const std::string& name) const {
  std::string text(name.size() + 1, ' ');
  return at < strings.sh_size && readBytes(strings.sh_offset + at, text.data(), text.size()) &&
         text.compare(0, name.size(), name) == 0 && text.back() == '\0';
}

Result<Elf64_Sym> ElfFile::symbol(const std::string& name) const {
  Elf64_Shdr symbols{};
  Elf64_Shdr strings{};
  if (!findSection(SHT_DYNSYM, symbols) || symbols.sh_link >= header_.e_shnum ||
      !read(header_.e_shoff + symbols.sh_link * sizeof strings, strings))
    return notLoadable("damaged, or without a symbol table");
  const std::uint64_t count = std::min(symbols.sh_size / sizeof(Elf64_Sym), kMostSymbols);
  for (std::uint64_t at = 0; at < count; ++at) {
    Elf64_Sym found{};
    if (!read(symbols.sh_offset + at * sizeof found, found))
      break;
    if (found.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(found.st_info) == STT_OBJECT &&
        hasName(strings, found.st_name, name))
      return found;
  }
  return Error{ErrorCode::NotFound, fmt::format("it exports no object {}", name)};
}

Result<std::vector<std::byte>> ElfFile::exported(const std::string& name, std::size_t most) const {
  SONDE_TRY_ASSIGN(const Elf64_Sym found, symbol(name));
  Elf64_Phdr segment{};
  for (std::uint16_t at = 0; at < header_.e_phnum; ++at) {
    if (!read(header_.e_phoff + at * sizeof segment, segment) || segment.p_type != PT_LOAD ||
        found.st_value < segment.p_vaddr || found.st_value - segment.p_vaddr >= segment.p_filesz)
      continue;
    const std::uint64_t inside = found.st_value - segment.p_vaddr;
    const std::uint64_t there = std::min<std::uint64_t>(found.st_size, segment.p_filesz - inside);
    std::vector<std::byte> bytes(std::min<std::uint64_t>(there, most));
    if (readBytes(segment.p_offset + inside, bytes.data(), bytes.size()))
      return bytes;
  }
  return Error{ErrorCode::Unsupported,
               fmt::format("its {} needs a relocation: make it a constant", name)};
}

}  // namespace sonde::plugins
