#include <catena/nn/link.h>

#include <unordered_map>

#include <catena/nn/serializers/serializer.h>

namespace nn {

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

Link::~Link() = default;

namespace {

// Visiting does not change the link, but a class has one member list, which is not const.
Link& mutable_link(const Link& l) { return const_cast<Link&>(l); }

template <class F> class ParameterVisitor final : public MemberVisitor {
 public:
  explicit ParameterVisitor(F f) : f_(f) {}
  void parameter(std::string_view name, Parameter& p) override { f_(name, p); }

 private:
  F f_;
};
template <class F> class ChildVisitor final : public MemberVisitor {
 public:
  explicit ChildVisitor(F f) : f_(f) {}
  void link(std::string_view name, Link& child) override { f_(name, child); }

 private:
  F f_;
};
template <class F> void for_own_parameters(const Link& l, F f) {
  ParameterVisitor<F> v(f);
  mutable_link(l).visit_members(v);
}
template <class F> void for_children(const Link& l, F f) {
  ChildVisitor<F> v(f);
  mutable_link(l).visit_members(v);
}

// Own parameters first, then children depth-first. `path` is a buffer that is extended and truncated in place.
template <class F> void for_parameters(const Link& l, std::string& path, F& f) {
  const std::size_t length = path.size();
  const auto enter = [&](std::string_view name) {
    path.resize(length);
    path.append("/").append(name);
  };
  for_own_parameters(l, [&](std::string_view name, Parameter& p) {
    enter(name);
    f(path, p);
  });
  for_children(l, [&](std::string_view name, Link& child) {
    enter(name);
    for_parameters(child, path, f);
  });
  path.resize(length);
}
template <class F> void for_parameters(const Link& l, F f) {
  std::string path;
  for_parameters(l, path, f);
}
template <class F> void for_links(Link& l, const std::string& path, F& f) {
  f(path, l);
  for_children(l, [&](std::string_view name, Link& child) { for_links(child, path + "/" + std::string(name), f); });
}

struct PathParameter {
  std::string path;
  Parameter* parameter;
};
std::vector<PathParameter> parameters_of(const Link& l) {
  std::vector<PathParameter> list;
  for_parameters(l, [&](const std::string& path, Parameter& p) { list.push_back({path, &p}); });
  return list;
}

// The parameters of two structurally equal links in pairs, in the order of `target`.
struct Pairing {
  std::string path;
  Parameter *target, *source;
};
std::vector<Pairing> paired(const char* op, const Link& target, const Link& source) {
  std::unordered_map<std::string, Parameter*> by_path;
  for (const PathParameter& p : parameters_of(source)) by_path.emplace(p.path, p.parameter);
  std::vector<Pairing> pairs;
  for (const PathParameter& p : parameters_of(target)) {
    const auto found = by_path.find(p.path);
    check<KeyError>(found != by_path.end(), op, "the source has no parameter ", p.path);
    const Parameter &t = *p.parameter, &s = *found->second;
    check<ValueError>(!t.is_initialized() || !s.is_initialized() || t.shape() == s.shape(), op, "the parameter ",
                      p.path, " has another shape than its source");
    pairs.push_back({p.path, p.parameter, found->second});
  }
  return pairs;
}

}  // namespace

std::vector<Variable> Link::params() const {
  std::vector<Variable> result;
  for_parameters(*this, [&](const std::string&, Parameter& p) { result.push_back(p); });
  return result;
}

std::vector<NamedParam> Link::namedparams() const {
  std::vector<NamedParam> result;
  for_parameters(*this, [&](const std::string& path, Parameter& p) { result.push_back({path, p}); });
  return result;
}

void Link::for_each_param(const catena::Function<void(std::string_view path, const Variable& param)>& f) const {
  for_parameters(*this, [&](const std::string& path, Parameter& p) { f(path, p); });
}

std::vector<NamedLink> Link::namedlinks(bool skipself) {
  std::vector<NamedLink> result;
  auto add = [&](const std::string& path, Link& l) { result.push_back({path.empty() ? "/" : path, &l}); };
  for_links(*this, "", add);
  if (skipself) result.erase(result.begin());
  return result;
}

std::vector<Link*> Link::links(bool skipself) {
  std::vector<Link*> result;
  for (const NamedLink& l : namedlinks(skipself)) result.push_back(l.link);
  return result;
}

std::vector<std::pair<std::string, Link*>> Link::children() {
  std::vector<std::pair<std::string, Link*>> result;
  for_children(*this, [&](std::string_view name, Link& child) { result.emplace_back(name, &child); });
  return result;
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

Device Link::device() const { return device_ ? *device_ : autograd::default_backend().default_device(); }

void Link::cleargrads() {
  for (Variable& p : params()) p.cleargrad();
}

void Link::zerograds() {
  for (Variable& p : params())
    if (p.data()) p.zerograd();
}

void Link::copyparams(const Link& from) {
  const std::vector<Pairing> pairs = paired("Link.copyparams", *this, from);
  for (const Pairing& p : pairs)  // no parameter is copied unless all can be
    check<KeyError>(p.source->is_initialized() || !p.target->is_initialized(), "Link.copyparams", "the parameter ",
                    p.path, " of the source has no data yet");
  for (const Pairing& p : pairs) {
    if (!p.source->is_initialized()) continue;
    if (p.target->is_initialized()) autograd::copy_across(p.target->data(), p.source->data());
    else p.target->initialize_from(p.source->data());
  }
}

void Link::addgrads(const Link& from) {
  const std::vector<Pairing> pairs = paired("Link.addgrads", *this, from);
  for (const Pairing& p : pairs)
    check<ValueError>(p.target->is_initialized() || !p.source->grad(), "Link.addgrads", "the parameter ", p.path,
                      " has no data yet, so it cannot take a gradient");
  for (const Pairing& p : pairs)
    if (p.source->grad()) p.target->addgrad(*p.source);
}

std::int64_t Link::count_params() const {
  std::int64_t n = 0;
  for (const Variable& p : params())
    if (p.data()) n += p.size();
  return n;
}

void Link::serialize(Serializer& s) {
  struct Visit final : MemberVisitor {
    Serializer& s;
    Link& self;
    Visit(Serializer& s_, Link& l) : s(s_), self(l) {}
    void parameter(std::string_view name, Parameter& p) override {
      if (s.is_writer()) {
        check<ValueError>(p.is_initialized(), "save", "the parameter ", s.path(), s.path().empty() ? "" : "/", name,
                          " has no data yet: call the link once before it is saved");
        Array data = p.data();
        s(name, data);
      } else if (p.is_initialized()) {
        Array data = p.data();
        s(name, data);
      } else {
        Array stored;
        s(name, stored);
        if (stored) p.initialize_from(stored);
      }
    }
    void persistent(std::string_view name, Persistent& a) override {
      Array array = a.array();
      s(name, array);
      if (!a.array() && array) a.array() = autograd::to_device(array, self.device());
    }
    void persistent(std::string_view name, bool& v) override { s(name, v); }
    void persistent(std::string_view name, std::int64_t& v) override { s(name, v); }
    void persistent(std::string_view name, double& v) override { s(name, v); }
    void persistent(std::string_view name, std::string& v) override { s(name, v); }
  } own(s, *this);
  visit_members(own);
  for_children(*this, [&](std::string_view name, Link& child) { child.serialize(*s[name]); });
}

Variable Link::call(const Variables&) {
  catena::fail<catena::NotImplementedError>(
      "Link.call", "this class has no NN_MEMBERS line, so it cannot be called through its base");
}

void Link::visit_members(MemberVisitor&) {}

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
  if (mode == CopyMode::copy) return;
  for (const Pairing& p : paired("copy", copied, source)) {
    p.target->set_grad({});
    if (!p.source->is_initialized()) continue;
    if (mode == CopyMode::share) p.target->set_data(p.source->data());
    else init_weight(p.target->data(), p.target->initializer());
  }
  if (mode == CopyMode::share) share_persistents(copied, source);
}

void internal::throw_not_callable(const char* type, std::size_t num_args) {
  catena::fail<TypeError>("Link.call", "the class ", type, " has no operator() for ", num_args, " variables");
}

}  // namespace nn
