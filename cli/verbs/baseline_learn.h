// `sonde baseline learn`, and the print of its files. Plain functions; the databases' thread.
#pragma once

#include "base/result.h"
#include "cli/text/table.h"
#include "rules/baseline/learned_file.h"

#include <string>
#include <vector>

namespace sonde::cli {

// Learns from traces and folders. `created`: UTC, as in the file. NotFound: too few runs, a run
// without iterations, or nothing held. InvalidArgument: too many runs, or a trace is given twice.
Result<rules::LearnedFile> learnFrom(const std::vector<std::string>& words, std::string created);

// The output of `learn`, for a person or as JSON: the numbers of runs, iterations, invariants, and
// dropped candidates with the reason.
std::string renderSummary(const std::string& output, const rules::LearnedFile& file, Format format);

// The output of `show`: the invariants.
std::string renderShown(const rules::LearnedFile& file, Format format);

}  // namespace sonde::cli
