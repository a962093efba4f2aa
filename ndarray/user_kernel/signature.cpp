#include <catena/ndarray/user_kernel/signature.h>

#include <algorithm>
#include <cstring>
#include <map>

#include <catena/ndarray/user_kernel/text_scanner.h>

namespace nd::internal {
namespace {

using catena::fail;
using Tokens = std::vector<std::string_view>;
using ArgumentForm = KernelArgument::Form;

Tokens tokens_of(std::string_view text) {
  Tokens tokens;
  for (TextScanner scan(text); !scan.done(); scan.next()) tokens.push_back(scan.token());
  return tokens;
}

bool is_word(std::string_view token) { return is_identifier(token); }

// Returns the pieces between the commas outside of brackets; none for an empty list.
std::vector<Tokens> pieces_of(const Tokens& tokens) {
  std::vector<Tokens> pieces;
  int depth = 0;
  for (const std::string_view token : tokens) {
    if (pieces.empty()) pieces.emplace_back();
    if (token == "<" || token == "(" || token == "[" || token == "{") ++depth;
    if (token == ">" || token == ")" || token == "]" || token == "}") --depth;
    if (token == "," && depth == 0) pieces.emplace_back();
    else pieces.back().push_back(token);
  }
  return pieces;
}

std::string joined(const Tokens& tokens) {
  std::string text;
  for (const std::string_view token : tokens) {
    if (!text.empty() && is_word(token) && text.back() != '<' && text.back() != ':') text += ' ';
    text += token;
  }
  return text;
}

// ---- types --------------------------------------------------------------------------------------
// Returns the dtype of a sequence of built-in type words; nothing for void.
std::optional<Dtype> builtin_type(const Tokens& words) {
  const auto count = [&](std::string_view w) { return std::count(words.begin(), words.end(), w); };
  const bool is_unsigned = count("unsigned") != 0;
  if (count("void") != 0) return {};
  if (count("bool") != 0) return Dtype::bool_;
  if (count("double") != 0) return Dtype::float64;
  if (count("float") != 0) return Dtype::float32;
  if (count("char") != 0) return is_unsigned ? Dtype::uint8 : Dtype::int8;
  if (count("short") != 0) return is_unsigned ? Dtype::uint16 : Dtype::int16;
  if (count("long") != 0) return is_unsigned ? Dtype::uint64 : Dtype::int64;
  return is_unsigned ? Dtype::uint32 : Dtype::int32;
}
bool is_builtin(std::string_view word) {
  constexpr std::string_view words[] = {"void", "bool",  "char",   "short",    "int",
                                        "long", "float", "double", "unsigned", "signed"};
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

// Returns the dtype of a type name that CUDA programs use, without std::; nothing for others.
std::optional<Dtype> named_type(std::string_view name) {
  static const auto& types = *new std::map<std::string_view, Dtype>{
      {"int8_t", Dtype::int8},         {"uint8_t", Dtype::uint8},          {"int16_t", Dtype::int16},
      {"uint16_t", Dtype::uint16},     {"int32_t", Dtype::int32},          {"uint32_t", Dtype::uint32},
      {"int64_t", Dtype::int64},       {"uint64_t", Dtype::uint64},        {"size_t", Dtype::uint64},
      {"ssize_t", Dtype::int64},       {"ptrdiff_t", Dtype::int64},        {"intptr_t", Dtype::int64},
      {"uintptr_t", Dtype::uint64},    {"half", Dtype::float16},           {"__half", Dtype::float16},
      {"float16", Dtype::float16},     {"__nv_bfloat16", Dtype::bfloat16}, {"nv_bfloat16", Dtype::bfloat16},
      {"bfloat16", Dtype::bfloat16},   {"cuComplex", Dtype::complex64},    {"cuFloatComplex", Dtype::complex64},
      {"complex64", Dtype::complex64}, {"complex128", Dtype::complex128},  {"cuDoubleComplex", Dtype::complex128}};
  const auto found = types.find(name);
  return found != types.end() ? std::optional(found->second) : std::nullopt;
}

bool is_qualifier(std::string_view t) {
  constexpr std::string_view words[] = {"const",      "volatile",          "restrict", "__restrict__",
                                        "__restrict", "__grid_constant__", "struct",   "typename"};
  return std::find(std::begin(words), std::end(words), t) != std::end(words);
}

using Substitutions = std::map<std::string_view, Tokens>;

// Parses one parameter; returns false if it cannot be read.
bool parse_parameter(const Tokens& piece, const Substitutions& replaced, RawParameter& p) {
  p.text = joined(piece);
  Tokens words, builtin;
  int stars = 0, depth = 0, unknown = 0;
  for (std::size_t k = 0; k < piece.size(); ++k) {
    const std::string_view t = piece[k];
    if (t == "(" || t == "." || t == "=" || t == "#") return false;  // functions, packs, macros
    if (t == "[") ++stars;                                           // an array is a pointer
    if (t == "<" || t == "[") ++depth;
    if (t == "<" || t == "&") unknown = 1;
    if (depth == 0) {
      const auto found = replaced.find(t);
      if (t == "*") ++stars;
      else if (found != replaced.end()) {
        for (const std::string_view part : found->second) {
          if (part == "*") ++stars;
          else if (is_builtin(part)) builtin.push_back(part);
          else if (!is_qualifier(part)) words.push_back(part);
        }
      } else if (is_builtin(t)) builtin.push_back(t);
      else if (is_word(t) && !is_qualifier(t)) {
        if (k + 2 < piece.size() && piece[k + 1] == ":" && piece[k + 2] == ":") {
          unknown |= int(t != "std");
          k += 2;
        } else words.push_back(t);
      }
    }
    if (t == ">" || t == "]") --depth;
  }
  if (builtin.empty() && (words.empty() || (words.size() == 1 && stars == 0 && unknown == 0))) return false;
  p.pointer = stars > 0;
  if (unknown == 0 && stars < 2) p.type = builtin.empty() ? named_type(words[0]) : builtin_type(builtin);
  return true;
}

std::optional<RawParameters> parse_signature(std::string_view text, const Substitutions& replaced) {
  const std::vector<Tokens> pieces = pieces_of(tokens_of(text));
  RawParameters signature;
  if (pieces.size() == 1 && pieces[0] == Tokens{"void"}) return signature;
  for (const Tokens& piece : pieces)
    if (!parse_parameter(piece, replaced, signature.emplace_back())) return {};
  return signature;
}

// ---- templates ----------------------------------------------------------------------------------
// The last name and the arguments of "ns::scale<float, 3>".
struct NameExpression {
  std::string_view name;
  std::vector<Tokens> arguments;
};

NameExpression parse_expression(std::string_view text) {
  const std::size_t open = std::min(text.find('<'), text.size());
  NameExpression e;
  for (const std::string_view token : tokens_of(text.substr(0, open)))
    if (is_word(token)) e.name = token;
  const std::size_t close = text.rfind('>');
  if (close != std::string_view::npos && close > open)
    e.arguments = pieces_of(tokens_of(text.substr(open + 1, close - open - 1)));
  return e;
}

// Maps the names of the template's parameters ("class T, int N") to the arguments.
Substitutions substitutions(std::string_view parameters, const std::vector<Tokens>& arguments) {
  Substitutions replaced;
  const std::vector<Tokens> pieces = pieces_of(tokens_of(parameters));
  for (std::size_t k = 0; k < std::min(pieces.size(), arguments.size()); ++k) {
    const auto end = std::find(pieces[k].begin(), pieces[k].end(), "=");
    if (end != pieces[k].begin() && is_word(*(end - 1))) replaced[*(end - 1)] = arguments[k];
  }
  return replaced;
}

// The scanner must be at `template`. Returns the text between the angle brackets; the scanner ends behind them.
std::string_view template_parameters(TextScanner& scan) {
  scan.next();
  if (scan.done() || scan.token() != "<") return {};
  const std::size_t begin = scan.end();
  for (int depth = 0; !scan.done(); scan.next()) {
    depth += scan.token() == "<" ? 1 : scan.token() == ">" ? -1 : 0;
    if (depth == 0) return scan.text(begin, scan.begin());
  }
  return {};
}

// ---- arguments ----------------------------------------------------------------------------------
bool is_whole(Dtype t) { return t <= Dtype::uint64 && t != Dtype::bool_; }
bool is_half(Dtype t) { return t == Dtype::float16 || t == Dtype::bfloat16; }

// True if memory or a value of one type may be read as the other.
bool fits(Dtype given, Dtype wanted) {
  if (given == wanted) return true;
  if (itemsize(given) != itemsize(wanted) || !is_whole(wanted)) return false;
  return is_whole(given) || is_half(given) || given == Dtype::bool_;
}

std::string given_text(const KernelArgument& a) {
  switch (a.form()) {
    case ArgumentForm::array: return catena::concat("an array of ", *a.dtype());
    case ArgumentForm::pointer:
      return a.dtype() ? catena::concat("a pointer to ", *a.dtype()) : std::string("a pointer");
    case ArgumentForm::number: return catena::concat("a value of ", *a.dtype());
    case ArgumentForm::object: break;
  }
  return catena::concat("an object of ", a.bytes().size(), " bytes");
}

// Returns a hint for the message: what the caller should pass instead.
std::string cure(const KernelArgument& a, const RawParameter& p) {
  if (p.pointer) {
    if (a.form() == ArgumentForm::array) return catena::concat("; pass an array of it, as by astype(", *p.type, ")");
    return a.form() == ArgumentForm::pointer ? "" : "; pass an array";
  }
  if (a.form() == ArgumentForm::array) return catena::concat("; pass a number, as by item<", *p.type, ">()");
  return a.form() == ArgumentForm::number ? catena::concat("; convert it to ", *p.type, " first") : std::string();
}

bool accepts(const RawParameter& p, const KernelArgument& a) {
  if (p.pointer) {
    if (a.form() == ArgumentForm::array || a.form() == ArgumentForm::pointer)
      return !p.type || !a.dtype() || fits(*a.dtype(), *p.type);
    return a.bytes().size() == sizeof(void*) && (a.form() == ArgumentForm::object || a.dtype() == Dtype::uint64);
  }
  if (!p.type) return true;
  if (a.form() == ArgumentForm::number) return fits(*a.dtype(), *p.type);
  return a.form() == ArgumentForm::object && a.bytes().size() == itemsize(*p.type);
}

}  // namespace

std::optional<RawParameters> find_signature(std::string_view code, std::string_view name) {
  const NameExpression wanted = parse_expression(name);
  std::optional<RawParameters> found;
  std::string_view first, of_template;
  bool any = false;
  for (TextScanner scan(code); !scan.done(); scan.next()) {
    const std::string_view token = scan.token();
    if (token == "template") of_template = template_parameters(scan);
    if (token == ";" || token == "{" || token == "}") of_template = {};
    if (token != "__global__") continue;
    const KernelHead head = scan_kernel(scan);
    if (head.name == wanted.name && !head.name.empty()) {
      if (any && head.parameters != first) return {};
      any = true;
      first = head.parameters;
      found = parse_signature(head.parameters, substitutions(of_template, wanted.arguments));
    }
    of_template = {};
  }
  return found;
}

void check_arguments(std::string_view op, const RawParameters& signature, std::initializer_list<KernelArgument> args) {
  if (args.size() != signature.size())
    fail<TypeError>(op, "takes ", signature.size(), " arguments, ", args.size(), " were given");
  for (std::size_t k = 0; k < args.size(); ++k) {
    const KernelArgument& a = args.begin()[k];
    const RawParameter& p = signature[k];
    if (!accepts(p, a))
      fail<TypeError>(op, "argument ", k, " is ", given_text(a), ", its parameter is \"", p.text, "\"",
                      p.type ? cure(a, p) : std::string());
  }
}

std::vector<std::array<std::byte, 8>> widened(std::initializer_list<KernelArgument> args) {
  std::vector<std::array<std::byte, 8>> wide(args.size());
  for (std::size_t k = 0; k < args.size(); ++k) {
    const KernelArgument& a = args.begin()[k];
    if (a.form() != ArgumentForm::number) continue;
    visit_dtype(*a.dtype(), [&](auto tag) {
      using E = typename decltype(tag)::type;
      E value;
      std::memcpy(&value, a.bytes().data(), sizeof value);
      if constexpr (std::is_integral_v<E>) {
        const auto whole = static_cast<std::int64_t>(value);  // for an unsigned value: the same 64 bits
        std::memcpy(wide[k].data(), &whole, sizeof whole);
      } else if constexpr (!catena::is_complex<E>) {
        const auto number = static_cast<double>(value);
        std::memcpy(wide[k].data(), &number, sizeof number);
      }
    });
  }
  return wide;
}

}  // namespace nd::internal
