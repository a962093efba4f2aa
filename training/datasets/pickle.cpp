#include <catena/training/datasets/pickle.h>

#include <algorithm>
#include <array>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/shape.h>

namespace training::datasets::internal {

namespace {

// Limit, because a node is larger than the opcode that makes it. Files of CIFAR have some 20 000.
constexpr std::size_t kMostNodes = 1'000'000;

constexpr std::array<std::string_view, 6> kGlobals = {
    "numpy.core.multiarray _reconstruct", "numpy._core.multiarray _reconstruct", "numpy ndarray", "numpy dtype",
    // the form in which Python 3 writes bytes in protocol 2
    "_codecs encode", "__builtin__ bytes"};

bool is_bytes(std::string_view dtype) { return dtype == "u1" || dtype == "|u1"; }
bool is_reconstruct(std::string_view name) { return name == kGlobals[0] || name == kGlobals[1]; }

// Converts bytes written as text: the code points 0 to 255, in UTF-8. Returns false for other text.
bool latin1_of(std::string_view utf8, std::string& bytes) {
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto c = static_cast<unsigned char>(utf8[i]);
    if (c < 0x80) {
      bytes += static_cast<char>(c);
      continue;
    }
    if ((c != 0xC2 && c != 0xC3) || i + 1 == utf8.size()) return false;
    bytes += static_cast<char>((c & 3) << 6 | (static_cast<unsigned char>(utf8[++i]) & 0x3F));
  }
  return true;
}

// Returns the elements of a Fortran-ordered array of bytes in C order.
std::string in_c_order(const std::string& from, const std::vector<std::int64_t>& shape) {
  std::string to(from.size(), '\0');
  std::vector<std::int64_t> index(shape.size(), 0);
  for (char& c : to) {
    std::int64_t offset = 0, stride = 1;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      offset += index[axis] * stride;
      stride *= shape[axis];
    }
    c = from[static_cast<std::size_t>(offset)];
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
  return to;
}

}  // namespace

Pickle::Pickle(std::string context, std::string_view bytes) : context_(std::move(context)), bytes_(bytes) {
  run();
  bytes_ = {};
}

const PickleNode& Pickle::member(std::string_view key, Kind kind) const {
  if (root_->kind != Kind::dict) refuse("the pickle is no dict");
  for (std::size_t i = 0; i + 1 < root_->items.size(); i += 2) {
    const PickleNode &name = *root_->items[i], &value = *root_->items[i + 1];
    if (name.kind != Kind::text || name.text != key) continue;
    if (value.kind != kind) refuse("the value of \"", key, "\" is of another kind than expected");
    return value;
  }
  refuse("the pickle has no key \"", key, '"');
}

template <class... Parts> void Pickle::refuse(const Parts&... parts) const {
  catena::fail<catena::ValueError>(context_, parts...);
}

// ---- bytes ----
std::string_view Pickle::take(std::uint64_t n) {
  if (n > bytes_.size() - at_) refuse("the pickle ends at byte ", bytes_.size(), ", within a value");
  const std::string_view part = bytes_.substr(at_, static_cast<std::size_t>(n));
  at_ += part.size();
  return part;
}

std::uint64_t Pickle::take_number(int n_bytes) {
  std::uint64_t value = 0;
  const std::string_view part = take(static_cast<std::uint64_t>(n_bytes));
  for (int i = n_bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(part[static_cast<std::size_t>(i)]);
  return value;
}

// Limits copies: a pickle may refer to one text many times, but the total size of copies must not exceed its own size.
void Pickle::count_copy(std::uint64_t n) {
  copied_ += n;
  if (copied_ > bytes_.size()) refuse("the pickle makes more bytes of its values than it has");
}

std::string_view Pickle::take_line() {
  const std::size_t end = bytes_.find('\n', at_);
  if (end == bytes_.npos) refuse("the pickle ends within a line");
  const std::string_view line = take(end - at_);
  ++at_;
  return line;
}

// ---- the stack ----
PickleNode& Pickle::push(Kind kind) {
  if (nodes_.size() >= kMostNodes) refuse("the pickle has more than ", kMostNodes, " values");
  PickleNode& node = nodes_.emplace_back();
  node.kind = kind;
  stack_.push_back(&node);
  return node;
}

void Pickle::push_integer(Kind kind, std::int64_t value) { push(kind).integer = value; }
void Pickle::push_text(std::uint64_t length) {
  const std::string_view text = take(length);
  push(Kind::text).text = text;
}

PickleNode& Pickle::pop() {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) refuse("the pickle takes more values than it has given");
  PickleNode& node = *stack_.back();
  stack_.pop_back();
  return node;
}

PickleNode& Pickle::top(Kind kind) {
  if (stack_.empty() || stack_.back()->kind != kind) refuse("the pickle fills a value of another kind");
  return *stack_.back();
}

std::vector<PickleNode*> Pickle::pop_to_mark() {
  if (marks_.empty()) refuse("the pickle ends a list that it has not begun");
  const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<PickleNode*> items(first, stack_.end());
  stack_.erase(first, stack_.end());
  marks_.pop_back();
  return items;
}

std::vector<PickleNode*> Pickle::pop_last(std::size_t n) {
  std::vector<PickleNode*> items;
  for (std::size_t i = 0; i < n; ++i) items.push_back(&pop());
  std::reverse(items.begin(), items.end());
  return items;
}

// ---- opcodes ----
void Pickle::run() {
  while (root_ == nullptr) {
    const std::size_t start = at_;
    const auto opcode = static_cast<unsigned char>(take(1)[0]);
    if (!execute(opcode))
      refuse("the pickle has the opcode ", int(opcode), " at byte ", start, ", which no data set needs");
  }
}

bool Pickle::execute(unsigned char opcode) {
  switch (opcode) {
    case 0x80: {  // PROTO
      const std::uint64_t protocol = take_number(1);
      if (protocol > 3) refuse("the pickle has the protocol ", protocol, "; 1 to 3 are read");
      return true;
    }
    case '.':  // STOP
      root_ = &pop();
      return true;
    case '(': marks_.push_back(stack_.size()); return true;
    case '0': pop(); return true;
    case 'c': {  // GLOBAL
      const std::string_view module = take_line(), name = take_line();
      const std::string full = std::string(module) + ' ' + std::string(name);
      if (std::find(kGlobals.begin(), kGlobals.end(), full) == kGlobals.end())
        refuse("the pickle refers to ", module, '.', name, ", which no data set needs; it is not executed");
      push(Kind::global).text = full;
      return true;
    }
    case 'R': reduce(); return true;
    case 'b': build(); return true;
    default: return push_constant(opcode) || build_container(opcode) || use_memo(opcode);
  }
}

bool Pickle::push_constant(unsigned char opcode) {
  switch (opcode) {
    case 'N': push(Kind::none); return true;
    case 0x88: push_integer(Kind::boolean, 1); return true;
    case 0x89: push_integer(Kind::boolean, 0); return true;
    case 'J': push_integer(Kind::integer, static_cast<std::int32_t>(take_number(4))); return true;
    case 'K': push_integer(Kind::integer, static_cast<std::int64_t>(take_number(1))); return true;
    case 'M': push_integer(Kind::integer, static_cast<std::int64_t>(take_number(2))); return true;
    case 0x8a: {  // LONG1: two's complement
      const auto n = static_cast<int>(take_number(1));
      if (n > 8) refuse("the pickle has an integer of ", n, " bytes");
      std::uint64_t value = take_number(n);
      if (n > 0 && n < 8 && (value >> (8 * n - 1) & 1) != 0) value |= ~std::uint64_t(0) << (8 * n);
      push_integer(Kind::integer, static_cast<std::int64_t>(value));
      return true;
    }
    case 'U':
    case 'C': push_text(take_number(1)); return true;
    case 'T':
    case 'B':
    case 'X': push_text(take_number(4)); return true;
    default: return false;
  }
}

bool Pickle::build_container(unsigned char opcode) {
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

bool Pickle::use_memo(unsigned char opcode) {
  switch (opcode) {
    case 'q':
    case 'r':
      if (stack_.empty()) refuse("the pickle stores a value that it has not given");
      memo_[take_number(opcode == 'q' ? 1 : 4)] = stack_.back();
      return true;
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

// ---- calls, by name ----
void Pickle::reduce() {
  const PickleNode &arguments = pop(), &function = pop();
  if (function.kind != Kind::global || arguments.kind != Kind::tuple) refuse("the pickle calls what is no function");
  const std::vector<PickleNode*>& given = arguments.items;
  if (is_reconstruct(function.text)) {  // build() sets its contents
    push(Kind::array);
  } else if (function.text == "numpy dtype" && !given.empty() && given[0]->kind == Kind::text) {
    const std::string_view name = given[0]->text;
    if (!is_bytes(name)) refuse("the pickle has an array of ", name.substr(0, 20), "; u1 is needed");
    push(Kind::dtype);
  } else if (function.text == "_codecs encode" && given.size() == 2 && given[1]->text == "latin1") {
    std::string bytes;
    count_copy(given[0]->text.size());
    if (!latin1_of(given[0]->text, bytes)) refuse("the pickle has bytes that are no Latin 1");
    push(Kind::text).text = std::move(bytes);
  } else if (function.text == "__builtin__ bytes" && given.empty()) {
    push(Kind::text);
  } else {
    refuse("the pickle calls ", function.text, " with unexpected arguments");
  }
}

void Pickle::build() {
  const PickleNode& state = pop();
  if (stack_.empty() || state.kind != Kind::tuple) refuse("the pickle gives a state to nothing");
  PickleNode& object = *stack_.back();
  if (object.kind == Kind::array) build_array(object, state);
  else if (object.kind != Kind::dtype) refuse("the pickle gives a state to what has none");
}

// The state of numpy.ndarray: (version, shape, dtype, Fortran order, bytes).
void Pickle::build_array(PickleNode& array, const PickleNode& state) {
  const std::vector<PickleNode*>& s = state.items;
  if (s.size() != 5 || s[1]->kind != Kind::tuple || s[2]->kind != Kind::dtype || s[4]->kind != Kind::text)
    refuse("the pickle has an array of an unknown form");
  const std::string& bytes = s[4]->text;
  const std::size_t rank = s[1]->items.size();
  if (rank > std::size_t(catena::kMaxRank))
    refuse("the pickle has an array of ", rank, " axes, more than ", catena::kMaxRank);
  std::vector<std::int64_t> shape;
  std::uint64_t size = 1;
  for (const PickleNode* length : s[1]->items) {
    if (length->kind != Kind::integer || length->integer <= 0 ||
        static_cast<std::uint64_t>(length->integer) > bytes.size() / size)
      refuse("the pickle has an array whose shape does not fit its ", bytes.size(), " bytes");
    shape.push_back(length->integer);
    size *= static_cast<std::uint64_t>(length->integer);
  }
  if (size != bytes.size()) refuse("the pickle has an array whose shape does not fit its ", bytes.size(), " bytes");
  count_copy(size);
  array.text = s[3]->integer != 0 ? in_c_order(bytes, shape) : bytes;
  array.shape = std::move(shape);
}

}  // namespace training::datasets::internal
