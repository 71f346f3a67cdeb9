// Dimensions of a breakdown other than operations and categories.
#include "tests/engine/breakdown/breakdown_fixture.h"

#include <optional>

namespace sonde::engine::breakdown {
namespace {

TEST_F(BreakdownTest, ResourcesAreWhereSomethingWasActive) {
  const auto train = operation("train", {0, 1000});
  add(main_, {SliceKind::Operator, "aten::mm", {100, 300}, "torch", train, 1});
  kernel("gemm", {200, 500}, train);
  std::map<Resource, std::int64_t> ns;
  for (const Row& row : result({.by = {.resource = true}}).rows)
    ns[row.group.resource.value()] += row.ns;
  EXPECT_EQ(ns,
            (std::map<Resource, std::int64_t>{
                {Resource::Cpu, 700}, {Resource::CpuAndGpu, 100}, {Resource::Gpu, 200}}));
}

TEST_F(BreakdownTest, IterationsAreThoseOfTheInstant) {
  for (const std::int64_t number : {4, 5})
    trace_.add(model::Iteration{
        .processId = process_, .number = number, .startNs = number * 100, .durNs = 100});
  operation("train", {450, 550});
  std::map<std::pair<std::optional<std::int64_t>, std::string>, std::int64_t> ns;
  for (const Row& row : result({.by = {.operation = true, .iteration = true}}).rows)
    ns[{row.group.iteration, fmt::format("{}", fmt::join(row.group.operations, ""))}] = row.ns;
  const decltype(ns) expected = {{{std::nullopt, ""}, 800},
                                 {{4, ""}, 50},
                                 {{4, "train"}, 50},
                                 {{5, "train"}, 50},
                                 {{5, ""}, 50}};
  EXPECT_EQ(ns, expected);
}

// Unlike other rows, not ordered by length.
TEST_F(BreakdownTest, IterationsAreInTheirOrder) {
  std::int64_t at = 0;
  for (const std::int64_t number : {1, 2, 3}) {
    const std::int64_t length = number == 2 ? 300 : 100 + number;
    trace_.add(
        model::Iteration{.processId = process_, .number = number, .startNs = at, .durNs = length});
    at += length;
  }
  std::vector<std::optional<std::int64_t>> numbers;
  for (const Row& row : result({.by = {.iteration = true}}).rows)
    numbers.push_back(row.group.iteration);
  EXPECT_EQ(numbers, (decltype(numbers){std::nullopt, 1, 2, 3}));
}

// As in a program that counts from 0 in each epoch.
TEST_F(BreakdownTest, RowsOfNumbersThatComeAgainAreSumsAndSayThatTheyAre) {
  for (const std::int64_t place : {0, 1, 2, 3, 4})
    trace_.add(model::Iteration{
        .processId = process_, .number = 7 + place % 2, .startNs = place * 100, .durNs = 100});
  trace_.add(model::Iteration{.processId = process_, .number = 9, .startNs = 500, .durNs = 100});
  const Breakdown byNumber = result({.by = {.iteration = true}});
  std::map<std::optional<std::int64_t>, std::int64_t> ns;
  for (const Row& row : byNumber.rows)
    ns[row.group.iteration] = row.ns;
  EXPECT_EQ(ns, (decltype(ns){{std::nullopt, 400}, {7, 300}, {8, 200}, {9, 100}}));
  ASSERT_TRUE(byNumber.repeated);
  EXPECT_EQ(byNumber.repeated->times, 3);
  EXPECT_EQ(byNumber.repeated->first, 7);
  EXPECT_EQ(byNumber.repeated->last, 8);
  const Breakdown byRow = result({.by = {.iteration = true}, .byIterationRow = true});
  EXPECT_EQ(byRow.rows.size(), 7U);
  EXPECT_FALSE(byRow.repeated);
  EXPECT_FALSE(result({.by = {.operation = true}}).repeated);
}

TEST_F(BreakdownTest, PhasesAndModulesAreToldApartWhenAskedFor) {
  const auto phase = add(main_, {SliceKind::Phase, "collect", {0, 500}});
  const auto train = operation("train", {100, 200}, phase);
  add(main_, {SliceKind::Module, "Linear", {120, 150}, "torch", train, 2});
  std::map<std::string, std::int64_t> ns;
  for (const Row& row : result({.by = {.phase = true, .operation = true, .module = true}}).rows)
    ns[fmt::format("{}/{}/{}",
                   fmt::join(row.group.phases, ""),
                   fmt::join(row.group.operations, ""),
                   fmt::join(row.group.modules, ""))] = row.ns;
  EXPECT_EQ(
      ns,
      (std::map<std::string, std::int64_t>{
          {"//", 500}, {"collect//", 400}, {"collect/train/", 70}, {"collect/train/Linear", 30}}));
}

TEST_F(BreakdownTest, ThreadsByThemselvesSumToTheirOwnTimes) {
  const auto train = operation("train", {100, 500});
  add(other_, {SliceKind::Operator, "aten::mm", {200, 900}, "torch", train});
  std::map<std::int64_t, std::int64_t> ns;
  for (const Row& row : result({.by = {.thread = true, .category = true}}).rows)
    ns[*row.group.threadId - main_.value] += row.ns;
  EXPECT_EQ(ns, (std::map<std::int64_t, std::int64_t>{{0, 400}, {1, 700}}));
}

TEST_F(BreakdownTest, ThreadsHaveOfIterationsWhatTheyWereThere) {
  trace_.add(model::Iteration{.processId = process_, .number = 1, .startNs = 0, .durNs = 1000});
  operation("train", {100, 500});
  const Breakdown found = result({.by = {.thread = true, .iteration = true}});
  ASSERT_EQ(found.rows.size(), 1U);
  EXPECT_EQ(found.rows[0].ns, 400);
  EXPECT_EQ(found.rows[0].group.iteration, 1);
}

}  // namespace
}  // namespace sonde::engine::breakdown
