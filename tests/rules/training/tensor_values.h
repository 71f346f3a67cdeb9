// Tensors with the statistics of given elements, and saved ones. For tests.
#pragma once

#include "tests/rules/process_rule.h"
#include "tests/support/run_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace sonde::rules::test {

// The statistics of these elements, by their definitions.
inline void setValues(TensorFact& fact, const std::vector<double>& values) {
  fact.elements = static_cast<std::int64_t>(values.size());
  std::vector<double> finite;
  for (const double value : values) {
    fact.nans += std::isnan(value) ? 1 : 0;
    fact.infs += std::isinf(value) ? 1 : 0;
    fact.zeros += value == 0 ? 1 : 0;
    if (std::isfinite(value))
      finite.push_back(value);
  }
  if (finite.empty())
    return;
  double sum = 0;
  double squares = 0;
  for (const double value : finite) {
    sum += value;
    squares += value * value;
    fact.l1 += std::abs(value);
  }
  const auto count = static_cast<double>(finite.size());
  fact.minimum = *std::min_element(finite.begin(), finite.end());
  fact.maximum = *std::max_element(finite.begin(), finite.end());
  fact.mean = sum / count;
  fact.l2 = std::sqrt(squares);
  fact.variance = 0;
  for (const double value : finite)
    *fact.variance += (value - *fact.mean) * (value - *fact.mean) / count;
  fact.p05 = fact.minimum;
  fact.p95 = fact.maximum;
}

inline TensorFact& addValues(ProcessFacts& facts,
                             const std::string& name,
                             const std::string& collection,
                             std::int64_t iteration,
                             const std::vector<double>& values) {
  TensorFact& fact = addTensor(facts, name, collection, iteration, iteration * 1000);
  setValues(fact, values);
  fact.dtype = "float64";
  fact.shape = fmt::format("[{}]", values.size());
  return fact;
}

// The header of a file in NumPy's format, as the probe writes it.
inline std::string npyHeader(const std::string& type, const std::string& shape) {
  std::string text =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  while ((10 + text.size() + 1) % 64 != 0)
    text += ' ';
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

// A recording of the elements, which are also saved, as doubles of a shape "8,4,".
inline TensorFact& addSaved(ProcessFacts& facts,
                            const std::string& name,
                            const std::string& collection,
                            std::int64_t iteration,
                            const std::vector<double>& values,
                            const std::string& shape) {
  TensorFact& fact = addValues(facts, name, collection, iteration, values);
  fact.file = "saved.npy";
  std::error_code none;
  const auto end = std::filesystem::file_size(facts.folder / fact.file, none);
  fact.fileOffset = none ? 0 : static_cast<std::int64_t>(end);
  std::ofstream file(facts.folder / fact.file, std::ios::binary | std::ios::app);
  file << npyHeader("<f8", shape);
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(double)));
  fact.shape = "[" + shape.substr(0, shape.size() - 1) + "]";
  return fact;
}

// Iterations, and a folder for saved tensors.
class TensorRule : public ProcessRule {
 protected:
  explicit TensorRule(const std::string& name) : ProcessRule(name) {
    facts_.folder = std::filesystem::path(folder_ / "");
  }

  Verdict verdict() const { return judgeFacts(facts_).verdict; }
  void set(const std::string& name, const ParameterValue& value) {
    const auto result = parameters_.set(name, value);
    ASSERT_TRUE(result) << result.error().message;
  }

  sonde::test::TemporaryFolder folder_;
  ProcessFacts facts_ = stepsOf(std::vector<std::int64_t>(20, 1000));
};

}  // namespace sonde::rules::test
