// NN_MEMBERS, which lists the members of a link class, and what it generates: the visit of the members and the call of
// the class's operator() or forward() for a list of arguments.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>

#include <catena/nn/member_visitor.h>

namespace nn {

class Link;

namespace internal {

CATENA_EXPORT std::string indexed_name(std::string_view name, std::size_t i);  // "blocks/0"

// For containers, visits every element ("blocks/0", as a ChainList would name it); for optionals and pointers, the
// object if there is one.
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
        std::is_invocable_v<M&, const Variable&>,
        "NN_MEMBERS lists links, Parameters, Persistents, bool, std::int64_t, double, std::string, and optionals, "
        "smart pointers, vectors and arrays of them; functions of a Variable, such as nn::Dropout, have no parameters "
        "and need not be listed");
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

// A call of a link in progress on this thread; errors inside it name the path from the outermost link.
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
// To be called in a catch clause: rethrows the current exception with "/path/of/link: Type: detail" before its message,
// unless an inner link has added a path. Only errors of Catena's basic classes are changed.
[[noreturn]] CATENA_EXPORT void rethrow_at(const Link& link, std::string_view type, const std::string& detail = {});
// Returns "x is float64, W float32: x.astype(float32)"; empty if the dtypes agree or are unknown.
CATENA_EXPORT std::string dtype_detail(const Variable& x, const Parameter& W);

struct NotCallable {};
[[noreturn]] CATENA_EXPORT void throw_not_callable(const char* type, std::size_t num_args);
// True if the class hides the operator() of Link by one of its own.
template <class Self>
concept HasOwnCall = !requires(Self & self, NotCallable n) {
  { self(n) } -> std::same_as<NotCallable>;
};
template <class Self, class F> Variable apply_to(Self& self, const Variables& a, const F& f) {
  if constexpr (std::is_invocable_r_v<Variable, F, Self&, const Variables&>) return f(self, a);
  if constexpr (std::is_invocable_r_v<Variable, F, Self&, const Variable&>)
    if (a.size() == 1) return f(self, a[0]);
  if constexpr (std::is_invocable_r_v<Variable, F, Self&, const Variable&, const Variable&>)
    if (a.size() == 2) return f(self, a[0], a[1]);
  if constexpr (std::is_invocable_r_v<Variable, F, Self&, const Variable&, const Variable&, const Variable&>)
    if (a.size() == 3) return f(self, a[0], a[1], a[2]);
  throw_not_callable(typeid(Self).name(), a.size());
}
// True if the class does not hide the forward() of Link by one of its own.
template <class Self>
concept HasForwardOfLink = requires(void (*take)(Variable (Link::*)(const Variables&))) {
  take(&Self::forward);
};
template <class Self> Variable apply(Self& self, const Variables& a) {
  if constexpr (HasOwnCall<Self>)
    return apply_to(self, a, [](auto& s, const auto&... x) -> decltype(s(x...)) { return s(x...); });
  else if constexpr (HasForwardOfLink<Self>) throw_not_callable(typeid(Self).name(), a.size());
  else return apply_to(self, a, [](auto& s, const auto&... x) -> decltype(s.forward(x...)) { return s.forward(x...); });
}
// Calls apply(self, args) within a CallScope; errors get the path of the link.
CATENA_EXPORT Variable invoke_at(Link& self, const std::type_info& type, const Variables& args,
                                 Variable (*apply)(Link& self, const Variables& args));
template <class Self> Variable invoke(Self& self, const Variables& args) {
  return invoke_at(self, typeid(Self), args,
                   [](Link& link, const Variables& a) { return apply(static_cast<Self&>(link), a); });
}

}  // namespace internal

// Lists the members of a link class: parameters, persistents and children, and optionals, smart pointers, vectors and
// arrays of them. Functions, such as nn::ReLU, may be listed, which has no effect. The keys are their names without a
// trailing underscore; elements are "<name>/0", "<name>/1", ...
#define NN_MEMBERS(...) NN_MEMBERS_OF(::nn::Link __VA_OPT__(, ) __VA_ARGS__)
// The same for a class whose base class has its own members.
#define NN_MEMBERS_OF(Base, ...)                                                 \
  void visit_declared(::nn::MemberVisitor& visitor) override {                   \
    Base::visit_declared(visitor);                                               \
    ::nn::internal::visit_all(visitor, #__VA_ARGS__ __VA_OPT__(, ) __VA_ARGS__); \
  }                                                                              \
  ::autograd::Variable call(const ::autograd::Variables& args) override { return ::nn::internal::invoke(*this, args); }

}  // namespace nn
