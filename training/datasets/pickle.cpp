#include <catena/training/datasets/pickle.h>

#include <algorithm>
#include <array>
#include <utility>

#include <catena/kernels/base/shape.h>

namespace training::datasets::internal {

namespace {

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

Pickle::Pickle(std::string context, std::string_view bytes)
    : PickleReader(std::move(context), bytes, "which no data set needs") {
  run();
}

bool Pickle::can_call(std::string_view global) const {
  return std::find(kGlobals.begin(), kGlobals.end(), global) != kGlobals.end();
}

PickleNode& Pickle::call(const PickleNode& function, const std::vector<PickleNode*>& given) {
  if (is_reconstruct(function.text)) return make(Kind::array);  // set_state() sets its contents
  if (function.text == "numpy dtype" && !given.empty() && given[0]->kind == Kind::text) {
    const std::string_view name = given[0]->text;
    if (!is_bytes(name)) refuse("the pickle has an array of ", name.substr(0, 20), "; u1 is needed");
    return make(Kind::object);
  }
  if (function.text == "_codecs encode" && given.size() == 2 && given[1]->text == "latin1") {
    std::string bytes;
    count_copy(given[0]->text.size());
    if (!latin1_of(given[0]->text, bytes)) refuse("the pickle has bytes that are no Latin 1");
    PickleNode& text = make(Kind::text);
    text.text = std::move(bytes);
    return text;
  }
  if (function.text == "__builtin__ bytes" && given.empty()) return make(Kind::text);
  refuse("the pickle calls ", function.text, " with unexpected arguments");
}

void Pickle::set_state(PickleNode& object, const PickleNode& state) {
  if (state.kind != Kind::tuple) refuse("the pickle gives a state to nothing");
  if (object.kind == Kind::array) build_array(object, state);
  else if (object.kind != Kind::object) PickleReader::set_state(object, state);
}

// The state of numpy.ndarray: (version, shape, dtype, Fortran order, bytes).
void Pickle::build_array(PickleNode& array, const PickleNode& state) {
  const std::vector<PickleNode*>& s = state.items;
  if (s.size() != 5 || s[1]->kind != Kind::tuple || s[2]->kind != Kind::object || s[4]->kind != Kind::text)
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
