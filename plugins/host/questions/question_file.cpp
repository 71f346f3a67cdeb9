#include "plugins/host/questions/question_file.h"

#include "plugins/api/plugin_check.h"
#include "plugins/api/sonde_question.h"
#include "plugins/host/elf_file.h"
#include "plugins/host/questions/question_calls.h"
#include "plugins/host/questions/question_check.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <system_error>
#include <utility>

namespace sonde::plugins {

namespace fs = std::filesystem;
namespace whatif = engine::whatif;

namespace {

constexpr const char* kDescriptor = "sonde_question_descriptor";

// Every refusal is one of an argument.
Error refused(const fs::path& path, const std::string& why) {
  return {ErrorCode::InvalidArgument, fmt::format("plugin {}: {}", path.string(), why)};
}

// The pointers of a descriptor are filled in when it is loaded; what comes before is in the file.
Result<void> checkHead(const fs::path& path) {
  const auto file = ElfFile::open(path);
  if (!file)
    return refused(path, file.error().message);
  const auto bytes = file->exported(kDescriptor, sizeof(sonde_question_plugin));
  if (!bytes)
    return refused(path, bytes.error().message + ": see `docs/plugins.md`");
  sonde_question_plugin plugin{};
  std::memcpy(&plugin, bytes->data(), std::min(bytes->size(), sizeof plugin));
  if (plugin.abi != SONDE_QUESTION_ABI)
    return refused(path,
                   fmt::format("it was built for question ABI {}, and this Sonde has {}: build it "
                               "with this Sonde's sonde_question.h",
                               plugin.abi,
                               SONDE_QUESTION_ABI));
  if (plugin.size < sizeof plugin || bytes->size() < sizeof plugin)
    return refused(path,
                   fmt::format("its {} has {} bytes, but ABI {} has {}: begin it with "
                               "SONDE_QUESTION_HEAD",
                               kDescriptor,
                               std::min<std::size_t>(plugin.size, bytes->size()),
                               SONDE_QUESTION_ABI,
                               sizeof plugin));
  if (!isName(plugin.name))
    return refused(path,
                   fmt::format("its name '{}' is invalid: use a to z, 0 to 9, - and _, a letter "
                               "first",
                               std::string(plugin.name, lengthIn(plugin.name))));
  if (lengthIn(plugin.version) == sizeof plugin.version)
    return refused(path, "its version has no terminating zero");
  return {};
}

// The constant of a file that stays loaded: questions are asked until the process ends.
Result<const sonde_question_plugin*> load(const fs::path& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    return refused(path, fmt::format("the loader refuses it: {}", why == nullptr ? "" : why));
  }
  const void* const found = dlsym(library, kDescriptor);
  if (found == nullptr)
    return refused(path, fmt::format("it exports no object {}", kDescriptor));
  return static_cast<const sonde_question_plugin*>(found);
}

whatif::AddedQuestion addedOf(const sonde_question_plugin& plugin, const sonde_question& question) {
  whatif::AddedQuestion added{question.name, question.help, {}, {}, {}, {}};
  added.origin = fmt::format("plugin {} {}", plugin.name, plugin.version);
  for (std::size_t i = 0; i < question.setting_count; ++i) {
    const sonde_setting& each = question.settings[i];
    added.settings.push_back({each.key,
                              each.help,
                              static_cast<whatif::SettingType>(each.type - SONDE_NUMBER),
                              std::nullopt});
    if (each.fallback != nullptr)
      added.settings.back().fallback = each.fallback;
  }
  for (std::size_t i = 0; i < question.candidate_count; ++i)
    added.candidates.push_back({question.candidates[i].settings, question.candidates[i].advice});
  added.make = [name = std::string(plugin.name),
                &question](std::vector<whatif::SettingValue> values) -> whatif::Question {
    return [name, &question, values = std::move(values)](whatif::Asking& asking) {
      return askPlugin(name, question, values, asking);
    };
  };
  return added;
}

}  // namespace

bool hasQuestions(const fs::path& path) {
  const auto file = ElfFile::open(path);
  return file && file->exported(kDescriptor, sizeof(sonde_question_plugin));
}

Result<std::vector<whatif::AddedQuestion>> loadQuestions(const fs::path& path) {
  std::error_code failure;
  const fs::path whole = fs::canonical(path, failure);
  if (failure)
    return refused(path, failure.message());
  SONDE_TRY(checkHead(whole));
  SONDE_TRY_ASSIGN(const sonde_question_plugin* plugin, load(whole));
  if (const auto checked = checkQuestions(*plugin); !checked)
    return refused(whole, checked.error().message);
  std::vector<whatif::AddedQuestion> added;
  for (std::size_t i = 0; i < plugin->question_count; ++i)
    added.push_back(addedOf(*plugin, plugin->questions[i]));
  return added;
}

}  // namespace sonde::plugins
