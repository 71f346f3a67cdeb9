// Damages files at random with a fixed seed, and imports each of them.
#pragma once

#include "analysis/store/trace_file.h"
#include "analysis/store/trace_writer.h"
#include "tests/support/run_program.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <random>
#include <string>

namespace sonde::test {

enum class Damage { Cut, ZeroedEnd, ChangedBytes };

inline std::string damagedCopy(const std::string& whole, Damage damage, std::mt19937& random) {
  std::string copy = whole;
  const auto at = static_cast<std::size_t>(random() % whole.size());
  switch (damage) {
    case Damage::Cut:
      copy.resize(at);
      break;
    case Damage::ZeroedEnd:
      copy.resize(at);
      copy.resize(whole.size(), '\0');
      break;
    case Damage::ChangedBytes:
      for (auto change = random() % 8; change < 8; ++change)
        copy[random() % copy.size()] = static_cast<char>(random());
      break;
  }
  return copy;
}

struct DamageCount {
  int whole = 0;    // imported, with or without warnings
  int refused = 0;  // an error that names the file
};

// Imports `rounds` copies of `whole` by `import`, each kind of damage in turn, in transactions that
// are rolled back.
inline DamageCount importDamaged(const std::string& whole,
                                 const std::string& path,
                                 int rounds,
                                 const std::function<Result<void>(store::TraceWriter&)>& import) {
  std::mt19937 random(20'240'601);
  auto trace = store::createTrace(path + ".sonde.part");
  EXPECT_TRUE(trace);
  auto writer = store::TraceWriter::open(*std::move(trace));
  EXPECT_TRUE(writer);
  DamageCount count;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    std::filesystem::remove(path);  // overwriting a file would flush it
    writeText(path, damagedCopy(whole, static_cast<Damage>(round % 3), random));
    EXPECT_TRUE(writer->begin());
    const auto imported = import(*writer);
    EXPECT_TRUE(writer->rollback());
    ++(imported ? count.whole : count.refused);
    if (!imported) {
      EXPECT_NE(imported.error().message.find(path), std::string::npos) << imported.error().message;
    }
  }
  return count;
}

}  // namespace sonde::test
