#include "cli/shell/man_page.h"

#include <fmt/format.h>

#include <cctype>
#include <sstream>
#include <string_view>
#include <utility>

namespace sonde::cli {
namespace {

// Escapes plain text for roff: a dash of an option becomes a minus, which can be searched and
// copied.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char character : text) {
    const bool atStart = out.empty() || out.back() == '\n';
    if (atStart && (character == '.' || character == '\''))
      out += "\\&";
    if (character == '\\')
      out += "\\e";
    else if (character == '-')
      out += "\\-";
    else
      out += character;
  }
  return out;
}

std::string header(const std::string& page) {
  std::string upper;
  for (const char character : page)
    upper += static_cast<char>(std::toupper(static_cast<unsigned char>(character)));
  return fmt::format(".TH {} 1 \"\" \"Sonde {}\" \"Sonde\"\n", escaped(upper), SONDE_VERSION);
}

// A verb's details(): paragraphs, lines that begin with two spaces unchanged, and examples under
// their own heading.
std::string body(const std::string& details) {
  std::istringstream lines(details);
  std::string out;
  bool verbatim = false;
  for (std::string line; std::getline(lines, line);) {
    const bool code = line.starts_with("  ");
    if (verbatim != code)
      out += std::exchange(verbatim, code) ? ".EE\n" : ".PP\n.EX\n";
    if (line == "Example:" || line == "Examples:")
      out += ".SH EXAMPLES\n";
    else if (line.empty())
      out += ".PP\n";
    else
      out += escaped(line) + "\n";
  }
  return verbatim ? out + ".EE\n" : out;
}

std::string namesOf(const DeclaredOption& option) {
  std::string names;
  if (!option.shortName.empty())
    names = "\\-" + escaped(option.shortName);
  if (!option.longName.empty())
    names += (names.empty() ? "\\-\\-" : ", \\-\\-") + escaped(option.longName);
  return option.value.empty() ? names : names + " " + escaped(option.value);
}

std::string options(const Declaration& verb) {
  std::string out = ".SH OPTIONS\n";
  for (const DeclaredOption& option : verb.options)
    out += fmt::format(".TP\n.B {}\n{}\n",
                       option.positional ? escaped(option.value) : namesOf(option),
                       escaped(option.text));
  return out;
}

}  // namespace

std::string manPage(const Declaration& verb) {
  const std::string page = "sonde-" + verb.name;
  std::string text = body(verb.details);
  // Options come before the examples that use them.
  const std::size_t examples = text.find(".SH EXAMPLES\n");
  text.insert(examples == std::string::npos ? text.size() : examples, options(verb));
  return header(page) +
         fmt::format(
             ".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B sonde {}\n[OPTIONS] {}\n.SH DESCRIPTION\n",
             escaped(page),
             escaped(verb.summary),
             escaped(verb.name),
             escaped(operandsOf(verb))) +
         text + ".SH SEE ALSO\n.BR sonde (1)\n";
}

std::string manOverview(const std::vector<Declaration>& verbs) {
  std::string page =
      header("sonde") +
      ".SH NAME\nsonde \\- a profiler for machine\\-learning training, across every layer\n"
      ".SH SYNOPSIS\n.B sonde\nVERB [OPTIONS]\n.SH VERBS\n";
  for (const Declaration& verb : verbs)
    page += fmt::format(".TP\n.BR sonde\\-{} (1)\n{}\n", escaped(verb.name), escaped(verb.summary));
  page +=
      ".SH OPTIONS\n.TP\n.B \\-h, \\-\\-help\nlist the verbs\n"
      ".TP\n.B \\-\\-version\nprint the version\n";
  page +=
      ".SH ENVIRONMENT\n.TP\n.B SONDE_PROGRESS\n\"off\" hides the progress of long work, \"now\" "
      "shows it at once, \"lines\" writes lines such as \"42% building indexes\"\n"
      ".TP\n.B SONDE_SPOOL\nlocal folder that holds records until they are stored, without "
      "\\-\\-spool\n";
  return page +
         ".SH EXAMPLES\n.EX\n  sonde run \\-\\- python3 train.py\n  sonde report "
         "python3\\-1234.sonde\n.EE\n";
}

}  // namespace sonde::cli
