#include "collector/preload/process/exec_env.h"

#include <string.h>

namespace sonde::preload {
namespace {

constexpr std::size_t kMaxValue = 4096;

enum class Join {
  IfMissing,  // keeps the caller's value; Sonde's own value is carried as `ours` decides
  List,       // prepended to the caller's list
  Injection,  // replaces the caller's value, which moves to `chain`
};

struct Variable {
  const char* name;
  Join join;
  bool (*ours)(const char* item,
               std::size_t length);  // which item of a list is Sonde's; nullptr: the whole value
  const char* chain;                 // the variable that receives another tool's value
  char value[kMaxValue];             // empty: not carried
};

bool endsWith(const char* text, std::size_t length, const char* end) noexcept {
  const std::size_t size = strlen(end);
  return length >= size && memcmp(text + length - size, end, size) == 0;
}

const char* gLibrary = "";

bool isText(const char* item, std::size_t length, const char* text) noexcept {
  return length == strlen(text) && memcmp(item, text, length) == 0;
}

bool isOurLibrary(const char* item, std::size_t length) {
  return isText(item, length, gLibrary);
}

bool isOurPythonFolder(const char* item, std::size_t length) {
  return endsWith(item, length, "/lib/sonde/python");
}

bool isOurPlugin(const char* item, std::size_t length) {
  return length == 13 && memcmp(item, "STATIC_PLUGIN", length) == 0;
}

// The first variables. Those of the companions start at kCompanion, in the companions' order.
constexpr std::size_t kPreload = 0;
constexpr std::size_t kSession = 1;
constexpr std::size_t kCompanion = 2;
Variable gVariables[] = {
    {"LD_PRELOAD", Join::List, isOurLibrary, nullptr, {}},
    {"SONDE_SESSION", Join::IfMissing, nullptr, nullptr, {}},
    {core::kCompanions[0].variable, Join::IfMissing, nullptr, nullptr, {}},
    {core::kCompanions[1].variable, Join::IfMissing, nullptr, nullptr, {}},
    {core::kCompanions[2].variable, Join::IfMissing, nullptr, nullptr, {}},
    {core::kCompanions[3].variable, Join::IfMissing, nullptr, nullptr, {}},
    {core::kCompanions[4].variable, Join::IfMissing, nullptr, nullptr, {}},
    {core::kCompanions[5].variable, Join::IfMissing, nullptr, nullptr, {}},
    {"SONDE_SOURCES", Join::IfMissing, nullptr, nullptr, {}},
    {"SONDE_CUDA_FLUSH", Join::IfMissing, nullptr, nullptr, {}},
    {"SONDE_CUDA_GRAPHS", Join::IfMissing, nullptr, nullptr, {}},
    {"SONDE_COUNTERS", Join::IfMissing, nullptr, nullptr, {}},
    {"SONDE_CUDA_UNIFIED_MEMORY", Join::IfMissing, nullptr, nullptr, {}},
    {"SONDE_TORCH_OPERATORS", Join::IfMissing, nullptr, nullptr, {}},
    {"SONDE_MODULE_CATEGORIES", Join::IfMissing, nullptr, nullptr, {}},
    {"SONDE_TENSORS", Join::IfMissing, nullptr, nullptr, {}},
    {"SONDE_TENSOR_FOLDER", Join::IfMissing, nullptr, nullptr, {}},
    {"SONDE_NCCL_KERNEL_CHANNELS", Join::IfMissing, nullptr, nullptr, {}},
    {"NCCL_PROFILER_PLUGIN", Join::IfMissing, isOurPlugin, nullptr, {}},
    {"SONDE_TEST_CLOCK", Join::IfMissing, nullptr, nullptr, {}},
    {"NVTX_INJECTION64_PATH", Join::Injection, isOurLibrary, "SONDE_CHAIN_NVTX", {}},
    {"CUDA_INJECTION64_PATH", Join::Injection, isOurLibrary, "SONDE_CHAIN_CUDA", {}},
    {"PYTHONPATH", Join::List, isOurPythonFolder, nullptr, {}},
};
constexpr std::size_t kVariables = sizeof gVariables / sizeof gVariables[0];
constexpr std::size_t kMostAdded = kVariables + 2;  // including those for other tools' values

static_assert(core::kCompanionCount == 6);

core::CompanionSet gOwnCompanions = 0;  // companions that this process preloads, too

// The companion's file, and the files that accompany it.
const char* libraryOf(std::size_t companion) noexcept {
  return gVariables[kCompanion + companion].value;
}

bool separates(char letter) noexcept {
  return letter == ':' || letter == ' ';
}

// Calls `visit(item, length)` for each item of a list until it returns true. Returns whether it
// did.
template <typename Visit>
bool anyItem(const char* list, Visit visit) noexcept {
  while (*list != '\0') {  // each round passes one item or separator
    const char* end = list;
    while (*end != '\0' && !separates(*end))
      ++end;
    if (end != list && visit(list, static_cast<std::size_t>(end - list)))
      return true;
    list = *end == '\0' ? end : end + 1;
  }
  return false;
}

core::CompanionSet companionsNamed(const char* item, std::size_t length) noexcept {
  core::CompanionSet set = 0;
  for (std::size_t at = 0; at < core::kCompanionCount; ++at)
    set |= anyItem(libraryOf(at),
                   [&](const char* file, std::size_t bytes) {
                     return bytes == length && memcmp(file, item, bytes) == 0;
                   })
               ? core::companionBit(at)
               : 0;
  return set;
}

bool isAnyOfOurs(const char* item, std::size_t length) noexcept {
  return isOurLibrary(item, length) || companionsNamed(item, length) != 0;
}

// Returns the value of an entry "name=value", or nullptr if it is another variable's.
const char* valueOf(const char* entry, const char* name) noexcept {
  const std::size_t length = strlen(name);
  return strncmp(entry, name, length) == 0 && entry[length] == '=' ? entry + length + 1 : nullptr;
}

const char* find(char* const* environment, const char* name) noexcept {
  for (char* const* entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    if (const char* value = valueOf(*entry, name); value != nullptr)
      return value;
  }
  return nullptr;
}

class Writer {
 public:
  explicit Writer(char* at) noexcept : at_(at) {}
  Writer& text(const char* from, std::size_t length) noexcept {
    memcpy(at_, from, length);
    at_ += length;
    return *this;
  }
  Writer& text(const char* from) noexcept { return text(from, strlen(from)); }
  char* finish() noexcept {
    *at_++ = '\0';
    return at_;
  }

 private:
  char* at_;
};

bool wants(const Preload& preload, std::size_t companion) noexcept {
  return preload.recorder && (preload.companions & core::companionBit(companion)) != 0 &&
         libraryOf(companion)[0] != '\0';
}

core::CompanionSet companionsIn(const char* list) noexcept {
  core::CompanionSet set = 0;
  anyItem(list, [&](const char* item, std::size_t length) {
    set |= companionsNamed(item, length);
    return false;
  });
  return set;
}

bool preloads(const char* existing, const Preload& preload) noexcept {
  const char* list = existing == nullptr ? "" : existing;
  core::CompanionSet wanted = 0;
  for (std::size_t at = 0; at < core::kCompanionCount; ++at)
    wanted |= wants(preload, at) ? core::companionBit(at) : 0;
  return anyItem(list, isOurLibrary) == preload.recorder && companionsIn(list) == wanted;
}

// Whether an existing value can stay unchanged.
bool suffices(const Variable& variable, const char* existing, Preload preload) noexcept {
  if (variable.value[0] == '\0')
    return true;
  if (&variable == &gVariables[kPreload])
    return preloads(existing, preload);
  if (existing == nullptr)
    return false;
  return variable.join == Join::IfMissing || anyItem(existing, variable.ours);
}

// Writes the list's items that are not Sonde's, each with its separator. Returns whether there is
// one.
bool writeOthers(Writer& writer, const char* first, const char* list) noexcept {
  bool any = false;
  anyItem(list, [&](const char* item, std::size_t length) {
    if (isAnyOfOurs(item, length))
      return false;
    writer.text(any ? ":" : first).text(item, length);
    any = true;
    return false;
  });
  return any;
}

struct Output {
  char** next;
  char* text;
  Preload preload;

  void keep(char* entry) noexcept { *next++ = entry; }
  void write(const char* name,
             const char* first,
             const char* separator,
             const char* rest) noexcept {
    *next++ = text;
    text = Writer(text).text(name).text("=").text(first).text(separator).text(rest).finish();
  }
};

void writeMerged(Output& out, const Variable& variable, const char* existing) noexcept {
  const bool list = variable.join == Join::List && existing != nullptr && existing[0] != '\0';
  out.write(variable.name, variable.value, list ? ":" : "", list ? existing : "");
  if (variable.join == Join::Injection && existing != nullptr && existing[0] != '\0')
    out.write(variable.chain, existing, "", "");
}

// Writes LD_PRELOAD with the requested libraries of Sonde before the caller's.
void writePreload(Output& out, const char* existing) noexcept {
  Writer writer(out.text);
  const char* list = existing == nullptr ? "" : existing;
  if (!out.preload.recorder) {
    if (!writeOthers(writer, "LD_PRELOAD=", list))
      return;
  } else {
    writer.text("LD_PRELOAD=").text(gVariables[kPreload].value);
    for (std::size_t at = 0; at < core::kCompanionCount; ++at) {
      if (wants(out.preload, at))
        writer.text(":").text(libraryOf(at));
    }
    writeOthers(writer, ":", list);
  }
  *out.next++ = out.text;
  out.text = writer.finish();
}

// Returns the index of the entry's variable; kVariables: none.
std::size_t whichVariable(const char* entry) noexcept {
  std::size_t at = 0;
  while (at < kVariables && valueOf(entry, gVariables[at].name) == nullptr)
    ++at;
  return at;
}

// Passes on one entry of the caller and marks variables that are done in `seen`. If a variable is
// given twice, programs read the first one; environmentBytes() has counted that one.
void passOn(Output& out, char* entry, bool (&seen)[kVariables]) noexcept {
  const std::size_t at = whichVariable(entry);
  if (at == kVariables || seen[at]) {
    out.keep(entry);
    return;
  }
  seen[at] = true;
  const char* existing = valueOf(entry, gVariables[at].name);
  if (suffices(gVariables[at], existing, out.preload))
    out.keep(entry);
  else if (at == kPreload)
    writePreload(out, existing);
  else
    writeMerged(out, gVariables[at], existing);
}

void remember(Variable& variable, const char* value) noexcept {
  if (value == nullptr || strlen(value) >= kMaxValue)
    return;
  if (variable.ours == nullptr) {
    memcpy(variable.value, value, strlen(value) + 1);
    return;
  }
  anyItem(value, [&](const char* item, std::size_t length) {
    if (!variable.ours(item, length))
      return false;
    memcpy(variable.value, item, length);
    variable.value[length] = '\0';
    return true;
  });
}

}  // namespace

void rememberEnvironment(char* const* environment, const char* library) noexcept {
  if (find(environment, "SONDE_SESSION") == nullptr)
    return;
  gLibrary = library;
  for (Variable& variable : gVariables)
    remember(variable, find(environment, variable.name));
  const char* preload = find(environment, gVariables[kPreload].name);
  gOwnCompanions = preload == nullptr ? core::CompanionSet{0} : companionsIn(preload);
}

Preload ownPreload() noexcept {
  return {true, gOwnCompanions};
}

bool carriesEnvironment() noexcept {
  return gVariables[kSession].value[0] != '\0';
}

const char* preloadedLibrary() noexcept {
  return gVariables[kPreload].value;
}

const char* sessionFolder(char* const* environment) noexcept {
  const char* given = find(environment, gVariables[kSession].name);
  return given != nullptr ? given : gVariables[kSession].value;
}

bool isComplete(char* const* environment, Preload preload) noexcept {
  for (const Variable& variable : gVariables) {
    if (!suffices(variable, find(environment, variable.name), preload))
      return false;
  }
  return true;
}

std::size_t environmentBytes(char* const* environment) noexcept {
  std::size_t entries = 0;
  for (char* const* entry = environment; entry != nullptr && *entry != nullptr; ++entry)
    ++entries;
  std::size_t bytes = (entries + kMostAdded + 1) * sizeof(char*);
  for (std::size_t at = 0; at < core::kCompanionCount; ++at)
    bytes += strlen(libraryOf(at)) + 1;
  for (const Variable& variable : gVariables) {
    const char* existing = find(environment, variable.name);
    const std::size_t length = existing == nullptr ? 0 : strlen(existing);
    bytes += strlen(variable.name) + strlen(variable.value) + length + 3;
    if (variable.join == Join::Injection)
      bytes += strlen(variable.chain) + length + 2;
  }
  return bytes;
}

char** buildEnvironment(char* const* environment, Preload preload, void* room) noexcept {
  std::size_t entries = 0;
  for (char* const* entry = environment; entry != nullptr && *entry != nullptr; ++entry)
    ++entries;
  auto** made = static_cast<char**>(room);
  Output out{made, reinterpret_cast<char*>(made + entries + kMostAdded + 1), preload};
  bool seen[kVariables] = {};
  for (std::size_t at = 0; at < entries; ++at)
    passOn(out, environment[at], seen);
  for (std::size_t at = 0; at < kVariables; ++at) {
    if (seen[at] || gVariables[at].value[0] == '\0')
      continue;
    if (at == kPreload)
      writePreload(out, nullptr);
    else
      writeMerged(out, gVariables[at], nullptr);
  }
  *out.next = nullptr;
  return made;
}

}  // namespace sonde::preload
