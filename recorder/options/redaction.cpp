#include "recorder/options/redaction.h"

#include "recorder/options/named_value.h"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <optional>

namespace sonde::recorder {

namespace {

bool isAlnum(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0;
}
bool isUpper(char letter) {
  return std::isupper(static_cast<unsigned char>(letter)) != 0;
}
bool isLower(char letter) {
  return std::islower(static_cast<unsigned char>(letter)) != 0;
}

// Splits a name into lower-case words: `awsSecretKey`, `AWS_SECRET_KEY` and `aws-secret-key` have
// the same three.
std::vector<std::string> wordsOf(std::string_view name) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool hump = i > 0 && isUpper(name[i]) && isLower(name[i - 1]);
    if (hump || !isAlnum(name[i]))
      words.emplace_back();
    if (isAlnum(name[i]))
      words.back().push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(name[i]))));
  }
  return words;
}

bool isSecretWord(const std::string& word) {
  constexpr std::string_view kWords[] = {"token",
                                         "tokens",
                                         "secret",
                                         "secrets",
                                         "key",
                                         "keys",
                                         "apikey",
                                         "apikeys",
                                         "pwd",
                                         "credential",
                                         "credentials",
                                         "auth",
                                         "authorization",
                                         "cookie",
                                         "cookies",
                                         "bearer",
                                         "authtoken",
                                         "accesskey",
                                         "passphrase"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords) ||
         word.starts_with("passw") || word.ends_with("passwd") || word.ends_with("password");
}

// The name in `--name`, `-n` or, before a value, `name=`.
std::string optionName(const std::string& argument) {
  const std::size_t begin = argument.find_first_not_of('-');
  return begin == std::string::npos ? "" : argument.substr(begin);
}

bool isName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), isNameLetter);
}

// `--max-tokens 512` hides nothing: a secret is not a small number.
bool isPlainNumber(const std::string& text) {
  return !text.empty() && text.size() < 10 &&
         text.find_first_not_of("0123456789.") == std::string::npos;
}

// Removes `user:password@` from a URL.
std::string withoutUrlPassword(const std::string& text) {
  const std::size_t scheme = text.find("://");
  if (scheme == std::string::npos)
    return text;
  const std::size_t begin = scheme + 3;
  const std::size_t end = std::min(text.find_first_of("/?#", begin), text.size());
  const std::size_t at = text.rfind('@', end);
  if (at == std::string::npos || at < begin)
    return text;
  return text.substr(0, begin) + std::string(kRedacted) + text.substr(at);
}

bool explainsTraining(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {
      "CUDA_",      "CUBLAS_",     "CUDNN_",       "NCCL_",        "UCX_",      "GLOO_",
      "TORCH",      "PYTORCH_",    "OMP_",         "MKL_",         "KMP_",      "GOMP_",
      "OPENBLAS_",  "OMPI_COMM_",  "PMI_",         "PMIX_",        "SLURM_JOB", "SLURM_STEP",
      "SLURM_PROC", "SLURM_LOCAL", "SLURM_NTASKS", "SLURM_NNODES", "MASTER_",   "NVIDIA_",
      "NVTX_",      "SONDE_"};
  constexpr std::string_view kNames[] = {"RANK",
                                         "LOCAL_RANK",
                                         "WORLD_SIZE",
                                         "LOCAL_WORLD_SIZE",
                                         "GROUP_RANK",
                                         "ROLE_RANK",
                                         "LD_PRELOAD",
                                         "LD_LIBRARY_PATH",
                                         "PYTHONHASHSEED"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         std::any_of(std::begin(kPrefixes), std::end(kPrefixes), [&](std::string_view prefix) {
           return name.starts_with(prefix);
         });
}

}  // namespace

bool namesSecret(std::string_view name) {
  const auto words = wordsOf(name);
  return std::any_of(words.begin(), words.end(), isSecretWord);
}

Redactor::Redactor(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}

bool Redactor::matches(const std::string& text) const {
  return std::any_of(patterns_.begin(), patterns_.end(), [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
  });
}

bool Redactor::hidesName(const std::string& name) const {
  return namesSecret(name) || matches(name);
}

bool Redactor::hidesValue(const std::string& name, const std::string& text) const {
  return (namesSecret(name) && !isPlainNumber(text)) || matches(name) || matches(text);
}

std::string Redactor::value(const std::string& name, const std::string& text) const {
  return hidesValue(name, text) ? std::string(kRedacted) : this->text(text);
}

// Checks each word by itself, regardless of the words before it.
std::string Redactor::words(const std::string& text) const {
  const auto separates = [](char letter) {
    return letter == ';' || isQuote(letter) || kBlanks.find(letter) != std::string_view::npos;
  };
  std::string shown;
  for (auto at = text.begin(); at != text.end();) {
    const auto end = std::find_if(at, text.end(), separates);
    const std::string word(at, end);
    shown += matches(word) ? std::string(kRedacted) : withoutUrlPassword(word);
    at = std::find_if_not(end, text.end(), separates);
    shown.append(end, at);
  }
  return shown;
}

std::string Redactor::text(const std::string& text) const {
  const std::string checked = words(text);
  std::string shown;
  for (std::size_t at = 0; at < checked.size();) {
    const std::size_t end = std::max(nameEnd(checked, at), at + 1);
    const auto value = valueOf(checked, at, end);
    const bool hidden =
        value && hidesValue(optionName(checked.substr(at, end - at)),
                            checked.substr(value->begin, value->end - value->begin));
    const std::size_t next = hidden ? value->end : end;
    shown.append(checked, at, (hidden ? value->begin : end) - at);
    if (hidden)
      shown += kRedacted;
    at = next;
  }
  return shown;
}

std::vector<std::string> Redactor::arguments(const std::vector<std::string>& argv) const {
  std::vector<std::string> shown;
  std::optional<std::string> pendingName;  // an option whose value is the next argument
  for (const std::string& argument : argv) {
    const bool option = argument.starts_with('-');
    const std::string name = optionName(argument.substr(0, argument.find('=')));
    const bool assigns = argument.find('=') != std::string::npos && isName(name);
    if (matches(argument))
      shown.emplace_back(kRedacted);
    else if (assigns)
      shown.push_back(argument.substr(0, argument.find('=') + 1) +
                      value(name, argument.substr(argument.find('=') + 1)));
    else if (pendingName && !option)
      shown.push_back(value(*pendingName, argument));
    else
      shown.push_back(text(argument));
    pendingName.reset();
    if (option && !assigns && hidesName(name))
      pendingName = name;
  }
  return shown;
}

std::string Redactor::commandLine(const std::vector<std::string>& argv) const {
  std::string line;
  for (const std::string& argument : arguments(argv)) {
    if (!line.empty())
      line.push_back(' ');
    line += argument;
  }
  return line;
}

std::map<std::string, std::string> Redactor::environment(
    const std::vector<std::string>& entries) const {
  std::map<std::string, std::string> kept;
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || !explainsTraining({entry.data(), equals}))
      continue;
    const std::string name = entry.substr(0, equals);
    kept[name] = value(name, entry.substr(equals + 1));
  }
  return kept;
}

}  // namespace sonde::recorder
