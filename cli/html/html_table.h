// Tables of a page. Plain functions; any thread.
#pragma once

#include "cli/html/page.h"
#include "cli/text/table.h"

#include <cstddef>
#include <string>
#include <vector>

namespace sonde::cli {

// The first `limit` rows, with a line about the others. Nothing for an empty table.
void addTable(Page& page, const Table& table, std::size_t limit);

// The columns with these keys, in the order of `keys`; without columns that have no value in any
// row.
Table columnsOf(const Table& table, const std::vector<std::string>& keys);

// Pairs of a term and a text.
using PageFacts = std::vector<std::pair<std::string, std::string>>;
void addFacts(Page& page, const PageFacts& facts);

// A section with its heading, to which the navigation leads.
void beginSection(Page& page, const std::string& id, const std::string& title);

}  // namespace sonde::cli
