#include "cli/html/html_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde::cli {
namespace {

// Longer texts are cut in the middle; the whole one is shown on hovering.
constexpr int kCellLetters = 72;
constexpr int kMessageLetters = 400;

bool hasValues(const Table& table, std::size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
    return !std::holds_alternative<std::monostate>(row[column]);
  });
}

void addCell(Page& page, const Cell& cell, const Column& column) {
  const std::string text = humanCell(cell, column.kind);
  if (column.kind != ColumnKind::Text) {
    page.element("td", text, {{"class", "number"}});
    return;
  }
  const std::string cut = cutInside(text, column.key == "message" ? kMessageLetters : kCellLetters);
  page.element("td", cut, cut == text ? Page::Attributes{} : Page::Attributes{{"title", text}});
}

}  // namespace

void addTable(Page& page, const Table& table, std::size_t limit) {
  if (table.rows.empty())
    return;
  page.begin("div", {{"class", "wide"}}).begin("table").begin("thead").begin("tr");
  for (const Column& column : table.columns)
    page.element("th",
                 column.title,
                 column.kind == ColumnKind::Text ? Page::Attributes{}
                                                 : Page::Attributes{{"class", "number"}});
  page.end().end().begin("tbody");
  for (std::size_t row = 0; row < std::min(limit, table.rows.size()); ++row) {
    page.begin("tr");
    for (std::size_t at = 0; at < table.columns.size(); ++at)
      addCell(page, table.rows[row][at], table.columns[at]);
    page.end();
  }
  page.end().end().end();
  if (table.rows.size() > limit)
    page.element("p",
                 fmt::format("{} more rows: sonde report --full, or --format json.",
                             humanCount(static_cast<std::int64_t>(table.rows.size() - limit))),
                 {{"class", "note"}});
}

Table columnsOf(const Table& table, const std::vector<std::string>& keys) {
  Table chosen;
  std::vector<std::size_t> from;
  for (const std::string& key : keys) {
    const auto found = std::find_if(table.columns.begin(),
                                    table.columns.end(),
                                    [&](const Column& column) { return column.key == key; });
    const auto at = static_cast<std::size_t>(std::distance(table.columns.begin(), found));
    if (found == table.columns.end() || !hasValues(table, at))
      continue;
    from.push_back(at);
    chosen.columns.push_back(*found);
  }
  for (const auto& row : table.rows) {
    std::vector<Cell>& cells = chosen.rows.emplace_back();
    for (const std::size_t at : from)
      cells.push_back(row[at]);
  }
  return chosen;
}

void addFacts(Page& page, const PageFacts& facts) {
  page.begin("dl", {{"class", "facts"}});
  for (const auto& [term, text] : facts)
    if (!text.empty())
      page.begin("div").element("dt", term).element("dd", text).end();
  page.end();
}

void beginSection(Page& page, const std::string& id, const std::string& title) {
  page.begin("section", {{"id", id}}).element("h2", title);
}

}  // namespace sonde::cli
