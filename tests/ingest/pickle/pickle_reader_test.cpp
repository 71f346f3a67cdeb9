#include "analysis/ingest/pickle/pickle_reader.h"

#include "analysis/ingest/pickle/json_values.h"
#include "tests/ingest/pickle/python_pickles.h"
#include "tests/support/in_child.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <random>
#include <string>

namespace sonde::ingest {
namespace {

using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

// As Python's repr() would have it; sets are lists.
std::string textOf(const Value& value) {
  std::string inside;
  for (std::size_t at = 0; at < value.size(); ++at) {
    inside += at == 0 ? "" : ", ";
    inside += value.isDict() ? textOf(value.key(at)) + ": " + textOf(value.value(at))
                             : textOf(value.at(at));
  }
  switch (value.kind()) {
    case ValueKind::None:
      return "None";
    case ValueKind::Bool:
      return *value.boolean() ? "True" : "False";
    case ValueKind::Integer:
      return std::to_string(*value.integer());
    case ValueKind::Real:
      return fmt::format("{}", *value.real());
    case ValueKind::Text:
      return "'" + std::string(*value.text()) + "'";
    case ValueKind::Bytes:
      return "bytes";
    case ValueKind::List:
      return "[" + inside + "]";
    case ValueKind::Tuple:
      return "(" + inside + ")";
    case ValueKind::Dict:
      return "{" + inside + "}";
  }
  return "";
}

std::string read(const std::string& pickle) {
  const auto tree = readPickle(pickle, "dump");
  return tree ? textOf(tree->root()) : "error: " + tree.error().message;
}

TEST(PickleReader, ReadsEachProtocol) {
  for (const auto& [protocol, pickle] : test::pythonPickles()) {
    SCOPED_TRACE(protocol);
    EXPECT_EQ(
        read(pickle),
        "{'a': [1, -1, 300, 70000, 1099511627776, -9223372036854775808, 1.8446744073709552e+19,"
        " True, False, None, 1.5, -0.25], 't': ((), (1), (1, 2), (1, 2, 3), (1, 2, 3, 4)), 'u':"
        " 'é€😀\n\\', 'd': {'x': {}, 2: []}, 'one': ['s'], 'two': ['s'], 'e': [], 'q': 'it's'}");
  }
}

TEST(PickleReader, SharesWhatTheMemoShares) {
  for (const auto& [protocol, pickle] : test::pythonPickles()) {
    const auto tree = readPickle(pickle, "dump");
    ASSERT_TRUE(tree);
    const Value root = tree->root();
    EXPECT_EQ(root.find("one").identity(), root.find("two").identity());
    EXPECT_NE(root.find("one").identity(), root.find("e").identity());
  }
}

TEST(PickleReader, ReadsTheOpcodesThatPythonRarelyWrites) {
  EXPECT_EQ(read("S'it\\'s\\x41\\101\\n'\n."), "'it'sAA\n'");
  EXPECT_EQ(read("V\\u20ac\\U0001F600\n."), "'€😀'");
  EXPECT_EQ(read("(I01\nI00\nI-5\nL7L\nF1e3\nNl."), "[True, False, -5, 7, 1000, None]");
  EXPECT_EQ(read("(K\x01K\x02"
                 "d."),
            "{1: 2}");
  EXPECT_EQ(read("(K\x01(K\x02"
                 "1K\x03"
                 "20t."),
            "(1, 3)");
  EXPECT_EQ(read("\x80\x04\x8f(K\x01K\x02\x90."s), "[1, 2]");
  EXPECT_EQ(read("T\x02\0\0\0ab."s), "'ab'");
  EXPECT_EQ(read("\x8d\x02\0\0\0\0\0\0\0ab."s), "'ab'");
  EXPECT_EQ(read("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\xff."s), "-1");
  EXPECT_EQ(read("\x8a\0."s), "0");
  EXPECT_EQ(read("K\x07r\xff\xff\xff\xff"
                 "0j\xff\xff\xff\xff."s),
            "7");
}

TEST(PickleReader, LoadsNoCode) {
  const std::pair<std::string, std::string> bad[] = {
      {"cos\nsystem\n(S'true'\ntR.", "GLOBAL at byte 0"},
      {"\x80\x04\x8c\x02os\x8c\x06system\x93."s, "STACK_GLOBAL at byte 14"},
      {"NNR.", "REDUCE at byte 2"},
      {"NNb.", "BUILD at byte 2"},
      {"(ios\nsystem\n.", "INST at byte 1"},
      {"(No.", "OBJ at byte 2"},
      {"NN\x81.", "NEWOBJ at byte 2"},
      {"NNN\x92.", "NEWOBJ_EX at byte 3"},
      {"\x82\x01.", "EXT1 at byte 0"},
      {"\x83\x01\x01.", "EXT2 at byte 0"},
      {"\x84\x01\x01\x01\x01.", "EXT4 at byte 0"},
      {"P1\n.", "PERSID at byte 0"},
      {"NQ.", "BINPERSID at byte 1"}};
  for (const auto& [pickle, place] : bad)
    EXPECT_THAT(read(pickle), AllOf(HasSubstr("'dump'"), HasSubstr(place), HasSubstr("code")));
  EXPECT_THAT(read("\x97."), HasSubstr("NEXT_BUFFER at byte 0 refers to data outside"));
}

TEST(PickleReader, NamesWhatContradictsTheFormat) {
  const std::pair<std::string, std::string> bad[] = {
      {"", "opcode STOP at byte 0 is missing"},
      {"N", "opcode STOP at byte 1 is missing"},
      {"NN.", "STOP at byte 2 comes before the value is complete"},
      {"(N.", "STOP at byte 2 comes before"},
      {".", "STOP at byte 0 needs a value"},
      {"\x7f", "byte 0 is 0x7f, which is no opcode"},
      {"\x80\x06N.", "names protocol 6"},
      {"K", "BININT1 at byte 0 needs 1 bytes, but 0 are left"},
      {"X\xff\xff\xff\x7f"
       "abc.",
       "BINUNICODE at byte 0 needs 2147483647 bytes, but 4 are left"},
      {"\x8e\xff\xff\xff\xff\xff\xff\xff\xff.", "BINBYTES8 at byte 0 needs 18446744073709551615"},
      {"\x8b\xff\xff\xff\x7f.", "LONG4 at byte 0 needs 2147483647 bytes"},
      {"\x95\xff\xff\xff\x7f\0\0\0\0N."s, "FRAME at byte 0 needs 2147483647 bytes"},
      {"T\xff\xff\xff\xff.", "BINSTRING at byte 0 has a negative length"},
      {"h\x05.", "BINGET at byte 0 refers to value 5"},
      {"j\xff\xff\xff\xff.", "refers to value 4294967295"},
      {"(NNNu.", "SETITEMS at byte 4 has a key without a value"},
      {"Na.", "APPEND at byte 1 needs a list"},
      {"}Na.", "APPEND at byte 2 needs a list"},
      {"]NNs.", "SETITEM at byte 3 needs a dict"},
      {"u.", "SETITEMS at byte 0 needs a mark"},
      {"N(\x85.", "TUPLE1 at byte 2 needs more values"},
      {"q\x01.", "BINPUT at byte 0 needs a value"},
      {"I5", "INT at byte 0 has no end of its line"},
      {"Ix\n.", "INT at byte 0 has no whole number"},
      {"S'a\n.", "STRING at byte 0 has no text in quotes"},
      {"Vx\\u12\n.", "UNICODE at byte 0 has an invalid escape"}};
  for (const auto& [pickle, what] : bad)
    EXPECT_THAT(read(pickle), AllOf(HasSubstr("error: 'dump'"), HasSubstr(what)));
}

TEST(PickleReader, RefusesValuesThatContainThemselves) {
  EXPECT_THAT(read("]q\x01h\x01"
                   "a."),
              HasSubstr("contains itself"));
  EXPECT_THAT(read("]q\x01(h\x01th\x01"
                   "0a."),
              HasSubstr("error"));
  EXPECT_THAT(read("}q\x01K\x01(h\x01ts."), HasSubstr("contains itself"));
  EXPECT_EQ(read("]q\x01(h\x01h\x01"
                 "0t0."),
            read("]."));  // shared, and dropped
}

TEST(PickleReader, RefusesDeepNesting) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, ']') + std::string(depth - 1, 'a') + ".";
  };
  EXPECT_EQ(read(nested(1000)).substr(0, 2), "[[");
  EXPECT_THAT(read(nested(1001)), HasSubstr("nested more than 1000 deep"));
  EXPECT_THAT(read(nested(1'000'000)), HasSubstr("error"));
  // Shared values: each list has the one before twice. 40 levels stand for 2^40 elements.
  std::string shared = "]q\x01";
  for (int level = 0; level < 40; ++level)
    shared += "0(h\x01h\x01lq\x01";
  const auto tree = readPickle(shared + ".", "dump");
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(tree->root().size(), 2U);
}

TEST(PickleReader, EachCutIsAnError) {
  for (const auto& [protocol, pickle] : test::pythonPickles())
    for (std::size_t size = 0; size < pickle.size(); ++size)
      EXPECT_FALSE(readPickle(pickle.substr(0, size), "dump")) << protocol << " cut at " << size;
}

TEST(PickleReader, ChangedBytesAreReadOrRefused) {
  std::mt19937 random(20'260'701);
  for (const auto& [protocol, whole] : test::pythonPickles())
    for (int round = 0; round < 4000; ++round) {
      std::string pickle = whole;
      for (auto change = random() % 4; change < 4; ++change)
        pickle[random() % pickle.size()] = static_cast<char>(random());
      const auto tree = readPickle(pickle, "dump");
      EXPECT_TRUE(tree || !tree.error().message.empty());
    }
}

// Small files that ask for much memory: the limit for files of this size is 16 MiB.
TEST(PickleReader, MemoryIsBounded) {
  const bool isBounded = sonde::test::inChild([] {
    constexpr rlim_t kMost = rlim_t{400} << 20U;
    const rlimit limit{kMost, kMost};
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
    std::string many = "(";
    many.append(2'000'000, ')');
    EXPECT_THAT(read(many + "t."), HasSubstr("opcode EMPTY_TUPLE"));
    std::string marks(10'000'000, '(');
    EXPECT_THAT(read(marks), HasSubstr("error"));
    std::string far = "N";
    for (std::uint32_t index = 0; index < 400'000; ++index) {
      far += 'r';
      for (const unsigned shift : {0U, 8U, 16U, 24U})
        far += static_cast<char>((index * 7 + 100) >> shift);
    }
    EXPECT_EQ(read(far + "."), "None");
    EXPECT_THAT(read("X\xff\xff\xff\x7f."), HasSubstr("error"));
  });
  EXPECT_TRUE(isBounded);
}

TEST(PickleReader, LimitDependsOnTheFile) {
  constexpr std::uint64_t kMiB = 1 << 20;
  EXPECT_EQ(memoryForValues(0), 16 * kMiB);
  EXPECT_EQ(memoryForValues(kMiB), 64 * kMiB);
  EXPECT_EQ(memoryForValues(16 * kMiB), 1024 * kMiB);
  EXPECT_EQ(memoryForValues(~std::uint64_t{0}), 1024 * kMiB);
}

TEST(JsonValues, HaveTheSameForm) {
  const auto tree = readJsonValues(R"({"a": [1, -2, 1.5, true, null, "x", 1e3], "b": {}})", "dump");
  ASSERT_TRUE(tree);
  EXPECT_EQ(textOf(tree->root()), "{'a': [1, -2, 1.5, True, None, 'x', 1000], 'b': {}}");
  const auto cut = readJsonValues(R"({"a": [1)", "dump");
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().message, HasSubstr("'dump': the JSON text is invalid at byte 9"));
  const auto deep = readJsonValues(std::string(100'000, '['), "dump");
  ASSERT_FALSE(deep);
  EXPECT_THAT(deep.error().message, HasSubstr("more than 1000 deep"));
}

}  // namespace
}  // namespace sonde::ingest
