// Writers and a drainer on the same file at full speed. No record is lost, doubled, torn or out of
// order, and records without room are counted exactly. This is the test to run under
// ThreadSanitizer.

#include "collector/core/attach.h"
#include "collector/core/emit.h"
#include "collector/core/spool.h"
#include "recorder/spool_file/spool_reader.h"
#include "tests/core/spool_dump.h"
#include "tests/support/in_child.h"
#include "tests/support/spool_folder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <thread>
#include <vector>

namespace sonde::core {
namespace {

using recorder::SpoolReader;
using recorder::SpoolSlot;

// The reader's view of each thread: the values of its scalars must rise; gaps are losses.
struct Seen {
  std::map<std::uint32_t, double> lastOfThread;
  std::map<std::uint64_t, std::uint32_t> readOfSlot;
  std::uint64_t scalars = 0;
  bool ordered = true;
  bool whole = true;
};

std::uint64_t lossCount(const recorder::LossTable& losses,
                        wire::RecordKind kind,
                        wire::LossReason reason) {
  std::uint64_t count = 0;
  for (const auto& ofProbe : losses)
    count += ofProbe[static_cast<std::size_t>(kind)][static_cast<std::size_t>(reason)];
  return count;
}

void readRecords(std::span<const std::byte> bytes, std::uint32_t thread, Seen& seen) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    wire::RecordHeader header{};
    if (bytes.size() - at < sizeof header) {
      seen.whole = false;
      return;
    }
    std::memcpy(&header, &bytes[at], sizeof header);
    if (header.size < sizeof header || header.size % 8 != 0 || header.size > bytes.size() - at) {
      seen.whole = false;
      return;
    }
    if (header.kind == wire::RecordKind::Scalar) {
      wire::Scalar scalar{};
      std::memcpy(&scalar, &bytes[at], sizeof scalar);
      auto [last, first] = seen.lastOfThread.try_emplace(thread, scalar.value);
      seen.ordered = seen.ordered && (first || scalar.value > last->second);
      last->second = scalar.value;
      ++seen.scalars;
    }
    at += header.size;
  }
}

void drain(SpoolReader& reader, Seen& seen) {
  const std::vector<SpoolSlot> slots = reader.snapshot();
  for (const SpoolSlot& slot : slots) {
    if (slot.committed == 0 && !slot.full)
      continue;
    std::uint32_t& readTo = seen.readOfSlot.try_emplace(slot.seq, slot.firstRecord).first->second;
    const auto bytes = reader.readRecords(slot, readTo);
    readRecords(bytes, slot.thread, seen);
    readTo += static_cast<std::uint32_t>(bytes.size());
    if (slot.full) {
      reader.release(slot);
      seen.readOfSlot.erase(slot.seq);
    }
  }
}

// Each of `threads` emits the numbers from 0 in order, some through nested scopes.
void writeAll(int threads, int each) {
  std::vector<std::thread> writers;
  for (int thread = 0; thread < threads; ++thread) {
    writers.emplace_back([each] {
      const std::uint32_t name = intern("value");
      for (int value = 0; value < each; ++value) {
        const std::uint32_t scope =
            beginScope(wire::SliceKind::Operation, intern("scope"), wire::Probe::Annotation);
        emitScalar(name, value);
        endScope(scope);
      }
    });
  }
  for (std::thread& writer : writers)
    writer.join();
}

struct Outcome {
  Seen seen;
  std::uint64_t lost = 0;
};

// Attaches to `folder`, then writes and drains at the same time, on separate threads.
Outcome run(const test::SpoolFolder& folder, int threads, int each) {
  Outcome outcome;
  EXPECT_TRUE(attach(folder.path().c_str(), nullptr));
  auto reader = SpoolReader::open(folder.files().at(0), SpoolReader::Access::ReadWrite);
  EXPECT_TRUE(reader) << (reader ? "" : reader.error().message);
  std::atomic<bool> done{false};
  std::thread drainer([&] {
    while (!done.load())
      drain(*reader, outcome.seen);
    drain(*reader, outcome.seen);
  });
  writeAll(threads, each);
  done.store(true);
  drainer.join();
  outcome.lost = lossCount(reader->losses(), wire::RecordKind::Scalar, wire::LossReason::SpoolFull);
  return outcome;
}

TEST(SpoolStress, LosesNothingWithRoom) {
  EXPECT_TRUE(test::inChild([] {
    const test::SpoolFolder folder(256 << 20);
    const Outcome outcome = run(folder, 4, 100'000);
    EXPECT_TRUE(outcome.seen.whole);
    EXPECT_TRUE(outcome.seen.ordered);
    EXPECT_EQ(outcome.lost, 0U);
    EXPECT_EQ(outcome.seen.scalars, 400'000U);
  }));
}

TEST(SpoolStress, CountsWhatDoesNotFit) {
  EXPECT_TRUE(test::inChild([] {
    const test::SpoolFolder folder(1 << 20);
    const Outcome outcome = run(folder, 4, 100'000);
    EXPECT_TRUE(outcome.seen.whole);
    EXPECT_TRUE(outcome.seen.ordered);
    EXPECT_EQ(outcome.seen.scalars + outcome.lost, 400'000U);
  }));
}

}  // namespace
}  // namespace sonde::core
