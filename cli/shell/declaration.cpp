#include "cli/shell/declaration.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

namespace sonde::cli {
namespace {

// CLI11's formatter, with the verb's operands in the usage line.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string operands) : operands_(std::move(operands)) {}
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = CLI::Formatter::make_usage(app, std::move(name));
    if (!operands_.empty())
      usage.insert(usage.find_last_not_of('\n') + 1, " " + operands_);
    return usage;
  }
  // For "TRACE..." the usage line is enough; omits the parser's own words.
  std::string make_option_opts(const CLI::Option* option) const override {
    if (!option->nonpositional() || option->get_type_size() == 0)
      return {};
    std::string text = " " + option->get_type_name();
    if (!option->get_default_str().empty())
      text += "=" + option->get_default_str();
    return text;
  }

 private:
  std::string operands_;
};

// Lines of at most 110 characters. Lines that begin with a space are tables and examples, and stay.
std::string wrapped(std::string_view text) {
  constexpr std::size_t kWidth = 110;
  std::string out;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line); out += line + '\n') {
    std::size_t begin = 0;
    while (!line.starts_with(' ') && line.size() - begin > kWidth) {
      const std::size_t space = line.rfind(' ', begin + kWidth);
      if (space == std::string::npos || space <= begin)
        break;
      line[space] = '\n';
      begin = space + 1;
    }
  }
  return out;
}

std::string firstOf(const std::vector<std::string>& names) {
  return names.empty() ? std::string() : names.front();
}

DeclaredOption declared(const CLI::Option& option) {
  DeclaredOption found;
  found.shortName = firstOf(option.get_snames());
  found.longName = firstOf(option.get_lnames());
  found.positional = !option.nonpositional();
  found.text = option.get_description();
  found.required = option.get_required();
  found.repeated = option.get_items_expected_max() > 1;
  found.value = option.get_type_name();
  // A positional is shown by its name, unless its type lists the possible values.
  if (found.positional && found.value.find('|') == std::string::npos)
    found.value = option.get_name(true);
  return found;
}

}  // namespace

void prepare(CLI::App& app, Command& command) {
  app.name(fmt::format("sonde {}", command.name()));
  app.description(fmt::format("sonde {} — {}", command.name(), command.summary()));
  app.footer(wrapped(command.details()));
  app.set_help_flag("-h,--help", "show this help");
  app.formatter(std::make_shared<HelpFormatter>(command.operands()));
  app.get_formatter()->column_width(34);
  command.declare(app);
}

std::string helpOf(Command& command) {
  CLI::App app;
  prepare(app, command);
  return app.help();
}

Declaration declarationOf(Command& command) {
  CLI::App app;
  prepare(app, command);
  Declaration declaration{
      command.name(), command.summary(), command.details(), command.operands(), {}};
  for (const CLI::Option* option : app.get_options())
    declaration.options.push_back(declared(*option));
  std::stable_partition(declaration.options.begin(),
                        declaration.options.end(),
                        [](const DeclaredOption& option) { return !option.positional; });
  return declaration;
}

std::string operandsOf(const Declaration& declaration) {
  std::string words = declaration.operands;
  for (const DeclaredOption& option : declaration.options) {
    if (!option.positional)
      continue;
    const bool told = option.value.find("…") != std::string::npos;  // that it is repeated
    const std::string word = option.value + (option.repeated && !told ? "..." : "");
    words += fmt::format(
        fmt::runtime(option.required ? "{}{}" : "{}[{}]"), words.empty() ? "" : " ", word);
  }
  return words;
}

}  // namespace sonde::cli
