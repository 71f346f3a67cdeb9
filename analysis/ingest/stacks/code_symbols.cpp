#include "analysis/ingest/stacks/code_symbols.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>

namespace sonde::ingest {
namespace {

struct Symbol {
  std::uint64_t begin;
  std::uint64_t end;
  int weight;  // the name with the least weight is taken
  std::string name;
};

// The name that programs use is global and has no leading underscores.
int weightOf(std::string_view name, unsigned binding) {
  const int underscores = static_cast<int>(std::min<std::size_t>(name.find_first_not_of('_'), 8));
  const bool isMangled = name.starts_with("_Z");
  const int local = binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 10;
  return local + (isMangled ? 0 : 2 * underscores);
}

// The name without its version, and without libc's prefix for its own calls.
std::string plainName(std::string_view name) {
  constexpr std::string_view kOwn = "__GI_";
  if (name.starts_with(kOwn))
    name.remove_prefix(kOwn.size());
  return std::string(name.substr(0, name.find('@')));
}

void take(std::vector<Symbol>& into,
          const GElf_Sym& symbol,
          std::uint64_t begin,
          const char* name) {
  const unsigned type = GELF_ST_TYPE(symbol.st_info);
  const bool isCode = type == STT_FUNC || type == STT_GNU_IFUNC;
  if (!isCode || symbol.st_shndx == SHN_UNDEF || name == nullptr || *name == '\0')
    return;
  into.push_back({begin,
                  begin + symbol.st_size,
                  weightOf(name, GELF_ST_BIND(symbol.st_info)),
                  plainName(name)});
}

std::vector<CodeFunction> sorted(std::vector<Symbol> symbols) {
  std::sort(symbols.begin(), symbols.end(), [](const Symbol& a, const Symbol& b) {
    return std::tie(a.begin, a.weight, b.end, a.name) < std::tie(b.begin, b.weight, a.end, b.name);
  });
  std::vector<CodeFunction> functions;
  for (Symbol& one : symbols) {
    if (!functions.empty() && functions.back().begin == one.begin)
      continue;
    if (!functions.empty())
      functions.back().end = std::min(functions.back().end, one.begin);
    functions.push_back({one.begin, one.end, std::move(one.name)});
  }
  // A function without a size, for example in assembly, extends to the next one.
  for (std::size_t at = 0; at < functions.size(); ++at) {
    if (functions[at].end == functions[at].begin)
      functions[at].end =
          at + 1 < functions.size() ? functions[at + 1].begin : functions[at].begin + 4096;
  }
  return functions;
}

int openIfThere(const std::string& path, char** name) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd >= 0)
    *name = ::strdup(path.c_str());
  return fd;
}

// Finds symbols that were stripped into a separate file, at the distributions' usual places.
// libdwfl's own search would also ask servers. libdwfl's callbacks prescribe the signature.
int findDebugFile(Dwfl_Module* module,
                  void**,
                  const char*,
                  Dwarf_Addr,
                  const char* file,
                  const char* debugLink,
                  GElf_Word,
                  char** found) {
  const unsigned char* id = nullptr;
  GElf_Addr address = 0;
  const int bytes = dwfl_module_build_id(module, &id, &address);
  if (bytes > 1) {
    std::string rest;
    for (int at = 1; at < bytes; ++at)
      rest += fmt::format("{:02x}", id[at]);
    const int fd =
        openIfThere(fmt::format("/usr/lib/debug/.build-id/{:02x}/{}.debug", id[0], rest), found);
    if (fd >= 0)
      return fd;
  }
  if (debugLink == nullptr || file == nullptr)
    return -1;
  const std::string folder = std::filesystem::path(file).parent_path().native();
  for (const std::string& path : {fmt::format("{}/{}", folder, debugLink),
                                  fmt::format("{}/.debug/{}", folder, debugLink),
                                  fmt::format("/usr/lib/debug{}/{}", folder, debugLink)}) {
    // A file may be named as its own debug file.
    if (path == file)
      continue;
    if (const int fd = openIfThere(path, found); fd >= 0)
      return fd;
  }
  return -1;
}

struct EndDwfl {
  void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
};

}  // namespace

std::vector<CodeFunction> symbolsOf(const std::filesystem::path& path) {
  static const Dwfl_Callbacks kCallbacks = {.find_elf = dwfl_build_id_find_elf,
                                            .find_debuginfo = findDebugFile,
                                            .section_address = dwfl_offline_section_address,
                                            .debuginfo_path = nullptr};
  const std::unique_ptr<Dwfl, EndDwfl> dwfl(dwfl_begin(&kCallbacks));
  if (dwfl == nullptr)
    return {};
  dwfl_report_begin(dwfl.get());
  Dwfl_Module* module = dwfl_report_offline(dwfl.get(), path.c_str(), path.c_str(), -1);
  dwfl_report_end(dwfl.get(), nullptr, nullptr);
  GElf_Addr bias = 0;
  if (module == nullptr || dwfl_module_getelf(module, &bias) == nullptr)
    return {};
  std::vector<Symbol> symbols;
  const int count = dwfl_module_getsymtab(module);
  for (int at = 0; at < count; ++at) {
    GElf_Sym symbol{};
    GElf_Addr address = 0;
    GElf_Word section = 0;
    const char* name =
        dwfl_module_getsym_info(module, at, &symbol, &address, &section, nullptr, nullptr);
    take(symbols, symbol, address - bias, name);
  }
  return sorted(std::move(symbols));
}

std::vector<CodeFunction> symbolsOf(std::span<const std::byte> image) {
  struct EndElf {
    void operator()(Elf* elf) const { elf_end(elf); }
  };
  elf_version(EV_CURRENT);
  // libelf requires writable memory but does not write to it.
  const std::unique_ptr<Elf, EndElf> elf(
      elf_memory(reinterpret_cast<char*>(const_cast<std::byte*>(image.data())), image.size()));
  std::vector<Symbol> symbols;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr header{};
    if (gelf_getshdr(section, &header) == nullptr || header.sh_entsize == 0 ||
        (header.sh_type != SHT_DYNSYM && header.sh_type != SHT_SYMTAB))
      continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
    for (int at = 0; data != nullptr && at < count; ++at) {
      GElf_Sym symbol{};
      if (gelf_getsym(data, at, &symbol) != nullptr)
        take(symbols,
             symbol,
             symbol.st_value,
             elf_strptr(elf.get(), header.sh_link, symbol.st_name));
    }
  }
  return sorted(std::move(symbols));
}

std::optional<std::uint64_t> objectAddress(const std::filesystem::path& path,
                                           std::string_view name) {
  struct EndElf {
    void operator()(Elf* elf) const { elf_end(elf); }
  };
  elf_version(EV_CURRENT);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return std::nullopt;
  std::optional<std::uint64_t> found;
  {
    const std::unique_ptr<Elf, EndElf> elf(elf_begin(fd, ELF_C_READ_MMAP, nullptr));
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
      GElf_Shdr header{};
      if (gelf_getshdr(section, &header) == nullptr || header.sh_entsize == 0 ||
          header.sh_type != SHT_DYNSYM)
        continue;
      Elf_Data* const data = elf_getdata(section, nullptr);
      const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
      for (int at = 0; data != nullptr && at < count && !found; ++at) {
        GElf_Sym symbol{};
        if (gelf_getsym(data, at, &symbol) == nullptr || symbol.st_shndx == SHN_UNDEF)
          continue;
        const char* const own = elf_strptr(elf.get(), header.sh_link, symbol.st_name);
        if (own != nullptr && own == name)
          found = symbol.st_value;
      }
    }
  }
  close(fd);
  return found;
}

}  // namespace sonde::ingest
