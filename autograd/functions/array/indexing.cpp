#include <algorithm>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/indexed_access.h>

namespace autograd {

using catena::check;
using catena::IndexError;
using catena::Key;
using catena::ViewSpec;

IndexItem::IndexItem(const std::vector<std::int64_t>& integers)
    : key_(0), array_(autograd::array(integers, {std::int64_t(integers.size())})) {}

namespace {

// An index in two parts: a basic index, with full slices instead of arrays, then a gather along `axes` of the resulting
// view.
struct Plan {
  ViewSpec view;
  std::vector<Array> indices;
  Dims axes;       // axes of the view that index arrays index
  Dims given;      // the same axes, numbered as in the indexed array
  Shape loop;      // shape of the result
  Dims base_axis;  // axis of the view for each loop axis; -1: an axis of the index arrays
};

// Next to index arrays, an integer counts as an index array (NumPy), so it influences the placement of their axes.
struct Resolved {
  std::vector<Key> keys;
  std::vector<Array> arrays;
  std::vector<int> array_axes;  // axes of the view for the arrays
  std::vector<int> given;       // the same axes, numbered as in x
  bool adjacent = true;
};

Resolved resolve(const Array& x, const std::vector<IndexItem>& items) {
  Resolved r;
  const bool advanced = std::any_of(items.begin(), items.end(), [](const IndexItem& i) { return i.is_array(); });
  int consumed = 0;
  for (const IndexItem& i : items)
    consumed += i.is_array() || i.key().kind() == Key::Kind::integer || i.key().kind() == Key::Kind::slice;
  int axis = 0, last_array = -2, position = 0, source = 0;
  for (const IndexItem& i : items) {
    const Key& k = i.key();
    if (i.is_array() || (advanced && k.kind() == Key::Kind::integer)) {
      Array a = i.array();
      if (!i.is_array()) {
        const std::int64_t n = source < x.ndim() ? x.shape(source) : 0, value = k.index();
        check<IndexError>(value >= -n && value < n, "get_item", "the index ", value, " is out of range for axis ",
                          source, " of length ", n);
        a = full({}, value, Dtype::int64, x.device());
      }
      check<IndexError>(catena::is_integer(a.dtype()), "get_item", "an index array has the dtype ", a.dtype(),
                        "; integers are needed");
      if (!r.arrays.empty() && last_array != position - 1) r.adjacent = false;
      r.arrays.push_back(to_device(a, x.device()));
      r.array_axes.push_back(axis++);
      r.given.push_back(source++);
      r.keys.push_back(Slice());
      last_array = position++;
      continue;
    }
    r.keys.push_back(k);
    ++position;
    switch (k.kind()) {
      case Key::Kind::integer: ++source; break;
      case Key::Kind::slice: ++axis, ++source; break;
      case Key::Kind::newaxis: ++axis; break;
      case Key::Kind::ellipsis: axis += x.ndim() - consumed, source += x.ndim() - consumed; break;
    }
  }
  return r;
}

Plan plan_of(const Array& x, const std::vector<IndexItem>& items) {
  Resolved r = resolve(x, items);
  Plan p;
  p.view = catena::basic_index("get_item", x.shape(), x.strides(), r.keys);
  if (r.arrays.empty()) return p;
  Shape common;
  try {
    for (const Array& a : r.arrays) common = catena::broadcast_shapes("get_item", common, a.shape());
  } catch (const catena::ValueError& e) {
    throw IndexError(e.what());
  }
  const int place = r.adjacent ? r.array_axes.front() : 0;
  const auto put_arrays = [&] {
    for (const std::int64_t n : common) {
      p.loop.push_back(n);
      p.base_axis.push_back(-1);
    }
  };
  for (int axis = 0; axis <= p.view.shape.size(); ++axis) {
    if (axis == place) put_arrays();
    if (axis == p.view.shape.size()) break;
    if (std::find(r.array_axes.begin(), r.array_axes.end(), axis) != r.array_axes.end()) continue;
    p.loop.push_back(p.view.shape[axis]);
    p.base_axis.push_back(axis);
  }
  // The axes of the index arrays are consecutive loop axes; trailing axes of length 1 align them with these.
  int after = 0;
  for (int k = p.base_axis.size() - 1; k >= 0 && p.base_axis[k] >= 0; --k) ++after;
  if (common.empty()) after = p.loop.size() - place;
  for (std::size_t k = 0; k < r.arrays.size(); ++k) {
    Shape shape = r.arrays[k].shape();
    for (int i = 0; i < after; ++i) shape.push_back(1);
    p.indices.push_back(reshape(r.arrays[k], shape));
    p.axes.push_back(r.array_axes[k]);
    p.given.push_back(r.given[k]);
  }
  return p;
}

Array view_of(const Array& a, const ViewSpec& v) { return a.backend().view(a, v.shape, v.strides, v.offset); }

class GetItem final : public FunctionNode {
 public:
  explicit GetItem(const std::vector<IndexItem>& items) : items_(items) {
    for (const IndexItem& i : items_) versions_.push_back(i.is_array() ? internal::version_of(i.array()) : 0);
  }
  std::string label() const override { return "GetItem"; }
  void check_type_forward(const type_check::TypeInfoTuple& in_types) const override {
    using namespace type_check;
    expect(in_types.size() == 1);
    int consumed = 0;
    for (const IndexItem& i : items_)
      consumed += i.is_array() || i.key().kind() == Key::Kind::integer || i.key().kind() == Key::Kind::slice;
    expect(in_types[0].ndim >= variable(consumed, "number of indices"));
  }
  Arrays forward(const Arrays& x) override {
    const Plan p = plan_of(x[0], items_);
    if (p.indices.empty()) return {view_of(x[0], p.view)};
    const Array y = x[0].backend().empty(p.loop, x[0].dtype(), x[0].device());
    internal::gather({view_of(x[0], p.view), p.indices, p.axes, p.loop, p.base_axis, "get_item", &p.given}, y);
    return {y};
  }
  Variables backward(const Targets&, const Variables& gy) override;

 private:
  std::vector<IndexItem> items_;
  std::vector<std::uint32_t> versions_;  // of the arrays in the index
};

// Scatters gy into zeros of the shape of x: the backward rule of get_item.
class GetItemGrad final : public FunctionNode {
 public:
  GetItemGrad(const std::vector<IndexItem>& items, const Shape& shape) : items_(items), shape_(shape) {}
  std::string label() const override { return "GetItemGrad"; }
  Arrays forward(const Arrays& gy) override {
    const Array gx = gy[0].backend().empty(shape_, gy[0].dtype(), gy[0].device());
    fill(gx, 0);
    const Plan p = plan_of(gx, items_);
    const Array target = view_of(gx, p.view);
    if (p.indices.empty()) assign(target, gy[0]);
    else
      // get_item has checked the indices.
      internal::scatter_sums({target, p.indices, p.axes, p.loop, p.base_axis, "get_item", &p.given, true}, gy[0]);
    return {gx};
  }
  Variables backward(const Targets&, const Variables& ggx) override { return {get_item(ggx[0], items_)}; }

 private:
  std::vector<IndexItem> items_;
  Shape shape_;
};

Variables GetItem::backward(const Targets&, const Variables& gy) {
  for (std::size_t k = 0; k < items_.size(); ++k)
    if (items_[k].is_array()) check_unchanged(items_[k].array(), versions_[k], "an index array");
  return apply_node<GetItemGrad>({gy[0]}, items_, input_shape(0));
}

// Appends the index arrays of the true elements of a mask. They index the axes `axis`, `axis` + 1... of x.
void append_positions(const Variable& x, const Array& given, int axis, std::vector<IndexItem>& result) {
  const int rank = given.ndim();
  check<IndexError>(rank > 0, "get_item", "a mask has no axes; newaxis inserts one");
  if (axis + rank > x.ndim()) {  // the type check counts the items and throws
    result.insert(result.end(), std::size_t(rank), IndexItem(Slice()));
    return;
  }
  Shape axes;
  bool fits = true;  // an axis of length 0 fits any length: the mask selects nothing
  for (int k = 0; k < rank; ++k) {
    axes.push_back(x.shape(axis + k));
    fits &= given.shape(k) == axes[k] || given.shape(k) == 0;
  }
  check<IndexError>(fits, "get_item", "a mask of shape ", given.shape(), " does not fit the axes of x from ", axis,
                    " on, which have the lengths ", axes);
  const Array mask = contiguous(to_device(given, x.device()));
  const std::int64_t count = item(reduce(catena::kernels::count_nonzero, mask)).to<std::int64_t>();
  const Array positions = mask.backend().empty({rank, count}, Dtype::int64, mask.device());
  mask.backend().execute(catena::call::Nonzero{mask.get(), positions.get()});
  for (int k = 0; k < rank; ++k) result.emplace_back(reshape(slice(positions, 0, k, k + 1), {count}));
}

bool is_mask(const IndexItem& i) { return i.is_array() && i.array().dtype() == Dtype::bool_; }

// Returns the same index without masks.
std::vector<IndexItem> without_masks(const Variable& x, const std::vector<IndexItem>& items) {
  const auto axes_of = [](const IndexItem& i) {
    if (is_mask(i)) return i.array().ndim();
    return int(i.is_array() || i.key().kind() == Key::Kind::integer || i.key().kind() == Key::Kind::slice);
  };
  int named = 0;
  for (const IndexItem& i : items) named += axes_of(i);
  std::vector<IndexItem> result;
  int axis = 0;
  for (const IndexItem& i : items) {
    if (is_mask(i)) append_positions(x, i.array(), axis, result);
    else result.push_back(i);
    axis += !i.is_array() && i.key().kind() == Key::Kind::ellipsis ? x.ndim() - named : axes_of(i);
  }
  return result;
}

}  // namespace

Variable Variable::item_at(const std::vector<IndexItem>& items) const { return get_item(*this, items); }
Variable get_item(const Variable& x, const std::vector<IndexItem>& items) {
  if (std::any_of(items.begin(), items.end(), is_mask)) return apply_node<GetItem>({x}, without_masks(x, items))[0];
  return apply_node<GetItem>({x}, items)[0];
}

}  // namespace autograd
