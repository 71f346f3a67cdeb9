/* A small training loop for bench/diff_accuracy.py: a network with one hidden layer learns a fixed
 * function by gradient descent, with the same arithmetic in every run. Each operation of an
 * iteration is annotated; one of them can do PERCENT % more of its own work, whose results are
 * discarded. With TIMES each operation repeats its work that many times.
 *
 *   diff_job ITERATIONS [OPERATION PERCENT [TIMES]] */
#include "plugins/api/sonde.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBatch = 300, kIn = 96, kHidden = 96, kOut = 16, kExamples = 4096, kExtra = kBatch };

static float examples[kExamples][kIn];
static float targets[kExamples][kOut];
static float input[kBatch][kIn];
static float target[kBatch][kOut];
static float hidden[kBatch + kExtra][kHidden];
static float output[kBatch + kExtra][kOut];
static float delta[kBatch][kOut];
static float hiddenDelta[kBatch + kExtra][kHidden];
static float first[kHidden][kIn];
static float second[kOut][kHidden];
static float firstGradient[kHidden][kIn];
static float secondGradient[kOut][kHidden];
static float firstMoment[kHidden][kIn];
static float secondMoment[kOut][kHidden];

static uint32_t state = 1;
static float uniform(void) {
  state = state * 1664525U + 1013904223U;
  return (float)(state >> 8U) / 16777216.0F - 0.5F;
}

/* The operation with more work, and the extra share. */
static const char* slowName = "";
static double slowShare = 0;
static int extraOf(const char* name, int whole) {
  return strcmp(name, slowName) == 0 ? (int)lround(slowShare * whole) : 0;
}

static void fill(float* values, size_t count, float scale) {
  for (size_t i = 0; i < count; ++i)
    values[i] = scale * uniform();
}

static void loadBatch(int iteration) {
  const int rounds = 60; /* as many passes over the batch: augmentation */
  for (int round = 0; round < rounds * kBatch + extraOf("data_load", rounds * kBatch); ++round) {
    const int row = round % kBatch;
    const int example = (iteration * kBatch + row * 31) % kExamples;
    const float gain = 1.0F + 0.001F * (float)(round / kBatch % rounds);
    for (int i = 0; i < kIn; ++i)
      input[row][i] = gain * examples[example][i];
    memcpy(target[row], targets[example], sizeof target[row]);
  }
}

static void forward(void) {
  const int rows = kBatch + extraOf("forward", kBatch);
  for (int row = 0; row < rows; ++row) {
    const float* from = input[row % kBatch];
    for (int h = 0; h < kHidden; ++h) {
      float sum = 0;
      for (int i = 0; i < kIn; ++i)
        sum += first[h][i] * from[i];
      hidden[row][h] = sum > 0 ? sum : 0;
    }
    for (int o = 0; o < kOut; ++o) {
      float sum = 0;
      for (int h = 0; h < kHidden; ++h)
        sum += second[o][h] * hidden[row][h];
      output[row][o] = sum;
    }
  }
}

static double lossAndDelta(void) {
  double loss = 0;
  for (int row = 0; row < kBatch; ++row)
    for (int o = 0; o < kOut; ++o) {
      delta[row][o] = output[row][o] - target[row][o];
      loss += (double)delta[row][o] * (double)delta[row][o];
    }
  return loss / (kBatch * kOut);
}

static void backward(void) {
  memset(firstGradient, 0, sizeof firstGradient);
  memset(secondGradient, 0, sizeof secondGradient);
  const int rows = kBatch + extraOf("backward", kBatch);
  for (int each = 0; each < rows; ++each) {
    const int row = each % kBatch;
    const float weight = each < kBatch ? 1.0F : 0.0F;
    for (int h = 0; h < kHidden; ++h) {
      float sum = 0;
      for (int o = 0; o < kOut; ++o)
        sum += delta[row][o] * second[o][h];
      hiddenDelta[row][h] = hidden[row][h] > 0 ? weight * sum : 0;
      for (int i = 0; i < kIn; ++i)
        firstGradient[h][i] += hiddenDelta[row][h] * input[row][i];
    }
    for (int o = 0; o < kOut; ++o)
      for (int h = 0; h < kHidden; ++h)
        secondGradient[o][h] += weight * delta[row][o] * hidden[row][h];
  }
}

static void stepOf(float* weights, float* moments, const float* gradients, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    moments[i] = 0.9F * moments[i] + gradients[i] / kBatch;
    weights[i] -= 1e-4F * moments[i] / (1.0F + fabsf(moments[i]));
  }
}

static void optimise(void) {
  const int rounds = 100; /* small steps */
  for (int round = 0; round < rounds + extraOf("SGD.step", rounds); ++round) {
    stepOf(&first[0][0], &firstMoment[0][0], &firstGradient[0][0], sizeof first / sizeof(float));
    stepOf(
        &second[0][0], &secondMoment[0][0], &secondGradient[0][0], sizeof second / sizeof(float));
  }
}

#define ANNOTATED(kind, name, work)                    \
  do {                                                 \
    const sonde_scope scope = sonde_begin(kind, name); \
    for (int each = 0; each < times; ++each)           \
      work;                                            \
    sonde_end(scope);                                  \
  } while (0)

int main(int argc, char** argv) {
  const int iterations = argc > 1 ? atoi(argv[1]) : 30;
  if (argc > 3) {
    slowName = argv[2];
    slowShare = atof(argv[3]) / 100;
  }
  const int times = argc > 4 ? atoi(argv[4]) : 1;
  if (iterations < 1 || slowShare < 0 || slowShare > 1 || times < 1) {
    fprintf(stderr, "usage: diff_job ITERATIONS [OPERATION PERCENT [TIMES]]\n");
    return 2;
  }
  fill(&examples[0][0], sizeof examples / sizeof(float), 2);
  fill(&targets[0][0], sizeof targets / sizeof(float), 1);
  fill(&first[0][0], sizeof first / sizeof(float), 0.2F);
  fill(&second[0][0], sizeof second / sizeof(float), 0.2F);
  double loss = 0;
  for (int i = 0; i < iterations; ++i) {
    const sonde_scope iteration = sonde_begin(SONDE_ITERATION, "train");
    ANNOTATED(SONDE_DATA_LOAD, "data_load", loadBatch(i));
    ANNOTATED(SONDE_FORWARD, "forward", forward());
    ANNOTATED(SONDE_OPERATION, "loss", loss = lossAndDelta());
    ANNOTATED(SONDE_BACKWARD, "backward", backward());
    ANNOTATED(SONDE_OPTIMIZER, "SGD.step", optimise());
    sonde_end(iteration);
  }
  printf("loss %.9g\n", loss);
  return 0;
}
