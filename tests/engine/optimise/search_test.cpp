// The search over combinations, on made-up times.
#include "analysis/engine/optimise/search.h"

#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>

namespace sonde::engine::optimise {
namespace {

using test::must;

// Each combination has a random time; some are not possible.
class MadeUpSpace {
 public:
  explicit MadeUpSpace(std::uint32_t seed) : random_(seed) {
    choices_.resize(from(1, 4));
    for (std::uint32_t& each : choices_)
      each = from(1, 3);
    fill(Picks(choices_.size(), 0), 0);
  }

  Space space(bool hasBounds) const {
    Space space{choices_, {}, {}, {}};
    space.timeNs = [this](const Picks& picks) { return Result(times_.at(picks)); };
    if (hasBounds)
      space.boundNs = [this](const Picks& picks, const std::vector<bool>& isOpen) {
        return Result(std::optional(fastest(picks, isOpen)));
      };
    return space;
  }

  double fastest(const Picks& picks, const std::vector<bool>& isOpen) const {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [each, ns] : times_) {
      bool isOne = true;
      for (std::size_t family = 0; family < each.size(); ++family)
        isOne = isOne && (isOpen[family] || each[family] == picks[family]);
      if (isOne && ns)
        least = std::min(least, *ns);
    }
    return least;
  }
  double fastest() const {
    return fastest(Picks(choices_.size(), 0), std::vector<bool>(choices_.size(), true));
  }
  std::size_t combinations() const { return times_.size(); }

 private:
  std::uint32_t from(std::uint32_t least, std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>(least, most)(random_);
  }
  void fill(Picks picks, std::size_t family) {
    if (family == picks.size()) {
      const bool isPossible = from(0, 9) > 0 || std::count(picks.begin(), picks.end(), 0U) ==
                                                    static_cast<std::ptrdiff_t>(picks.size());
      times_[picks] = isPossible ? std::optional<double>(from(500, 1500)) : std::nullopt;
      return;
    }
    for (std::uint32_t choice = 0; choice <= choices_[family]; ++choice) {
      picks[family] = choice;
      fill(picks, family + 1);
    }
  }

  std::mt19937 random_;
  std::vector<std::uint32_t> choices_;
  std::map<Picks, std::optional<double>> times_;
};

TEST(Search, FindsTheFastestOfAllCombinations) {
  for (std::uint32_t seed = 0; seed < 200; ++seed)
    for (const bool hasBounds : {false, true}) {
      const MadeUpSpace of(seed);
      const SearchResult found = must(search(of.space(hasBounds)));
      EXPECT_TRUE(found.isComplete);
      EXPECT_LE(found.ns, of.fastest() * (1 + 5 * kSameTime)) << seed;
      EXPECT_LE(found.times - found.bounds, static_cast<std::int64_t>(of.combinations()));
    }
}

TEST(Search, LeavesOutCombinationsThatCannotBeFaster) {
  std::int64_t all = 0;
  std::int64_t some = 0;
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    const MadeUpSpace of(seed);
    all += must(search(of.space(false))).times;
    const SearchResult found = must(search(of.space(true)));
    some += found.times - found.bounds;
  }
  EXPECT_LT(some, all * 3 / 4);
}

// Ten yes-or-no choices; each saves as many ns as its family's number.
Space savings() {
  Space space;
  space.choices.assign(10, 1);
  space.timeNs = [](const Picks& picks) -> Result<std::optional<double>> {
    double ns = 2000;
    for (std::size_t family = 0; family < picks.size(); ++family)
      ns -= picks[family] * static_cast<double>(family);
    return std::optional(ns);
  };
  return space;
}

TEST(Search, ReturnsTheBestSoFarWhenItIsStopped) {
  Space space = savings();
  int left = 11;  // each choice alone, and one more
  space.isToStop = [&left] { return left-- <= 0; };
  const SearchResult found = must(search(space));
  EXPECT_FALSE(found.isComplete);
  EXPECT_EQ(found.ns, 2000 - 9 - 8);
}

TEST(Search, TriesTheJobAsItIsEvenIfItHasNoTime) {
  Space space = savings();
  space.isToStop = [] { return true; };
  const SearchResult found = must(search(space));
  EXPECT_EQ(found.asIsNs, 2000);
  EXPECT_EQ(found.picks, Picks(10, 0));
}

TEST(Search, TakesNoChoiceThatSavesNothing) {
  const SearchResult found = must(search(savings()));
  EXPECT_EQ(found.picks, Picks({0, 0, 1, 1, 1, 1, 1, 1, 1, 1}));  // 1 of 2,000 ns is too little
  EXPECT_TRUE(found.isComplete);
}

TEST(Search, ReturnsTheErrorOfAQuestion) {
  Space space = savings();
  space.timeNs = [](const Picks&) -> Result<std::optional<double>> {
    return Error{ErrorCode::Corrupt, "damaged"};
  };
  EXPECT_EQ(search(space).error().code, ErrorCode::Corrupt);
}

TEST(Search, KnowsWhenNothingIsPossible) {
  Space space = savings();
  space.timeNs = [](const Picks&) -> Result<std::optional<double>> {
    return std::optional<double>();
  };
  EXPECT_EQ(must(search(space)).ns, std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace sonde::engine::optimise
