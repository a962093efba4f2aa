#include <catena/tests/support/cuda_device/ptx/parser.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <string>
#include <utility>

namespace cuda_device::ptx {
namespace {

struct Token {
  std::string_view text;
  int line = 0;
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("_$%.", c) != nullptr; }

// Returns words (with dots and "::"), strings and single other characters, without comments.
std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  int line = 1;
  for (std::size_t k = 0; k < text.size() && text[k] != '\0';) {
    const char c = text[k];
    std::size_t end = k + 1;
    if (c == '\n') {
      ++line;
    } else if (text.substr(k, 2) == "//") {
      end = std::min(text.find('\n', k), text.size());
    } else if (text.substr(k, 2) == "/*") {
      end = std::min(text.find("*/", k + 2), text.size() - 2) + 2;
      line += static_cast<int>(std::count(text.begin() + std::ptrdiff_t(k), text.begin() + std::ptrdiff_t(end), '\n'));
    } else if (c == '"') {
      end = std::min(text.find('"', k + 1), text.size() - 1) + 1;
      tokens.push_back({text.substr(k, end - k), line});
    } else if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      if (is_word(c))
        while (end < text.size() && (is_word(text[end]) || text.substr(end, 2) == "::"))
          end += text[end] == ':' ? 2 : 1;
      tokens.push_back({text.substr(k, end - k), line});
    }
    k = end;
  }
  return tokens;
}

std::size_t bytes_of(std::string_view type) {
  if (type == "pred") return 1;
  if (type.ends_with("x2")) return 4;
  const std::size_t digits = type.find_first_of("0123456789");
  if (digits == type.npos) return 0;
  return static_cast<std::size_t>(std::atoi(std::string(type.substr(digits)).c_str())) / 8;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), tokens_(tokens_of(text)) { tokens_.push_back({"", 0}); }

  Source run() {
    while (!peek().empty()) module_item();
    return std::move(source_);
  }

 private:
  // ---- tokens -------------------------------------------------------------------------------------
  std::string_view peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)].text; }
  std::string_view take() {
    const std::string_view text = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return text;
  }
  bool accept(std::string_view text) {
    if (peek() != text) return false;
    take();
    return true;
  }
  void expect(std::string_view text) {
    if (!accept(text)) fail("expected '" + std::string(text) + "' before '" + std::string(peek()) + "'");
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Fault{"line " + std::to_string(tokens_[at_].line) + ": " + what};
  }
  void skip_line() {
    const int line = tokens_[at_].line;
    while (tokens_[at_].line == line) take();
  }

  std::int64_t integer() {
    const bool negative = accept("-");
    std::string_view digits = take();
    while (digits.ends_with('U')) digits.remove_suffix(1);
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X")) {
      base = 16;
      digits.remove_prefix(2);
    }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc() || end != digits.data() + digits.size()) fail("not a number: " + std::string(digits));
    return static_cast<std::int64_t>(negative ? 0 - value : value);
  }

  // ---- module -------------------------------------------------------------------------------------
  void module_item() {
    const std::string_view word = peek();
    if (word == ".version" || word == ".target" || word == ".address_size" || word == ".file" || word == ".loc") {
      skip_line();
    } else if (word == ".section") {
      while (take() != "{") {}
      for (int depth = 1; depth > 0;) {
        const std::string_view t = take();
        depth += t == "{" ? 1 : (t == "}" ? -1 : 0);
        if (t.empty()) fail("a section without an end");
      }
    } else if (word == ".extern" || word == ".visible" || word == ".weak" || word == ".common") {
      take();
    } else if (word == ".entry" || word == ".func") {
      function();
    } else if (word == ".pragma" || word == ".alias") {
      while (take() != ";") {}
    } else if (const Space space = space_of(word); space != Space::generic) {
      take();
      variables(space, source_.variables);
    } else {
      fail("unknown directive " + std::string(word));
    }
  }

  static Space space_of(std::string_view word) {
    if (word == ".global") return Space::global;
    if (word == ".const") return Space::constant;
    if (word == ".shared") return Space::shared;
    if (word == ".local") return Space::local;
    if (word == ".param") return Space::frame_param;
    return Space::generic;
  }

  // Parses the text after the space: one or more variables of one type.
  void variables(Space space, std::vector<Variable>& into) {
    std::size_t alignment = 0, bytes = 0;
    bool points = false;
    std::string_view type;
    for (;;) {
      const std::string_view word = peek();
      if (word == ".align") {
        take();
        const auto given = static_cast<std::size_t>(integer());
        if (!points) alignment = given;  // after .ptr, the alignment is that of the target
      } else if (word == ".attribute") {
        while (take() != ")") {}
      } else if (word == ".ptr") {
        points = true;
        take();
      } else if (word == ".global" || word == ".shared" || word == ".const" || word == ".local") {
        take();  // the target of a pointer parameter
      } else if (word.starts_with(".")) {
        type = take().substr(1);
        bytes = bytes_of(type);
        if (bytes == 0) fail("unknown type " + std::string(type));
      } else {
        break;
      }
    }
    do {
      Variable v;
      v.space = space;
      v.name = std::string(take());
      v.alignment = alignment != 0 ? alignment : bytes;
      v.bytes = bytes;
      while (accept("[")) {
        if (peek() == "]") v.dynamic = true;
        else v.bytes *= static_cast<std::size_t>(integer());
        expect("]");
      }
      if (v.dynamic) v.bytes = 0;
      if (accept("=")) initialise(v, type);
      add(std::move(v), into);
    } while (space != Space::frame_param && accept(","));
    if (peek() == ";") take();
  }

  // Each call has variables of its own for its operands, with the names of those of other calls of the function. They
  // share the memory of one variable.
  void add(Variable v, std::vector<Variable>& into) {
    if (v.space == Space::frame_param)
      for (Variable& same : into)
        if (same.name == v.name && same.space == v.space) {
          same.alignment = std::max(same.alignment, v.alignment);
          same.bytes = std::max(same.bytes, v.bytes);
          return;
        }
    into.push_back(std::move(v));
  }

  void initialise(Variable& v, std::string_view type) {
    if (accept("{")) {
      while (!accept("}")) {
        initialise(v, type);
        accept(",");
      }
      return;
    }
    const std::size_t bytes = bytes_of(type);
    std::uint64_t value = 0;
    const std::string_view word = peek();
    if (word.starts_with("0f") || word.starts_with("0d") || word.starts_with("0F") || word.starts_with("0D")) {
      value = std::strtoull(std::string(take().substr(2)).c_str(), nullptr, 16);
    } else if (word == "-" || std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
      value = static_cast<std::uint64_t>(integer());
    } else {
      std::string name(take());
      if (name == "generic") {
        expect("(");
        name = std::string(take());
        expect(")");
      }
      v.references.push_back({v.initial.size(), name, accept("+") ? integer() : 0});
    }
    for (std::size_t b = 0; b < bytes; ++b) v.initial.push_back(static_cast<std::byte>(value >> 8 * b));
  }

  // ---- functions ----------------------------------------------------------------------------------
  std::vector<Variable> parameters() {
    std::vector<Variable> all;
    expect("(");
    while (!accept(")")) {
      if (take() != ".param") fail("a parameter that is no .param");
      variables(Space::frame_param, all);
      accept(",");
    }
    return all;
  }

  void function() {
    Definition f;
    f.entry = take() == ".entry";
    if (!f.entry && peek() == "(") f.results = parameters();
    f.name = std::string(take());
    if (peek() == "(") f.parameters = parameters();
    if (f.entry)
      for (Variable& v : f.parameters) v.space = Space::entry_param;
    while (peek().starts_with(".")) {  // .maxntid 256, 1, 1  .noreturn
      take();
      while (peek() == "," || std::isdigit(static_cast<unsigned char>(peek()[0])) != 0) take();
    }
    if (!accept(";")) {
      f.defined = true;
      function_ = &f;
      scopes_.clear();
      body(-1);
    }
    source_.functions.push_back(std::move(f));
  }

  struct Register {
    bool predicate = false;
    int first = 0, count = 0;  // count 0: one register; else a family
  };

  // Parses from the opening to the closing brace.
  void body(int parent) {
    expect("{");
    const int scope = static_cast<int>(function_->parents.size());
    function_->parents.push_back(parent);
    scopes_.push_back({});
    while (!accept("}")) {
      const std::string_view word = peek();
      if (word.empty()) fail("a function without an end");
      if (word == "{") body(scope);
      else if (word == ".reg") declare_registers();
      else if (word == ".loc" || word == ".file") skip_line();
      else if (word == ".pragma") skip_statement();
      else if (const Space space = space_of(word); space != Space::generic) {
        take();
        variables(space, function_->variables);
      } else if (peek(1) == ":") {
        label(scope);
      } else {
        instruction(scope);
      }
    }
    scopes_.pop_back();
  }

  void skip_statement() {
    while (take() != ";") {}
  }

  void declare_registers() {
    take();
    const std::string_view type = take().substr(1);
    const bool predicate = type == "pred";
    do {
      const std::string_view name = take();
      Register r{predicate, predicate ? function_->predicates : function_->registers, 0};
      int count = 1;
      if (accept("<")) {
        count = r.count = static_cast<int>(integer());
        expect(">");
      }
      (predicate ? function_->predicates : function_->registers) += count;
      scopes_.back()[name] = r;
    } while (accept(","));
    expect(";");
  }

  void label(int scope) {
    const std::string name(take());
    take();
    if (peek() == ".branchtargets") {
      take();
      std::vector<std::string_view>& targets = function_->tables[name];
      do targets.push_back(take());
      while (accept(","));
      expect(";");
    } else if (peek() == ".callprototype" || peek() == ".calltargets") {
      skip_statement();
    } else {
      function_->labels[std::to_string(scope) + ":" + name] = static_cast<int>(function_->instructions.size());
    }
  }

  // ---- instructions -------------------------------------------------------------------------------
  void instruction(int scope) {
    Instruction i;
    i.line = tokens_[at_].line;
    i.scope = scope;
    const char* begin = peek().data();
    if (accept("@")) {
      i.guard_negated = accept("!");
      const Operand guard = simple_operand();
      if (guard.kind != Operand::Kind::predicate) fail("a guard that is no predicate");
      i.guard = guard.number;
    }
    i.opcode = take();
    while (peek() != ";") {
      i.operands.push_back(operand());
      if (!accept(",") && peek() != ";") fail("expected ',' before '" + std::string(peek()) + "'");
    }
    i.text = text_.substr(static_cast<std::size_t>(begin - text_.data()),
                          static_cast<std::size_t>(peek().data() - begin) + 1);
    expect(";");
    function_->instructions.push_back(std::move(i));
  }

  std::vector<Operand> operands_until(std::string_view end) {
    std::vector<Operand> all;
    while (!accept(end)) {
      all.push_back(operand());
      accept(",");
    }
    return all;
  }

  Operand operand() {
    Operand o;
    if (accept("{")) {
      o.kind = Operand::Kind::vector;
      o.elements = operands_until("}");
      return o;
    }
    if (accept("(")) {
      o.kind = Operand::Kind::list;
      o.elements = operands_until(")");
      return o;
    }
    if (accept("[")) {
      o.kind = Operand::Kind::address;
      o.elements.push_back(simple_operand());
      if (accept("+")) o.value = integer();
      else if (peek() == "-") o.value = integer();
      expect("]");
      return o;
    }
    o = simple_operand();
    if (accept("|")) o.other = simple_operand().number;
    if (o.kind == Operand::Kind::name && accept("+")) o.value = integer();
    return o;
  }

  Operand simple_operand() {
    Operand o;
    o.negated = accept("!");
    const std::string_view word = peek();
    if (word == "-" || std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
      const bool literal = word.size() > 2 && std::strchr("fFdD", word[1]) != nullptr && word[0] == '0';
      o.kind = literal ? Operand::Kind::bits : Operand::Kind::integer;
      if (literal)
        o.value = static_cast<std::int64_t>(std::strtoull(std::string(take().substr(2)).c_str(), nullptr, 16));
      else o.value = integer();
      return o;
    }
    take();
    o.name = word;
    if (word == "_") {
      o.kind = Operand::Kind::reg;
      o.discarded = true;
    } else if (word == "WARP_SZ") {
      o.kind = Operand::Kind::integer;
      o.value = kLanes;
    } else if (int number = 0; const Register* r = find_register(word, &number)) {
      o.kind = r->predicate ? Operand::Kind::predicate : Operand::Kind::reg;
      o.number = number;
    }
    return o;
  }

  const Register* find_register(std::string_view name, int* number) const {
    std::size_t digits = name.size();
    while (digits > 0 && std::isdigit(static_cast<unsigned char>(name[digits - 1])) != 0) --digits;
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto found = scope->find(name); found != scope->end() && found->second.count == 0) {
        *number = found->second.first;
        return &found->second;
      }
      if (digits == name.size()) continue;
      const auto family = scope->find(name.substr(0, digits));
      if (family == scope->end() || family->second.count == 0) continue;
      int index = 0;
      std::from_chars(name.data() + digits, name.data() + name.size(), index);
      if (index >= family->second.count) continue;
      *number = family->second.first + index;
      return &family->second;
    }
    return nullptr;
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  Source source_;
  Definition* function_ = nullptr;
  std::vector<std::unordered_map<std::string_view, Register>> scopes_;
};

}  // namespace

Source parse(std::string_view text) { return Parser(text).run(); }

}  // namespace cuda_device::ptx
