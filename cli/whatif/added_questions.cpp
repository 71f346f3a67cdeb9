#include "cli/whatif/added_questions.h"

#include "analysis/questions/added_settings.h"
#include "plugins/host/questions/question_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

namespace sonde::cli {
namespace {

namespace whatif = engine::whatif;
using questions::NamedQuestion;
using whatif::AddedQuestion;

// Every candidate can be asked.
Result<void> checkCandidates(const AddedQuestion& question) {
  for (const whatif::Candidate& each : question.candidates)
    if (const auto made = questions::makeCandidate(question, each); !made)
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("{}: candidate '{},{}': {}",
                               question.origin,
                               question.name,
                               each.settings,
                               made.error().message)};
  return {};
}

std::vector<std::string> librariesWithQuestions() {
  std::vector<std::string> found;
  const char* const all = std::getenv("SONDE_PLUGIN_LIBRARIES");
  std::istringstream paths(all == nullptr ? "" : all);
  for (std::string path; std::getline(paths, path, ':');)
    if (plugins::hasQuestions(path))
      found.push_back(path);
  return found;
}

Result<void> addOf(const std::string& path, AddedQuestions& all) {
  SONDE_TRY_ASSIGN(AddedQuestions questions, plugins::loadQuestions(path));
  for (AddedQuestion& each : questions) {
    for (const NamedQuestion& own : questions::namedQuestions())
      if (each.name == own.name)
        return Error{ErrorCode::InvalidArgument,
                     fmt::format("{} has a question '{}', as Sonde itself: it needs another name",
                                 each.origin,
                                 each.name)};
    for (const AddedQuestion& other : all)
      if (each.name == other.name)
        return Error{ErrorCode::InvalidArgument,
                     fmt::format("{} and {} both have a question '{}': load one of them",
                                 other.origin,
                                 each.origin,
                                 each.name)};
    SONDE_TRY(checkCandidates(each));
    all.push_back(std::move(each));
  }
  return {};
}

}  // namespace

Result<AddedQuestions> loadAdded(const std::vector<std::string>& plugins) {
  AddedQuestions all;
  std::vector<std::filesystem::path> loaded;
  std::vector<std::string> paths = plugins;
  const std::vector<std::string> others = librariesWithQuestions();
  paths.insert(paths.end(), others.begin(), others.end());
  for (const std::string& path : paths) {
    std::error_code ignored;
    const std::filesystem::path whole = std::filesystem::weakly_canonical(path, ignored);
    if (std::find(loaded.begin(), loaded.end(), whole) != loaded.end())
      continue;
    SONDE_TRY(addOf(path, all));
    loaded.push_back(whole);
  }
  return all;
}

}  // namespace sonde::cli
