// The full content of a trace as text, to compare two traces.
#pragma once

#include "analysis/store/database.h"

#include <string>

namespace sonde::store {

// Schema and rows of all tables, rows ordered by their columns; without the times of creation and
// completion.
std::string dump(const Database& trace);

// The first line in which two dumps differ; empty if they are equal.
std::string firstDifference(const std::string& left, const std::string& right);

}  // namespace sonde::store
