#include <catena/ndarray/user_kernel/parameter_list.h>

#include <algorithm>
#include <iterator>

namespace nd {
namespace {

using catena::check;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    if (is_blank(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && !is_blank(text[end])) ++end;
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

// True for words of C++, and for names that generated texts use besides those with a leading underscore.
bool is_taken(std::string_view name) {
  constexpr std::string_view words[] = {"alignas",       "alignof",      "and",
                                        "and_eq",        "asm",          "auto",
                                        "bfloat16",      "bitand",       "bitor",
                                        "bool",          "break",        "case",
                                        "catch",         "catena",       "char",
                                        "char16_t",      "char32_t",     "char8_t",
                                        "class",         "co_await",     "co_return",
                                        "co_yield",      "compl",        "complex128",
                                        "complex64",     "concept",      "const",
                                        "const_cast",    "consteval",    "constexpr",
                                        "constinit",     "continue",     "decltype",
                                        "default",       "delete",       "do",
                                        "double",        "dynamic_cast", "else",
                                        "enum",          "explicit",     "export",
                                        "extern",        "false",        "float",
                                        "float16",       "for",          "friend",
                                        "goto",          "if",           "inline",
                                        "int",           "long",         "mutable",
                                        "namespace",     "ND_FN",        "new",
                                        "noexcept",      "not",          "not_eq",
                                        "nullptr",       "operator",     "or",
                                        "or_eq",         "private",      "protected",
                                        "public",        "register",     "reinterpret_cast",
                                        "requires",      "return",       "short",
                                        "signed",        "sizeof",       "static",
                                        "static_assert", "static_cast",  "struct",
                                        "switch",        "template",     "this",
                                        "thread_local",  "throw",        "true",
                                        "try",           "typedef",      "typeid",
                                        "typename",      "union",        "unsigned",
                                        "using",         "virtual",      "void",
                                        "volatile",      "wchar_t",      "while",
                                        "xor",           "xor_eq"};
  return std::find(std::begin(words), std::end(words), name) != std::end(words);
}

std::optional<Dtype> canonical_dtype(std::string_view name) {
  for (int k = 0; k < catena::kNumDtypes; ++k)
    if (name_of(static_cast<Dtype>(k)) == name) return static_cast<Dtype>(k);
  return {};
}

KernelParameter parse_definition(std::string_view op, std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  check<ValueError>(words.size() >= 2, op, "\"", text, "\" is no parameter definition: it needs a type and a name");
  for (std::size_t k = 0; k + 2 < words.size(); ++k)
    check<ValueError>(words[k] == "raw" && k == 0, op, "\"", words[k], "\" in \"", text,
                      "\" is unknown: only raw may stand before the type");

  KernelParameter p;
  p.raw = words.size() > 2;
  p.type = words[words.size() - 2];
  p.name = words.back();
  if (p.type.size() == 1) {
    check<ValueError>(is_letter(p.type[0]), op, "the type \"", p.type, "\" of ", p.name, " is no letter");
  } else {
    p.dtype = canonical_dtype(p.type);
    p.structure = !p.dtype && p.raw && is_identifier(p.type) && !is_taken(p.type);
    check<ValueError>(p.dtype.has_value() || p.structure, op, "the type \"", p.type, "\" of ", p.name,
                      " is neither a dtype by its canonical name, such as float32, nor a single letter",
                      p.raw ? "" : "; a class of the preamble needs raw before it");
  }
  check<ValueError>(is_identifier(p.name), op, "the parameter name \"", p.name, "\" is no identifier");
  check<ValueError>(p.name != "i" && p.name[0] != '_', op, "the parameter name ", p.name, " is reserved: i is the ",
                    "position of the element, and names that begin with an underscore belong to the generated text; ",
                    "write another name, such as ", p.name == "i" ? "k" : catena::concat("a", p.name));
  check<ValueError>(!is_taken(p.name), op, "the parameter name ", p.name,
                    " is a word of C++ or of the generated text; give it another name, such as ", p.name, "_");
  return p;
}

}  // namespace

bool is_identifier(std::string_view text) noexcept {
  const auto starts = [](char c) { return is_letter(c) || c == '_'; };
  return !text.empty() && starts(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return starts(c) || is_digit(c); });
}

std::vector<KernelParameter> parse_parameters(std::string_view op, std::string_view text, bool outputs) {
  std::vector<KernelParameter> list;
  if (words_of(text).empty()) return list;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    KernelParameter p = parse_definition(op, text.substr(at, comma - at));
    p.output = outputs;
    for (const KernelParameter& other : list)
      check<ValueError>(other.name != p.name, op, "there are two parameters named ", p.name);
    list.push_back(std::move(p));
    at = comma + 1;
  }
  return list;
}

}  // namespace nd
