// Whether the questions of a loaded plugin are well-formed. Its pointers are trusted, its values
// are not. Plain functions; any thread.
#pragma once

#include "base/result.h"
#include "plugins/api/sonde_question.h"

#include <string>

namespace sonde::plugins {

// InvalidArgument: the message says which question and which part of it.
Result<void> checkQuestions(const sonde_question_plugin& plugin);

}  // namespace sonde::plugins
