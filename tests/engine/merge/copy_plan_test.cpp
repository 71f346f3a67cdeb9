#include "analysis/engine/merge/copy_plan.h"

#include "analysis/store/schema.h"
#include "analysis/store/statement.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sonde::engine::merge {
namespace {

using test::must;
using ::testing::HasSubstr;

// Every column of the schema has a role, so that no new table or column is merged wrongly without
// notice.
TEST(CopyPlan, KnowsEveryColumnOfTheSchema) {
  auto database = must(store::Database::inMemory());
  must(database.exec(store::tablesSql()));
  auto columns = must(database.prepare(
      "SELECT t.name, c.name, EXISTS (SELECT 1 FROM pragma_foreign_key_list(t.name) k WHERE "
      "k.\"from\" = "
      "c.name) FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'"));
  const auto declared = [](const std::vector<std::string_view>& list, std::string_view column) {
    return std::find(list.begin(), list.end(), column) != list.end();
  };
  const std::vector<std::string_view> polymorphic = {"arg.owner_id", "link.from_id", "link.to_id"};
  int seen = 0;
  while (must(columns.step())) {
    const std::string table(columns.text(0));
    const std::string column(columns.text(1));
    ++seen;
    if (column.ends_with("_ns")) {
      EXPECT_NE(declared(timeColumns(), column), declared(durationColumns(), column))
          << table << '.' << column << ": is it a time or a duration?";
    }
    if (column.ends_with("_id") && columns.integer(2) == 0 && isCopied(table)) {
      EXPECT_TRUE(declared(foreignIdColumns(), column) ||
                  declared(polymorphic, table + "." + column))
          << table << '.' << column << ": whose id is it?";
    }
  }
  EXPECT_GT(seen, 200);
  const CopyPlan plan = must(planCopies(database));
  EXPECT_GE(plan.size(), 30U);
  for (const TablePlan& table : plan)
    for (const ColumnPlan& column : table.columns) {
      EXPECT_EQ(column.role == Role::Polymorphic,
                declared(polymorphic, table.name + "." + column.name));
      const bool copied = std::any_of(plan.begin(), plan.end(), [&](const TablePlan& other) {
        return other.name == column.target && other.hasId;
      });
      EXPECT_TRUE(column.role != Role::Reference || isMapped(column.target) || copied)
          << table.name << '.' << column.name;
    }
}

// The owners of polymorphic ids equal those that the schema permits.
TEST(CopyPlan, TranslatesEveryOwnerThatTheSchemaAdmits) {
  auto database = must(store::Database::inMemory());
  must(database.exec(store::tablesSql()));
  const std::string check =
      must(database.queryText("SELECT sql FROM sqlite_schema WHERE name = 'arg'"));
  const std::string expression = translated({"owner_id", Role::Polymorphic, "owner"}, "arg", {}, 0);
  std::size_t owners = 0;
  for (std::size_t at = check.find('\''); at != std::string::npos; at = check.find('\'', at + 1)) {
    const std::size_t end = check.find('\'', at + 1);
    EXPECT_THAT(expression, HasSubstr("WHEN " + check.substr(at, end + 1 - at) + " THEN"));
    ++owners;
    at = end;
  }
  EXPECT_GE(owners, 12U);
}

}  // namespace
}  // namespace sonde::engine::merge
