#include "collector/preload/cuda/counters/counter_captures.h"

#include <gtest/gtest.h>

#include <functional>

namespace sonde::preload::cuda {
namespace {

constexpr int kNotCaptured = 0;  // CUstreamCaptureStatus
constexpr int kCaptured = 1;

// Streams and a context, by address alone.
char gObjects[4];
void* const kX = &gObjects[0];
void* const kY = &gObjects[1];
void* const kContext = &gObjects[2];
void* const kOther = &gObjects[3];

std::function<int(void*)> gStatus;

class CapturesTest : public ::testing::Test {
 protected:
  CapturesTest() {
    gStatus = [](void*) { return kNotCaptured; };
    driver_.isCapturing = [](void* stream, int* status) {
      *status = gStatus(stream);
      return 0;
    };
  }
  void capture(void* stream, void* context = kContext) {
    EXPECT_TRUE(captures_.begins(context, stream));
    captures_.begun(stream);
  }

  Captures captures_;
  Driver driver_{};
};

TEST_F(CapturesTest, AreKnownFromBeginToEnd) {
  EXPECT_FALSE(captures_.isAny());
  EXPECT_TRUE(captures_.begins(kContext, kX));
  EXPECT_TRUE(captures_.isAny());
  captures_.begun(kX);
  EXPECT_TRUE(captures_.isAny());
  captures_.ended(kY);
  EXPECT_TRUE(captures_.isAny());
  captures_.ended(kX);
  EXPECT_FALSE(captures_.isAny());
}

TEST_F(CapturesTest, OfOneStreamTwiceEndTwice) {
  capture(kX);
  capture(kX);
  captures_.ended(kX);
  EXPECT_TRUE(captures_.isAny());
  captures_.ended(kX);
  EXPECT_FALSE(captures_.isAny());
}

TEST_F(CapturesTest, EndWithTheirStreamOrContext) {
  capture(kX);
  captures_.streamGoes(kY);
  EXPECT_TRUE(captures_.isAny());
  captures_.streamGoes(kX);
  EXPECT_FALSE(captures_.isAny());
  capture(kX);
  capture(kY);
  captures_.contextGoes(kOther);
  EXPECT_TRUE(captures_.isAny());
  captures_.contextGoes(kContext);
  EXPECT_FALSE(captures_.isAny());
}

TEST_F(CapturesTest, ThatTheDriverKnowsNoMoreAreSettled) {
  capture(kX);
  gStatus = [](void*) { return kCaptured; };
  EXPECT_FALSE(captures_.settle(driver_));
  EXPECT_TRUE(captures_.isAny());
  gStatus = [](void*) { return kNotCaptured; };
  EXPECT_TRUE(captures_.settle(driver_));
  EXPECT_FALSE(captures_.isAny());
}

TEST_F(CapturesTest, ThatHaveNotBegunOrAreOfADefaultStreamAreNotAskedAbout) {
  EXPECT_TRUE(captures_.begins(kContext, kX));
  capture(nullptr);
  EXPECT_FALSE(captures_.settle(driver_));
  captures_.ended(kX);
  captures_.ended(nullptr);
  EXPECT_FALSE(captures_.isAny());
}

// While the driver is asked about the first capture, other threads end it and begin the second one
// in the same entry.
TEST_F(CapturesTest, OneThatTakesTheEntryOfAnotherIsNotForgottenWithIt) {
  capture(kX);
  gStatus = [this](void* stream) {
    if (stream != kX)
      return kCaptured;
    captures_.ended(kX);
    capture(kY);
    return kNotCaptured;
  };
  EXPECT_FALSE(captures_.settle(driver_)) << "it was forgotten by another thread";
  EXPECT_TRUE(captures_.isAny());
  captures_.ended(kY);
  EXPECT_FALSE(captures_.isAny());
}

TEST_F(CapturesTest, OfTheSameStreamAreToldApart) {
  capture(kX);
  int asked = 0;
  gStatus = [this, &asked](void*) {
    if (++asked > 1)
      return kCaptured;
    captures_.ended(kX);
    capture(kX);
    return kNotCaptured;
  };
  EXPECT_FALSE(captures_.settle(driver_));
  EXPECT_TRUE(captures_.isAny());
}

TEST_F(CapturesTest, HaveRoomForSixtyFour) {
  for (int count = 0; count < 64; ++count)
    capture(kX);
  EXPECT_FALSE(captures_.begins(kContext, kY));
  captures_.ended(kX);
  EXPECT_TRUE(captures_.begins(kContext, kY));
}

}  // namespace
}  // namespace sonde::preload::cuda
