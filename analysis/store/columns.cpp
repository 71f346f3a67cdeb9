#include "analysis/store/columns.h"

#include <fmt/format.h>

#include <cctype>

namespace sonde::store {

namespace {

// The columns of a device's work, and of a slice that is part of another row, but for its id, are
// named as in tables of their own.
std::string_view withoutPart(std::string_view member) {
  for (const std::string_view part : {"work.", "slice."})
    if (member.starts_with(part) && member != "slice.id")
      member.remove_prefix(part.size());
  return member;
}

std::string snakeCase(std::string_view member) {
  std::string name;
  for (const char letter : withoutPart(member)) {
    if (std::isupper(static_cast<unsigned char>(letter)) != 0)
      name += '_';
    name +=
        letter == '.' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return name;
}

}  // namespace

std::vector<std::string> columnNames(std::string_view members) {
  std::vector<std::string> names;
  while (!members.empty()) {
    const std::size_t comma = members.find(',');
    std::string_view member = members.substr(0, comma);
    members.remove_prefix(comma == std::string_view::npos ? members.size() : comma + 1);
    while (member.starts_with(' '))
      member.remove_prefix(1);
    names.push_back(snakeCase(member));
  }
  return names;
}

std::string columnsOf(std::string_view members) {
  std::string list;
  for (const std::string& name : columnNames(members))
    list += (list.empty() ? "\"" : ", \"") + name + '"';
  return list;
}

Result<std::vector<int>> placesOf(const Statement& rows, std::string_view members) {
  std::vector<int> places;
  for (const std::string& name : columnNames(members)) {
    int column = 0;
    while (column < rows.columnCount() && rows.columnName(column) != name)
      ++column;
    if (column == rows.columnCount())
      return Error{ErrorCode::Unsupported, fmt::format("no column {} in: {}", name, rows.sql())};
    places.push_back(column);
  }
  return places;
}

}  // namespace sonde::store
