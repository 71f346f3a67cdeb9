#include "base/utf8.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(Utf8, KnowsProperText) {
  for (const std::string_view text : {"",
                                      "plain",
                                      "\xC3\xA9",
                                      "\xE2\x82\xAC",
                                      "\xF0\x9F\x94\xA5",
                                      "\xED\x9F\xBF",
                                      "\xF4\x8F\xBF\xBF"})
    EXPECT_TRUE(isText(text)) << text;
}

TEST(Utf8, RefusesWhatIsNot) {
  const std::string_view wrong[] = {std::string_view("\0", 1),
                                    "\x80",
                                    "\xC3",
                                    "\xC3(",
                                    "\xC0\x80",
                                    "\xE0\x80\x80",
                                    "\xED\xA0\x80",
                                    "\xF4\x90\x80\x80",
                                    "\xF8\x88\x80\x80\x80",
                                    "\xFF"};
  for (const std::string_view text : wrong)
    EXPECT_FALSE(isText(text)) << text;
}

TEST(Utf8, FindsWhatIsWrongAnywhereInALongText) {
  for (std::size_t size = 1; size < 40; ++size) {
    const std::string plain(size, '\x01');
    EXPECT_TRUE(isText(plain));
    for (std::size_t at = 0; at < size; ++at) {
      for (const char wrong : {'\0', '\x80', '\xC3'}) {
        std::string text = plain;
        text[at] = wrong;
        EXPECT_FALSE(isText(text)) << size << ' ' << at;
      }
    }
    EXPECT_TRUE(isText(plain + "\xC3\xA9" + plain));
  }
}

TEST(Utf8, ReplacesOnlyTheBytesThatAreWrong) {
  EXPECT_EQ(toText("a\xC3\xA9z"), "a\xC3\xA9z");
  EXPECT_EQ(toText("a\xC3z"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(toText(std::string_view("a\0\xC3\xA9", 4)), "a\xEF\xBF\xBD\xC3\xA9");
}

TEST(Utf8, WhatItMakesIsProperText) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const char bytes[] = {static_cast<char>(first), static_cast<char>(second), 'x'};
      EXPECT_TRUE(isText(toText(std::string_view(bytes, 3))));
    }
  }
}

}  // namespace
}  // namespace sonde
