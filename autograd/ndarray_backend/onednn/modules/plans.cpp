#include <catena/autograd/ndarray_backend/onednn/modules/plans.h>

#include <algorithm>
#include <forward_list>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/module.h>
#include <catena/kernels/base/parallel.h>

namespace autograd::internal::onednn {
namespace {

struct KeyHash {
  std::size_t operator()(const Key& key) const noexcept {
    std::uint64_t h = 0xcbf29ce484222325u;
    for (std::int64_t n : key.v) h = (h ^ static_cast<std::uint64_t>(n)) * 0x100000001b3u;
    return static_cast<std::size_t>(h);
  }
};

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

// ---- layouts ------------------------------------------------------------------------------------
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

memory::desc plain_filter(const Problem& p) { return described(p.weights, filter_tag(p.rank(), p.groups > 1)); }

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

Activations activations_of(const memory::dims& dims, int rank, const memory::desc& wanted) {
  const memory::desc plain = described(dims, plain_tag(rank)), last = described(dims, channels_last_tag(rank));
  return {plain, last, same_places(plain, wanted), same_places(last, wanted)};
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
memory::format_tag preferred_layout(const Problem& p, algorithm how) {
  constexpr auto any = memory::format_tag::any;
  constexpr std::int64_t kLanes = 16;
  const std::int64_t in = p.src[1] / p.groups, out = p.dst[1] / p.groups;
  if (how == algorithm::convolution_winograd) return any;
  const bool depthwise = in == 1 && out == 1;  // a channel per lane
  if (p.groups > 1) return (depthwise ? !p.lies_last : in < kLanes || out < kLanes) ? any : channels_last_tag(p.rank());
  if (p.pass == Pass::data && (p.window() == 1 ? in < kLanes : in <= 4 && out >= 8 * in)) return plain_tag(p.rank());
  return p.pass == Pass::forward && p.window() > 1 && in <= 2 && out <= 2 * kLanes ? any : channels_last_tag(p.rank());
}

// ---- primitives ---------------------------------------------------------------------------------
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

// Returns null if oneDNN has only its reference implementation, which is much slower than a reorder.
template <class Description> std::unique_ptr<Plan> compiled_plan_of(const Description& pd) {
  return std::string_view(pd.impl_info_str()).find("ref") == std::string_view::npos ? plan_of(pd) : nullptr;
}

std::unique_ptr<Plan> make_plan(const Problem& p, algorithm how, memory::format_tag activations) {
  const memory::desc src = described(p.src, activations), w = described(p.weights, memory::format_tag::any),
                     dst = described(p.dst, activations), b({p.dst[1]}, memory::data_type::f32, memory::format_tag::x);
  const auto make = [&](const auto& pd) {
    return activations == memory::format_tag::any ? plan_of(pd) : compiled_plan_of(pd);
  };
  const auto forward = describe_forward(engine(), how, src, w, p.has_bias ? &b : nullptr, dst, p.g);
  if (p.pass == Pass::data) return make(describe_data(engine(), how, src, w, dst, p.g, forward));
  if (p.pass == Pass::filter) return make(describe_weights(engine(), how, src, w, dst, p.g, forward));
  return make(forward);
}

std::unique_ptr<Plan> first_plan(const Problem& p) {
  for (const algorithm how : {algorithm::convolution_winograd, algorithm::convolution_direct}) {
    if (how == algorithm::convolution_winograd && !p.suits_winograd()) continue;
    for (const memory::format_tag layout : {preferred_layout(p, how), memory::format_tag::any}) {
      try {
        if (auto plan = make_plan(p, how, layout)) return plan;
      } catch (const dnnl::error& e) {
        if (e.status == dnnl_out_of_memory) throw catena::OutOfMemoryError("convolution: oneDNN ran out of memory");
      }
    }
  }
  return nullptr;
}

}  // namespace

const dnnl::engine& engine() {
  static const dnnl::engine& e = *new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return e;
}
dnnl::stream& stream() { return thread_state().stream; }

void check_space() {
  catena::check<catena::OutOfMemoryError>(
      catena::internal::has_space_for_onednn(), "convolution",
      "too few addresses are left to this process for a call of oneDNN (ulimit -v)");
}

const Plan* find_plan(const Problem& p) {
  ThreadState& state = thread_state();
  const Key key = p.key();
  if (const auto found = state.plans.find(key); found != state.plans.end()) return found->second.get();
  check_space();
  if (state.plans.size() >= ThreadState::kMaxPlans) state.plans.clear();
  std::unique_ptr<Plan> plan = first_plan(p);
  if (plan) {
    plan->src_arrays = activations_of(p.src, p.rank(), plan->src);
    plan->dst_arrays = activations_of(p.dst, p.rank(), plan->dst);
    plan->plain_filter = plain_filter(p);
  }
  return state.plans.emplace(key, std::move(plan)).first->second.get();
}

// Makes all plans on the calling thread, so that it is known before the first part runs whether all parts have one.
Cut cut(const Problem& whole) {
  if (!catena::internal::has_space_for_onednn()) return {};
  const catena::SingleThreadedLibraries single;
  for (const Split split : {Split::outputs, Split::rows, Split::images}) {
    Cut c{whole.parts(split), {}};
    for (const Part& part : c.parts) c.problems.push_back(whole.part(part));
    if (!c.parts.empty() && std::all_of(c.problems.begin(), c.problems.end(),
                                        [](const Problem& p) { return p.is_computable() && find_plan(p) != nullptr; }))
      return c;
  }
  return {};
}

}  // namespace autograd::internal::onednn
