#include "analysis/ingest/stacks/merge_python.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace sonde::ingest {
namespace {

const int gInterpreter = 0;
const int gOther = 0;

// Calls as letters, innermost first: "L" is a loop of the interpreter, other capitals are calls in
// the interpreter's file, "_" is the start of a thread, small letters are calls in other files.
std::vector<NativeCall> nativeOf(const std::string& letters) {
  std::vector<NativeCall> calls;
  for (const char each : letters)
    calls.push_back({model::FrameId{each},
                     each >= 'A' && each <= 'Z' ? &gInterpreter : &gOther,
                     each == 'L',
                     each == '_',
                     false,
                     false});
  return calls;
}

// Functions as digits; "!" follows one that native code called.
std::vector<PythonCall> pythonOf(const std::string& digits) {
  std::vector<PythonCall> calls;
  for (const char each : digits) {
    if (each == '!')
      calls.back().isEntry = true;
    else
      calls.push_back({model::FrameId{each}});
  }
  return calls;
}

std::string merged(const std::string& native, const std::string& python, bool complete = true) {
  std::string letters;
  for (const model::FrameId frame : mergePython(nativeOf(native), pythonOf(python), complete))
    letters += static_cast<char>(frame.value);
  return letters;
}

TEST(MergePython, LeavesAStackWithoutPythonAsItIs) {
  EXPECT_EQ(merged("abc_", ""), "abc_");
  EXPECT_EQ(merged("aLC_", ""), "aLC_");
  EXPECT_EQ(merged("", ""), "");
}

TEST(MergePython, PutsFunctionsInThePlaceOfTheirLoop) {
  EXPECT_EQ(merged("aLb", "1!"), "a1b");
  EXPECT_EQ(merged("aLb", "123!"), "a123b");
  EXPECT_EQ(merged("LaLb", "12!34!"), "12a34b");
}

TEST(MergePython, LeavesOutTheInterpreterExceptWhereTheThreadIs) {
  EXPECT_EQ(merged("ACLDEbFL", "1!2!"), "A1b2");
  EXPECT_EQ(merged("L", "1!"), "1");
  EXPECT_EQ(merged("aBLb", "1!"), "a1b");
}

TEST(MergePython, LeavesOutHowTheInterpreterBegan) {
  EXPECT_EQ(merged("aLRM__", "1!"), "a1");
  EXPECT_EQ(merged("aLRMx__", "1!"), "a1x__") << "somebody's program has it built in";
}

TEST(MergePython, LeavesALoopThatHasJustBeenEntered) {
  EXPECT_EQ(merged("LCaLD_", "1!"), "La1");
  EXPECT_EQ(merged("LLL", "1!2!"), "L12");
}

TEST(MergePython, GoesOnWithoutTheNativeStackWhereThatIsCut) {
  EXPECT_EQ(merged("aLb", "1!2!34!", false), "a1b234");
  EXPECT_EQ(merged("aLbL", "1!2!", false), "a1b2");
  EXPECT_EQ(merged("ab", "1!2!", false), "ab12");
  EXPECT_EQ(merged("aL", "12", false), "a12") << "Python's own is cut, too";
}

}  // namespace
}  // namespace sonde::ingest
