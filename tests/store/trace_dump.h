// Everything a trace holds, as text, to compare two of them.
#pragma once

#include "analysis/store/database.h"

#include <string>

namespace sonde::store {

// Schema and rows of all tables, rows in the order of their columns; without the times of creation
// and completion.
std::string dump(const Database& trace);

// The first line in which two dumps differ, empty when they are equal.
std::string firstDifference(const std::string& left, const std::string& right);

}  // namespace sonde::store
