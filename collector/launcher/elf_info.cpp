#include "collector/launcher/elf_info.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>

namespace sonde::launcher {

namespace {

// A table larger than this is not one that a linker writes for a program.
constexpr std::uint64_t kMaxTableBytes = 256ULL << 20;

// Reads with bounds, never by mapping: a file that shrinks meanwhile is an error, not a SIGBUS.
class FileBytes {
 public:
  explicit FileBytes(int fd) : fd_(fd) {}
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  ~FileBytes() { close(fd_); }

  std::optional<std::string> read(std::uint64_t offset, std::uint64_t length) const {
    struct stat status {};
    if (fstat(fd_, &status) != 0 || length > kMaxTableBytes)
      return std::nullopt;
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (offset > size || length > size - offset)
      return std::nullopt;
    std::string bytes(length, '\0');
    std::size_t done = 0;
    while (done < length) {
      const ssize_t got =
          pread(fd_, bytes.data() + done, length - done, static_cast<off_t>(offset + done));
      if (got <= 0 && errno != EINTR)
        return std::nullopt;
      done += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    }
    return bytes;
  }

  template <typename T>
  std::optional<T> readOne(std::uint64_t offset) const {
    const auto bytes = read(offset, sizeof(T));
    if (!bytes)
      return std::nullopt;
    T value;
    std::memcpy(&value, bytes->data(), sizeof(T));
    return value;
  }

  template <typename T>
  std::optional<std::vector<T>> readTable(std::uint64_t offset, std::uint64_t count) const {
    if (count > kMaxTableBytes / sizeof(T))
      return std::nullopt;
    const auto bytes = read(offset, count * sizeof(T));
    if (!bytes)
      return std::nullopt;
    std::vector<T> table(count);
    if (count > 0)
      std::memcpy(table.data(), bytes->data(), bytes->size());
    return table;
  }

 private:
  int fd_;
};

// The types of one ELF class; the rest of this file is written once for both.
struct Class32 {
  using Header = Elf32_Ehdr;
  using Segment = Elf32_Phdr;
  using Section = Elf32_Shdr;
  using Dynamic = Elf32_Dyn;
};
struct Class64 {
  using Header = Elf64_Ehdr;
  using Segment = Elf64_Phdr;
  using Section = Elf64_Shdr;
  using Dynamic = Elf64_Dyn;
};

std::string textAt(const std::string& table, std::uint64_t offset) {
  return offset < table.size() ? std::string(table.c_str() + offset) : std::string();
}

template <typename Class>
std::optional<std::uint64_t> fileOffset(const std::vector<typename Class::Segment>& segments,
                                        std::uint64_t address) {
  for (const auto& segment : segments) {
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz)
      return address - segment.p_vaddr + segment.p_offset;
  }
  return std::nullopt;
}

template <typename Class>
bool readNeeded(const FileBytes& file,
                const std::vector<typename Class::Segment>& segments,
                const typename Class::Segment& dynamicSegment,
                std::vector<std::string>& needed) {
  using Dynamic = typename Class::Dynamic;
  const auto entries =
      file.readTable<Dynamic>(dynamicSegment.p_offset, dynamicSegment.p_filesz / sizeof(Dynamic));
  if (!entries)
    return false;
  std::uint64_t tableAddress = 0, tableBytes = 0;
  std::vector<std::uint64_t> names;
  for (const Dynamic& entry : *entries) {
    if (entry.d_tag == DT_NULL)
      break;
    if (entry.d_tag == DT_NEEDED)
      names.push_back(entry.d_un.d_val);
    if (entry.d_tag == DT_STRTAB)
      tableAddress = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ)
      tableBytes = entry.d_un.d_val;
  }
  if (names.empty())
    return true;
  const auto offset = fileOffset<Class>(segments, tableAddress);
  const auto table = offset ? file.read(*offset, tableBytes) : std::nullopt;
  if (!table)
    return false;
  for (const std::uint64_t name : names)
    needed.push_back(textAt(*table, name));
  return true;
}

// A sanitizer that is linked statically leaves its entry points among the program's symbols.
bool namesSanitizer(std::string_view symbols) {
  using namespace std::string_view_literals;
  constexpr std::string_view kEntryPoints[] = {"\0__asan_init\0"sv,
                                               "\0__tsan_init\0"sv,
                                               "\0__msan_init\0"sv,
                                               "\0__lsan_init\0"sv,
                                               "\0__hwasan_init\0"sv};
  return std::any_of(std::begin(kEntryPoints), std::end(kEntryPoints), [&](std::string_view name) {
    return symbols.find(name) != std::string_view::npos;
  });
}

template <typename Class>
bool hasSanitizerSymbols(const FileBytes& file, const typename Class::Header& header) {
  const auto sections = file.readTable<typename Class::Section>(header.e_shoff, header.e_shnum);
  if (!sections)
    return false;
  for (const auto& section : *sections) {
    const bool symbols = section.sh_type == SHT_DYNSYM || section.sh_type == SHT_SYMTAB;
    if (!symbols || section.sh_link >= sections->size())
      continue;
    const auto& strings = (*sections)[section.sh_link];
    const auto text = file.read(strings.sh_offset, strings.sh_size);
    if (text && namesSanitizer(*text))
      return true;
  }
  return false;
}

template <typename Class>
Result<ElfInfo> readAs(const FileBytes& file, const std::string& path, ElfInfo info) {
  const Error corrupt{ErrorCode::Corrupt, fmt::format("{}: its ELF tables are damaged", path)};
  const auto header = file.readOne<typename Class::Header>(0);
  if (!header)
    return corrupt;
  info.machine = header->e_machine;
  const auto segments = file.readTable<typename Class::Segment>(header->e_phoff, header->e_phnum);
  if (!segments)
    return corrupt;
  for (const auto& segment : *segments) {
    if (segment.p_type == PT_INTERP) {
      const auto text = file.read(segment.p_offset, segment.p_filesz);
      if (!text)
        return corrupt;
      info.interpreter = text->c_str();
    }
    if (segment.p_type == PT_DYNAMIC && !readNeeded<Class>(file, *segments, segment, info.needed))
      return corrupt;
  }
  info.sanitizer = std::any_of(info.needed.begin(), info.needed.end(), isSanitizerLibrary) ||
                   hasSanitizerSymbols<Class>(file, *header);
  return info;
}

}  // namespace

bool isSanitizerLibrary(const std::string& name) {
  constexpr std::string_view kNames[] = {"libasan.so",
                                         "libtsan.so",
                                         "liblsan.so",
                                         "libhwasan.so",
                                         "libclang_rt.asan",
                                         "libclang_rt.tsan",
                                         "libclang_rt.msan",
                                         "libclang_rt.lsan",
                                         "libclang_rt.hwasan"};
  const std::string base = name.substr(name.rfind('/') + 1);
  return std::any_of(std::begin(kNames), std::end(kNames), [&](std::string_view known) {
    return base.starts_with(known);
  });
}

Result<ElfInfo> readElf(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return Error{ErrorCode::Io,
                 fmt::format("{}: {}", path, std::generic_category().message(errno))};
  const FileBytes file(fd);
  const auto ident = file.read(0, EI_NIDENT);
  if (!ident || std::memcmp(ident->data(), ELFMAG, SELFMAG) != 0)
    return Error{ErrorCode::Unsupported, fmt::format("{}: not an ELF file", path)};
  ElfInfo info;
  info.is64 = (*ident)[EI_CLASS] == ELFCLASS64;
  info.littleEndian = (*ident)[EI_DATA] == ELFDATA2LSB;
  if (!info.littleEndian)
    return info;  // another machine's; nothing more of it matters
  return info.is64 ? readAs<Class64>(file, path, info) : readAs<Class32>(file, path, info);
}

}  // namespace sonde::launcher
