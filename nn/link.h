// Folder nn: layers and what they consist of: links, parameters, initializers, the reporter. Functions are in
// nn/functions, layer classes in nn/links, files in nn/serializers; optimizers and training loops are in training. This
// folder may use autograd and kernels.
//
// Link: an object with parameters. The members of a class are listed once; naming, saving, moving and copying all use
// that list.
//
//   struct MLP : nn::Chain {
//     nn::Linear l1, l2;
//     MLP(int units, int out) : l1(units), l2(out) {}
//     NN_MEMBERS(l1, l2)                                        // keys "l1" and "l2", in this order
//     Variable operator()(const Variable& x) { return l2(nn::relu(l1(x))); }
//   };
//
// Members whose number is known at run time only: containers in the list, or add_param and add_link.
//
// A C++ copy of a link is a deep copy: parameters, gradients and persistents are independent (nn::copy offers other
// modes). Links behind a std::shared_ptr are what the pointer says: shared with the copy. Thread safety: a link belongs
// to one thread at a time. Several threads may call a link in no_backprop_mode if all its parameters are initialised
// and its operator() changes no member.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/nn/parameter.h>

namespace nn {

class Link;
class Serializer;

// An array that is saved with a link but not optimised (running averages). Value semantics like Parameter.
class CATENA_EXPORT Persistent {
 public:
  Persistent() = default;
  Persistent(const Array& a) : array_(a) {}
  Persistent(const Persistent& o);
  Persistent(Persistent&&) noexcept = default;
  Persistent& operator=(const Persistent& o);
  Persistent& operator=(Persistent&&) noexcept = default;
  Array& array() noexcept { return array_; }
  const Array& array() const noexcept { return array_; }
  operator const Array&() const noexcept { return array_; }

 private:
  Array array_;
};

// Visits a member list. Persistents are arrays, int64, double, bool or strings.
class CATENA_EXPORT MemberVisitor {
 public:
  virtual ~MemberVisitor();
  virtual void parameter(std::string_view name, Parameter& p);
  virtual void persistent(std::string_view name, Persistent& a);
  virtual void persistent(std::string_view name, bool& v);
  virtual void persistent(std::string_view name, std::int64_t& v);
  virtual void persistent(std::string_view name, double& v);
  virtual void persistent(std::string_view name, std::string& v);
  virtual void link(std::string_view name, Link& child);
  // A child that other members may hold, too; as link() unless overridden.
  virtual void shared_link(std::string_view name, Link& child);
};

namespace internal {
// The members that add_param, add_persistent and add_link added to one link, in this order. Copied deeply.
class CATENA_EXPORT AddedMembers {
 public:
  struct Member;
  struct List;
  AddedMembers() = default;
  AddedMembers(const AddedMembers& o);
  AddedMembers(AddedMembers&&) noexcept = default;
  AddedMembers& operator=(const AddedMembers& o);  // parameters that both have keep their identity
  AddedMembers& operator=(AddedMembers&&) noexcept = default;
  ~AddedMembers() = default;
  void visit(MemberVisitor& v) const;
  Member& add(const Link& to, const std::string& name);

 private:
  catena::Owned<List> list_;
};
class AnyLink;
struct Naming;
}  // namespace internal

struct NamedParam {
  std::string path;  // "/l1/W"
  Variable param;    // a handle; its data may be pending
};
struct NamedLink {
  std::string path;  // "/" for the root, "/l1", "/l1/conv"
  Link* link;
};

// A parameter of this name, shape and dtype: {"W", {3, 2}}, {"b", {3}, float64}.
struct ParamShape {
  std::string name;
  Shape shape;
  Dtype dtype = Dtype::float32;
};

class CATENA_EXPORT Link {
 public:
  using Variable = autograd::Variable;  // as users' classes write it
  Link();
  // Adds these parameters as add_param(name, shape, dtype) does: Link({{"W", {3, 2}}, {"b", {3}}}).
  explicit Link(std::initializer_list<ParamShape> params);
  Link(const Link&);
  Link(Link&&) noexcept;
  Link& operator=(const Link&);
  Link& operator=(Link&&) noexcept;
  virtual ~Link();

  // The name under which a parent has this link; empty for the root. A parent gives it when the link is added, and to
  // what its class lists when its parameters are first listed.
  const std::string& name() const noexcept { return name_; }

  // All parameters: the link's own in member order, then those of the children depth-first. A parameter that
  // several members share is listed once, under the first of its paths.
  std::vector<Variable> params() const;
  std::vector<NamedParam> namedparams() const;
  // Calls f for the same parameters in the same order, without building a list.
  void for_each_param(const catena::Function<void(std::string_view path, const Variable& param)>& f) const;
  std::vector<Link*> links(bool skipself = false);
  std::vector<NamedLink> namedlinks(bool skipself = false);
  std::vector<std::pair<std::string, Link*>> children();
  bool has_uninitialized_params() const;  // of this link, without its children
  // One of its own parameters by name, listed or added; KeyError listing the names.
  Parameter& param(std::string_view name);

  // Members beyond the class's list, after it in every order. AttributeError for a name that is taken, empty or has a
  // slash. The references stay valid as long as the link is neither moved from nor destroyed. A size of -1 is found
  // when the parameter is initialised. The variable gets the name. Without an initializer the data are NaN, of `dtype`
  // (else the initializer's dtype counts), and the gradient is NaN until it is cleared or set: what was forgotten
  // shows.
  Parameter& add_param(const std::string& name, const Shape& shape, Initializer initializer = {});
  template <std::same_as<Dtype> D>
  Parameter& add_param(const std::string& name, const Shape& shape, D dtype, Initializer initializer = {}) {
    return add_param_of(name, shape, dtype, std::move(initializer));
  }
  template <std::same_as<Parameter> P> Parameter& add_param(const std::string& name, P parameter) {
    return own_param(name, std::move(parameter));
  }
  Persistent& add_persistent(const std::string& name, const Array& value);

  // Freezes the parameters at or below a path ("/l1", "/l1/W"; all by default), by set_requires_grad(false): they get
  // no gradients, and optimizers with their hooks leave them as they are. They are saved as ever. KeyError for a path
  // without parameters. Running statistics are no parameters.
  void disable_update(std::string_view path = {});
  void enable_update(std::string_view path = {});
  bool update_enabled() const;  // whether any parameter is not frozen

  Link& to_device(Device device);
  Link& to_cpu() { return to_device({}); }
  Link& to_gpu(std::optional<int> id = {});
  Device device() const;  // the device it was moved to; before, that of its parameters; the default device without any

  void cleargrads();
  void zerograds();
  // Copies the data of a structurally equal link, across devices; pending parameters are created. Gradients and
  // persistents are unchanged. KeyError naming a path that the source lacks, ValueError for another shape; nothing is
  // copied then.
  void copyparams(const Link& from);
  // Adds the gradients of a structurally equal link, across devices. A null gradient of the source is skipped; a null
  // gradient of this link becomes a copy. Errors as for copyparams.
  void addgrads(const Link& from);
  std::int64_t count_params() const;

  // Parameters and persistents under their names, children under theirs. ValueError when a pending parameter is saved;
  // loading creates pending parameters with the stored shape.
  virtual void serialize(Serializer& s);

  // The result of the class's operator() (e.g. the loss) for a list of arguments. Generated by NN_MEMBERS.
  virtual Variable call(const Variables& args);
  // Calls v for every member: those of the class's list, then the added ones.
  void visit_members(MemberVisitor& v) {
    visit_declared(v);
    added_.visit(v);
  }

 protected:
  // Calls v for the members of the class's list, in order. Generated by NN_MEMBERS.
  virtual void visit_declared(MemberVisitor& v);
  Link& own_link(const std::string& name, internal::AnyLink link);
  static void set_name(Link& child, std::string_view name);
  // Names a new child. It comes to the device to which this link was moved; a link that was not leaves it where it is.
  void adopt(Link& child, std::string_view name) const;
  // The device it was moved to; before, that of the first parameter with data; null where there is none.
  std::optional<Device> own_device() const;
  // Gives the variables of the members listed so far, which have no name yet, the names of the members. For the end of
  // constructors; it is done by itself when the parameters are first listed.
  void name_params();
  // Called after this link was moved, for members that are not in the list (recurrent state).
  virtual void on_device_changed() {}

 private:
  friend struct internal::Naming;
  Parameter& own_param(const std::string& name, Parameter parameter);
  Parameter& add_param_of(const std::string& name, const Shape& shape, Dtype dtype, Initializer initializer);

  std::string name_;
  std::optional<Device> device_;
  internal::AddedMembers added_;
};

namespace internal {
// A child of any link class; owned, copied deeply.
class CATENA_EXPORT AnyLink {
 public:
  template <class L, class = std::enable_if_t<std::is_base_of_v<Link, std::decay_t<L>>>>
  explicit AnyLink(L&& link)
      : link_(new std::decay_t<L>(std::forward<L>(link))), clone_([](const Link& l) -> catena::Owned<Link> {
          return catena::Owned<Link>(new std::decay_t<L>(static_cast<const std::decay_t<L>&>(l)));
        }) {}
  AnyLink(const AnyLink& o) : link_(o.link_ ? o.clone_(*o.link_) : nullptr), clone_(o.clone_) {}
  AnyLink(AnyLink&&) noexcept = default;
  AnyLink& operator=(AnyLink o) noexcept {
    std::swap(link_, o.link_);
    std::swap(clone_, o.clone_);
    return *this;
  }
  Link& get() const noexcept { return *link_; }

 private:
  catena::Owned<Link> link_;
  catena::Owned<Link> (*clone_)(const Link&);
};
}  // namespace internal

// A link composed of named children.
//
//   nn::Chain body;
//   auto& l1 = body.add_link("l1", nn::Linear(100));             // beside what NN_MEMBERS lists in a derived class
//   for (nn::Link& child : body) ...                             // children() gives the names, too
class CATENA_EXPORT Chain : public Link {
 public:
  // Errors as for add_param.
  template <class L> std::decay_t<L>& add_link(const std::string& name, L&& link) {
    return static_cast<std::decay_t<L>&>(own_link(name, internal::AnyLink(std::forward<L>(link))));
  }
  Link& operator[](std::string_view name) const;  // the child of that name; KeyError listing the names

  // Visits the children in order.
  class CATENA_EXPORT Iterator {
   public:
    Iterator(const Chain* chain, std::size_t index) : chain_(chain), index_(index) {}
    Link& operator*() const;
    Iterator& operator++() noexcept {
      ++index_;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const Chain* chain_;
    std::size_t index_;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const;
};

// How nn::copy copies a model. share: new variables over the same arrays and persistents, without gradients. copy:
// independent arrays, like a C++ copy. init: independent arrays, parameters newly initialised.
enum class CopyMode { share, copy, init };
CATENA_EXPORT void apply_copy_mode(Link& copied, const Link& source, CopyMode mode);
template <class L>
requires(std::is_base_of_v<Link, L>) L copy(const L& link, CopyMode mode = CopyMode::share) {
  L result(link);
  apply_copy_mode(result, link, mode);
  return result;
}

namespace internal {

CATENA_EXPORT std::string indexed_name(std::string_view name, std::size_t i);  // "blocks/0"

// Of containers every element is visited ("blocks/0", as a ChainList would name them), of optionals and pointers what
// is there.
template <class M> void visit_member(MemberVisitor& v, std::string_view name, M& member) {
  if constexpr (std::is_base_of_v<Parameter, M>) {
    v.parameter(name, member);
  } else if constexpr (std::is_base_of_v<Link, M>) {
    v.link(name, member);
  } else if constexpr (requires { v.persistent(name, member); }) {
    v.persistent(name, member);
  } else if constexpr (requires { member.has_value(); }) {
    if (member.has_value()) visit_member(v, name, *member);
  } else if constexpr (requires {
                         member.get();
                         *member;
                       }) {
    if (member.get() == nullptr) return;
    if constexpr (std::is_copy_constructible_v<M> && std::is_base_of_v<Link, std::remove_cvref_t<decltype(*member)>>)
      v.shared_link(name, *member);
    else visit_member(v, name, *member);
  } else if constexpr (std::is_array_v<M> || requires { member.begin(); }) {
    std::size_t i = 0;
    for (auto& element : member) visit_member(v, indexed_name(name, i++), element);
  } else {
    static_assert(
        std::is_base_of_v<Link, M>,
        "NN_MEMBERS lists links, Parameters, Persistents, bool, std::int64_t, double, std::string, and optionals, "
        "smart pointers, vectors and arrays of them");
  }
}
// `names` is the macro's argument list as text: "l1, l2".
template <class... M> void visit_all(MemberVisitor& v, std::string_view names, M&... members) {
  [[maybe_unused]] auto next = [&names] {
    const auto begin = names.find_first_not_of(" ");
    const auto end = names.find(',', begin);
    std::string_view name = names.substr(begin, end == names.npos ? end : end - begin);
    names = end == names.npos ? std::string_view() : names.substr(end + 1);
    while (!name.empty() && (name.back() == ' ' || name.back() == '_')) name.remove_suffix(1);
    return name;
  };
  (visit_member(v, next(), members), ...);
}

// The link whose call is in progress on this thread; errors below it name the path from the outermost one.
class CATENA_EXPORT CallScope {
 public:
  explicit CallScope(const Link& root) noexcept;
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  friend std::string path_in_call(const Link& link);
  const Link* root_;
  const CallScope* outer_;
};
// In a catch clause: throws the exception in flight again, with "/path/of/link: Type: detail" ahead of its message
// unless a link further down has done so. Errors of Catena's basic classes only; all others pass unchanged.
[[noreturn]] CATENA_EXPORT void rethrow_at(const Link& link, std::string_view type, const std::string& detail = {});
// "x is float64, W float32: x.astype(float32)", or nothing where the dtypes agree or are not there.
CATENA_EXPORT std::string dtype_detail(const Variable& x, const Parameter& W);

[[noreturn]] CATENA_EXPORT void throw_not_callable(const char* type, std::size_t num_args);
template <class Self> Variable apply(Self& self, const Variables& a) {
  if constexpr (requires {
                  { self(a) } -> std::convertible_to<Variable>;
                })
    return self(a);
  if constexpr (requires {
                  { self(a[0]) } -> std::convertible_to<Variable>;
                })
    if (a.size() == 1) return self(a[0]);
  if constexpr (requires {
                  { self(a[0], a[0]) } -> std::convertible_to<Variable>;
                })
    if (a.size() == 2) return self(a[0], a[1]);
  if constexpr (requires {
                  { self(a[0], a[0], a[0]) } -> std::convertible_to<Variable>;
                })
    if (a.size() == 3) return self(a[0], a[1], a[2]);
  throw_not_callable(typeid(Self).name(), a.size());
}
// Calls apply(self, args) within a CallScope, with errors located.
CATENA_EXPORT Variable invoke_at(Link& self, const std::type_info& type, const Variables& args,
                                 Variable (*apply)(Link& self, const Variables& args));
template <class Self> Variable invoke(Self& self, const Variables& args) {
  return invoke_at(self, typeid(Self), args,
                   [](Link& link, const Variables& a) { return apply(static_cast<Self&>(link), a); });
}

}  // namespace internal

// Lists the members of a link class: parameters, persistents and children, and optionals, smart pointers, vectors and
// arrays of them. Their names without a trailing underscore are the keys; elements are "<name>/0", "<name>/1", ...
#define NN_MEMBERS(...) NN_MEMBERS_OF(::nn::Link __VA_OPT__(, ) __VA_ARGS__)
// The same for a class whose base class has members of its own.
#define NN_MEMBERS_OF(Base, ...)                                                 \
  void visit_declared(::nn::MemberVisitor& visitor) override {                   \
    Base::visit_declared(visitor);                                               \
    ::nn::internal::visit_all(visitor, #__VA_ARGS__ __VA_OPT__(, ) __VA_ARGS__); \
  }                                                                              \
  ::autograd::Variable call(const ::autograd::Variables& args) override { return ::nn::internal::invoke(*this, args); }

}  // namespace nn
