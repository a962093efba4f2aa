// Elements by position: reads and writes by arrays of positions, diagonals, strides, sequences.
#include <algorithm>
#include <cstdlib>

#include <catena/nn/onnx/operators.h>

namespace nn::onnx::internal {

using catena::Key;
using Integers = std::vector<std::int64_t>;

std::string stacked_positions(GraphBuilder& b, const std::vector<std::vector<Array>>& indices) {
  DimList common;
  for (const std::vector<Array>& index : indices) {
    const DimList dims = lengths_of(index);
    if (dims.size() > common.size())
      common.insert(common.begin(), dims.size() - common.size(), Dim{Integers(index.size(), 1)});
    for (std::size_t k = 0; k < dims.size(); ++k) {
      Dim& at = common[common.size() - dims.size() + k];
      if (at.is_constant() && at.given() == 1) at = dims[k];
    }
  }
  Names parts;
  for (const std::vector<Array>& index : indices) {
    std::string name = cast_to(b, b.constant(index), index[0].dtype(), Dtype::int64);
    if (lengths_of(index) != common) name = b.node("Expand", {name, b.lengths(common)});
    parts.push_back(b.node("Unsqueeze", {name, b.int64s({-1})}));
  }
  return parts.size() == 1 ? parts[0] : b.node("Concat", parts, {attribute("axis", -1)});
}

namespace {

std::string zeros(CallView& c) {
  return c.b.node("Expand", {c.b.scalar(0, c.output_dtype()), c.b.lengths(c.output_shape())});
}

// ---- writes -------------------------------------------------------------------------------------

void put_along_axis(CallView& c) {
  Attributes attributes = {attribute("axis", c.integer("axis"))};
  if (c.integer("distinct") == 0) attributes.push_back(attribute("reduction", "add"));
  c.set(c.b.node("ScatterElements", {zeros(c), positions(c.b, c.arrays("index")), c.input(0)}, attributes));
}

void scatter(CallView& c) {
  const std::string index = cast_to(c.b, c.input(1), c.input_dtype(1), Dtype::int64);
  c.set(c.b.node("ScatterElements", {c.input(0), index, c.input(2)}, {attribute("axis", c.integer("axis"))}));
}

// The arrays of an index and their axes; refused unless all other items are whole axes.
struct ArrayIndex {
  explicit ArrayIndex(CallView& c) {
    const auto lists = c.in_traces("items");
    const std::size_t rank = c.output_shape().size(), n = lists[0]->items.size();
    std::size_t axis = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const autograd::IndexItem& item = lists[0]->items[i];
      if (item.is_array()) {
        axes.push_back(std::int64_t(axis++));
        arrays.emplace_back();
        for (const auto* list : lists) arrays.back().push_back(list->items[i].array());
      } else if (item.key().kind() == Key::Kind::ellipsis) {
        axis += rank - (n - 1);
      } else {
        const bool whole = item.key().kind() == Key::Kind::slice && !item.key().slice().start &&
                           !item.key().slice().stop && item.key().slice().step.value_or(1) == 1;
        require(whole, "it has other items than arrays and whole axes as indices");
        ++axis;
      }
    }
    require(!arrays.empty(), "it has no array as an index");
  }
  bool at_front() const { return axes.back() == std::int64_t(axes.size()) - 1; }
  Integers axes;
  std::vector<std::vector<Array>> arrays;
};

// Adds values to zeros at the positions of an index.
void get_item_grad(CallView& c) {
  GraphBuilder& b = c.b;
  const ArrayIndex index(c);
  const Attribute add = attribute("reduction", "add");
  if (index.at_front())
    return c.set(b.node("ScatterND", {zeros(c), stacked_positions(b, index.arrays), c.input(0)}, {add}));
  require(index.arrays.size() == 1 && index.arrays[0][0].ndim() == 1,
          "it has several arrays, or one of several axes, as indices behind the first axis");
  const std::int64_t axis = index.axes[0];
  Integers others;
  for (std::int64_t a = 0; a < c.rank(); ++a)
    if (a != axis) others.push_back(a);
  const std::string along = b.node("Unsqueeze", {positions(b, index.arrays[0]), b.int64s(others)});
  const std::string everywhere = b.node("Expand", {along, b.lengths(c.input_shape(0))});
  c.set(b.node("ScatterElements", {zeros(c), everywhere, c.input(0)}, {attribute("axis", axis), add}));
}

void one_hot(CallView& c) {
  const std::vector<double> values = c.numbers("values");
  const Array pair = autograd::astype(autograd::array(values, {2}), Dtype::float32);
  const std::string y =
      c.b.node("OneHot", {cast_to(c.b, c.input(0), c.input_dtype(0), Dtype::int64),
                          c.b.scalar(double(c.integer("classes")), Dtype::int64), c.b.constant(pair)});
  c.set(cast_to(c.b, y, Dtype::float32, c.output_dtype()));
}

// ---- diagonals and strides ----------------------------------------------------------------------

// Elements of the last two axes, which become one, by their positions.
void diagonal(CallView& c) {
  GraphBuilder& b = c.b;
  const std::int64_t offset = c.integer("offset"), axis1 = c.integer("axis1"), axis2 = c.integer("axis2");
  const DimList shape = c.input_shape(0);
  const Dim rows = shape[std::size_t(axis1)], columns = shape[std::size_t(axis2)], length = c.output_shape().back();
  require(rows.is_constant() && columns.is_constant(), "the length of a diagonal depends on dynamic axes");
  Integers order;
  DimList moved;
  for (std::int64_t a = 0; a < c.rank(); ++a)
    if (a != axis1 && a != axis2) order.push_back(a), moved.push_back(shape[std::size_t(a)]);
  DimList flat = moved;
  order.insert(order.end(), {axis1, axis2});
  moved.insert(moved.end(), {rows, columns});
  flat.push_back(Dim{Integers(rows.values.size(), rows.given() * columns.given())});
  Integers at;
  for (std::int64_t k = 0; k < length.given(); ++k)
    at.push_back((k - std::min<std::int64_t>(offset, 0)) * columns.given() + k + std::max<std::int64_t>(offset, 0));
  const std::string matrices = b.node("Transpose", {c.input(0)}, {attribute("perm", order)});
  c.set(b.node("Gather", {b.reshape(matrices, moved, flat), b.int64s(at)}, {attribute("axis", c.rank() - 2)}));
}

// Rows, or columns, of the numbers where the diagonal is, zeros elsewhere.
void diagonal_of_zeros(CallView& c) {
  GraphBuilder& b = c.b;
  const std::int64_t offset = c.integer("offset"), last = c.rank(), n = std::abs(offset);
  const Dim length = c.output_shape().back();
  require(c.integer("axis1") == last - 1 && c.integer("axis2") == last && length.is_constant() &&
              c.output_shape()[std::size_t(last) - 1] == length,
          "the diagonal is not that of the last two axes, of one constant length");
  std::string x = c.input(0);
  if (n > 0) {
    Integers widths(std::size_t(2 * last), 0);
    widths.back() = n;
    x = b.node("Pad", {x, b.int64s(widths), b.scalar(0, c.input_dtype(0))});
  }
  x = b.node("Unsqueeze", {x, b.int64s({offset >= 0 ? last : last - 1})});
  const Array at = autograd::arrays::arange(length.given(), Dtype::int64);
  const Array mask = autograd::apply(catena::kernels::equal, {at, autograd::expand_dims(at, 1) + offset});
  c.set(b.node("Where", {b.constant(mask), x, b.scalar(0, c.input_dtype(0))}));
}

void as_strided(CallView& c) {
  const Integers shape = c.integers("shape"), strides = c.integers("strides");
  Integers at{c.integer("offset")};
  for (std::size_t a = 0; a < shape.size(); ++a) {
    Integers next;
    for (const std::int64_t p : at)
      for (std::int64_t i = 0; i < shape[a]; ++i) next.push_back(p + i * strides[a]);
    at = std::move(next);
  }
  Shape as;
  for (const std::int64_t n : shape) as.push_back(n);
  const std::string flat = c.b.node("Reshape", {c.input(0), c.b.int64s({-1})});
  c.set(c.b.node("Gather", {flat, c.b.constant(autograd::array(at, as))}));
}

// ---- sequences ----------------------------------------------------------------------------------

// Sequences, padded at their ends, one beside the other.
void pad_sequence(CallView& c) {
  GraphBuilder& b = c.b;
  const Dim length = c.output_shape()[1];
  Names rows;
  for (std::size_t i = 0; i < c.num_inputs(); ++i) {
    const Dim own = c.input_shape(i)[0];
    require(own.is_constant() && length.is_constant(), "the length of a sequence depends on dynamic axes");
    std::string row = c.input(i);
    if (own != length) {
      Integers widths(std::size_t(2 * c.rank(i)), 0);
      widths[std::size_t(c.rank(i))] = length.given() - own.given();
      row = b.node("Pad", {row, b.int64s(widths), b.scalar(c.number("padding"), c.input_dtype(i))});
    }
    rows.push_back(b.node("Unsqueeze", {row, b.int64s({0})}));
  }
  c.set(b.node("Concat", rows, {attribute("axis", 0)}));
}

constexpr Operators kIndicesTable[] = {
    {"AsStrided", "Gather, Reshape", as_strided},
    {"Diagonal", "Gather, Reshape, Transpose", diagonal},
    {"DiagonalGrad", "Pad, Unsqueeze, Where", diagonal_of_zeros},
    {"GetItemGrad", "Cast, Concat, Expand, ScatterElements, ScatterND, Unsqueeze", get_item_grad},
    {"OneHot", "Cast, OneHot", one_hot},
    {"PadSequence", "Concat, Pad, Unsqueeze", pad_sequence},
    {"PutAlongAxis", "Cast, Expand, ScatterElements", put_along_axis},
    {"Scatter", "Cast, ScatterElements", scatter},
};

}  // namespace

std::span<const Operators> index_operators() noexcept { return kIndicesTable; }

}  // namespace nn::onnx::internal
