// The three passes of a convolution by primitives of oneDNN, and the arrays they read and write.
#include <catena/autograd/ndarray_backend/onednn/modules/onednn.h>

#include <memory>
#include <unordered_map>
#include <utility>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/backend.h>
#include <catena/autograd/backend/derived.h>
#include <catena/autograd/ndarray_backend/onednn/modules/plans.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/module.h>
#include <catena/kernels/base/parallel.h>

namespace autograd::internal::onednn {
namespace {

Array channels_last_view(const Array& packed) {  // an array (n, spatial..., c) as (n, c, spatial...)
  Dims axes{0, packed.ndim() - 1};
  for (int i = 1; i < packed.ndim() - 1; ++i) axes.push_back(i);
  return transpose(packed, axes);
}

Array empty_channels_last(const Array& near, const memory::dims& dims) {
  Shape shape{dims[0]};
  for (std::size_t i = 2; i < dims.size(); ++i) shape.push_back(dims[i]);
  shape.push_back(dims[1]);
  return channels_last_view(near.backend().empty(shape, Dtype::float32, near.device()));
}

bool is_channels_last(const Array& a) {
  Shape shape{a.shape(0)};
  Strides strides{a.strides()[0]};
  for (int i = 2; i < a.ndim(); ++i) {
    shape.push_back(a.shape(i));
    strides.push_back(a.strides()[i]);
  }
  shape.push_back(a.shape(1));
  strides.push_back(a.strides()[1]);
  return catena::is_c_contiguous(shape, strides, catena::itemsize(a.dtype()));
}

Array scratch(const Array& near, const memory::desc& desc) {
  return near.backend().empty({static_cast<std::int64_t>(desc.get_size())}, Dtype::uint8, near.device());
}

memory at(const memory::desc& desc, const Array& a) { return memory(desc, engine(), a->data); }

void reorder(memory from, memory to) {
  check_space();
  dnnl::reorder(from, to).execute(stream(), from, to);
  stream().wait();
}

// An operand in the layout of a primitive. Owns a reference to the memory.
class DnnlArray {
 public:
  DnnlArray(const Array& a, const memory::desc& given, const memory::desc& wanted, bool as_it_lies)
      : array_(as_it_lies ? a : scratch(a, wanted)), memory_(at(wanted, array_)) {
    if (!as_it_lies) reorder(at(given, a), memory_);
  }
  const memory& get() const { return memory_; }

 private:
  Array array_;
  memory memory_;
};

DnnlArray activations(const Array& a, const Activations& of, const memory::desc& wanted) {
  if (is_channels_last(a)) return {a, of.last, wanted, of.takes_last};
  return {contiguous(a), of.plain, wanted, of.takes_plain};
}

// The filter of a convolution in the layouts of its plans. Parts with the same layout and channels share one reordered
// filter; it is kept while the filter is not written.
class Filters {
 public:
  Filters(const Array& w, const Cut& c) : plain_(contiguous(w)) {
    const catena::SingleThreadedLibraries single;
    for (std::size_t k = 0; k < c.parts.size(); ++k) {
      const Part& part = c.parts[k];
      const Plan& plan = *find_plan(c.problems[k]);
      if (!find(plan.filter, part.output))
        layouts_.push_back({plan.filter, part.output, in_layout(plan, part, plain_.get() == w.get())});
    }
  }
  memory of(const Plan& plan, const Part& part) const { return at(plan.weights, *find(plan.filter, part.output)); }

 private:
  struct InLayout {
    const memory::desc* layout;
    std::int64_t output;
    Array array;
  };
  const Array* find(const memory::desc* layout, std::int64_t output) const {
    for (const InLayout& f : layouts_)
      if (f.layout == layout && f.output == output) return &f.array;
    return nullptr;
  }
  Array in_layout(const Plan& plan, const Part& part, bool may_keep) const {
    const Array filter =
        part.outputs == plain_.shape(0) ? plain_ : slice(plain_, 0, part.output, part.output + part.outputs);
    if (plan.plain_filter == plan.weights) return filter;
    const auto reordered = [&] {
      Array to = scratch(filter, plan.weights);
      reorder(at(plan.plain_filter, filter), at(plan.weights, to));
      return to;
    };
    return may_keep ? derived(filter, plan.filter, reordered) : reordered();
  }

  Array plain_;
  std::vector<InLayout> layouts_;
};

// The output of a primitive; finish() copies it to the array if the layouts differ.
class Result {
 public:
  Result(const Array& near, const Array& array, const memory::desc& plain, const memory::desc& written, bool same)
      : array_(array),
        plain_(plain),
        same_(same),
        written_(same_ ? array : scratch(near, written)),
        memory_(at(written, written_)) {}
  const memory& get() const { return memory_; }
  void finish() {
    if (!same_) reorder(memory_, at(plain_, array_));
  }

 private:
  Array array_;
  memory::desc plain_;
  bool same_;
  Array written_;
  memory memory_;
};

void execute(const Plan& plan, const Array& near, std::unordered_map<int, memory> arguments) {
  const Array pad = scratch(near, plan.scratchpad);
  if (plan.scratchpad.get_size() > 0) arguments.emplace(DNNL_ARG_SCRATCHPAD, at(plan.scratchpad, pad));
  check_space();
  plan.primitive.execute(stream(), arguments);
  stream().wait();
}

// In a catch block. Failures of oneDNN after planning are failures of resources.
[[noreturn]] void rethrow_failure(const char* op) {
  try {
    try {
      throw;
    } catch (const dnnl::error& e) {
      if (e.status == dnnl_out_of_memory) catena::fail<catena::OutOfMemoryError>(op, "oneDNN ran out of memory");
      catena::fail<catena::RuntimeError>(op, "oneDNN: ", e.what());
    }
  } catch (...) {
    catena::rethrow_standard(op);
  }
}

// ---- parts --------------------------------------------------------------------------------------
Array band_of(const Array& a, const Part& part, std::int64_t row, std::int64_t rows) {
  const Array images = part.images == a.shape(0) ? a : slice(a, 0, part.image, part.image + part.images);
  return rows == a.shape(2) ? images : slice(images, 2, row, row + rows);
}
// Returns the channels of a part.
Array outputs_of(const Array& a, int axis, const Part& part) {
  return part.outputs == a.shape(axis) ? a : slice(a, axis, part.output, part.output + part.outputs);
}
Array src_of(const Array& a, const Part& part) { return band_of(a, part, part.src_row, part.src_rows); }
Array dst_of(const Array& a, const Part& part) { return band_of(a, part, part.dst_row, part.dst_rows); }

// Runs f(part, problem, plan, index) for all parts in parallel.
template <class F> void run_parts(const char* op, const Cut& c, F&& f) {
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    const catena::SingleThreadedLibraries single;
    try {
      check_space();
      for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) {
        const Plan* const plan = find_plan(c.problems[k]);
        catena::check<catena::OutOfMemoryError>(plan != nullptr, op, "oneDNN cannot make for a second thread what it ",
                                                "has made for the first");
        f(c.parts[k], c.problems[k], *plan, k);
      }
    } catch (...) {
      rethrow_failure(op);
    }
  };
  const auto parts = static_cast<std::int64_t>(c.parts.size());
  if (parts > 1 && catena::internal::has_space_for_onednn(catena::available_threads()))
    catena::parallel_for(parts, 1, run);
  else run(0, parts);
}

// ---- passes -------------------------------------------------------------------------------------
Array forward(const char* op, const Convolution& c, const Cut& parts) {
  const Array y = empty_channels_last(c.x, memory::dims(c.y_shape.begin(), c.y_shape.end()));
  const Array bias = c.b ? contiguous(c.b) : c.b;
  const Filters filters(c.w, parts);
  run_parts(op, parts, [&](const Part& part, const Problem& p, const Plan& plan, std::size_t) {
    const DnnlArray src = activations(src_of(c.x, part), plan.src_arrays, plan.src);
    const Array place = outputs_of(dst_of(y, part), 1, part);
    const bool dense = part.outputs == y.shape(1);
    const Array to = dense ? place : empty_channels_last(c.x, p.dst);
    Result result(c.x, to, plan.dst_arrays.last, plan.dst, plan.dst_arrays.takes_last);
    std::unordered_map<int, memory> arguments{
        {DNNL_ARG_SRC, src.get()}, {DNNL_ARG_WEIGHTS, filters.of(plan, part)}, {DNNL_ARG_DST, result.get()}};
    const memory::desc of_bias({part.outputs}, memory::data_type::f32, memory::format_tag::x);
    if (bias) arguments.emplace(DNNL_ARG_BIAS, at(of_bias, outputs_of(bias, 0, part)));
    execute(plan, c.x, std::move(arguments));
    result.finish();
    if (!dense) assign(place, to);
  });
  return y;
}

Array backward_data(const char* op, const Convolution& c, const Cut& parts) {
  const Array gx = empty_channels_last(c.y, memory::dims(c.x_shape.begin(), c.x_shape.end()));
  const Filters filters(c.w, parts);
  run_parts(op, parts, [&](const Part& part, const Problem&, const Plan& plan, std::size_t) {
    const DnnlArray dst = activations(dst_of(c.y, part), plan.dst_arrays, plan.dst);
    Result result(c.y, src_of(gx, part), plan.src_arrays.last, plan.src, plan.src_arrays.takes_last);
    execute(plan, c.y,
            {{DNNL_ARG_DIFF_DST, dst.get()},
             {DNNL_ARG_WEIGHTS, filters.of(plan, part)},
             {DNNL_ARG_DIFF_SRC, result.get()}});
    result.finish();
  });
  return gx;
}

Array backward_filter(const char* op, const Convolution& c, const Cut& parts) {
  std::vector<Array> sums(parts.parts.size());
  run_parts(op, parts, [&](const Part& part, const Problem&, const Plan& plan, std::size_t k) {
    const DnnlArray src = activations(src_of(c.x, part), plan.src_arrays, plan.src);
    const DnnlArray dst = activations(dst_of(c.y, part), plan.dst_arrays, plan.dst);
    sums[k] = c.x.backend().empty(c.w_shape, Dtype::float32, c.x.device());
    Result result(c.x, sums[k], plan.plain_filter, plan.weights, plan.plain_filter == plan.weights);
    execute(plan, c.x,
            {{DNNL_ARG_SRC, src.get()}, {DNNL_ARG_DIFF_DST, dst.get()}, {DNNL_ARG_DIFF_WEIGHTS, result.get()}});
    result.finish();
  });
  for (std::size_t k = 1; k < sums.size(); ++k) sums[0] += sums[k];
  return sums[0];
}

struct OfPass {
  const char* op;
  Array (*compute)(const char* op, const Convolution& c, const Cut& parts);
};
constexpr OfPass kPasses[] = {{"convolution", forward},
                              {"convolution_backward_data", backward_data},
                              {"convolution_backward_filter", backward_filter}};  // in the order of Pass

}  // namespace

Array convolution(const Convolution& c) {
  const OfPass& of = kPasses[int(c.pass)];
  try {
    const Cut parts = cut(Problem(c, is_channels_last(c.images()) || (c.y && is_channels_last(c.y))));
    return parts.parts.empty() ? Array() : of.compute(of.op, c, parts);
  } catch (...) {
    rethrow_failure(of.op);
  }
}

}  // namespace autograd::internal::onednn

namespace autograd::internal {

const OnednnModule* catena_autograd_ndarray_onednn() {
  static constexpr OnednnModule module{onednn::convolution};
  return &module;
}

}  // namespace autograd::internal
