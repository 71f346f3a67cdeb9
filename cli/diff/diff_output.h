// The output of `sonde diff`: a screen for a person, JSON and CSV for programs. Pure functions.
#pragma once

#include "analysis/engine/diff/diff.h"
#include "analysis/engine/diff/run_files.h"
#include "cli/text/number_range.h"
#include "cli/text/table.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sonde::cli {

struct DiffDocument {
  const engine::diff::Diff& diff;
  const engine::diff::Judgement& judgement;
  const std::vector<std::string>& by;
  const std::vector<engine::diff::RunFiles>& runsOfA;
  const std::vector<engine::diff::RunFiles>& runsOfB;
  std::optional<NumberRange> iterations = {};  // of each run; unset: all
};

// Notes that a reader needs beside the rows: one sentence each.
std::vector<std::string> notesOf(const DiffDocument& document);

// `most`: rows without a proven difference beyond this number are only counted.
std::string diffText(const DiffDocument& document, std::size_t most);
std::string diffJson(const DiffDocument& document);
std::string diffCsv(const DiffDocument& document);

}  // namespace sonde::cli
