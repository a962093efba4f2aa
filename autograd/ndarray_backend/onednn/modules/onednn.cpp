#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <array>
#include <forward_list>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/derived.h>
#include <catena/autograd/ndarray_backend/onednn/modules/onednn.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/module.h>
#include <catena/kernels/base/parallel.h>

namespace autograd::internal {
namespace {

using dnnl::memory;

// ---- oneDNN 2 and 3 -----------------------------------------------------------------------------
// oneDNN 3 has no operation descriptors: their contents are arguments of the primitive descriptor.
struct Geometry {
  memory::dims stride, dilate, pad, pad_end;
};

dnnl::primitive_attr attributes() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(
      dnnl::scratchpad_mode::user);  // scratch memory is taken from the pool, not kept by primitives
  return attr;
}

using dnnl::algorithm;

#if DNNL_VERSION_MAJOR >= 3
dnnl::convolution_forward::primitive_desc describe_forward(const dnnl::engine& e, algorithm how,
                                                           const memory::desc& src, const memory::desc& w,
                                                           const memory::desc* b, const memory::desc& dst,
                                                           const Geometry& g) {
  constexpr auto kind = dnnl::prop_kind::forward_training;
  if (b) return {e, kind, how, src, w, *b, dst, g.stride, g.dilate, g.pad, g.pad_end, attributes()};
  return {e, kind, how, src, w, dst, g.stride, g.dilate, g.pad, g.pad_end, attributes()};
}
dnnl::convolution_backward_data::primitive_desc describe_data(const dnnl::engine& e, algorithm how,
                                                              const memory::desc& src, const memory::desc& w,
                                                              const memory::desc& dst, const Geometry& g,
                                                              const dnnl::convolution_forward::primitive_desc& hint) {
  return {e, how, src, w, dst, g.stride, g.dilate, g.pad, g.pad_end, hint, attributes()};
}
dnnl::convolution_backward_weights::primitive_desc describe_weights(
    const dnnl::engine& e, algorithm how, const memory::desc& src, const memory::desc& w, const memory::desc& dst,
    const Geometry& g, const dnnl::convolution_forward::primitive_desc& hint) {
  return {e, how, src, w, dst, g.stride, g.dilate, g.pad, g.pad_end, hint, attributes()};
}

// The layout of a blocked description.
struct Blocking {
  memory::dims dims, padded_dims, strides, inner_blocks, inner_axes;
  explicit Blocking(const memory::desc& d)
      : dims(d.get_dims()),
        padded_dims(d.get_padded_dims()),
        strides(d.get_strides()),
        inner_blocks(d.get_inner_blks()),
        inner_axes(d.get_inner_idxs()) {}
};
bool is_blocked(const memory::desc& d) { return d.get_format_kind() == memory::format_kind::blocked; }
#else
dnnl::convolution_forward::primitive_desc describe_forward(const dnnl::engine& e, algorithm how,
                                                           const memory::desc& src, const memory::desc& w,
                                                           const memory::desc* b, const memory::desc& dst,
                                                           const Geometry& g) {
  using Desc = dnnl::convolution_forward::desc;
  constexpr auto kind = dnnl::prop_kind::forward_training;
  const Desc desc = b ? Desc(kind, how, src, w, *b, dst, g.stride, g.dilate, g.pad, g.pad_end)
                      : Desc(kind, how, src, w, dst, g.stride, g.dilate, g.pad, g.pad_end);
  return {desc, attributes(), e};
}
dnnl::convolution_backward_data::primitive_desc describe_data(const dnnl::engine& e, algorithm how,
                                                              const memory::desc& src, const memory::desc& w,
                                                              const memory::desc& dst, const Geometry& g,
                                                              const dnnl::convolution_forward::primitive_desc& hint) {
  return {{how, src, w, dst, g.stride, g.dilate, g.pad, g.pad_end}, attributes(), e, hint};
}
dnnl::convolution_backward_weights::primitive_desc describe_weights(
    const dnnl::engine& e, algorithm how, const memory::desc& src, const memory::desc& w, const memory::desc& dst,
    const Geometry& g, const dnnl::convolution_forward::primitive_desc& hint) {
  return {{how, src, w, dst, g.stride, g.dilate, g.pad, g.pad_end}, attributes(), e, hint};
}

struct Blocking {
  memory::dims dims, padded_dims, strides, inner_blocks, inner_axes;
  explicit Blocking(const memory::desc& d) {
    const auto& b = d.data.format_desc.blocking;
    dims.assign(d.data.dims, d.data.dims + d.data.ndims);
    padded_dims.assign(d.data.padded_dims, d.data.padded_dims + d.data.ndims);
    strides.assign(b.strides, b.strides + d.data.ndims);
    inner_blocks.assign(b.inner_blks, b.inner_blks + b.inner_nblks);
    inner_axes.assign(b.inner_idxs, b.inner_idxs + b.inner_nblks);
  }
};
bool is_blocked(const memory::desc& d) { return d.data.format_kind == dnnl_blocked; }
#endif

// True if every element has the same position in two descriptions of float32 activations with the same lengths. The
// descriptions may differ for axes of length 1, and a block of all channels is channels-last memory.
bool same_places(const memory::desc& a, const memory::desc& b) {
  if (a == b) return true;
  if (!is_blocked(a) || !is_blocked(b)) return false;
  const auto step_of = [](const Blocking& d, std::size_t axis) {
    return !d.inner_axes.empty() && d.inner_axes[0] == std::int64_t(axis) ? 1 : d.strides[axis];
  };
  const auto is_whole = [](const Blocking& d) {
    return d.dims == d.padded_dims &&
           (d.inner_axes.empty() ||
            (d.inner_axes.size() == 1 && d.inner_blocks[0] == d.dims[std::size_t(d.inner_axes[0])]));
  };
  const Blocking p(a), q(b);
  if (!is_whole(p) || !is_whole(q)) return false;
  for (std::size_t axis = 0; axis < p.dims.size(); ++axis)
    if (p.dims[axis] > 1 && step_of(p, axis) != step_of(q, axis)) return false;
  return true;
}

// ---- state of a thread --------------------------------------------------------------------------
enum class Pass : std::int64_t { forward, forward_bias, data, filter };

// The cache key: all parameters on which a primitive depends.
struct Key {
  std::array<std::int64_t, 26> v{};
  friend bool operator==(const Key&, const Key&) = default;
};
struct KeyHash {
  std::size_t operator()(const Key& key) const noexcept {
    std::uint64_t h = 0xcbf29ce484222325u;
    for (std::int64_t n : key.v) h = (h ^ static_cast<std::uint64_t>(n)) * 0x100000001b3u;
    return static_cast<std::size_t>(h);
  }
};

// Layouts of activations in arrays, and whether a primitive accepts them without a reorder.
struct Activations {
  memory::desc plain, last;
  bool takes_plain = false, takes_last = false;
};
struct Plan {
  dnnl::primitive primitive;
  memory::desc src, weights, dst, scratchpad;
  Activations src_arrays, dst_arrays;
  const memory::desc* filter = nullptr;  // interned weights
};

// Returns the only object of the process that is equal to `desc`: layouts of filters are compared by their addresses.
// The backward pass has separate objects. A step of training uses a filter once in each pass, so no reordered filter is
// kept.
const memory::desc* interned(const memory::desc& desc, bool backward) {
  static std::mutex& mutex = *new std::mutex;
  static auto* const lists = new std::forward_list<memory::desc>[2];
  auto& all = lists[backward];
  const std::lock_guard lock(mutex);
  for (const memory::desc& d : all)
    if (d == desc) return &d;
  return &all.emplace_front(desc);
}

const dnnl::engine& engine() {
  static const dnnl::engine& e = *new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return e;
}

// To be called right before oneDNN is.
void check_space() {
  catena::check<catena::OutOfMemoryError>(
      catena::internal::has_space_for_onednn(), "convolution",
      "too few addresses are left to this process for a call of oneDNN (ulimit -v)");
}

// Every thread has its own plans, so that a lookup needs no lock. The plans refer to oneDNN's cache, which threads
// share.
struct ThreadState {
  static constexpr std::size_t kMaxPlans = 1024;
  std::unordered_map<Key, std::unique_ptr<const Plan>, KeyHash> plans;  // null: oneDNN has no implementation
  dnnl::stream stream{engine()};
};
ThreadState& thread_state() {
  static thread_local ThreadState state;
  return state;
}

// ---- a convolution as oneDNN describes it -------------------------------------------------------
memory::format_tag plain_tag(int rank) {
  return rank == 1 ? memory::format_tag::ncw : (rank == 2 ? memory::format_tag::nchw : memory::format_tag::ncdhw);
}
memory::format_tag channels_last_tag(int rank) {
  return rank == 1 ? memory::format_tag::nwc : (rank == 2 ? memory::format_tag::nhwc : memory::format_tag::ndhwc);
}
memory::format_tag filter_tag(int rank, bool grouped) {
  if (grouped)
    return rank == 1 ? memory::format_tag::goiw : (rank == 2 ? memory::format_tag::goihw : memory::format_tag::goidhw);
  return rank == 1 ? memory::format_tag::oiw : (rank == 2 ? memory::format_tag::oihw : memory::format_tag::oidhw);
}

memory::desc described(const memory::dims& dims, memory::format_tag tag) { return {dims, memory::data_type::f32, tag}; }

Activations activations_of(const memory::dims& dims, int rank, const memory::desc& wanted) {
  const memory::desc plain = described(dims, plain_tag(rank)), last = described(dims, channels_last_tag(rank));
  return {plain, last, same_places(plain, wanted), same_places(last, wanted)};
}

// A part of a convolution, computed as a convolution on one thread. A convolution is split over the batch and, if there
// are fewer images than threads, also into bands of rows (of the first spatial axis). If the filter is larger than the
// activations, it is split over the channels of the output instead, so that each thread reads its share of the filter.
struct Part {
  std::int64_t image, images;      // first image, number of images
  std::int64_t src_row, src_rows;  // rows of the input (or of its gradient) that the band uses
  std::int64_t dst_row, dst_rows;  // rows of the output
  std::int64_t output, outputs;    // channels of the output
};
enum class Split { outputs, rows, images };

class Problem {
 public:
  Problem(const Shape& x, const Shape& w, const Shape& y, const ConvolutionSpec& spec, bool last)
      : groups(spec.groups), lies_last(last && groups > 1), rank_(x.size() - 2), grouped_(groups > 1) {
    src.assign(x.begin(), x.end());
    dst.assign(y.begin(), y.end());
    if (grouped_) weights = {spec.groups, w[0] / spec.groups};
    else weights = {w[0]};
    weights.insert(weights.end(), w.begin() + 1, w.end());
    for (int i = 0; i < rank_; ++i) {
      g.stride.push_back(spec.stride[i]);
      g.dilate.push_back(spec.dilate[i] - 1);
      g.pad.push_back(spec.pad[i]);
      // With cover_all the last window may extend beyond the padding.
      const std::int64_t reach = (y[i + 2] - 1) * spec.stride[i] + (w[i + 2] - 1) * spec.dilate[i] + 1;
      g.pad_end.push_back(std::max(spec.pad[i], reach - x[i + 2] - spec.pad[i]));
    }
  }

  Key key(Pass pass) const {
    Key key;
    std::size_t n = 0;
    key.v[n++] = static_cast<std::int64_t>(pass);
    key.v[n++] = lies_last ? -rank_ : rank_;
    for (const memory::dims* d : {&src, &weights, &g.stride, &g.dilate, &g.pad, &g.pad_end})
      for (std::int64_t v : *d) key.v[n++] = v;  // at most 2 + 5 + 6 + 4 * 3 entries; they determine the output's shape
    return key;
  }
  // Three kinds of parts: whole images; a band of output rows with the input rows that its windows read; a band of
  // input rows with the output rows whose windows read it.
  void take_image(Part& part) const {
    part.src_row = part.dst_row = 0;
    part.src_rows = src[2];
    part.dst_rows = dst[2];
  }
  void take_all_outputs(Part& part) const {
    part.output = 0;
    part.outputs = dst[1];
  }
  void take_output_rows(Part& part, std::int64_t first, std::int64_t last) const {
    const std::int64_t low = first * g.stride[0] - g.pad[0], high = (last - 1) * g.stride[0] - g.pad[0] + reach();
    part.dst_row = first;
    part.dst_rows = last - first;
    part.src_row = std::clamp<std::int64_t>(low, 0, src[2]);
    part.src_rows = std::clamp<std::int64_t>(high, 0, src[2]) - part.src_row;
  }
  void take_input_rows(Part& part, std::int64_t first, std::int64_t last) const {
    const auto next_output = [&](std::int64_t row) {  // the first output row whose window begins at `row` or later
      const std::int64_t at = row + g.pad[0];
      return std::clamp<std::int64_t>(at <= 0 ? 0 : (at + g.stride[0] - 1) / g.stride[0], 0, dst[2]);
    };
    part.src_row = first;
    part.src_rows = last - first;
    part.dst_row = next_output(first - reach() + 1);
    part.dst_rows = next_output(last) - part.dst_row;
  }
  // Returns the convolution of one part.
  Problem part(const Part& part) const {
    Problem p = *this;
    p.src[0] = p.dst[0] = part.images;
    if (part.outputs < dst[1]) p.weights[0] = p.dst[1] = part.outputs;
    if (part.src_rows == src[2] && part.dst_rows == dst[2]) return p;
    p.src[2] = part.src_rows;
    p.dst[2] = part.dst_rows;
    p.g.pad[0] = part.src_row + g.pad[0] - part.dst_row * g.stride[0];
    const std::int64_t end = (part.dst_rows - 1) * g.stride[0] + reach() - p.g.pad[0] - part.src_rows;
    p.g.pad_end[0] = std::max<std::int64_t>(end, 0);
    return p;
  }
  // True if Winograd's minimal filtering F(4x4, 3x3) (Lavin & Gray 2016) is faster than a direct convolution. It needs
  // a quarter of the multiplications, but the transformation of the filter must be amortised over many positions. Its
  // rounding errors are about 1e-6 of the largest value instead of 3e-7.
  bool suits_winograd() const { return winograd_tiles() >= kWinogradTiles; }
  // Returns the output tiles per image; 0 if the algorithm does not apply or there are too few channels.
  std::int64_t winograd_tiles_of_image() const {
    constexpr std::int64_t kChannels = 64;
    const auto within = [](const memory::dims& d, std::int64_t least, std::int64_t most) {
      return std::all_of(d.begin(), d.end(), [=](std::int64_t v) { return least <= v && v <= most; });
    };
    const bool can = rank_ == 2 && groups == 1 && weights[2] == 3 && weights[3] == 3 && within(g.stride, 1, 1) &&
                     within(g.dilate, 0, 0) && within(g.pad, 0, 1) && within(g.pad_end, 0, 1);
    return can && std::min(src[1], dst[1]) >= kChannels ? (dst[2] + 3) / 4 * ((dst[3] + 3) / 4) : 0;
  }
  std::int64_t winograd_tiles() const { return dst[0] * winograd_tiles_of_image(); }
  static constexpr std::int64_t kWinogradTiles = 128;
  // True if the filter is larger than the activations.
  bool is_mostly_filter() const {
    const auto size = [](const memory::dims& d) {
      return std::accumulate(d.begin(), d.end(), std::int64_t(1), std::multiplies<>());
    };
    return size(weights) > size(src) + size(dst);
  }
  // Returns the number of elements of the filter per pair of channels.
  std::int64_t window() const {
    return std::accumulate(weights.end() - rank_, weights.end(), std::int64_t(1), std::multiplies<>());
  }
  memory::desc plain_filter() const { return described(weights, filter_tag(rank_, grouped_)); }
  int rank() const { return rank_; }

  memory::dims src, weights, dst;
  Geometry g;
  std::int64_t groups;
  bool lies_last;  // true if an operand is channels-last; set only where groups depend on it

 private:
  // Returns the number of rows of a window along the first spatial axis.
  std::int64_t reach() const { return (weights[weights.size() - std::size_t(rank_)] - 1) * (g.dilate[0] + 1) + 1; }

  int rank_;
  bool grouped_;
};

template <class Description> std::unique_ptr<Plan> plan_of(const Description& pd) {
  auto plan = std::make_unique<Plan>();
  if constexpr (std::is_same_v<Description, dnnl::convolution_backward_data::primitive_desc>) {
    plan->src = pd.diff_src_desc();
    plan->weights = pd.weights_desc();
    plan->dst = pd.diff_dst_desc();
    plan->primitive = dnnl::convolution_backward_data(pd);
  } else if constexpr (std::is_same_v<Description, dnnl::convolution_backward_weights::primitive_desc>) {
    plan->src = pd.src_desc();
    plan->weights = pd.diff_weights_desc();
    plan->dst = pd.diff_dst_desc();
    plan->primitive = dnnl::convolution_backward_weights(pd);
  } else {
    plan->src = pd.src_desc();
    plan->weights = pd.weights_desc();
    plan->dst = pd.dst_desc();
    plan->primitive = dnnl::convolution_forward(pd);
  }
  plan->scratchpad = pd.scratchpad_desc();
  plan->filter = interned(plan->weights, std::is_same_v<Description, dnnl::convolution_backward_data::primitive_desc>);
  return plan;
}

// Returns the layout of the activations. In general it is channels-last, so that the next convolution reads the result
// without a reorder. With few channels most lanes of a vector would be empty; other layouts are then faster despite the
// reorder:
//
//   gradient of the data, one filter element    as a matrix product of plain images
//   gradient of the data, many outputs          as a matrix product of plain images
//   forward, 1 or 2 channels                    oneDNN's own layout
//
// Depthwise convolutions of plain images also use oneDNN's own layouts; channels-last images keep their layout.
// Winograd's convolution uses oneDNN's own layouts too, and is faster despite the reorder.
memory::format_tag preferred_layout(const Problem& p, Pass pass, algorithm how) {
  constexpr auto any = memory::format_tag::any;
  constexpr std::int64_t kLanes = 16;
  const std::int64_t in = p.src[1] / p.groups, out = p.dst[1] / p.groups;
  if (how == algorithm::convolution_winograd) return any;
  const bool depthwise = in == 1 && out == 1;  // a channel per lane
  if (p.groups > 1) return (depthwise ? !p.lies_last : in < kLanes || out < kLanes) ? any : channels_last_tag(p.rank());
  if (pass == Pass::data && (p.window() == 1 ? in < kLanes : in <= 4 && out >= 8 * in)) return plain_tag(p.rank());
  const bool forward = pass == Pass::forward || pass == Pass::forward_bias;
  return forward && p.window() > 1 && in <= 2 && out <= 2 * kLanes ? any : channels_last_tag(p.rank());
}

// Returns null if oneDNN has only its reference implementation, which is much slower than a reorder.
template <class Description> std::unique_ptr<Plan> compiled_plan_of(const Description& pd) {
  return std::string_view(pd.impl_info_str()).find("ref") == std::string_view::npos ? plan_of(pd) : nullptr;
}

std::unique_ptr<Plan> make_plan(const Problem& p, Pass pass, algorithm how, memory::format_tag activations) {
  const memory::desc src = described(p.src, activations), w = described(p.weights, memory::format_tag::any),
                     dst = described(p.dst, activations), b({p.dst[1]}, memory::data_type::f32, memory::format_tag::x);
  const auto make = [&](const auto& pd) {
    return activations == memory::format_tag::any ? plan_of(pd) : compiled_plan_of(pd);
  };
  const auto forward = describe_forward(engine(), how, src, w, pass == Pass::forward_bias ? &b : nullptr, dst, p.g);
  if (pass == Pass::data) return make(describe_data(engine(), how, src, w, dst, p.g, forward));
  if (pass == Pass::filter) return make(describe_weights(engine(), how, src, w, dst, p.g, forward));
  return make(forward);
}

// Returns null if oneDNN has no implementation.
const Plan* find_plan(const Problem& p, Pass pass) {
  ThreadState& state = thread_state();
  const Key key = p.key(pass);
  if (const auto found = state.plans.find(key); found != state.plans.end()) return found->second.get();
  check_space();
  if (state.plans.size() >= ThreadState::kMaxPlans) state.plans.clear();
  std::unique_ptr<Plan> plan;
  for (const algorithm how : {algorithm::convolution_winograd, algorithm::convolution_direct}) {
    if (how == algorithm::convolution_winograd && !p.suits_winograd()) continue;
    for (const memory::format_tag layout : {preferred_layout(p, pass, how), memory::format_tag::any}) {
      if (plan) break;
      try {
        plan = make_plan(p, pass, how, layout);
      } catch (const dnnl::error& e) {
        if (e.status == dnnl_out_of_memory) throw catena::OutOfMemoryError("convolution: oneDNN ran out of memory");
      }
    }
  }
  if (plan) {
    plan->src_arrays = activations_of(p.src, p.rank(), plan->src);
    plan->dst_arrays = activations_of(p.dst, p.rank(), plan->dst);
  }
  return state.plans.emplace(key, std::move(plan)).first->second.get();
}

// ---- arrays -------------------------------------------------------------------------------------
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
  dnnl::reorder(from, to).execute(thread_state().stream, from, to);
  thread_state().stream.wait();
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

// The parts of a convolution with their problems; empty if oneDNN cannot compute all of them, or has not the space.
struct Cut {
  std::vector<Part> parts;
  std::vector<Problem> problems;
};

// The filter of a convolution in the layouts of its plans. Parts with the same layout and channels share one reordered
// filter; it is kept while the filter is not written.
class Filters {
 public:
  Filters(const Array& w, const Cut& c, Pass pass) : plain_(contiguous(w)) {
    const catena::SingleThreadedLibraries single;
    for (std::size_t k = 0; k < c.parts.size(); ++k) {
      const Part& part = c.parts[k];
      const memory::desc* layout = find_plan(c.problems[k], pass)->filter;
      if (!find(layout, part.output))
        layouts_.push_back({layout, part.output, in_layout(c, k, layout, plain_.get() == w.get())});
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
  Array in_layout(const Cut& c, std::size_t k, const memory::desc* layout, bool may_keep) const {
    const Part& part = c.parts[k];
    const bool whole = c.problems[k].groups > 1 || part.outputs == plain_.shape(0);
    const Array filter = whole ? plain_ : slice(plain_, 0, part.output, part.output + part.outputs);
    const memory::desc plain = c.problems[k].plain_filter();
    if (plain == *layout) return filter;
    const auto reordered = [&] {
      Array to = scratch(filter, *layout);
      reorder(at(plain, filter), at(*layout, to));
      return to;
    };
    return may_keep ? derived(filter, layout, reordered) : reordered();
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
  plan.primitive.execute(thread_state().stream, arguments);
  thread_state().stream.wait();
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
std::int64_t threads_for(const Problem& p) {
  constexpr double kLeast = 1e6;  // multiplications per thread
  double work = 1;
  for (std::size_t i = 0; i < p.dst.size(); ++i) work *= double(p.dst[i]);
  for (std::size_t i = p.weights.size() - std::size_t(p.rank()) - 1; i < p.weights.size(); ++i)
    work *= double(p.weights[i]);
  return static_cast<std::int64_t>(std::clamp(work / kLeast, 1.0, double(catena::max_threads())));
}

// True if each thread gets a share of the filter, because the filter is larger than the activations.
bool splits_outputs(const Problem& p, Pass pass) {
  constexpr std::int64_t kLeast = 32;  // minimal number of channels of a part
  const bool forward = pass == Pass::forward || pass == Pass::forward_bias;
  return forward && p.groups == 1 && p.is_mostly_filter() && !p.suits_winograd() && p.dst[1] >= kLeast * threads_for(p);
}
std::vector<Part> parts_by_outputs(const Problem& p) {
  constexpr std::int64_t kLanes = 16;  // the number of channels of a part is a multiple of this
  const std::int64_t outputs = p.dst[1], pieces = threads_for(p);
  std::vector<Part> parts;
  for (std::int64_t k = 0; k < pieces; ++k) {
    Part& part = parts.emplace_back();
    part.image = 0;
    part.images = p.dst[0];
    p.take_image(part);
    part.output = outputs * k / pieces / kLanes * kLanes;
    part.outputs = (k + 1 == pieces ? outputs : outputs * (k + 1) / pieces / kLanes * kLanes) - part.output;
  }
  return parts;
}

std::vector<Part> parts_of(const Problem& p, Pass pass, Split split) {
  constexpr std::int64_t kLeastRows = 4;
  if (split == Split::outputs) return parts_by_outputs(p);
  const std::int64_t threads = threads_for(p), n = p.dst[0], rows = pass == Pass::data ? p.src[2] : p.dst[2];
  std::int64_t groups = std::min(n, threads);  // parts of the batch
  if (p.suits_winograd()) {
    // Reordered data should still be in the cache when the convolution reads it.
    constexpr std::int64_t kCached = 1 << 20;  // elements
    const std::int64_t size = n * (p.src[1] * p.src[2] * p.src[3] + p.dst[1] * p.dst[2] * p.dst[3]);
    const std::int64_t most = std::min(n, p.winograd_tiles() / Problem::kWinogradTiles);
    groups = std::max(groups, std::min(most, size / kCached / threads * threads));
  }
  const std::int64_t bands =
      split == Split::rows && n < threads ? std::clamp<std::int64_t>(rows / kLeastRows, 1, (threads + n - 1) / n) : 1;
  std::vector<Part> parts;
  for (std::int64_t i = 0; i < groups; ++i)
    for (std::int64_t b = 0; b < bands; ++b) {
      Part& part = parts.emplace_back();
      part.image = n * i / groups;
      part.images = n * (i + 1) / groups - part.image;
      p.take_all_outputs(part);
      if (bands == 1) p.take_image(part);
      else if (pass == Pass::data) p.take_input_rows(part, rows * b / bands, rows * (b + 1) / bands);
      else p.take_output_rows(part, rows * b / bands, rows * (b + 1) / bands);
    }
  return parts;
}

// Makes all plans on the calling thread, so that it is known before the first part runs whether all parts have one.
Cut cut(const Problem& whole, Pass pass) {
  if (!catena::internal::has_space_for_onednn()) return {};
  const catena::SingleThreadedLibraries single;
  for (const Split split : {Split::outputs, Split::rows, Split::images}) {
    if (split == Split::outputs && !splits_outputs(whole, pass)) continue;
    Cut c{parts_of(whole, pass, split), {}};
    for (const Part& part : c.parts) c.problems.push_back(whole.part(part));
    // oneDNN has no primitive for rows whose windows contain only padding.
    const bool all = std::all_of(c.problems.begin(), c.problems.end(), [&](const Problem& p) {
      return p.src[2] > 0 && p.dst[2] > 0 && p.g.pad[0] >= 0 && find_plan(p, pass) != nullptr;
    });
    if (all) return c;
  }
  return {};
}

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
template <class F> void run_parts(const char* op, const Cut& c, Pass pass, F&& f) {
  catena::parallel_for(static_cast<std::int64_t>(c.parts.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    const catena::SingleThreadedLibraries single;
    try {
      check_space();
      for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) {
        const Plan* const plan = find_plan(c.problems[k], pass);
        catena::check<catena::OutOfMemoryError>(plan != nullptr, op, "oneDNN cannot make for a second thread what it ",
                                                "has made for the first");
        f(c.parts[k], c.problems[k], *plan, k);
      }
    } catch (...) {
      rethrow_failure(op);
    }
  });
  set_last_implementation("onednn");
}

Array convolution(const Array& x, const Array& w, const Array& b, const Shape& y_shape,
                  const ConvolutionSpec& spec) try {
  const Problem whole(x.shape(), w.shape(), y_shape, spec, is_channels_last(x));
  const Pass pass = b ? Pass::forward_bias : Pass::forward;
  const Cut c = cut(whole, pass);
  if (c.parts.empty()) return {};
  const Array y = empty_channels_last(x, whole.dst), bias = b ? contiguous(b) : b;
  const Filters filters(w, c, pass);
  run_parts("convolution", c, pass, [&](const Part& part, const Problem& p, const Plan& plan, std::size_t) {
    const DnnlArray src = activations(src_of(x, part), plan.src_arrays, plan.src);
    const Array place = outputs_of(dst_of(y, part), 1, part);
    const bool dense = part.outputs == y.shape(1);
    const Array to = dense ? place : empty_channels_last(x, p.dst);
    Result result(x, to, plan.dst_arrays.last, plan.dst, plan.dst_arrays.takes_last);
    std::unordered_map<int, memory> arguments{
        {DNNL_ARG_SRC, src.get()}, {DNNL_ARG_WEIGHTS, filters.of(plan, part)}, {DNNL_ARG_DST, result.get()}};
    const memory::desc of_bias({part.outputs}, memory::data_type::f32, memory::format_tag::x);
    if (b) arguments.emplace(DNNL_ARG_BIAS, at(of_bias, outputs_of(bias, 0, part)));
    execute(plan, x, std::move(arguments));
    result.finish();
    if (!dense) assign(place, to);
  });
  return y;
} catch (...) {
  rethrow_failure("convolution");
}

constexpr const char *kBackwardData = "convolution_backward_data", *kBackwardFilter = "convolution_backward_filter";

Array backward_data(const Array& w, const Array& gy, const Shape& x_shape, const ConvolutionSpec& spec) try {
  const Problem whole(x_shape, w.shape(), gy.shape(), spec, is_channels_last(gy));
  const Cut c = cut(whole, Pass::data);
  if (c.parts.empty()) return {};
  const Array gx = empty_channels_last(gy, whole.src);
  const Filters filters(w, c, Pass::data);
  run_parts(kBackwardData, c, Pass::data, [&](const Part& part, const Problem&, const Plan& plan, std::size_t) {
    const DnnlArray dst = activations(dst_of(gy, part), plan.dst_arrays, plan.dst);
    Result result(gy, src_of(gx, part), plan.src_arrays.last, plan.src, plan.src_arrays.takes_last);
    execute(plan, gy,
            {{DNNL_ARG_DIFF_DST, dst.get()},
             {DNNL_ARG_WEIGHTS, filters.of(plan, part)},
             {DNNL_ARG_DIFF_SRC, result.get()}});
    result.finish();
  });
  return gx;
} catch (...) {
  rethrow_failure(kBackwardData);
}

Array backward_filter(const Array& x, const Array& gy, const Shape& w_shape, const ConvolutionSpec& spec) try {
  const Problem whole(x.shape(), w_shape, gy.shape(), spec, is_channels_last(x) || is_channels_last(gy));
  const Cut c = cut(whole, Pass::filter);
  if (c.parts.empty()) return {};
  std::vector<Array> sums(c.parts.size());
  run_parts(kBackwardFilter, c, Pass::filter, [&](const Part& part, const Problem& p, const Plan& plan, std::size_t k) {
    const DnnlArray src = activations(src_of(x, part), plan.src_arrays, plan.src);
    const DnnlArray dst = activations(dst_of(gy, part), plan.dst_arrays, plan.dst);
    sums[k] = x.backend().empty(w_shape, Dtype::float32, x.device());
    const memory::desc plain = p.plain_filter();
    Result result(x, sums[k], plain, plan.weights, plain == plan.weights);
    execute(plan, x,
            {{DNNL_ARG_SRC, src.get()}, {DNNL_ARG_DIFF_DST, dst.get()}, {DNNL_ARG_DIFF_WEIGHTS, result.get()}});
    result.finish();
  });
  for (std::size_t k = 1; k < sums.size(); ++k) sums[0] += sums[k];
  return sums[0];
} catch (...) {
  rethrow_failure(kBackwardFilter);
}

}  // namespace

const OnednnModule* catena_autograd_ndarray_onednn() {
  static constexpr OnednnModule module{convolution, backward_data, backward_filter};
  return &module;
}

}  // namespace autograd::internal
