// Calls on batched arrays.
#include <algorithm>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/batching/backend.h>
#include <catena/autograd/random_state.h>
#include <catena/kernels/registry/kernel.h>

namespace autograd::internal {

using catena::ArrayHeader;
using catena::check;
using catena::Input;
using catena::RuntimeError;

// The operands of one call as arrays of the inner backend: of one example, or of all examples with one more axis.
class BatchBackend::Views {
 public:
  Views(BatchBackend& backend, std::int64_t example) : backend_(backend), example_(example) {}
  static Views of_all(BatchBackend& backend) { return {backend, -1}; }
  bool are_all() const noexcept { return example_ < 0; }
  std::int64_t example() const noexcept { return example_; }

  // `rank`: the number of axes of an example in the call, to which the array broadcasts; -1: those that it has.
  const Array& keep(const ArrayHeader& a, int rank = -1, bool expanded = false) {
    kept_.push_back(example_ >= 0 ? backend_.one(a, example_)
                                  : backend_.all(a, std::max(rank, int(a.shape.size())), expanded));
    return kept_.back();
  }
  ArrayHeader* of(const ArrayHeader* a, int rank = -1, bool expanded = false) {
    return a == nullptr ? nullptr : keep(*a, rank, expanded).get();
  }
  catena::SmallVector<Input, 8> of(std::span<const Input> inputs, int rank = -1) {
    catena::SmallVector<Input, 8> list;
    for (const Input& in : inputs) list.push_back(in.is_array() ? Input(*of(&in.array(), rank)) : in);
    return list;
  }
  catena::SmallVector<ArrayHeader*, 8> of(std::span<ArrayHeader* const> outputs, int rank = -1) {
    catena::SmallVector<ArrayHeader*, 8> list;
    for (const ArrayHeader* out : outputs) list.push_back(of(out, rank));
    return list;
  }
  int axis(int of_example) const noexcept { return of_example + (are_all() ? 1 : 0); }
  Dims axes(const Dims& of_example) const {
    Dims result;
    for (const std::int64_t a : of_example) result.push_back(a + (are_all() ? 1 : 0));
    return result;
  }
  Shape shape(const Shape& of_example) const {
    Shape result;
    if (are_all()) result.push_back(backend_.examples());
    for (const std::int64_t n : of_example) result.push_back(n);
    return result;
  }

 private:
  BatchBackend& backend_;
  const std::int64_t example_;
  catena::SmallVector<Array, 8> kept_;
};

namespace {

int rank_of(std::span<const Input> inputs) {
  int rank = 0;
  for (const Input& in : inputs)
    if (in.is_array()) rank = std::max(rank, int(in.array().shape.size()));
  return rank;
}

// Returns the position of the seed; -1 for kernels that draw no random numbers. The seed and the offset (uint64) are
// operands next to each other.
int seed_operand(const catena::Program& p) {
  for (int k = 0; k + 1 < p.nin; ++k)
    if (p.slots[std::size_t(k)] == Dtype::uint64 && p.slots[std::size_t(k) + 1] == Dtype::uint64) return k;
  return -1;
}

}  // namespace

bool BatchBackend::any_batched(std::span<const Input> inputs) const {
  return std::any_of(inputs.begin(), inputs.end(),
                     [this](const Input& in) { return in.is_array() && is_batched(in.array()); });
}

template <class F> void BatchBackend::each(bool batched, F f) {
  for (std::int64_t i = 0; i < (batched ? examples_ : 1); ++i) {
    Views views(*this, i);
    f(views);
  }
}

template <class F> void BatchBackend::together_or_each(bool together, bool batched, F f) {
  if (!together) return each(batched, f);
  Views views = Views::of_all(*this);
  f(views);
}

void BatchBackend::execute(const catena::Call& call) {
  check_active();
  const ScopedBackend outside = leave();
  call.visit([this](const auto& one) { run(one); });
}

// ---- elementwise --------------------------------------------------------------------------------
void BatchBackend::run(const catena::call::Elementwise& call) {
  const bool indexed = call.program->steps[0].kernel->kind == catena::KernelKind::indexed;
  bool batched = any_batched(call.inputs);
  for (const ArrayHeader* out : call.outputs) batched = batched || is_batched(*out);
  if (indexed) return run_indexed(call, batched);
  for (ArrayHeader* out : call.outputs) prepare(out, batched);
  int rank = rank_of(call.inputs);
  for (const ArrayHeader* out : call.outputs) rank = std::max(rank, int(out->shape.size()));
  Views views = batched ? Views::of_all(*this) : Views(*this, 0);
  const auto inputs = views.of(call.inputs, rank);
  const auto outputs = views.of(call.outputs, rank);
  inner_->execute(catena::call::Elementwise{call.program, inputs, outputs, call.name});
}

// True for kernels that read and write, at each position along axis 0 of the loop, only the same position of their
// operands: the images of all examples are then the images of one call.
static bool is_by_image(const catena::KernelDef& kernel) {
  namespace k = catena::kernels;
  return kernel.id == k::cross_entropy.id || kernel.id == k::cross_entropy_scale.id ||
         kernel.id == k::cross_entropy_label_bwd.id || kernel.id == k::cross_entropy_pick.id ||
         kernel.id == k::one_hot.id;
}

// Returns false if the call must be made for each example.
bool BatchBackend::run_by_image(const catena::call::Elementwise& call) {
  const catena::KernelDef& kernel = *call.program->steps[0].kernel;
  const Shape& loop = call.outputs[0]->shape;
  if (!is_by_image(kernel) || loop.size() < 2) return false;
  Arrays kept;
  catena::SmallVector<Input, 8> inputs;
  for (std::size_t k = 0; k < call.inputs.size(); ++k) {
    inputs.push_back(call.inputs[k]);
    if (!call.inputs[k].is_array()) continue;
    const ArrayHeader& a = call.inputs[k].array();
    const bool raw = ((kernel.raw >> k) & 1) != 0;
    if (raw && a.shape.size() == 1) {  // class weights
      if (is_batched(a)) return false;
      kept.push_back(one(a, 0));
    } else {
      Array images = all(a, loop.size(), true);
      Shape shape = images.shape();
      shape[1] = loop[0];
      images = broadcast_to(images, shape);
      Shape joined{shape[0] * shape[1]};
      for (int axis = 2; axis < shape.size(); ++axis) joined.push_back(shape[axis]);
      kept.push_back(reshape(images, joined));
    }
    inputs.back() = Input(*kept.back().get());
  }
  catena::SmallVector<ArrayHeader*, 4> written;
  for (const ArrayHeader* output : call.outputs) {
    Shape joined = output->shape;
    joined[0] *= examples_;
    const Array out = all(*output, loop.size());
    if (!out.is_c_contiguous()) return false;
    kept.push_back(reshape(out, joined));
    written.push_back(kept.back().get());
  }
  inner_->execute(catena::call::Elementwise{call.program, inputs, written, call.name});
  return true;
}

// Each example draws random numbers of its own, with a seed that is derived from the seed of the call.
void BatchBackend::run_indexed(const catena::call::Elementwise& call, bool batched) {
  const int seed = seed_operand(*call.program);
  const bool draws = seed >= 0 && !same_random_;
  for (ArrayHeader* out : call.outputs) prepare(out, batched || draws);
  if (batched && run_by_image(call)) return;
  each(batched || draws, [&](Views& views) {
    auto inputs = views.of(call.inputs);
    if (draws) {
      Input& given = inputs[std::size_t(seed)];
      check<RuntimeError>(!given.is_array(), "vmap", "the seed of random numbers is an array");
      given = Input(catena::Scalar(derived_seed(given.scalar().to<std::uint64_t>(), std::uint64_t(views.example()))));
    }
    const auto outputs = views.of(call.outputs);
    inner_->execute(catena::call::Elementwise{call.program, inputs, outputs, call.name});
  });
}

void BatchBackend::run(const catena::call::Random& call) {
  const bool batched = !same_random_ || is_batched(*call.out);
  prepare(call.out, batched);
  each(batched, [&](Views& views) {
    catena::call::Random one = call;
    if (!same_random_) one.seed = derived_seed(call.seed, std::uint64_t(views.example()));
    one.out = views.of(call.out);
    inner_->execute(one);
  });
}

// A position is one elementwise call on all examples.
void BatchBackend::run(const catena::call::Recurrence& call) {
  const ScopedBackend here(this);
  execute_each_position(*this, call);
}

// ---- rows ---------------------------------------------------------------------------------------
void BatchBackend::run(const catena::call::Reduce& call) {
  const bool together = any_batched(call.inputs), batched = together || is_batched(*call.out);
  prepare(call.out, batched);
  const auto run_on = [&](Views& views) {
    catena::call::Reduce one = call;
    const auto inputs = views.of(call.inputs, rank_of(call.inputs));
    one.inputs = inputs;
    one.axes = views.axes(call.axes);
    one.out = views.of(call.out);
    inner_->execute(one);
  };
  together_or_each(together, batched, run_on);
}

void BatchBackend::run(const catena::call::RowWise& call) {
  const bool together = any_batched(call.inputs);
  bool batched = together;
  for (const ArrayHeader* out : call.outputs) batched = batched || is_batched(*out);
  for (ArrayHeader* out : call.outputs) prepare(out, batched);
  const auto run_on = [&](Views& views) {
    catena::call::RowWise one = call;
    const Shape shape = views.shape(*call.shape);
    const auto inputs = views.of(call.inputs, call.shape->size());
    const auto outputs = views.of(call.outputs, call.shape->size());
    one.shape = &shape;
    one.axes = views.axes(call.axes);
    one.inputs = inputs;
    one.outputs = outputs;
    inner_->execute(one);
  };
  together_or_each(together, batched, run_on);
}

void BatchBackend::run(const catena::call::RowWiseAndSums& call) {
  run(call.rows);
  for (const catena::call::Reduce& sum : call.sums) run(sum);
}

template <class C> void BatchBackend::run_along_axis(const C& call) {
  const bool together = is_batched(*call.in), batched = together || is_batched(*call.out);
  prepare(call.out, batched);
  const auto run_on = [&](Views& views) {
    C one = call;
    one.in = views.of(call.in);
    one.axis = views.axis(call.axis);
    one.out = views.of(call.out);
    inner_->execute(one);
  };
  together_or_each(together, batched, run_on);
}

void BatchBackend::run(const catena::call::Scan& call) { run_along_axis(call); }
void BatchBackend::run(const catena::call::Sort& call) { run_along_axis(call); }

// ---- structures ---------------------------------------------------------------------------------
void BatchBackend::run(const catena::call::Join& call) {
  bool together = false;
  for (const ArrayHeader* piece : call.pieces) together = together || is_batched(*piece);
  const bool batched = together || is_batched(*call.out);
  prepare(call.out, batched);
  const auto run_on = [&](Views& views) {
    catena::call::Join one = call;
    catena::SmallVector<const ArrayHeader*, 8> pieces;
    for (const ArrayHeader* piece : call.pieces) pieces.push_back(views.of(piece, -1, true));
    one.pieces = pieces;
    one.axis = views.axis(call.axis);
    one.out = views.of(call.out);
    inner_->execute(one);
  };
  Views views = Views::of_all(*this);
  // The result must be contiguous: it is not if it is a part of a larger array.
  if (!together || !all(*call.out, call.out->shape.size()).is_c_contiguous()) return each(batched, run_on);
  run_on(views);
}

namespace {

// The base of a gather or scatter: its strides along the axes of the loop, with the examples first.
Strides base_strides(const BatchBackend& backend, const ArrayHeader& base, const Strides& strides, bool all) {
  if (!all) return strides;
  Strides result{backend.is_batched(base) ? static_cast<const BatchStorage&>(*base.storage).stride() : 0};
  for (const std::int64_t s : strides) result.push_back(s);
  return result;
}

// The loop of a gather or scatter and the arrays of its positions, as views.
template <class Views> struct Positions {
  Shape loop;
  catena::SmallVector<catena::call::Index, 4> indices;
  template <class C> Positions(Views& views, const C& call) : loop(views.shape(*call.loop)) {
    for (const catena::call::Index& i : call.indices) {
      indices.push_back(i);
      indices.back().array = views.of(i.array, call.loop->size());
    }
  }
};

}  // namespace

void BatchBackend::run(const catena::call::Gather& call) {
  bool together = is_batched(*call.base);
  for (const catena::call::Index& i : call.indices) together = together || is_batched(*i.array);
  const bool batched = together || is_batched(*call.out);
  prepare(call.out, batched);
  const auto run_on = [&](Views& views) {
    catena::call::Gather one = call;
    const Positions positions(views, call);
    one.base = views.of(call.base);
    one.base_strides = base_strides(*this, *call.base, call.base_strides, views.are_all());
    one.indices = positions.indices;
    one.loop = &positions.loop;
    one.out = views.of(call.out);
    inner_->execute(one);
  };
  together_or_each(together, batched, run_on);
}

void BatchBackend::run(const catena::call::Scatter& call) {
  bool batched = is_batched(*call.base) || (call.values.is_array() && is_batched(call.values.array()));
  for (const catena::call::Index& i : call.indices) batched = batched || is_batched(*i.array);
  prepare(call.base, batched);
  Views views = batched ? Views::of_all(*this) : Views(*this, 0);
  catena::call::Scatter one = call;
  const Positions positions(views, call);
  one.base = views.of(call.base);
  one.base_strides = base_strides(*this, *call.base, call.base_strides, views.are_all());
  one.indices = positions.indices;
  one.loop = &positions.loop;
  if (call.values.is_array()) one.values = Input(*views.of(&call.values.array(), call.loop->size()));
  inner_->execute(one);
}

void BatchBackend::run(const catena::call::CheckIndices& call) {
  Views views = is_batched(*call.indices) ? Views::of_all(*this) : Views(*this, 0);
  catena::call::CheckIndices one = call;
  one.indices = views.of(call.indices);
  inner_->execute(one);
}

void BatchBackend::run(const catena::call::CountPieces& call) {
  const bool batched = is_batched(*call.in);
  prepare(call.counts, batched);
  each(batched, [&](Views& views) {
    inner_->execute(catena::call::CountPieces{views.of(call.in), views.of(call.counts)});
  });
}

void BatchBackend::run(const catena::call::Nonzero& call) {
  check<RuntimeError>(!is_batched(*call.in), "vmap", "the positions of non-zero elements differ between the examples");
  prepare(call.out, is_batched(*call.out));
  each(is_batched(*call.out), [&](Views& views) {
    inner_->execute(catena::call::Nonzero{views.of(call.in), views.of(call.counts), views.of(call.out)});
  });
}

void BatchBackend::run(const catena::call::MultiTensor& call) {
  bool batched = false;
  for (const ArrayHeader* a : call.operands) batched = batched || is_batched(*a);
  const std::size_t operands = std::size_t(call.kernel->num_operands());
  for (std::size_t k = 0; k < call.operands.size(); ++k)
    if (k % operands >= call.kernel->nin) prepare(call.operands[k], batched);
  each(batched, [&](Views& views) {
    catena::call::MultiTensor one = call;
    const auto list = views.of(call.operands);
    one.operands = list;
    one.table = nullptr;
    inner_->execute(one);
  });
}

// ---- products -----------------------------------------------------------------------------------
namespace {

// Returns a matrix of all rows of the stack of matrices, as a view; null if the strides allow no such view.
Array rows_of(Backend& backend, const Array& a) {
  const std::int64_t columns = a.shape(-1);
  const Shape matrix{columns == 0 ? 0 : a.size() / columns, columns};
  const auto strides = catena::reshape_strides(a.shape(), a.strides(), matrix, catena::itemsize(a.dtype()));
  return strides ? backend.view(a, matrix, *strides, 0) : Array();
}

}  // namespace

// If all examples have the same right matrix, the rows of all left matrices are one matrix.
void BatchBackend::run(const catena::call::Matmul& call) {
  const bool left = is_batched(*call.a), right = is_batched(*call.b);
  const bool batched = left || right || is_batched(*call.out);
  prepare(call.out, batched);
  if (!left && !right)
    return each(batched, [&](Views& views) {
      inner_->execute(catena::call::Matmul{views.of(call.a), views.of(call.b), views.of(call.out)});
    });
  Views views = Views::of_all(*this);
  const int rank = std::max(call.a->shape.size(), call.b->shape.size());
  const Array a = views.keep(*call.a, rank), out = views.keep(*call.out, rank);
  if (left && !right && call.b->shape.size() == 2 && out.size() > 0) {
    const Array rows = rows_of(*inner_, a), products = rows_of(*inner_, out);
    if (rows && products)
      return inner_->execute(catena::call::Matmul{rows.get(), one(*call.b, 0).get(), products.get()});
  }
  inner_->execute(catena::call::Matmul{a.get(), views.of(call.b, rank), out.get()});
}

}  // namespace autograd::internal
