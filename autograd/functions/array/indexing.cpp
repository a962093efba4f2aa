#include <algorithm>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/indexed_access.h>
#include <catena/autograd/operators.h>
#include <catena/autograd/variable_node.h>
#include <catena/autograd/view.h>
#include <catena/kernels/registry/index_plan.h>

namespace autograd {

using catena::check;
using catena::IndexError;
using catena::Key;

IndexItem::IndexItem(const char* dots) : key_(ellipsis) {
  check<catena::ValueError>(std::string_view(dots) == "...", "index", "a text among the keys is \"", dots,
                            "\"; it must be \"...\"");
}
IndexItem::IndexItem(const std::vector<std::int64_t>& integers)
    : key_(0), array_(autograd::array(integers, {std::int64_t(integers.size())})) {}

namespace {

int axes_of(const IndexItem& i) {
  return i.is_array() || i.key().kind() == Key::Kind::integer || i.key().kind() == Key::Kind::slice ? 1 : 0;
}

// An index without masks, planned for an array: a view, then a gather along axes of the view.
struct Selection {
  Selection(const Array& x, const std::vector<IndexItem>& items) {
    if (std::none_of(items.begin(), items.end(), [](const IndexItem& i) { return i.is_array(); })) {
      catena::SmallVector<Key, 4> keys;
      for (const IndexItem& i : items) keys.push_back(i.key());
      view = internal::view_as(x, catena::basic_index("get_item", x.shape(), x.strides(), keys));
      return;
    }
    catena::SmallVector<Array, 2> arrays;
    catena::SmallVector<catena::IndexPart, 4> parts;
    int axis = 0, consumed = 0;
    for (const IndexItem& i : items) consumed += axes_of(i);
    for (const IndexItem& i : items) {
      if (i.is_array()) arrays.push_back(to_device(i.array(), x.device()));
      parts.push_back({i.is_array() ? arrays.back().get() : nullptr, i.key(), axis});
      axis += !i.is_array() && i.key().kind() == Key::Kind::ellipsis ? x.ndim() - consumed : axes_of(i);
    }
    const catena::IndexPlan plan = catena::plan_index("get_item", x.shape(), x.strides(), parts, false);
    view = internal::view_as(x, plan.view);
    loop = plan.shape;
    base_axis = plan.axes;
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      indices.push_back(internal::view_as(arrays[k], {loop, plan.arrays[k].strides, 0}));
      axes.push_back(plan.arrays[k].view_axis);
      given.push_back(plan.arrays[k].axis);
    }
  }
  // `wraps`: the indices have been checked.
  internal::IndexedAccess access(bool wraps) const {
    return {view, indices, axes, loop, base_axis, "get_item", &given, wraps};
  }

  Array view;
  std::vector<Array> indices;  // of the shape `loop`
  Dims axes;                   // axes of the view that the arrays index
  Dims given;                  // the same axes, numbered as in the indexed array
  Shape loop;                  // shape of the result
  Dims base_axis;              // axis of the view for each loop axis; -1: an axis of the index arrays
};

class GetItem final : public FunctionNode, public internal::HasOptions {
 public:
  explicit GetItem(const std::vector<IndexItem>& items) : items_(items) {
    for (const IndexItem& i : items_) versions_.push_back(i.is_array() ? internal::version_of(i.array()) : 0);
  }
  std::string label() const override { return "GetItem"; }
  void options(internal::FunctionOptions& o) const override { o.items("items", items_); }
  void check_type_forward(const type_check::TypeInfoTuple& in_types) const override {
    using namespace type_check;
    expect(in_types.size() == 1);
    int consumed = 0;
    for (const IndexItem& i : items_) consumed += axes_of(i);
    expect(in_types[0].ndim >= variable(consumed, "number of indices"));
  }
  Arrays forward(const Arrays& x) override {
    const Selection p(x[0], items_);
    if (p.indices.empty()) return {p.view};
    const Array y = x[0].backend().empty(p.loop, x[0].dtype(), x[0].device());
    internal::gather(p.access(false), y);
    return {y};
  }
  Variables backward(const Targets&, const Variables& gy) override;

 private:
  std::vector<IndexItem> items_;
  std::vector<std::uint32_t> versions_;  // of the arrays in the index
};

// Scatters gy into zeros of the shape of x: the backward rule of get_item.
class GetItemGrad final : public FunctionNode, public internal::HasOptions {
 public:
  GetItemGrad(const std::vector<IndexItem>& items, const Shape& shape) : items_(items), shape_(shape) {}
  std::string label() const override { return "GetItemGrad"; }
  void options(internal::FunctionOptions& o) const override { o.items("items", items_); }
  Arrays forward(const Arrays& gy) override {
    const Array gx = gy[0].backend().empty(shape_, gy[0].dtype(), gy[0].device());
    fill(gx, 0);
    const Selection p(gx, items_);
    if (p.indices.empty()) assign(p.view, gy[0]);
    else internal::scatter_sums(p.access(true), gy[0]);  // get_item has checked the indices
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
  catena::check_mask("get_item", given.shape(), x.shape(), axis);
  const Array mask = contiguous(to_device(given, x.device()));
  Backend& backend = mask.backend();
  const Array counts = backend.empty({catena::size_of_counts(mask.size())}, Dtype::int64, mask.device());
  backend.execute(catena::call::CountPieces{mask.get(), counts.get()});
  const std::int64_t count = item(backend.view(counts, Shape(), Strides(), 0)).to<std::int64_t>();
  const Array positions = backend.empty({rank, count}, Dtype::int64, mask.device());
  backend.execute(catena::call::Nonzero{mask.get(), counts.get(), positions.get()});
  for (int k = 0; k < rank; ++k) result.emplace_back(reshape(slice(positions, 0, k, k + 1), {count}));
}

bool is_mask(const IndexItem& i) { return i.is_array() && i.array().dtype() == Dtype::bool_; }

// Returns the same index without masks.
std::vector<IndexItem> without_masks(const Variable& x, const std::vector<IndexItem>& items) {
  const auto named_axes = [](const IndexItem& i) { return is_mask(i) ? i.array().ndim() : axes_of(i); };
  int named = 0;
  for (const IndexItem& i : items) named += named_axes(i);
  std::vector<IndexItem> result;
  int axis = 0;
  for (const IndexItem& i : items) {
    if (is_mask(i)) append_positions(x, i.array(), axis, result);
    else result.push_back(i);
    axis += !i.is_array() && i.key().kind() == Key::Kind::ellipsis ? x.ndim() - named : named_axes(i);
  }
  return result;
}

}  // namespace

Variable scatter_add(const Variable& x, const std::vector<IndexItem>& items, const Variable& b) {
  const std::vector<IndexItem> plain =
      std::any_of(items.begin(), items.end(), is_mask) ? without_masks(x, items) : items;
  // An index is checked by reading it.
  const Shape shape = get_item(internal::constant_variable(x.data()), plain).shape();
  return x + apply_node<GetItemGrad>({broadcast_to(b, shape)}, plain, x.shape())[0];
}

Variable Variable::item_at(const std::vector<IndexItem>& items) const { return get_item(*this, items); }
Variable get_item(const Variable& x, const std::vector<IndexItem>& items) {
  if (std::any_of(items.begin(), items.end(), is_mask)) return apply_node<GetItem>({x}, without_masks(x, items))[0];
  return apply_node<GetItem>({x}, items)[0];
}

}  // namespace autograd
