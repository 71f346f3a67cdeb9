#include "analysis/ingest/nsight/nsight_names.h"

#include "analysis/ingest/nsight/nsight_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace sonde::ingest {
namespace {

constexpr std::string_view kTable = "StringIds";
constexpr std::string_view kUnknown = "[unknown]";

std::string_view withoutVersion(std::string_view name) noexcept {
  constexpr std::size_t kLeastDigits = 4;
  const std::size_t mark = name.rfind("_v");
  if (mark == std::string_view::npos || name.size() - mark - 2 < kLeastDigits)
    return name;
  const std::string_view digits = name.substr(mark + 2);
  const bool isVersion =
      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  return isVersion ? name.substr(0, mark) : name;
}

}  // namespace

Result<void> NsightNames::open() {
  if (!file_.has(kTable))
    return {};
  SONDE_TRY_ASSIGN(const auto columns, file_.columns(kTable));
  const auto id = columns.find("id");
  if (id == columns.end() || columns.find("value") == columns.end()) {
    account_.warnings.emplace_back("table StringIds has no column id or value: names are missing");
    return {};
  }
  if (!id->second)
    SONDE_TRY(numberRows());
  auto find = file_.database().prepare(
      fmt::format("SELECT value FROM \"{}\" WHERE rowid = ?1", file_.storedName(kTable)));
  if (find)
    find_.emplace(*std::move(find));
  return {};
}

// Without a key each look-up would read the whole table.
Result<void> NsightNames::numberRows() {
  constexpr std::array<NsightTable::Column, 1> kColumns = {
      {{"id", NsightTable::Type::Integer, true}}};
  numbered_ = true;
  SONDE_TRY_ASSIGN(auto table, NsightTable::open(file_, kTable, kColumns, account_));
  return forEachRow(std::move(table), [&](const NsightTable& row) -> Result<void> {
    rows_.try_emplace(*row.integer(0), row.row());
    return {};
  });
}

Result<std::optional<std::string>> NsightNames::lookUp(std::int64_t number) {
  const auto row = rows_.find(number);
  std::optional<std::string> text;
  if (find_ && (!numbered_ || row != rows_.end())) {
    find_->bind(1, numbered_ ? row->second : number);
    const auto found = find_->step();
    if (!found && found.error().code != ErrorCode::Corrupt)
      return file_.damaged(found.error());
    if (found && *found && find_->columnType(0) == store::ColumnType::Text)
      text = find_->text(0);
    find_->reset();
  }
  if (!text)
    account_.values.add([&] { return fmt::format("name {} of table StringIds", number); });
  return text;
}

Result<const NsightNames::Name*> NsightNames::find(model::OptionalInt number) {
  if (!number) {
    if (unknown_.text.empty()) {
      unknown_.text = kUnknown;
      SONDE_TRY_ASSIGN(unknown_.id, writer_.intern(kUnknown));
    }
    return &std::as_const(unknown_);
  }
  const auto known = names_.find(*number);
  if (known != names_.end())
    return &std::as_const(known->second);
  SONDE_TRY_ASSIGN(const auto text, lookUp(*number));
  Name name;
  name.text = text ? withoutVersion(*text) : kUnknown;
  SONDE_TRY_ASSIGN(name.id, writer_.intern(name.text));
  return &std::as_const(names_.emplace(*number, std::move(name)).first->second);
}

Result<model::StringId> NsightNames::id(model::OptionalInt number) {
  SONDE_TRY_ASSIGN(const Name* const name, find(number));
  return name->id;
}

}  // namespace sonde::ingest
