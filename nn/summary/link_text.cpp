#include <ostream>
#include <typeinfo>

#include <catena/autograd/debug.h>
#include <catena/nn/sequential.h>
#include <catena/nn/summary.h>
#include <catena/nn/summary/link_specs.h>

namespace nn {
namespace {

void append_text(std::string& out, const Link& link, const std::string& indent);

void append_line(std::string& out, const std::string& name, const Link& child, const std::string& indent) {
  out.append("\n").append(indent).append("  (").append(name).append("): ");
  append_text(out, child, indent + "  ");
}

// Appends a line for each child, and for each function of a Sequential. Returns whether there are any.
bool append_children(std::string& out, const Link& link, const std::string& indent) {
  if (const auto* const sequence = dynamic_cast<const Sequential*>(&link)) {
    for (const Sequential::Element& e : *sequence) {
      if (e.is_link()) append_line(out, e.as_link().name(), e.as_link(), indent);
      else out.append("\n").append(indent).append("  (function)");
    }
    return sequence->size() > 0;
  }
  const auto children = const_cast<Link&>(link).named_children();  // listing does not change the link
  for (const auto& [name, child] : children) append_line(out, name, *child, indent);
  return !children.empty();
}

void append_text(std::string& out, const Link& link, const std::string& indent) {
  out.append(autograd::internal::class_name(typeid(link))).append("(");
  const std::string specs = link.extra_repr();
  out += specs.empty() ? internal::specs_of(link) : specs;
  std::string children;
  if (append_children(children, link, indent)) out.append(children).append("\n").append(indent);
  out += ")";
}

}  // namespace

std::string to_string(const Link& link) {
  std::string text;
  append_text(text, link, {});
  return text;
}

std::ostream& operator<<(std::ostream& out, const Link& link) { return out << to_string(link); }

}  // namespace nn
