// What of command lines and environments may be stored. Values whose name says that they are secret
// never are; more is hidden by the user's patterns. Immutable once made; any thread.
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

  // An argv: `--token X`, `--token=X`, `TOKEN=X`, `https://user:password@host` and what the
  // patterns match; the same inside an argument, where `Token: X` and `"token": "X"` are known,
  // too.
  std::vector<std::string> arguments(const std::vector<std::string>& argv) const;

  // The same as one line.
  std::string commandLine(const std::vector<std::string>& argv) const;

  std::string value(const std::string& name, const std::string& text) const;

  // Of `NAME=VALUE` entries those that explain how a training run behaves (ranks, NCCL, CUDA,
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

// Whether a name has a word such as TOKEN, SECRET or KEY in it: `HF_TOKEN`, `--api-key`,
// `awsSecretAccessKey`; not
// `--tokenizer`.
bool namesSecret(std::string_view name);

}  // namespace sonde::recorder
