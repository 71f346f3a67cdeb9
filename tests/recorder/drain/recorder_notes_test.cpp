#include "recorder/drain/recorder_notes.h"

#include "recorder/drain/trace_recorder.h"
#include "recorder/spool/manifest.h"
#include "tests/recorder/drain/drainer_rig.h"

#include <unistd.h>

namespace sonde::recorder {
namespace {

// Notes that find no image, in a session without any.
class RecorderNotesTest : public DrainerTest {
 protected:
  RecorderNotesTest() : images_(session(), "", false) {
    auto recorder = TraceRecorder::open(part(), "1-abc", "node7", 0);
    EXPECT_TRUE(recorder) << recorder.error().message;
    recorder_ = *std::move(recorder);
  }
  void add(ImageId image) {
    ProcessFacts facts;
    facts.image = image;
    notes_.add(facts);
  }
  void store() {
    notes_.tryFactsAgain();
    EXPECT_TRUE(recorder_->writer().begin());
    EXPECT_TRUE(notes_.store(images_, *recorder_));
    EXPECT_TRUE(recorder_->writer().commit());
    notes_.committed();
  }

  ImageSet images_;
  std::unique_ptr<TraceRecorder> recorder_;
  RecorderNotes notes_;
};

TEST_F(RecorderNotesTest, KeepsFactsWhileTheirImageMayCome) {
  add({::getpid(), processStartTime(::getpid()), 0});
  store();
  store();
  EXPECT_EQ(notes_.waiting(), 1U);
}

TEST_F(RecorderNotesTest, DropsFactsOfAProcessThatWentWithoutAnImage) {
  add({1 << 22, 1, 0});
  store();
  EXPECT_EQ(notes_.waiting(), 1U) << "its file may have come after the scan";
  store();
  EXPECT_EQ(notes_.waiting(), 0U);
}

TEST_F(RecorderNotesTest, DropsTheEndOfAProcessThatWasNotRecorded) {
  add({1 << 22, 1, ImageId::kLast});
  store();
  EXPECT_EQ(notes_.waiting(), 0U);
}

}  // namespace
}  // namespace sonde::recorder
