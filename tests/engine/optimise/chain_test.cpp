// dPRO's theorems, and the best division into buckets, against a full replay of the chain.
#include "analysis/engine/optimise/chain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <random>

namespace sonde::engine::optimise {
namespace {

constexpr int kChains = 10'000;

class Chains : public ::testing::Test {
 public:
  double from(double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random_);
  }
  std::size_t index(std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(random_);
  }

  void makeChain(std::size_t most) {
    latencyNs_ = from(0, 100);
    byteNs_ = from(0.01, 2);
    chain_.resize(2 + index(most - 2));
    for (ChainLink& each : chain_)
      each = {from(1, 200), static_cast<std::int64_t>(from(1, 300))};
  }
  SyncNs syncNs() const {
    return [this](std::int64_t bytes) { return latencyNs_ + byteNs_ * static_cast<double>(bytes); };
  }
  double endNs(const std::vector<ChainLink>& chain, const Buckets& buckets) const {
    const ChainEnds ends = replayChain(chain, buckets, syncNs());
    return std::max(ends.computeNs, ends.syncNs);
  }

  std::mt19937 random_{7};
  double latencyNs_ = 0;
  double byteNs_ = 0;
  std::vector<ChainLink> chain_;
};

TEST_F(Chains, ReplayAddsUpBothQueues) {
  const std::vector<ChainLink> chain = {{10, 1}, {20, 2}, {5, 0}, {5, 4}};
  const SyncNs syncNs = [](std::int64_t bytes) { return 30.0 * static_cast<double>(bytes); };
  const ChainEnds apart = replayChain(chain, {1, 1, 1, 1}, syncNs);
  EXPECT_EQ(apart.computeNs, 40);
  EXPECT_EQ(apart.syncNs, 10 + 30 + 60 + 120);
  EXPECT_EQ(replayChain(chain, {2, 2}, syncNs).syncNs, 30 + 90 + 120);
}

// A fusion that the theorem advises shortens the whole chain, or leaves it as it is. One that it
// does not advise delays the reduction of its own gradients; as its operators end earlier, the
// chain behind them may still become shorter.
TEST_F(Chains, TheoremOfOperatorFusionAgreesWithAReplay) {
  int helps = 0;
  int shorter = 0;  // although the theorem does not advise it
  for (int round = 0; round < kChains; ++round) {
    makeChain(12);
    const std::size_t n = 1 + index(chain_.size() - 2);
    const ChainLink& first = chain_[n - 1];
    const ChainLink& second = chain_[n];
    const double fusedNs = from(first.computeNs, 1.2 * (first.computeNs + second.computeNs));
    const bool isPredicted = opFusionHelps(first, second, fusedNs, syncNs());
    helps += isPredicted ? 1 : 0;
    // Both operations' gradients are ready at the end of the fused one, each in its own bucket.
    std::vector<ChainLink> fused = chain_;
    fused[n - 1].computeNs = fusedNs;
    fused[n].computeNs = 0;
    const Buckets alone(chain_.size(), 1);
    const double gain =
        replayChain(chain_, alone, syncNs()).syncNs - replayChain(fused, alone, syncNs()).syncNs;
    if (isPredicted) {
      EXPECT_GE(gain, -1e-6) << round;
      continue;
    }
    shorter += gain > 1e-6 ? 1 : 0;
    chain_.resize(n + 1);
    fused.resize(n + 1);
    const Buckets until(n + 1, 1);
    EXPECT_GE(replayChain(fused, until, syncNs()).syncNs,
              replayChain(chain_, until, syncNs()).syncNs - 1e-6)
        << round;
  }
  EXPECT_GT(helps, kChains / 20);
  EXPECT_LT(helps, kChains * 19 / 20);
  std::printf("%d of %d fusions are advised; %d of the others shorten the chain\n",
              helps,
              kChains,
              shorter);
}

TEST_F(Chains, TheoremOfTensorFusionAgreesWithAReplay) {
  int helps = 0;
  for (int round = 0; round < kChains; ++round) {
    makeChain(12);
    const std::size_t n = 1 + index(chain_.size() - 2);
    const ChainEnds first = replayChain(
        {chain_.begin(), chain_.begin() + static_cast<std::ptrdiff_t>(n)}, Buckets(n, 1), syncNs());
    const bool isPredicted = tensorFusionHelps(first,
                                               first.computeNs + chain_[n].computeNs,
                                               chain_[n - 1].bytes,
                                               chain_[n].bytes,
                                               syncNs());
    helps += isPredicted ? 1 : 0;
    Buckets fused(chain_.size() - 1, 1);
    fused[n - 1] = 2;
    const double before = endNs(chain_, Buckets(chain_.size(), 1));
    const double after = endNs(chain_, fused);
    if (isPredicted)
      EXPECT_LE(after, before + 1e-6) << round;
    else
      EXPECT_GE(after, before - 1e-6) << round;
  }
  EXPECT_GT(helps, kChains / 20);
  EXPECT_LT(helps, kChains * 19 / 20);
}

TEST_F(Chains, BestBucketsAreThoseOfAllDivisions) {
  for (int round = 0; round < 300; ++round) {
    makeChain(9);
    double best = std::numeric_limits<double>::infinity();
    // Bit i: a bucket ends behind link i.
    for (std::uint32_t cuts = 0; cuts < 1U << (chain_.size() - 1); ++cuts) {
      Buckets buckets(1, 1);
      for (std::size_t i = 0; i + 1 < chain_.size(); ++i)
        if ((cuts >> i & 1U) != 0)
          buckets.push_back(1);
        else
          ++buckets.back();
      best = std::min(best, endNs(chain_, buckets));
    }
    EXPECT_NEAR(endNs(chain_, bestBuckets(chain_, syncNs())), best, 1e-6);
  }
}

}  // namespace
}  // namespace sonde::engine::optimise
