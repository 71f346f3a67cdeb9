#include "plugins/host/questions/question_file.h"

#include "plugins/api/sonde_question.h"
#include "plugins/host/descriptor.h"
#include "plugins/host/elf_file.h"
#include "plugins/host/questions/question_calls.h"
#include "plugins/host/questions/question_check.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

namespace sonde::plugins {

namespace fs = std::filesystem;
namespace whatif = engine::whatif;

namespace {

constexpr DescriptorKind kKind = {"sonde_question_descriptor",
                                  "question",
                                  "sonde_question.h",
                                  "SONDE_QUESTION_HEAD",
                                  SONDE_QUESTION_ABI,
                                  sizeof(sonde_question_plugin)};
static_assert(offsetof(sonde_question_plugin, version) == offsetof(DescriptorHead, version));

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
  return file && file->exported(kKind.symbol, kKind.bytes);
}

Result<std::vector<whatif::AddedQuestion>> loadQuestions(const fs::path& path) {
  SONDE_TRY_ASSIGN(const void* const loaded, loadDescriptor(path, kKind));
  const auto& plugin = *static_cast<const sonde_question_plugin*>(loaded);
  if (const auto checked = checkQuestions(plugin); !checked)
    return refusedPlugin(path, checked.error().message);
  std::vector<whatif::AddedQuestion> added;
  for (std::size_t i = 0; i < plugin.question_count; ++i)
    added.push_back(addedOf(plugin, plugin.questions[i]));
  return added;
}

}  // namespace sonde::plugins
