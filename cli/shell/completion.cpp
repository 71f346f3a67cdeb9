#include "cli/shell/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>

namespace sonde::cli {
namespace {

// The kinds of values, from the names of their types.
enum class Kind { Unknown, File, Folder, Trace, Verb, Words };

Kind kindOf(const std::string& value) {
  static const std::map<std::string_view, Kind> kKinds = {
      {"FILE", Kind::File},
      {"JOB", Kind::File},
      {"OUT", Kind::File},
      {"PNG", Kind::File},
      {"SPOOL", Kind::File},
      {"DIR", Kind::Folder},
      {"VERB", Kind::Verb},
  };
  if (value.find('|') != std::string::npos)
    return Kind::Words;
  if (value.starts_with("TRACE"))
    return Kind::Trace;
  const auto found = kKinds.find(value);
  return found == kKinds.end() ? Kind::Unknown : found->second;
}

// "text|json" → "text json".
std::string wordsOf(std::string value) {
  std::replace(value.begin(), value.end(), '|', ' ');
  return value;
}

std::string namesOf(const std::vector<Declaration>& verbs) {
  std::vector<std::string> names;
  names.reserve(verbs.size());
  for (const Declaration& verb : verbs)
    names.push_back(verb.name);
  return fmt::format("{}", fmt::join(names, " "));
}

// The spellings of an option: "-o", "--output".
std::vector<std::string> spellings(const DeclaredOption& option) {
  std::vector<std::string> found;
  if (!option.shortName.empty())
    found.push_back("-" + option.shortName);
  if (!option.longName.empty())
    found.push_back("--" + option.longName);
  return found;
}

// Whether another program's command line follows; only for `run`.
bool takesCommand(const Declaration& verb) {
  return !verb.operands.empty();
}

// `text` as a word in single quotes, with a backslash before each character of `special`.
std::string inQuotes(std::string_view text, std::string_view special = {}) {
  std::string out = "'";
  for (const char character : text) {
    if (special.find(character) != std::string_view::npos)
      out += '\\';
    out += character == '\'' ? std::string("'\\''") : std::string(1, character);
  }
  return out + "'";
}

// bash's completions for a value.
std::string bashOffer(const std::string& value, const std::string& verbs) {
  switch (kindOf(value)) {
    case Kind::File:
      return "_sonde_files";
    case Kind::Folder:
      return "_sonde_words -d";
    case Kind::Trace:
      return "_sonde_traces";
    case Kind::Verb:
      return "_sonde_words -W " + inQuotes(verbs);
    case Kind::Words:
      return "_sonde_words -W " + inQuotes(wordsOf(value));
    case Kind::Unknown:
      break;
  }
  return ":";
}

constexpr std::string_view kBashBegin =
    R"(# bash completion for sonde; made by `sonde completion bash`.
_sonde_words() { mapfile -t COMPREPLY < <(compgen "$@" -- "${COMP_WORDS[COMP_CWORD]}"); }
_sonde_files() { _sonde_words -f; }
# Folders, too, for one's way to a trace.
_sonde_traces() {
  local cur=${COMP_WORDS[COMP_CWORD]}
  mapfile -t COMPREPLY < <(compgen -f -X '!*.sonde' -- "$cur"
    compgen -f -X '!*.sonde.part' -- "$cur"
    compgen -d -- "$cur")
}

_sonde() {
  local cur=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]-} at
  COMPREPLY=()
)";

// A command with its own words follows `--`.
constexpr std::string_view kBashCommand = R"(  for ((at = 2; at < COMP_CWORD; ++at)); do
    [[ $verb == {} && ${{COMP_WORDS[at]}} == -- ]] || continue
    if ((at + 1 == COMP_CWORD)); then _sonde_words -c; else _sonde_files; fi
    return
  done
)";

void bashVerb(const Declaration& verb,
              const std::string& verbs,
              std::string& values,
              std::string& options) {
  std::vector<std::string> flags;
  std::string operand = ":";
  for (const DeclaredOption& option : verb.options) {
    if (option.positional) {
      operand = bashOffer(option.value, verbs);
      continue;
    }
    std::vector<std::string> patterns = spellings(option);
    flags.insert(flags.end(), patterns.begin(), patterns.end());
    for (std::string& pattern : patterns)
      pattern = inQuotes(fmt::format("{} {}", verb.name, pattern));
    if (!option.value.empty())
      values += fmt::format(
          "    {}) {}; return ;;\n", fmt::join(patterns, " | "), bashOffer(option.value, verbs));
  }
  options += fmt::format(
      "    {}) if [[ $cur == -* ]]; then _sonde_words -W {}; else {}; fi ;;\n",
      verb.name,
      inQuotes(fmt::format("{}{}", fmt::join(flags, " "), takesCommand(verb) ? " --" : "")),
      operand);
}

// The action of zsh's _arguments for a value.
std::string zshAction(const std::string& value, const std::string& verbs) {
  switch (kindOf(value)) {
    case Kind::File:
      return "_files";
    case Kind::Folder:
      return "_files -/";
    case Kind::Trace:
      return "_files -g \"*.(sonde|part)\"";
    case Kind::Verb:
      return "(" + verbs + ")";
    case Kind::Words:
      return "(" + wordsOf(value) + ")";
    case Kind::Unknown:
      break;
  }
  return " ";
}

std::string zshArgument(const DeclaredOption& option, const std::string& verbs) {
  const std::string value =
      option.value.empty()
          ? std::string()
          : fmt::format(":{}:{}", wordsOf(option.value), zshAction(option.value, verbs));
  if (option.positional)
    return inQuotes((option.repeated ? "*" : option.required ? "" : ":") + value);
  const std::vector<std::string> names = spellings(option);
  std::string text;
  for (const char character : option.text)
    text += std::string(character == '[' || character == ']' ? "\\" : "") + character;
  const std::string rest = inQuotes(fmt::format("[{}]{}", text, value));
  return names.size() == 1 ? names.front() + rest
                           : fmt::format("{}{{{}}}{}",
                                         inQuotes(fmt::format("({})", fmt::join(names, " "))),
                                         fmt::join(names, ","),
                                         rest);
}

std::string fishOption(const std::string& verb,
                       const DeclaredOption& option,
                       const std::string& verbs) {
  std::string line = fmt::format("complete -c sonde -n '__fish_seen_subcommand_from {}'", verb);
  if (!option.shortName.empty())
    line += " -s " + option.shortName;
  if (!option.longName.empty())
    line += " -l " + option.longName;
  const Kind kind = kindOf(option.value);
  const bool path = kind == Kind::File || kind == Kind::Folder || kind == Kind::Trace;
  if (path)
    line += option.positional ? " -F" : " -r -F";
  else if (!option.value.empty() && !option.positional)
    line += " -x";  // no files
  if (kind == Kind::Words || kind == Kind::Verb)
    line += " -a " + inQuotes(kind == Kind::Verb ? verbs : wordsOf(option.value));
  return line + " -d " + inQuotes(option.text, "\\") + "\n";
}

}  // namespace

std::string bashCompletion(const std::vector<Declaration>& verbs) {
  const std::string names = namesOf(verbs);
  std::string script(kBashBegin);
  script += fmt::format("  if ((COMP_CWORD == 1)); then _sonde_words -W {}; return; fi\n",
                        inQuotes(names + " --help --version"));
  std::string values;
  std::string options;
  for (const Declaration& verb : verbs) {
    if (takesCommand(verb))
      script += fmt::format(fmt::runtime(kBashCommand), verb.name);
    bashVerb(verb, names, values, options);
  }
  return script + "  case \"$verb ${COMP_WORDS[COMP_CWORD - 1]}\" in\n" + values +
         "  esac\n  case $verb in\n" + options +
         "  esac\n}\ncomplete -o filenames -F _sonde sonde\n";
}

std::string zshCompletion(const std::vector<Declaration>& verbs) {
  const std::string names = namesOf(verbs);
  std::string script =
      "#compdef sonde\n# zsh completion for sonde; made by `sonde completion zsh`.\n_sonde() {\n"
      "  local -a verbs=(\n";
  for (const Declaration& verb : verbs)
    script += fmt::format("    {}\n", inQuotes(verb.name + ":" + verb.summary));
  script +=
      "  )\n  if (( CURRENT == 2 )); then _describe -t verbs verb verbs; return; fi\n"
      "  local verb=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $verb in\n";
  for (const Declaration& verb : verbs) {
    script += fmt::format("    {})\n      _arguments", verb.name);
    for (const DeclaredOption& option : verb.options)
      script += " \\\n        " + zshArgument(option, names);
    if (takesCommand(verb))
      script += " \\\n        '(-)1:command:_command_names -e' '*::arguments:_normal'";
    script += "\n      ;;\n";
  }
  return script + "  esac\n}\n_sonde \"$@\"\n";
}

std::string fishCompletion(const std::vector<Declaration>& verbs) {
  const std::string names = namesOf(verbs);
  std::string script =
      "# fish completion for sonde; made by `sonde completion fish`.\ncomplete -c sonde -f\n";
  for (const Declaration& verb : verbs) {
    script += fmt::format("complete -c sonde -n __fish_use_subcommand -a {} -d {}\n",
                          verb.name,
                          inQuotes(verb.summary, "\\"));
    for (const DeclaredOption& option : verb.options)
      script += fishOption(verb.name, option, names);
    if (takesCommand(verb))
      script += fmt::format(
          "complete -c sonde -n '__fish_seen_subcommand_from {}' -a "
          "'(__fish_complete_subcommand --fcs-skip=2)'\n",
          verb.name);
  }
  return script;
}

}  // namespace sonde::cli
