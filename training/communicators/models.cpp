// Communicator's functions of models.
#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include <catena/autograd/array_backend.h>
#include <catena/kernels/base/error.h>
#include <catena/nn/serializers/npz.h>
#include <catena/training/communicators/agreement.h>
#include <catena/training/communicators/array_messages.h>
#include <catena/training/communicators/communicator.h>
#include <catena/training/communicators/communicator_state.h>
#include <catena/training/communicators/messages.h>
#include <catena/training/parallel/packed_state.h>
#include <catena/training/parallel/persistents.h>
#include <catena/training/parallel/worker_process.h>

namespace training {

using autograd::Device;
using autograd::Dtype;
using autograd::Shape;
using autograd::Variable;
using catena::concat;
using communicators::internal::agree;
using communicators::internal::Fingerprint;
using internal::MessageReader;
using internal::MessageWriter;
using internal::Persistents;
using nn::NamedParam;
using nn::serializers::DictionarySerializer;

namespace {

std::vector<NamedParam> sorted_params(const nn::Link& model) {
  std::vector<NamedParam> params = model.namedparams();
  std::sort(params.begin(), params.end(), [](const NamedParam& a, const NamedParam& b) { return a.path < b.path; });
  return params;
}

// ---- comparing models ---------------------------------------------------------------------------
// A parameter, or a persistent that is saved under this path.
struct Entry {
  std::string path;
  bool is_pending = false;
  Dtype dtype = Dtype::float32;
  Shape shape = {};

  std::string text() const {
    return is_pending ? path + " pending" : concat(path, " ", dtype, " ", catena::to_string(shape));
  }
};

std::string written(const std::vector<Entry>& entries) {
  MessageWriter w;
  for (const Entry& e : entries) {
    w.put_text(e.path);
    w.put(e.is_pending);
    w.put(e.dtype);
    w.put(std::int64_t(e.shape.size()));
    for (const std::int64_t n : e.shape) w.put(n);
  }
  return w.take();
}
std::vector<Entry> read(std::string_view bytes) {
  MessageReader r(bytes);
  std::vector<Entry> entries;
  while (!r.is_empty()) {
    Entry e;
    e.path = r.get_text();
    e.is_pending = r.get<bool>();
    e.dtype = r.get<Dtype>();
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(r.get<std::int64_t>()));
    for (std::int64_t& n : lengths) n = r.get<std::int64_t>();
    e.shape = Shape(lengths);
    entries.push_back(std::move(e));
  }
  return entries;
}

std::vector<Entry> entries_of(const std::vector<NamedParam>& params) {
  std::vector<Entry> entries;
  for (const auto& [path, param] : params) {
    if (param.data()) entries.push_back({path, false, param.dtype(), param.shape()});
    else entries.push_back({path, true});
  }
  return entries;
}
// Persistents without a value yet are missing: they are not saved either.
std::vector<Entry> entries_of(const DictionarySerializer& persistents) {
  std::vector<Entry> entries;
  for (const DictionarySerializer::Entry& e : persistents.entries()) {
    if (e.is_text) entries.push_back({"/" + e.key, false, Dtype::uint8});
    else entries.push_back({"/" + e.key, false, e.dtype, e.shape});
  }
  return entries;
}

// The first difference from the model of rank 0; empty: none. A parameter that is pending on one side agrees with any.
std::string difference(const std::vector<Entry>& own, const std::vector<Entry>& of_root) {
  for (std::size_t i = 0; i < own.size() || i < of_root.size(); ++i) {
    const bool both = i < own.size() && i < of_root.size();
    if (both && own[i].path == of_root[i].path &&
        (own[i].is_pending || of_root[i].is_pending ||
         (own[i].dtype == of_root[i].dtype && own[i].shape == of_root[i].shape)))
      continue;
    return concat("the models differ: here is ", i < own.size() ? own[i].text() : "nothing more", ", on rank 0 ",
                  i < of_root.size() ? of_root[i].text() : "nothing more");
  }
  return {};
}

// The parameters by path, also those of several paths.
class ByPath final : public nn::MemberVisitor {
 public:
  explicit ByPath(nn::Link& model) { model.visit_members(*this); }
  void parameter(std::string_view name, nn::Parameter& p) override {
    params_.emplace(path_ + "/" + std::string(name), &p);
  }
  void link(std::string_view name, nn::Link& child) override {
    const std::size_t before = path_.size();
    path_.append("/").append(name);
    child.visit_members(*this);
    path_.resize(before);
  }
  nn::Parameter* find(const std::string& path) const {
    const auto found = params_.find(path);
    return found == params_.end() ? nullptr : found->second;
  }

 private:
  std::string path_;
  std::map<std::string, nn::Parameter*> params_;
};

std::string pending_problem(const std::vector<Entry>& of_root, const ByPath& params) {
  for (const Entry& e : of_root) {
    const nn::Parameter* const p = e.is_pending ? nullptr : params.find(e.path);
    if (p != nullptr && !p->is_initialized() && !p->accepts(e.shape))
      return concat("the models differ: ", e.path, " of shape ", catena::to_string(p->known_shape()),
                    " cannot become that of rank 0, ", e.text());
  }
  return {};
}

}  // namespace

// ---- bcast_data ---------------------------------------------------------------------------------
void Communicator::bcast_data(nn::Link& model) const {
  constexpr const char* op = "bcast_data";
  communicators::Transport& t = transport();
  agree(t, op);
  const bool is_root = rank() == 0;
  const std::vector<NamedParam> params = sorted_params(model);
  Persistents persistents(model);
  DictionarySerializer state;
  persistents.serialize(state);

  const auto same_on_root = [&](const std::vector<Entry>& own) {
    return read(communicators::internal::broadcast_text(t, is_root ? written(own) : "", 0));
  };
  const std::vector<Entry> own = entries_of(params), own_state = entries_of(state);
  const std::vector<Entry> of_root = same_on_root(own), state_of_root = same_on_root(own_state);
  const ByPath by_path(model);
  std::string problem = difference(own, of_root);
  if (problem.empty()) problem = pending_problem(of_root, by_path);
  if (problem.empty()) problem = difference(own_state, state_of_root);
  agree(t, op, problem.empty() ? "" : concat(op, ": ", problem));

  for (std::size_t i = 0; i < params.size(); ++i) {
    if (of_root[i].is_pending) continue;
    const Variable& param = params[i].param;
    const Array host = is_root ? communicators::internal::on_host(param.data())
                               : autograd::arrays::empty(of_root[i].shape, of_root[i].dtype, Device{});
    communicators::internal::broadcast(t, communicators::internal::bytes_of(host), 0);
    if (is_root) continue;
    if (param.data()) autograd::copy_across(param.data(), host);
    else by_path.find(params[i].path)->initialize_from(host, host.dtype());
  }
  const std::string bytes = communicators::internal::broadcast_text(t, is_root ? internal::packed(state) : "", 0);
  if (is_root) return;
  internal::PackedDeserializer stored(bytes);
  persistents.serialize(stored);
  persistents.apply_to(model);
}

// ---- multi_node_mean_grad -----------------------------------------------------------------------
namespace {

// The parameters whose gradients are exchanged, and which of them have one on this rank.
struct Gradients {
  std::vector<NamedParam> params;
  std::vector<unsigned char> present;

  explicit Gradients(const nn::Link& model) {
    for (NamedParam& p : sorted_params(model)) {
      if (!p.param.data() || !p.param.requires_grad()) continue;
      present.push_back(p.param.grad() ? 1 : 0);
      params.push_back(std::move(p));
    }
  }
  std::string_view present_text() const { return {reinterpret_cast<const char*>(present.data()), present.size()}; }
  std::uint64_t fingerprint(std::string_view call) const {
    Fingerprint f;
    f.add(call);
    for (const auto& [path, param] : params) {
      f.add(path).add_number(param.dtype()).add_number(param.ndim());
      for (const std::int64_t n : param.shape()) f.add_number(n);
    }
    return f.value();
  }
  std::string describe(std::string_view call) const {
    std::string text = concat(call, "\n");
    for (const Entry& e : entries_of(params)) text += e.text() + "\n";
    return text;
  }
};

// Marks as present what another rank has. `of_ranks`: present_text() by rank.
void fill_missing(Gradients& gradients, const std::vector<std::string>& of_ranks, bool zero_fill) {
  for (std::size_t i = 0; i < gradients.params.size(); ++i) {
    const auto has = [i](const std::string& present) { return present[i] != 0; };
    if (std::none_of(of_ranks.begin(), of_ranks.end(), has)) continue;
    const auto without = std::find_if_not(of_ranks.begin(), of_ranks.end(), has);
    catena::check<catena::ValueError>(zero_fill || without == of_ranks.end(), "multi_node_mean_grad",
                                      gradients.params[i].path, " has no gradient on rank ", without - of_ranks.begin(),
                                      "; zero_fill = true counts it as zero");
    gradients.present[i] = 1;
  }
}

// Returns the error of a gradient that is not as its parameter, which has got another array since. Empty: none.
std::string gradient_problem(std::string_view call, const NamedParam& p) {
  const Array data = p.param.data(), g = p.param.grad();
  if (!g || (g.dtype() == data.dtype() && g.shape() == data.shape() && g.device() == data.device())) return {};
  const auto text = [](const Array& a) {
    return concat(a.dtype(), " ", catena::to_string(a.shape()), " on ", a.device());
  };
  return concat(call, ": the gradient of ", p.path, " is ", text(g), ", the parameter is ", text(data));
}

// Gradients that travel as one array: of one dtype. They are brought to the device of the first parameter, so that
// ranks whose parameters are on other devices have the same batches.
struct Batch {
  Dtype dtype;
  std::vector<Variable> params = {};

  Array gradients() const {
    std::vector<Array> pieces;
    for (const Variable& p : params) {
      const Array g = p.grad() ? p.grad() : autograd::zeros_like(p.data());
      pieces.push_back(autograd::to_device(autograd::reshape(g, {p.size()}), params[0].device()));
    }
    return autograd::concatenate(pieces);
  }
  void set_gradients(const Array& flat) {
    std::int64_t at = 0;
    for (Variable& p : params) {
      const Array g = autograd::reshape(autograd::slice(flat, 0, at, at + p.size()), p.shape());
      p.set_grad(autograd::to_device(g, p.device()));
      at += p.size();
    }
  }
};

std::vector<Batch> batches_of(const Gradients& gradients) {
  std::vector<Batch> batches;
  for (std::size_t i = 0; i < gradients.params.size(); ++i) {
    const Variable& p = gradients.params[i].param;
    if (gradients.present[i] == 0) continue;
    auto batch = std::find_if(batches.begin(), batches.end(), [&](const Batch& b) { return b.dtype == p.dtype(); });
    if (batch == batches.end()) batch = batches.insert(batch, Batch{p.dtype()});
    batch->params.push_back(p);
  }
  return batches;
}

}  // namespace

void Communicator::multi_node_mean_grad(nn::Link& model, bool zero_fill) const {
  constexpr const char* op = "multi_node_mean_grad";
  if (impl_->kind == Impl::Kind::dummy) return;
  Gradients gradients(model);
  std::string problem;
  for (const NamedParam& p : gradients.params) {
    if (!problem.empty()) break;
    problem = impl_->summand_problem(op, p.param.data());
    if (!problem.empty()) problem += concat(" (the parameter ", p.path, ")");
    else problem = gradient_problem(op, p);
  }
  const auto& wire_dtype = options().allreduce_grad_dtype;
  const std::string call =
      concat(op, zero_fill ? " with zero_fill" : "", wire_dtype ? concat(" in ", *wire_dtype) : std::string());
  const bool same =
      agree(transport(),
            {gradients.fingerprint(call), Fingerprint().add(gradients.present_text()).value(), std::move(problem)},
            [&] { return gradients.describe(call); });
  if (!same)
    fill_missing(gradients, communicators::internal::all_gather_texts(transport(), gradients.present_text()),
                 zero_fill);
  for (Batch& batch : batches_of(gradients)) {
    const Dtype wire = options().allreduce_grad_dtype.value_or(batch.dtype);
    const Array own = autograd::astype(batch.gradients(), wire);
    batch.set_gradients(autograd::astype(impl_->sum(own, true, double(size())), batch.dtype));
  }
}

}  // namespace training
