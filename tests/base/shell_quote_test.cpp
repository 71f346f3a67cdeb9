#include "base/shell_quote.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(ShellQuoted, LeavesWhatIsOneWordAsItIs) {
  EXPECT_EQ(shellQuoted("/tmp/sonde-0/47-5f3a/rank%r_0.sonde"),
            "/tmp/sonde-0/47-5f3a/rank%r_0.sonde");
}

TEST(ShellQuoted, QuotesWhatAShellWouldTakeApart) {
  EXPECT_EQ(shellQuoted("o u t.sonde"), "'o u t.sonde'");
  EXPECT_EQ(shellQuoted("$HOME;x"), "'$HOME;x'");
  EXPECT_EQ(shellQuoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shellQuoted("~/a"), "'~/a'");
  EXPECT_EQ(shellQuoted(""), "''");
}

}  // namespace
}  // namespace sonde
