#include "cli/html/page.h"

#include "base/check.h"
#include "base/utf8.h"

#include <cstddef>

namespace sonde::cli {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

std::string_view entityOf(char byte) {
  switch (byte) {
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '&':
      return "&amp;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

}  // namespace

std::string htmlEscaped(std::string_view text) {
  const std::string valid = toText(text);
  std::string out;
  out.reserve(valid.size());
  for (std::size_t at = 0; at < valid.size(); ++at) {
    const std::string_view rest = std::string_view(valid).substr(at);
    const bool isControl = static_cast<unsigned char>(valid[at]) < ' ' && valid[at] != '\t' &&
                           valid[at] != '\n' && valid[at] != '\r';
    if (isControl) {
      out += kReplacement;
    } else if (rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF")) {
      out += kReplacement;
      at += 2;
    } else if (const std::string_view entity = entityOf(valid[at]); !entity.empty()) {
      out += entity;
    } else {
      out += valid[at];
    }
  }
  return out;
}

void Page::tag(std::string_view tag, const Attributes& attributes) {
  out_ += '<';
  out_ += tag;
  for (const auto& [name, value] : attributes) {
    out_ += ' ';
    out_ += name;
    out_ += "=\"";
    out_ += htmlEscaped(value);
    out_ += '"';
  }
}

Page& Page::begin(std::string_view tag, const Attributes& attributes) {
  this->tag(tag, attributes);
  out_ += '>';
  open_.emplace_back(tag);
  return *this;
}

Page& Page::end() {
  SONDE_CHECK(!open_.empty());
  out_ += "</" + open_.back() + ">";
  // A line for each block keeps the file readable.
  if (open_.back() != "td" && open_.back() != "th" && open_.back() != "span")
    out_ += '\n';
  open_.pop_back();
  return *this;
}

Page& Page::text(std::string_view text) {
  out_ += htmlEscaped(text);
  return *this;
}

Page& Page::element(std::string_view tag, std::string_view text, const Attributes& attributes) {
  return begin(tag, attributes).text(text).end();
}

Page& Page::empty(std::string_view tag, const Attributes& attributes) {
  this->tag(tag, attributes);
  out_ += " />\n";
  return *this;
}

Page& Page::markup(std::string_view markup) {
  out_ += markup;
  return *this;
}

std::string Page::finished() const {
  SONDE_CHECK(open_.empty());
  return out_;
}

}  // namespace sonde::cli
