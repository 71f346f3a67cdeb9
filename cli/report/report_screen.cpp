#include "cli/report/report_screen.h"

#include <algorithm>

namespace sonde::cli {
namespace {

struct Concession {
  std::size_t RowLimits::*part;
  std::size_t least;
};

constexpr Concession kConcessions[] = {
    {&RowLimits::operations, 6}, {&RowLimits::throughput, 1}, {&RowLimits::traffic, 2},
    {&RowLimits::python, 3},     {&RowLimits::threads, 3},    {&RowLimits::iterations, 4},
    {&RowLimits::times, 4},      {&RowLimits::operations, 4}, {&RowLimits::scalars, 1},
    {&RowLimits::traffic, 0},    {&RowLimits::python, 0},     {&RowLimits::iterations, 2},
    {&RowLimits::times, 2},      {&RowLimits::threads, 0},    {&RowLimits::usage, 3},
    {&RowLimits::scalars, 0},    {&RowLimits::operations, 1}, {&RowLimits::usage, 1},
    {&RowLimits::iterations, 1}, {&RowLimits::times, 1}};

}  // namespace

RowLimits RowLimits::none() {
  constexpr std::size_t kAll = 1'000'000;
  return {kAll, kAll, kAll, kAll, kAll, kAll, kAll, kAll, kAll};
}

RowLimits fitted(const std::function<std::size_t(const RowLimits&)>& height, std::size_t most) {
  RowLimits limits;
  std::size_t lines = height(limits);
  for (const auto& [part, least] : kConcessions)
    while (lines > most && limits.*part > least) {
      limits.*part -= std::min(lines - most, limits.*part - least);
      lines = height(limits);
    }
  if (lines < most)
    limits.operations = std::min(limits.operations + most - lines, RowLimits().operations);
  return limits;
}

}  // namespace sonde::cli
