// Writes an HTML page that is also well-formed XML: every element is closed, and text is escaped.
// Plain values; any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde::cli {

// Text from a trace for an element or an attribute: markup escaped; bytes that are not UTF-8, and
// characters that XML does not allow, become U+FFFD.
std::string htmlEscaped(std::string_view text);

class Page {
 public:
  using Attributes = std::vector<std::pair<std::string_view, std::string>>;

  Page& begin(std::string_view tag, const Attributes& attributes = {});
  // Closes the innermost element. Requires: one is open.
  Page& end();
  Page& text(std::string_view text);
  // An element with text alone.
  Page& element(std::string_view tag, std::string_view text, const Attributes& attributes = {});
  // An element without content.
  Page& empty(std::string_view tag, const Attributes& attributes = {});
  // Markup of Sonde's own, as it is. Requires: well-formed.
  Page& markup(std::string_view markup);

  // The page so far. Requires: nothing is open.
  std::string finished() const;

 private:
  void tag(std::string_view tag, const Attributes& attributes);

  std::string out_;
  std::vector<std::string> open_;
};

}  // namespace sonde::cli
