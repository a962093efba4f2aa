#include <catena/kernels/formats/pickle.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace catena {

namespace {

// Limit, because a node is larger than the opcode that makes it. Files of CIFAR have some 20 000, and a state
// dictionary has about 20 for a tensor.
constexpr std::size_t kMostNodes = 1'000'000;
constexpr std::uint64_t kNewestProtocol = 4;

}  // namespace

PickleReader::PickleReader(std::string context, std::string_view bytes, std::string_view whose)
    : context_(std::move(context)), bytes_(bytes), whose_(whose) {}
PickleReader::~PickleReader() = default;

void PickleReader::set_state(PickleNode&, const PickleNode&) { refuse("the pickle gives a state to what has none"); }
PickleNode& PickleReader::persistent(const PickleNode&) {
  refuse("the pickle refers to a value outside of it, ", whose_);
}

const PickleNode& PickleReader::member(std::string_view key, Kind kind) const {
  if (root_->kind != Kind::dict) refuse("the pickle is no dict");
  for (std::size_t i = 0; i + 1 < root_->items.size(); i += 2) {
    const PickleNode &name = *root_->items[i], &value = *root_->items[i + 1];
    if (name.kind != Kind::text || name.text != key) continue;
    if (value.kind != kind) refuse("the value of \"", key, "\" is of another kind than expected");
    return value;
  }
  refuse("the pickle has no key \"", key, '"');
}

// ---- bytes ----
std::string_view PickleReader::take(std::uint64_t n) {
  if (n > bytes_.size() - at_) refuse("the pickle ends at byte ", bytes_.size(), ", within a value");
  const std::string_view part = bytes_.substr(at_, static_cast<std::size_t>(n));
  at_ += part.size();
  return part;
}

std::uint64_t PickleReader::take_number(int n_bytes) {
  std::uint64_t value = 0;
  const std::string_view part = take(static_cast<std::uint64_t>(n_bytes));
  for (int i = n_bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(part[static_cast<std::size_t>(i)]);
  return value;
}

// Limits copies: a pickle may refer to one text many times, but the total size of copies must not exceed its own size.
void PickleReader::count_copy(std::uint64_t n) {
  copied_ += n;
  if (copied_ > bytes_.size()) refuse("the pickle makes more bytes of its values than it has");
}

std::string_view PickleReader::take_line() {
  const std::size_t end = bytes_.find('\n', at_);
  if (end == bytes_.npos) refuse("the pickle ends within a line");
  const std::string_view line = take(end - at_);
  ++at_;
  return line;
}

// ---- the stack ----
PickleNode& PickleReader::make(Kind kind) {
  if (nodes_.size() >= kMostNodes) refuse("the pickle has more than ", kMostNodes, " values");
  PickleNode& node = nodes_.emplace_back();
  node.kind = kind;
  return node;
}

PickleNode& PickleReader::push(Kind kind) {
  PickleNode& node = make(kind);
  stack_.push_back(&node);
  return node;
}

void PickleReader::push_integer(Kind kind, std::int64_t value) { push(kind).integer = value; }

PickleNode& PickleReader::pop() {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) refuse("the pickle takes more values than it has given");
  PickleNode& node = *stack_.back();
  stack_.pop_back();
  return node;
}

PickleNode& PickleReader::top(Kind kind) {
  if (stack_.empty() || stack_.back()->kind != kind) refuse("the pickle fills a value of another kind");
  return *stack_.back();
}

std::vector<PickleNode*> PickleReader::pop_to_mark() {
  if (marks_.empty()) refuse("the pickle ends a list that it has not begun");
  const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<PickleNode*> items(first, stack_.end());
  stack_.erase(first, stack_.end());
  marks_.pop_back();
  return items;
}

std::vector<PickleNode*> PickleReader::pop_last(std::size_t n) {
  std::vector<PickleNode*> items;
  for (std::size_t i = 0; i < n; ++i) items.push_back(&pop());
  std::reverse(items.begin(), items.end());
  return items;
}

// ---- opcodes ----
void PickleReader::run() {
  while (root_ == nullptr) {
    const std::size_t start = at_;
    const auto opcode = static_cast<unsigned char>(take(1)[0]);
    if (!execute(opcode)) refuse("the pickle has the opcode ", int(opcode), " at byte ", start, ", ", whose_);
  }
  bytes_ = {};
}

bool PickleReader::execute(unsigned char opcode) {
  switch (opcode) {
    case 0x80: {  // PROTO
      const std::uint64_t protocol = take_number(1);
      if (protocol > kNewestProtocol)
        refuse("the pickle has the protocol ", protocol, "; 1 to ", kNewestProtocol, " are read");
      return true;
    }
    case 0x95: take_number(8); return true;  // FRAME: its length is not needed
    case '.':                                // STOP
      root_ = &pop();
      return true;
    case '(': marks_.push_back(stack_.size()); return true;
    case '0': pop(); return true;
    case 'c': {  // GLOBAL
      const std::string_view module = take_line(), name = take_line();
      push_global(module, name);
      return true;
    }
    case 0x93: {  // STACK_GLOBAL
      const PickleNode &name = pop(), &module = pop();
      if (name.kind != Kind::text || module.kind != Kind::text) refuse("the pickle names a class by what is no text");
      push_global(module.text, name.text);
      return true;
    }
    case 'Q': stack_.push_back(&persistent(pop())); return true;
    case 'R': reduce(); return true;
    case 'b': {
      const PickleNode& state = pop();
      if (stack_.empty()) refuse("the pickle gives a state to nothing");
      set_state(*stack_.back(), state);
      return true;
    }
    default: return push_constant(opcode) || push_text(opcode) || build_container(opcode) || use_memo(opcode);
  }
}

void PickleReader::push_global(std::string_view module, std::string_view name) {
  std::string full = std::string(module) + ' ' + std::string(name);
  if (!can_call(full)) refuse("the pickle refers to ", module, '.', name, ", ", whose_, "; it is not executed");
  push(Kind::global).text = std::move(full);
}

void PickleReader::reduce() {
  const PickleNode &arguments = pop(), &function = pop();
  if (function.kind != Kind::global || arguments.kind != Kind::tuple) refuse("the pickle calls what is no function");
  stack_.push_back(&call(function, arguments.items));
}

// Two's complement.
void PickleReader::push_long(int n) {
  if (n > 8) refuse("the pickle has an integer of ", n, " bytes");
  std::uint64_t value = take_number(n);
  if (n > 0 && n < 8 && (value >> (8 * n - 1) & 1) != 0) value |= ~std::uint64_t(0) << (8 * n);
  push_integer(Kind::integer, static_cast<std::int64_t>(value));
}

bool PickleReader::push_constant(unsigned char opcode) {
  switch (opcode) {
    case 'N': push(Kind::none); return true;
    case 0x88: push_integer(Kind::boolean, 1); return true;
    case 0x89: push_integer(Kind::boolean, 0); return true;
    case 'J': push_integer(Kind::integer, static_cast<std::int32_t>(take_number(4))); return true;
    case 'K': push_integer(Kind::integer, static_cast<std::int64_t>(take_number(1))); return true;
    case 'M': push_integer(Kind::integer, static_cast<std::int64_t>(take_number(2))); return true;
    case 'G': {  // big endian
      const std::uint64_t bits = take_number(8);
      push(Kind::number).number = std::bit_cast<double>(__builtin_bswap64(bits));
      return true;
    }
    case 0x8a: push_long(static_cast<int>(take_number(1))); return true;  // LONG1
    default: return false;
  }
}

bool PickleReader::push_text(unsigned char opcode) {
  int length_bytes = 0;
  switch (opcode) {
    case 'U':
    case 'C':
    case 0x8c: length_bytes = 1; break;
    case 'T':
    case 'B':
    case 'X': length_bytes = 4; break;
    case 0x8d:
    case 0x8e: length_bytes = 8; break;
    default: return false;
  }
  const std::string_view text = take(take_number(length_bytes));
  push(Kind::text).text = text;
  return true;
}

bool PickleReader::build_container(unsigned char opcode) {
  switch (opcode) {
    case '}': push(Kind::dict); return true;
    case ']': push(Kind::list); return true;
    case ')': push(Kind::tuple); return true;
    case 0x85:
    case 0x86:
    case 0x87: {
      std::vector<PickleNode*> items = pop_last(opcode - 0x84u);
      push(Kind::tuple).items = std::move(items);
      return true;
    }
    case 't':
    case 'l':
    case 'd': {
      std::vector<PickleNode*> items = pop_to_mark();
      push(opcode == 't' ? Kind::tuple : opcode == 'l' ? Kind::list : Kind::dict).items = std::move(items);
      return true;
    }
    case 'a':
    case 'e':
    case 's':
    case 'u': {  // append, appends, set item, set items
      const std::vector<PickleNode*> items = opcode == 'a' ? pop_last(1) : opcode == 's' ? pop_last(2) : pop_to_mark();
      const bool to_list = opcode == 'a' || opcode == 'e';
      if (!to_list && items.size() % 2 != 0) refuse("the pickle has a key without a value");
      std::vector<PickleNode*>& all = top(to_list ? Kind::list : Kind::dict).items;
      all.insert(all.end(), items.begin(), items.end());
      return true;
    }
    default: return false;
  }
}

void PickleReader::store(std::uint64_t key) {
  if (stack_.empty()) refuse("the pickle stores a value that it has not given");
  memo_[key] = stack_.back();
}

bool PickleReader::use_memo(unsigned char opcode) {
  switch (opcode) {
    case 'q': store(take_number(1)); return true;
    case 'r': store(take_number(4)); return true;
    case 0x94: store(memo_.size()); return true;  // MEMOIZE
    case 'h':
    case 'j': {
      const std::uint64_t key = take_number(opcode == 'h' ? 1 : 4);
      const auto found = memo_.find(key);
      if (found == memo_.end()) refuse("the pickle refers to its value ", key, ", which it has not stored");
      stack_.push_back(found->second);
      return true;
    }
    default: return false;
  }
}

}  // namespace catena
