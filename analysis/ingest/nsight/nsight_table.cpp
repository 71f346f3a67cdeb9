#include "analysis/ingest/nsight/nsight_table.h"

#include <fmt/format.h>

#include <utility>

namespace sonde::ingest {
namespace {

using store::ColumnType;

bool isOf(ColumnType stored, NsightTable::Type wanted) noexcept {
  switch (wanted) {
    case NsightTable::Type::Integer:
      return stored == ColumnType::Integer;
    case NsightTable::Type::Real:
      return stored == ColumnType::Real || stored == ColumnType::Integer;
    case NsightTable::Type::Text:
      return stored == ColumnType::Text;
  }
  return false;
}

std::string_view wordOf(NsightTable::Type type) noexcept {
  return type == NsightTable::Type::Text ? "a text" : "a number";
}

}  // namespace

NsightTable::NsightTable(std::string_view name,
                         std::span<const Column> columns,
                         store::Statement rows,
                         ImportedFile& account,
                         const NsightFile& file)
    : name_(name), columns_(columns), rows_(std::move(rows)), account_(&account), file_(&file) {}

Result<std::optional<NsightTable>> NsightTable::open(const NsightFile& file,
                                                     std::string_view name,
                                                     std::span<const Column> columns,
                                                     ImportedFile& account) {
  if (!file.has(name))
    return std::optional<NsightTable>();
  SONDE_TRY_ASSIGN(const auto stored, file.columns(name));
  if (stored.find("rowid") != stored.end()) {
    account.warnings.push_back(
        fmt::format("table {} is not one of Nsight's: it was left out", name));
    return std::optional<NsightTable>();
  }
  std::string select = "SELECT rowid";
  for (const Column& column : columns) {
    const bool there = stored.find(std::string(column.name)) != stored.end();
    if (!there && column.required) {
      account.warnings.push_back(
          fmt::format("table {} has no column {}: it was left out", name, column.name));
      return std::optional<NsightTable>();
    }
    select += there ? fmt::format(", \"{}\"", column.name) : ", NULL";
  }
  auto rows = file.database().prepare(
      fmt::format("{} FROM \"{}\" ORDER BY rowid", select, file.storedName(name)));
  if (!rows) {
    account.warnings.push_back(
        fmt::format("table {} cannot be read ({}): it was left out", name, rows.error().message));
    return std::optional<NsightTable>();
  }
  return std::optional(NsightTable(name, columns, *std::move(rows), account, file));
}

void NsightTable::complain(std::size_t column, std::string_view what) {
  FileFaults& faults = columns_[column].required ? account_->faults : account_->values;
  faults.add([&] {
    return fmt::format("row {} of table {}, whose {} {}", row_, name_, columns_[column].name, what);
  });
}

void NsightTable::cutShort(std::string_view why) {
  std::string text = fmt::format("'{}': table {} cannot be read after its row {} ({})",
                                 file_->path().string(),
                                 name_,
                                 last_ ? std::to_string(*last_) : "0",
                                 why);
  if (account_->faults.cutShort.empty())
    account_->faults.cutShort = std::move(text);
}

// Whether this column's value allows using the row.
bool NsightTable::isGood(std::size_t column) {
  const ColumnType stored = rows_.columnType(place(column));
  const bool isNull = stored == ColumnType::Null;
  if (isNull ? !columns_[column].required : isOf(stored, columns_[column].type))
    return true;
  bad_ |= std::uint64_t{1} << column;
  complain(column, isNull ? "is missing" : fmt::format("is not {}", wordOf(columns_[column].type)));
  return !columns_[column].required;
}

Result<bool> NsightTable::next() {
  for (;;) {
    const auto more = rows_.step();
    if (!more) {
      if (more.error().code != ErrorCode::Corrupt)
        return file_->damaged(more.error());
      cutShort(more.error().message);
      return false;
    }
    if (!*more)
      return false;
    row_ = rows_.integer(0);
    if (last_ && row_ <= *last_) {
      cutShort("its rows are not in order");
      return false;
    }
    last_ = row_;
    bad_ = 0;
    bool good = true;
    for (std::size_t column = 0; good && column < columns_.size(); ++column)
      good = isGood(column);
    if (good)
      return true;
  }
}

model::OptionalInt NsightTable::integer(std::size_t column) const {
  if ((bad_ >> column & 1U) != 0)
    return {};
  return rows_.optionalInteger(place(column));
}

std::optional<double> NsightTable::real(std::size_t column) const {
  if ((bad_ >> column & 1U) != 0)
    return {};
  return rows_.optionalReal(place(column));
}

std::optional<std::string_view> NsightTable::text(std::size_t column) const {
  if ((bad_ >> column & 1U) != 0 || rows_.isNull(place(column)))
    return {};
  return rows_.text(place(column));
}

}  // namespace sonde::ingest
