// Removes secrets from command lines and environments before they are stored. A value whose name
// suggests a secret is never stored. The user's patterns hide more. Immutable after construction;
// any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::recorder {

inline constexpr std::string_view kRedacted = "[redacted]";

class Redactor {
 public:
  // `patterns` are shell globs. One that matches the name of an option or variable hides its value;
  // one that matches a whole argument or value hides that.
  explicit Redactor(std::vector<std::string> patterns = {});

  const std::vector<std::string>& patterns() const noexcept { return patterns_; }

  // Redacts an argv: `--token X`, `--token=X`, `TOKEN=X`, `https://user:password@host` and matches
  // of the patterns. Also redacts these inside an argument, and there `Token: X` and `"token": "X"`
  // too.
  std::vector<std::string> arguments(const std::vector<std::string>& argv) const;

  // The same, as one line.
  std::string commandLine(const std::vector<std::string>& argv) const;

  std::string value(const std::string& name, const std::string& text) const;

  // Selects the `NAME=VALUE` entries that explain how a training run behaves (ranks, NCCL, CUDA,
  // OpenMP, …).
  std::map<std::string, std::string> environment(const std::vector<std::string>& entries) const;

 private:
  bool hidesName(const std::string& name) const;
  bool matches(const std::string& text) const;
  bool hidesValue(const std::string& name, const std::string& text) const;
  std::string words(const std::string& text) const;
  std::string text(const std::string& text) const;

  std::vector<std::string> patterns_;
};

// Whether a name contains a word such as TOKEN, SECRET or KEY: `HF_TOKEN`, `--api-key`,
// `awsSecretAccessKey`; not `--tokenizer`.
bool namesSecret(std::string_view name);

}  // namespace sonde::recorder
