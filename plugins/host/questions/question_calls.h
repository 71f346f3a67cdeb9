// Asks a question of a plugin: the functions that sonde_question.h offers it, and the check of all
// that it passes to them. Uses the database's thread.
#pragma once

#include "analysis/engine/whatif/added_question.h"
#include "base/result.h"
#include "plugins/api/sonde_question.h"

#include <string>
#include <vector>

namespace sonde::plugins {

// `plugin`: its name, for errors. InvalidArgument: the plugin made a mistake, or says so; NotFound:
// the trace lacks what it needs.
Result<void> askPlugin(const std::string& plugin,
                       const sonde_question& question,
                       const std::vector<engine::whatif::SettingValue>& values,
                       engine::whatif::Asking& asking);

}  // namespace sonde::plugins
