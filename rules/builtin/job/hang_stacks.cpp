#include "rules/builtin/job/hang_stacks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace sonde::rules {
namespace {

using engine::standstill::StackFrame;
using engine::standstill::StackGroup;

constexpr std::string_view kInstalled[] = {"/site-packages/", "/dist-packages/", "/lib/python3"};

// Without the types of its parameters.
std::string shortName(const std::string& name) {
  const std::size_t parameters = name.find('(');
  return parameters == 0 ? name : name.substr(0, parameters);
}

std::string describeFrame(const StackFrame& frame, StackLines lines) {
  if (!frame.isPython)
    return shortName(frame.name);
  const std::string file = std::filesystem::path(frame.path).filename().string();
  return lines == StackLines::OfCalls
             ? fmt::format("{} ({}:{})", frame.name, file, frame.line)
             : fmt::format("{} ({}, function at line {})", frame.name, file, frame.line);
}

// "rank 0, rank 2: wait < all_reduce (ddp.py:12) < main (train.py:40)", innermost first: a few
// native functions, and Python's.
std::string describeStack(const StackGroup& group, StackLines lines) {
  constexpr std::size_t kNative = 5;
  constexpr std::size_t kPython = 12;
  std::vector<std::string> calls;
  std::size_t natives = 0;
  std::size_t pythons = 0;
  for (const StackFrame& frame : group.frames) {
    const bool isShown = frame.isPython ? pythons++ < kPython : natives++ < kNative;
    if (isShown)
      calls.push_back(describeFrame(frame, lines));
    else if (calls.back() != "…")
      calls.emplace_back("…");
  }
  return fmt::format("{}: {}", whoWaits(group.ranks), fmt::join(calls, " < "));
}

// Code of the interpreter and of installed packages.
bool isInstalled(const Location& location) {
  if (location.path.empty() || location.path.front() == '<')
    return true;  // "<frozen importlib._bootstrap>"
  return std::any_of(std::begin(kInstalled), std::end(kInstalled), [&](std::string_view part) {
    return location.path.find(part) != std::string::npos;
  });
}

}  // namespace

std::string whoWaits(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 4;
  if (names.size() <= kShown)
    return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more",
                     fmt::join(names.begin(), names.begin() + kShown, ", "),
                     names.size() - kShown);
}

void addStacks(const std::vector<StackGroup>& groups, StackLines lines, Finding& finding) {
  std::vector<std::string> texts;
  std::vector<Location>& locations = finding.outcome.locations;
  for (const StackGroup& group : groups) {
    texts.push_back(describeStack(group, lines));
    if (std::find(group.ranks.begin(), group.ranks.end(), finding.entity) == group.ranks.end())
      continue;
    for (const StackFrame& frame : group.frames)
      if (frame.isPython)
        locations.push_back({frame.path, frame.line, frame.name});
  }
  std::stable_partition(
      locations.begin(), locations.end(), [](const Location& each) { return !isInstalled(each); });
  if (!texts.empty())
    finding.outcome.evidence["stacks"] = std::move(texts);
}

}  // namespace sonde::rules
