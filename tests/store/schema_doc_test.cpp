// docs/schema.md agrees with the schema, and every query on that page runs.
#include "analysis/finalise/finaliser.h"
#include "analysis/store/trace_file.h"
#include "tests/store/expect_result.h"
#include "tests/store/sample_trace.h"
#include "tests/store/temporary_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace sonde::store {
namespace {

using Columns = std::vector<std::string>;
using Tables = std::map<std::string, Columns>;

std::vector<std::string> documentLines() {
  std::ifstream file("docs/schema.md");  // tests run in the source folder
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  return lines;
}

// The text between the `n`-th pair of backquotes of a line, from 0; empty: none.
std::string quoted(const std::string& line, std::size_t n) {
  std::size_t from = 0;
  for (;; --n) {
    const std::size_t open = line.find('`', from);
    const std::size_t close = open == std::string::npos ? open : line.find('`', open + 1);
    if (close == std::string::npos)
      return {};
    if (n == 0)
      return line.substr(open + 1, close - open - 1);
    from = close + 1;
  }
}

Tables documentedTables() {
  Tables tables;
  std::string table;
  for (const std::string& line : documentLines()) {
    if (line.rfind('#', 0) == 0)
      table = line.rfind("### `", 0) == 0 ? quoted(line, 0) : "";
    else if (!table.empty() && line.rfind("| `", 0) == 0)
      tables[table].push_back(quoted(line, 0));
  }
  return tables;
}

Tables documentedViews() {
  Tables views;
  for (const std::string& line : documentLines()) {
    if (line.rfind("| `v_", 0) != 0)
      continue;
    for (std::size_t n = 1; !quoted(line, n).empty(); ++n)
      views[quoted(line, 0)].push_back(quoted(line, n));
  }
  return views;
}

Tables realOnes(const Database& trace, const std::string& type) {
  Tables tables;
  auto rows = trace.prepare(
      "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = "
      "? "
      "AND t.name NOT LIKE 'sqlite_%' ORDER BY t.name, c.cid");
  EXPECT_TRUE(rows);
  rows->bindAll(std::string_view(type));
  while (*rows->step())
    tables[std::string(rows->text(0))].emplace_back(rows->text(1));
  return tables;
}

struct Query {
  std::size_t line = 0;
  std::string sql;
  bool later = false;  // on tables that recordings do not fill yet
};

std::vector<Query> documentedQueries() {
  std::vector<Query> queries;
  bool inside = false;
  bool laterSection = false;
  bool later = false;
  std::size_t number = 0;
  for (const std::string& line : documentLines()) {
    ++number;
    if (inside && line == "```") {
      inside = later = false;
    } else if (inside) {
      queries.back().sql += line + "\n";
    } else if (line == "```sql") {
      inside = true;
      queries.push_back({number, "", laterSection || later});
    } else if (line.rfind('#', 0) == 0) {
      laterSection = line.find("<!-- later") != std::string::npos;
    } else if (line.find("<!-- later") != std::string::npos) {
      later = true;
    }
  }
  return queries;
}

class SchemaDocument : public TemporaryFolder {
 protected:
  // A message of MPI from the first process to the second.
  static void addMessage(TraceWriter& writer) {
    ASSERT_TRUE(writer.begin());
    const auto channel = [&](std::int64_t process, const char* local, const char* remote) {
      return *writer.add(model::Channel{.processId = model::ProcessId{process},
                                        .kind = model::ChannelKind::Mpi,
                                        .local = local,
                                        .remote = remote});
    };
    const model::ChannelId ends[] = {channel(1, "mpi:k/0/1", "mpi:k/1/0"),
                                     channel(2, "mpi:k/1/0", "mpi:k/0/1")};
    ASSERT_TRUE(writer.database().exec(
        "UPDATE channel SET peer_channel_id = " + std::to_string(ends[0].value + ends[1].value) +
        " - id WHERE kind = 'mpi'"));
    for (const auto direction : {model::Direction::Send, model::Direction::Receive})
      ASSERT_TRUE(writer.add(
          model::Transfer{.channelId = ends[direction == model::Direction::Receive ? 1 : 0],
                          .threadId = model::ThreadId{1},
                          .direction = direction,
                          .bytes = 8,
                          .startNs = 5,
                          .durNs = 1,
                          .tag = 3}));
    ASSERT_TRUE(writer.commit());
  }

  static void addNativeCall(TraceWriter& writer) {
    ASSERT_TRUE(writer.begin());
    model::Slice slice{{},
                       model::ThreadId{1},
                       model::SliceKind::Python,
                       "framework",
                       *writer.intern("torch.add"),
                       5,
                       1};
    ASSERT_TRUE(writer.add(slice));
    ASSERT_TRUE(writer.commit());
  }

  Database sample() {
    auto writer = TraceWriter::open(*createTrace(file("a.part")));
    EXPECT_TRUE(writeSample(*writer, 10));
    addMessage(*writer);
    addNativeCall(*writer);
    EXPECT_TRUE(finalise(*TraceWriter::release(std::move(*writer))));
    return *openTrace(file("a.part"));
  }
};

void expectEqual(const Tables& documented, const Tables& real) {
  for (const auto& [table, columns] : real) {
    ASSERT_EQ(documented.count(table), 1U) << table << " is not in docs/schema.md";
    EXPECT_EQ(documented.at(table), columns) << table;
  }
  for (const auto& [table, columns] : documented)
    EXPECT_EQ(real.count(table), 1U) << table << " is only in docs/schema.md";
}

TEST_F(SchemaDocument, NamesEveryTableAndColumnInOrder) {
  const Database trace = sample();
  expectEqual(documentedTables(), realOnes(trace, "table"));
}

TEST_F(SchemaDocument, NamesEveryViewAndColumn) {
  const Database trace = sample();
  expectEqual(documentedViews(), realOnes(trace, "view"));
}

TEST_F(SchemaDocument, EveryQueryRunsAndThoseOfRecordedDataFindSome) {
  const Database trace = sample();
  const std::vector<Query> queries = documentedQueries();
  ASSERT_GT(queries.size(), 30U);
  for (const Query& query : queries) {
    SCOPED_TRACE("docs/schema.md:" + std::to_string(query.line));
    ASSERT_GOOD_ASSIGN(Statement rows, trace.prepare(query.sql));
    ASSERT_GOOD_ASSIGN(bool more, rows.step());
    EXPECT_TRUE(more || query.later) << "no row";
    while (more) {
      ASSERT_GOOD_ASSIGN(more, rows.step());
    }
  }
}

// Expected answers of the page's queries on the sample, computed by hand.
TEST_F(SchemaDocument, TheQueriesAreRight) {
  const Database trace = sample();
  const auto queries = documentedQueries();
  const auto startingWith = [&](const std::string& text) {
    for (const Query& query : queries) {
      if (query.sql.find(text) != std::string::npos)
        return query.sql;
    }
    return std::string("no query has: " + text);
  };
  ASSERT_GOOD_ASSIGN(Statement median, trace.prepare(startingWith("AS median_ns")));
  ASSERT_GOOD(median.step());
  EXPECT_EQ(median.integer(1), 10);
  EXPECT_EQ(median.integer(3), 1'000'000);
  ASSERT_GOOD_ASSIGN(Statement exposed, trace.prepare(startingWith("AS exposed_ns")));
  ASSERT_GOOD(exposed.step());
  EXPECT_EQ(exposed.integer(1), 1'000'000);
  EXPECT_EQ(exposed.integer(2), 0);
  ASSERT_GOOD_ASSIGN(Statement bytes, trace.prepare(startingWith("AS missing")));
  ASSERT_GOOD(bytes.step());
  EXPECT_EQ(bytes.integer(5), 40'960);
  EXPECT_EQ(bytes.integer(7), 0);
  ASSERT_GOOD_ASSIGN(
      const auto pairs,
      trace.queryInteger(
          "SELECT count(*) FROM (" +
          startingWith("AS send_id").substr(0, startingWith("AS send_id").rfind(';')) + ")"));
  EXPECT_EQ(pairs, 20);
  ASSERT_GOOD_ASSIGN(Statement scopes,
                     trace.prepare(startingWith("AS calls\nFROM v_slice WHERE kind IN ('api'")));
  ASSERT_GOOD(scopes.step());
  EXPECT_EQ(scopes.text(1), "backward");
  EXPECT_EQ(scopes.integer(4), 1'000'000);
}

// Each query joins events with events: without these index searches it takes quadratic time.
TEST_F(SchemaDocument, QueriesThatPairEventsSearchByIndex) {
  const Database trace = sample();
  const std::map<std::string, std::string> searches = {
      {"AS send_id", "transfer_by_offset (channel_id=? AND direction=? AND offset>? AND offset<?)"},
      {"AS exposed_ns", "collective_by_process (process_id=? AND start_ns>? AND start_ns<?)"}};
  for (const auto& [text, search] : searches) {
    int found = 0;
    for (const Query& query : documentedQueries()) {
      if (query.sql.find(text) == std::string::npos)
        continue;
      ++found;
      ASSERT_GOOD_ASSIGN(Statement rows, trace.prepare("EXPLAIN QUERY PLAN " + query.sql));
      std::string plan;
      while (*rows.step())
        plan += std::string(rows.text(3)) + "\n";
      EXPECT_NE(plan.find(search), std::string::npos) << plan;
    }
    EXPECT_GT(found, 0) << text;
  }
}

}  // namespace
}  // namespace sonde::store
