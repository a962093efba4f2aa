#include <catena/nn/link.h>

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>

#include <catena/autograd/array_backend.h>
#include <catena/kernels/base/error_context.h>
#include <catena/nn/buffer.h>
#include <catena/nn/link_hook.h>
#include <catena/nn/link_parameters.h>
#include <catena/nn/path_pattern.h>

namespace nn {

using catena::AttributeError;
using catena::check;
using catena::KeyError;
using catena::TypeError;
using catena::ValueError;

Persistent::Persistent(const Persistent& o) : array_(o.array_ ? autograd::copy(o.array_) : Array()) {}
Persistent& Persistent::operator=(const Persistent& o) {
  if (this != &o) array_ = o.array_ ? autograd::copy(o.array_) : Array();
  return *this;
}

MemberVisitor::~MemberVisitor() = default;
void MemberVisitor::parameter(std::string_view, Parameter&) {}
void MemberVisitor::persistent(std::string_view, Persistent&) {}
void MemberVisitor::persistent(std::string_view, bool&) {}
void MemberVisitor::persistent(std::string_view, std::int64_t&) {}
void MemberVisitor::persistent(std::string_view, double&) {}
void MemberVisitor::persistent(std::string_view, std::string&) {}
void MemberVisitor::link(std::string_view, Link&) {}
void MemberVisitor::shared_link(std::string_view name, Link& child) { link(name, child); }

// Access to links for this folder. It sets names: names of children from the list of members, and names of parameters
// that have none.
struct internal::Naming {
  static AddedMembers& added(Link& link) noexcept { return link.added_; }
  static void give(Parameter& p, std::string_view name) {
    check<ValueError>(bool(p), "Link", "the parameter ", name, " is null, because its model has been moved from: use ",
                      "the object that it was moved to, with a setup() of its own for optimizers");
    if (p.name().empty()) p.set_name(std::string(name));
  }
  static void give(Link& child, std::string_view name) {
    if (child.name_ != name) child.name_ = name;
  }
};
using internal::Naming;
using internal::parameters_of;
using internal::PathParameter;

Link::Link() = default;
Link::Link(std::initializer_list<ParamShape> params) {
  for (const ParamShape& p : params) add_param(p.name, p.shape, p.dtype);
}
Link::Link(const Link& o) try
    : name_(o.name_),
      device_(o.device_),
      added_(o.added_),
      evaluates_(o.evaluates_),
      model_evaluates_(o.model_evaluates_) {
} catch (...) {
  catena::rethrow_standard("Link");
}
Link::Link(Link&&) noexcept = default;
Link& Link::operator=(const Link&) = default;
Link& Link::operator=(Link&&) noexcept = default;
Link::~Link() = default;

namespace {

// Visiting does not change the link, but the generated visiting function is not const.
Link& mutable_link(const Link& l) { return const_cast<Link&>(l); }

template <class F> class ParameterVisitor final : public MemberVisitor {
 public:
  explicit ParameterVisitor(F f) : f_(f) {}
  void parameter(std::string_view name, Parameter& p) override { f_(name, p); }

 private:
  F f_;
};
// Calls f for the children, but only once for each of the links in `shared`.
template <class F> class ChildVisitor final : public MemberVisitor {
 public:
  ChildVisitor(F f, std::vector<const Link*>& shared) : f_(f), shared_(shared) {}
  void link(std::string_view name, Link& child) override { f_(name, child); }
  void shared_link(std::string_view name, Link& child) override {
    if (std::find(shared_.begin(), shared_.end(), &child) != shared_.end()) return;
    shared_.push_back(&child);
    f_(name, child);
  }

 private:
  F f_;
  std::vector<const Link*>& shared_;
};
template <class F> void for_own_parameters(const Link& l, F f) {
  ParameterVisitor<F> v(f);
  mutable_link(l).visit_members(v);
}
// `shared` collects the links reached through a shared pointer.
template <class F> void for_children(const Link& l, std::vector<const Link*>& shared, F f) {
  ChildVisitor<F> v(f, shared);
  mutable_link(l).visit_members(v);
}
template <class F> void for_children(const Link& l, F f) try {
  std::vector<const Link*> shared;
  for_children(l, shared, f);
} catch (...) {
  catena::rethrow_standard("Link");
}

// Visits own parameters first, then children depth-first. `path` is a buffer that is extended and truncated in place.
template <class F> void for_parameters(const Link& l, std::string& path, std::vector<const Link*>& shared, F& f) {
  const std::size_t length = path.size();
  const auto enter = [&](std::string_view name) {
    path.resize(length);
    path.append("/").append(name);
  };
  for_own_parameters(l, [&](std::string_view name, Parameter& p) {
    Naming::give(p, name);
    enter(name);
    f(path, p);
  });
  for_children(l, shared, [&](std::string_view name, Link& child) {
    Naming::give(child, name);
    enter(name);
    for_parameters(child, path, shared, f);
  });
  path.resize(length);
}
template <class F> void for_parameters(const Link& l, F f) try {
  std::string path;
  std::vector<const Link*> shared;
  for_parameters(l, path, shared, f);
} catch (...) {
  catena::rethrow_standard("Link");
}
// The same without the later places of tied parameters, which are one variable at several places.
template <class F> void for_distinct_parameters(const Link& l, F f) {
  std::vector<const void*> seen;  // sorted
  for_parameters(l, [&](const std::string& path, Parameter& p) {
    const auto at = std::lower_bound(seen.begin(), seen.end(), p.id());
    if (at != seen.end() && *at == p.id()) return;
    seen.insert(at, p.id());
    f(path, p);
  });
}
template <class F> void for_links(Link& l, const std::string& path, std::vector<const Link*>& shared, F& f) {
  f(path, l);
  for_children(l, shared, [&](std::string_view name, Link& child) {
    for_links(child, path + "/" + std::string(name), shared, f);
  });
}

}  // namespace

std::vector<internal::PathParameter> internal::parameters_of(const Link& l) {
  std::vector<PathParameter> list;
  for_parameters(l, [&](const std::string& path, Parameter& p) { list.push_back({path, &p}); });
  return list;
}

namespace {

// Pairs of parameters of two structurally equal links, in the order of `target`.
struct Pairing {
  std::string path;
  Parameter *target, *source;
};
std::vector<Pairing> paired(const char* op, const Link& target, const Link& source) try {
  std::unordered_map<std::string, Parameter*> by_path;
  for (const PathParameter& p : parameters_of(source)) by_path.emplace(p.path, p.parameter);
  std::vector<Pairing> pairs;
  for (const PathParameter& p : parameters_of(target)) {
    const auto found = by_path.find(p.path);
    check<KeyError>(found != by_path.end(), op, "the source has no parameter ", p.path);
    const Parameter &t = *p.parameter, &s = *found->second;
    check<ValueError>(!s.is_initialized() || t.accepts(s.shape()), op, "the parameter ", p.path,
                      " has another shape than its source");
    pairs.push_back({p.path, p.parameter, found->second});
  }
  return pairs;
} catch (...) {
  catena::rethrow_standard(op);
}

}  // namespace

std::vector<Variable> Link::params() const { return params(true); }
std::vector<NamedParam> Link::namedparams() const { return namedparams(true); }

std::vector<Variable> Link::params(bool include_uninit) const {
  std::vector<Variable> result;
  for_distinct_parameters(*this, [&](const std::string&, Parameter& p) {
    if (include_uninit || p.is_initialized()) result.push_back(p);
  });
  return result;
}

std::vector<NamedParam> Link::namedparams(bool include_uninit) const {
  std::vector<NamedParam> result;
  for_distinct_parameters(*this, [&](const std::string& path, Parameter& p) {
    if (include_uninit || p.is_initialized()) result.push_back({path, p});
  });
  return result;
}

void Link::for_each_param(const catena::Function<void(std::string_view path, const Variable& param)>& f) const {
  for_distinct_parameters(*this, [&](const std::string& path, Parameter& p) { f(path, p); });
}

std::vector<NamedLink> Link::namedlinks(bool skipself) try {
  std::vector<NamedLink> result;
  std::vector<const Link*> shared;
  auto add = [&](const std::string& path, Link& l) { result.push_back({path.empty() ? "/" : path, &l}); };
  for_links(*this, "", shared, add);
  if (skipself) result.erase(result.begin());
  return result;
} catch (...) {
  catena::rethrow_standard("Link");
}

std::vector<Link*> Link::links(bool skipself) try {
  std::vector<Link*> result;
  for (const NamedLink& l : namedlinks(skipself)) result.push_back(l.link);
  return result;
} catch (...) {
  catena::rethrow_standard("Link");
}

LinkRange Link::children() {
  std::vector<Link*> result;
  for_children(*this, [&](std::string_view, Link& child) { result.push_back(&child); });
  return LinkRange(std::move(result));
}

std::vector<std::pair<std::string, Link*>> Link::named_children() {
  std::vector<std::pair<std::string, Link*>> result;
  for_children(*this, [&](std::string_view name, Link& child) { result.emplace_back(name, &child); });
  return result;
}

void Link::set_name(Link& child, std::string_view name) { Naming::give(child, name); }

void Link::name_params() {
  for_own_parameters(*this, [](std::string_view name, Parameter& p) { Naming::give(p, name); });
}

Parameter& Link::param(std::string_view name) {
  Parameter* found = nullptr;
  std::string names;
  for_own_parameters(*this, [&](std::string_view key, Parameter& p) {
    Naming::give(p, key);
    if (key == name) found = &p;
    names.append(names.empty() ? "" : ", ").append(key);
  });
  check<KeyError>(found != nullptr, "Link.param", "there is no parameter named ", name, " (there are: ", names, ")");
  return *found;
}

bool Link::has_uninitialized_params() const {
  bool pending = false;
  for_own_parameters(*this, [&](std::string_view, Parameter& p) { pending |= !p.is_initialized(); });
  return pending;
}

Link& Link::to_device(Device device) {
  struct Move final : MemberVisitor {
    Device to;
    explicit Move(Device d) : to(d) {}
    void parameter(std::string_view, Parameter& p) override { p.to_device(to); }
    void persistent(std::string_view, Persistent& a) override {
      if (a.array()) a.array() = autograd::to_device(a.array(), to);
    }
    void link(std::string_view, Link& child) override { child.to_device(to); }
  } move(device);
  visit_members(move);
  device_ = device;
  on_device_changed();
  return *this;
}

Link& Link::to_gpu(std::optional<int> id) {
  const Device current = autograd::default_backend().default_device();
  const int chosen = id.value_or(current.kind == Device::Kind::cuda ? current.id : 0);
  return to_device({Device::Kind::cuda, static_cast<std::int16_t>(chosen)});
}

std::optional<Device> Link::own_device() const {
  std::optional<Device> found = device_;
  if (!found)
    for_each_param([&found](std::string_view, const Variable& p) {
      if (!found && p.data()) found = p.device();
    });
  return found;
}

Device Link::device() const {
  const std::optional<Device> own = own_device();
  return own ? *own : autograd::default_backend().default_device();
}

void Link::cleargrads() {
  for (Variable& p : params()) p.cleargrad();
}

void Link::zerograds() {
  for (Variable& p : params())
    if (p.data()) p.zerograd();
}

// True for the values of weights that nn::quantize_weights() has rounded; they mean nothing without their scales.
static bool is_int8(const Parameter& p) { return p.is_initialized() && p.dtype() == Dtype::int8; }

void Link::copyparams(const Link& from) {
  const std::vector<Pairing> pairs = paired("Link.copyparams", *this, from);
  for (const Pairing& p : pairs) {  // no parameter is copied unless all can be copied
    check<TypeError>(!p.source->is_initialized() || is_int8(*p.source) == is_int8(*p.target), "Link.copyparams",
                     "the parameter ", p.path, " is int8 in one of the links only, without its scales in the other ",
                     "one: call nn::quantize_weights() for both");
    check<KeyError>(p.source->is_initialized() || !p.target->is_initialized(), "Link.copyparams", "the parameter ",
                    p.path, " of the source has no data yet");
  }
  for (const Pairing& p : pairs) {
    if (!p.source->is_initialized()) continue;
    if (p.target->is_initialized()) autograd::copy_across(p.target->data(), p.source->data());
    else p.target->initialize_from(p.source->data(), p.source->dtype());
  }
}

void Link::addgrads(const Link& from) {
  const std::vector<Pairing> pairs = paired("Link.addgrads", *this, from);
  for (const Pairing& p : pairs)
    check<ValueError>(p.target->is_initialized() || !p.source->grad(), "Link.addgrads", "the parameter ", p.path,
                      " has no data yet, so it cannot take a gradient");
  std::set<std::pair<const void*, const void*>> added;  // two layers that are tied in both links are one pair
  for (const Pairing& p : pairs)
    if (p.source->grad() && !p.source->is_same(*p.target) && added.emplace(p.target->id(), p.source->id()).second)
      p.target->addgrad(*p.source);
}

std::int64_t Link::count_params() const {
  std::int64_t n = 0;
  for (const Variable& p : params())
    if (p.data()) n += p.size();
  return n;
}

Variable Link::call(const Variables&) {
  catena::fail<catena::NotImplementedError>(
      "Link.call", "this class has no NN_MEMBERS line, so it cannot be called through its base");
}

void Link::visit_declared(MemberVisitor&) {}

namespace {

void share_persistents(Link& copied, const Link& source) {
  struct Collect final : MemberVisitor {
    std::vector<Persistent*> found;
    void persistent(std::string_view, Persistent& a) override { found.push_back(&a); }
    void link(std::string_view, Link& child) override { child.visit_members(*this); }
  } to, from;
  copied.visit_members(to);
  mutable_link(source).visit_members(from);
  for (std::size_t i = 0; i < to.found.size(); ++i) to.found[i]->array() = from.found[i]->array();
}

}  // namespace

void apply_copy_mode(Link& copied, const Link& source, CopyMode mode) {
  Naming::give(copied, "");
  if (mode == CopyMode::copy) return;
  for (const Pairing& p : paired("copy", copied, source)) {
    if (p.target->is_same(*p.source)) continue;  // the link is shared by both
    p.target->set_grad({});
    if (!p.source->is_initialized()) continue;
    if (mode == CopyMode::share) p.target->set_data(p.source->data());
    else init_weight(p.target->data(), p.target->initializer());
  }
  if (mode == CopyMode::share) share_persistents(copied, source);
}

// ---- members added at run time ------------------------------------------------------------------
namespace internal {

struct AddedMembers::Member {
  std::string name;
  std::optional<Parameter> parameter;
  std::optional<Buffer> persistent;
  std::optional<AnyLink> link;
};
struct AddedMembers::List {
  std::vector<catena::Owned<Member>> members;
  NamedLinkHooks hooks;
  std::vector<catena::Shared<StateHook>> state_hooks;
};

AddedMembers::AddedMembers(const AddedMembers& o) {
  if (!o.list_) return;
  list_ = catena::Owned<List>(new List);
  for (const auto& m : o.list_->members) list_->members.emplace_back(new Member(*m));
  list_->hooks = o.list_->hooks;
  list_->state_hooks = o.list_->state_hooks;
}

AddedMembers& AddedMembers::operator=(const AddedMembers& o) {
  if (this == &o) return *this;
  AddedMembers copy(o);
  if (list_ && copy.list_)
    for (auto& m : copy.list_->members)
      for (auto& own : list_->members)
        if (m && own && own->name == m->name && own->parameter && m->parameter) {
          *own->parameter = *m->parameter;
          m = std::move(own);
        }
  return *this = std::move(copy);
}

void AddedMembers::visit(MemberVisitor& v) const {
  if (!list_) return;
  for (const auto& m : list_->members) {
    if (m->parameter) v.parameter(m->name, *m->parameter);
    else if (m->persistent) v.persistent(m->name, *m->persistent);
    else if (m->link) v.link(m->name, m->link->get());
  }
}

AddedMembers::Member& AddedMembers::add(const Link& to, const std::string& name) {
  struct Names final : MemberVisitor {
    std::string_view name;
    bool taken = false;
    explicit Names(std::string_view n) : name(n) {}
    void see(std::string_view other) {
      taken |= other == name || (other.starts_with(name) && other.substr(name.size()).starts_with("/"));
    }
    void parameter(std::string_view n, Parameter&) override { see(n); }
    void persistent(std::string_view n, Persistent&) override { see(n); }
    void persistent(std::string_view n, bool&) override { see(n); }
    void persistent(std::string_view n, std::int64_t&) override { see(n); }
    void persistent(std::string_view n, double&) override { see(n); }
    void persistent(std::string_view n, std::string&) override { see(n); }
    void link(std::string_view n, Link&) override { see(n); }
  } names(name);
  mutable_link(to).visit_members(names);
  check<AttributeError>(!names.taken, "add", "the link has a member named ", name, " already");
  check<AttributeError>(!name.empty() && name.find('/') == name.npos, "add", "\"", name,
                        "\" cannot be the name of a member: names are parts of paths, not empty and without a slash");
  if (!list_) list_ = catena::Owned<List>(new List);
  return *list_->members.emplace_back(new Member{name, {}, {}, {}});
}

AnyLink* AddedMembers::link_of(std::string_view name) const noexcept {
  if (!list_) return nullptr;
  for (const auto& member : list_->members)
    if (member->name == name && member->link) return &*member->link;
  return nullptr;
}

void AddedMembers::remove(std::string_view name) noexcept {
  if (list_) std::erase_if(list_->members, [&](const auto& member) { return member->name == name; });
}

const NamedLinkHooks* AddedMembers::hooks() const noexcept {
  return list_ && !list_->hooks.empty() ? &list_->hooks : nullptr;
}
NamedLinkHooks& AddedMembers::editable_hooks() {
  if (!list_) list_ = catena::Owned<List>(new List);
  return list_->hooks;
}
std::vector<catena::Shared<StateHook>> AddedMembers::state_hooks() const {
  return list_ ? list_->state_hooks : std::vector<catena::Shared<StateHook>>();
}
std::vector<catena::Shared<StateHook>>& AddedMembers::editable_state_hooks() {
  if (!list_) list_ = catena::Owned<List>(new List);
  return list_->state_hooks;
}
const NamedLinkHooks* hooks_of(const Link& link) noexcept { return Naming::added(mutable_link(link)).hooks(); }
NamedLinkHooks& editable_hooks(Link& link) { return Naming::added(link).editable_hooks(); }
Persistent* persistent_of(Link& link, std::string_view name) {
  struct Finder final : MemberVisitor {
    std::string_view wanted;
    Persistent* found = nullptr;
    explicit Finder(std::string_view n) : wanted(n) {}
    void persistent(std::string_view n, Persistent& p) override {
      if (n == wanted) found = &p;
    }
  } finder(name);
  link.visit_members(finder);
  return finder.found;
}
void remove_added(Link& link, std::string_view name) { Naming::added(link).remove(name); }

std::string indexed_name(std::string_view name, std::size_t i) { return std::string(name) + "/" + std::to_string(i); }

}  // namespace internal

Parameter& Link::own_param(const std::string& name, Parameter parameter) {
  if (device_) parameter.to_device(*device_);
  Parameter& own = added_.add(*this, name).parameter.emplace(std::move(parameter));
  Naming::give(own, name);
  return own;
}
Parameter& Link::add_param_of(const std::string& name, const Shape& shape, Dtype dtype, Initializer initializer) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (!initializer) initializer = initializers::Constant(kNaN, {.dtype = dtype});
  Parameter p(std::move(initializer), shape);
  if (p.is_initialized()) p.set_grad(autograd::arrays::full(shape, kNaN, p.dtype(), p.device()));
  return own_param(name, std::move(p));
}
Parameter& Link::add_param(const std::string& name, const Shape& shape, Initializer initializer) {
  return add_param_of(name, shape, Dtype::float32, std::move(initializer));
}
Persistent& Link::add_persistent(const std::string& name, const Array& value) {
  return added_.add(*this, name).persistent.emplace(device_ && value ? autograd::to_device(value, *device_) : value);
}
Buffer& Link::register_buffer(const std::string& name, const Array& value) {
  return static_cast<Buffer&>(add_persistent(name, value));  // AddedMembers has buffers
}
void Link::adopt(Link& child, std::string_view name) const {
  if (device_) child.to_device(*device_);
  Naming::give(child, name);
}
internal::AnyLink* Link::added_link(std::string_view name) noexcept { return added_.link_of(name); }
Link& Link::own_link(const std::string& name, internal::AnyLink link) {
  adopt(link.get(), name);
  return added_.add(*this, name).link.emplace(std::move(link)).get();
}

Link& Chain::operator[](std::string_view name) const {
  std::string names;
  for (const auto& [key, child] : mutable_link(*this).named_children()) {
    if (key == name) return *child;
    names += (names.empty() ? "" : ", ") + key;
  }
  catena::fail<KeyError>("Chain", "there is no child named ", name, " (there are: ", names, ")");
}

Link& Chain::Iterator::operator*() const {
  Link* found = nullptr;
  std::size_t i = 0;
  for_children(*chain_, [&](std::string_view, Link& child) {
    if (i++ == index_) found = &child;
  });
  check<catena::IndexError>(found != nullptr, "Chain", "the child ", index_, " does not exist (any more)");
  return *found;
}
Chain::Iterator Chain::end() const {
  std::size_t n = 0;
  for_children(*this, [&](std::string_view, Link&) { ++n; });
  return {this, n};
}

// ---- freezing -----------------------------------------------------------------------------------
namespace {

void set_updates(const Link& l, const char* op, std::string_view pattern, bool enabled) {
  const bool all = pattern.empty() || pattern == "/";
  bool any = all;
  for_parameters(l, [&](const std::string& at, Parameter& p) {
    if (!all && !path_matches(pattern, at)) return;
    if (!enabled || !is_int8(p)) p.set_requires_grad(enabled);  // int8 weights never have gradients
    any = true;
  });
  check<KeyError>(any, op, "there is no parameter at or below ", pattern);
}

}  // namespace

void Link::disable_update(std::string_view pattern) { set_updates(*this, "disable_update", pattern, false); }
void Link::enable_update(std::string_view pattern) { set_updates(*this, "enable_update", pattern, true); }
bool Link::update_enabled() const {
  bool any = false;
  for_parameters(*this, [&](const std::string&, Parameter& p) { any |= p.requires_grad(); });
  return any;
}

}  // namespace nn
