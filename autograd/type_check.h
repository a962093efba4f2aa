// Run-time type checks whose failure shows the failed expression and both values:
//
//   using namespace type_check;
//   expect(in_types.size() == 2, in_types[0].dtype.kind() == 'f', in_types[0].shape[1] == in_types[1].shape[1]);
//   -> Invalid operation is performed in: LinearFunction (Forward)
//
//      Expect: in_types[0].shape[1] == in_types[1].shape[1]
//      Actual: 3 != 4
//
// Conditions are expression templates: `expect` evaluates them in order (a later one may rely on an earlier one) and
// builds text only for a failure. A passing check allocates nothing. An expression has no conversion to bool, so `a &&
// b` does not compile: pass the two separately.
//
// Python operators that C++ lacks are functions: pow(a, b) prints `a ** b`, floor_div(a, b) prints `a // b`.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <catena/autograd/backend/array.h>

namespace autograd::type_check {

// Precedence of printed operators; a child with lower precedence than its parent is put in parentheses.
enum Priority : int {
  kComparison = -1,
  kOr = 0,
  kXor = 1,
  kAnd = 2,
  kShift = 3,
  kAdditive = 4,
  kMultiplicative = 5,
  kUnary = 6,
  kPower = 7,
  kAtom = 8,
};

struct ExprTag {};
// A part of a condition that messages can print.
template <class T>
concept Expression = std::derived_from<T, ExprTag>;

namespace internal {

// Values are printed as by Python's str().
inline void print_value(std::string& out, bool v) { out += v ? "True" : "False"; }
template <class T> void print_value(std::string& out, const T& v) { out += catena::concat(v); }

template <class E> void print(std::string& out, const E& e, bool parentheses) {
  if (parentheses) out += '(';
  e.print(out);
  if (parentheses) out += ')';
}
template <class E> std::string text(const E& e) {
  std::string out;
  e.print(out);
  return out;
}
template <class T> std::string value_text(const T& v) {
  std::string out;
  print_value(out, v);
  return out;
}

}  // namespace internal

// ---- values ----

// A plain value, printed as it is.
template <class T> struct Constant : ExprTag {
  static constexpr int priority = kAtom;
  T value;
  constexpr explicit Constant(const T& v) : value(v) {}
  const T& eval() const { return value; }
  void print(std::string& out) const { internal::print_value(out, value); }
};

// A value that is printed as a name.
template <class T> struct Named : ExprTag {
  static constexpr int priority = kAtom;
  T value;
  std::string_view name;
  Named(const T& v, std::string_view n) : value(v), name(n) {}
  const T& eval() const { return value; }
  void print(std::string& out) const { out += name; }
  template <class I> auto operator[](const I& index) const;
};

namespace internal {
template <class T> auto plain(const T& v) {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, char> || std::is_floating_point_v<T>) return v;
  else if constexpr (std::is_integral_v<T>) return static_cast<std::int64_t>(v);
  else if constexpr (std::is_convertible_v<T, std::string_view>) return std::string_view(v);
  else return v;
}
}  // namespace internal

template <class T> auto wrap(const T& v) {
  if constexpr (Expression<T>) return v;
  else return Constant<decltype(internal::plain(v))>(internal::plain(v));
}
// variable(n, "in_size"): a value that messages show as a name. The name must outlive the expression (a literal does).
template <class T> auto variable(const T& value, std::string_view name) {
  return Named<decltype(internal::plain(value))>(internal::plain(value), name);
}

// ---- indexing ----

// x[slice(1, {}, 2)] prints x[1::2] as Python does.
struct Slice {
  std::optional<std::int64_t> start, stop, step;
};
inline Slice slice(std::optional<std::int64_t> start = {}, std::optional<std::int64_t> stop = {},
                   std::optional<std::int64_t> step = {}) {
  return {start, stop, step};
}
struct Ellipsis {};
inline constexpr Ellipsis ellipsis{};
// x[at(0, 1)] prints x[0, 1].
template <class... I> struct At { std::tuple<I...> indices; };
template <class... I> auto at(const I&... i) { return At<decltype(internal::plain(i))...>{{internal::plain(i)...}}; }

namespace internal {

CATENA_EXPORT std::int64_t element(const Dims& d, std::int64_t i);  // Python's d[i]; IndexError
CATENA_EXPORT Dims elements(const Dims& d, const Slice& s);
CATENA_EXPORT void print_index(std::string& out, const Slice& s);
inline void print_index(std::string& out, Ellipsis) { out += "..."; }
template <class I> void print_index(std::string& out, const I& i) {
  if constexpr (Expression<I>) i.print(out);
  else print_value(out, i);
}
template <class... I> void print_index(std::string& out, const At<I...>& a) {
  int k = 0;
  std::apply([&](const auto&... i) { ((out += k++ ? ", " : "", print_index(out, i)), ...); }, a.indices);
}
template <class V, class I> decltype(auto) take(const V& v, const I& i) {
  if constexpr (Expression<I>) return take(v, i.eval());
  else if constexpr (std::is_same_v<I, Slice>) return elements(v, i);
  else if constexpr (std::is_same_v<I, Ellipsis>) return V(v);
  else if constexpr (std::is_same_v<V, Dims>) return element(v, i);
  else return v[i];
}

}  // namespace internal

template <class E, class I> struct Item : ExprTag {
  static constexpr int priority = kAtom;
  E object;
  I index;
  Item(const E& o, const I& i) : object(o), index(i) {}
  decltype(auto) eval() const { return internal::take(object.eval(), index); }
  void print(std::string& out) const {
    internal::print(out, object, E::priority < kAtom);
    out += '[';
    internal::print_index(out, index);
    out += ']';
  }
};
template <class T> template <class I> auto Named<T>::operator[](const I& index) const {
  return Item<Named, decltype(internal::plain(index))>(*this, internal::plain(index));
}

// ---- the types of a function's inputs ----

// The shape and the dtype of an input.
struct TypeInfo {
  Shape shape;
  Dtype dtype = Dtype::float32;
  int ndim() const noexcept { return shape.size(); }
};

class TypeInfoTuple;

namespace internal {
struct EntryBase : ExprTag {
  static constexpr int priority = kAtom;
  const TypeInfoTuple* tuple;
  int index;
  EntryBase(const TypeInfoTuple* t, int i) : tuple(t), index(i) {}
  CATENA_EXPORT void print(std::string& out) const;  // in_types[i]
  CATENA_EXPORT const Shape& shape_value() const;
  CATENA_EXPORT Dtype dtype_value() const;
};
}  // namespace internal

struct ShapeOf : internal::EntryBase {
  using EntryBase::EntryBase;
  const Shape& eval() const { return shape_value(); }
  void print(std::string& out) const { EntryBase::print(out), out += ".shape"; }
  template <class I> auto operator[](const I& i) const {
    return Item<ShapeOf, decltype(internal::plain(i))>(*this, internal::plain(i));
  }
};
struct NdimOf : internal::EntryBase {
  using EntryBase::EntryBase;
  std::int64_t eval() const { return shape_value().size(); }
  void print(std::string& out) const { EntryBase::print(out), out += ".ndim"; }
};
struct KindOf : internal::EntryBase {
  using EntryBase::EntryBase;
  char eval() const { return catena::kind_char(dtype_value()); }
  void print(std::string& out) const { EntryBase::print(out), out += ".dtype.kind"; }
};
struct CharOf : internal::EntryBase {
  using EntryBase::EntryBase;
  char eval() const { return catena::char_of(dtype_value()); }
  void print(std::string& out) const { EntryBase::print(out), out += ".dtype.char"; }
};
struct DtypeOf : internal::EntryBase {
  using EntryBase::EntryBase;
  Dtype eval() const { return dtype_value(); }
  void print(std::string& out) const { EntryBase::print(out), out += ".dtype"; }
  KindOf kind() const { return {tuple, index}; }       // one of b, u, i, f
  CharOf character() const { return {tuple, index}; }  // printed as .char
};
// in_types[i].
struct Entry {
  ShapeOf shape;
  NdimOf ndim;
  DtypeOf dtype;
};
struct SizeOf : ExprTag {
  static constexpr int priority = kAtom;
  std::int64_t size;
  std::string_view name;
  SizeOf(std::int64_t n, std::string_view s) : size(n), name(s) {}
  std::int64_t eval() const { return size; }
  void print(std::string& out) const { (out += name) += ".size"; }
};

// The types of all inputs, as expressions: entries are read when a condition is evaluated. Refers to the arrays or
// types from which it was constructed, which must outlive it.
class TypeInfoTuple {
 public:
  explicit TypeInfoTuple(std::span<const Array> arrays, std::string_view name = "in_types") noexcept
      : arrays_(arrays), name_(name) {}
  explicit TypeInfoTuple(std::span<const TypeInfo> types, std::string_view name = "in_types") noexcept
      : types_(types), name_(name) {}

  SizeOf size() const noexcept { return {std::int64_t(count()), name_}; }
  Entry operator[](int i) const noexcept { return {{this, i}, {this, i}, {this, i}}; }

  // Direct access, for loops over the inputs.
  std::size_t count() const noexcept { return arrays_.size() + types_.size(); }
  const Shape& shape(std::size_t i) const noexcept { return types_.empty() ? arrays_[i].shape() : types_[i].shape; }
  Dtype dtype(std::size_t i) const noexcept { return types_.empty() ? arrays_[i].dtype() : types_[i].dtype; }
  std::string_view name() const noexcept { return name_; }

 private:
  std::span<const Array> arrays_;
  std::span<const TypeInfo> types_;
  std::string_view name_;
};

// ---- operators ----

namespace internal {

CATENA_EXPORT std::int64_t floor_divide(std::int64_t a, std::int64_t b);  // Python's // and %; ValueError for b == 0
CATENA_EXPORT std::int64_t modulo(std::int64_t a, std::int64_t b);
CATENA_EXPORT std::int64_t power(std::int64_t a, std::int64_t b);
CATENA_EXPORT double floor_divide(double a, double b);
CATENA_EXPORT double modulo(double a, double b);
CATENA_EXPORT double power(double a, double b);

#define CATENA_TYPE_CHECK_OPERATOR(Name, symbol, level, expression)                              \
  struct Name {                                                                                  \
    static constexpr int priority = level;                                                       \
    static constexpr const char* text = symbol;                                                  \
    template <class A, class B> static auto apply(const A& a, const B& b) { return expression; } \
  }
CATENA_TYPE_CHECK_OPERATOR(Or, "|", kOr, a | b);
CATENA_TYPE_CHECK_OPERATOR(Xor, "^", kXor, a ^ b);
CATENA_TYPE_CHECK_OPERATOR(And, "&", kAnd, a& b);
CATENA_TYPE_CHECK_OPERATOR(ShiftLeft, "<<", kShift, a << b);
CATENA_TYPE_CHECK_OPERATOR(ShiftRight, ">>", kShift, a >> b);
CATENA_TYPE_CHECK_OPERATOR(Add, "+", kAdditive, a + b);
CATENA_TYPE_CHECK_OPERATOR(Sub, "-", kAdditive, a - b);
CATENA_TYPE_CHECK_OPERATOR(Mul, "*", kMultiplicative, a* b);
CATENA_TYPE_CHECK_OPERATOR(Div, "/", kMultiplicative, static_cast<double>(a) / static_cast<double>(b));
CATENA_TYPE_CHECK_OPERATOR(FloorDiv, "//", kMultiplicative, floor_divide(a, b));
CATENA_TYPE_CHECK_OPERATOR(Mod, "%", kMultiplicative, modulo(a, b));
CATENA_TYPE_CHECK_OPERATOR(Pow, "**", kPower, power(a, b));
CATENA_TYPE_CHECK_OPERATOR(Eq, "==", kComparison, a == b);
CATENA_TYPE_CHECK_OPERATOR(Ne, "!=", kComparison, !(a == b));
CATENA_TYPE_CHECK_OPERATOR(Lt, "<", kComparison, a < b);
CATENA_TYPE_CHECK_OPERATOR(Gt, ">", kComparison, a > b);
CATENA_TYPE_CHECK_OPERATOR(Le, "<=", kComparison, a <= b);
CATENA_TYPE_CHECK_OPERATOR(Ge, ">=", kComparison, a >= b);
#undef CATENA_TYPE_CHECK_OPERATOR

template <class Op> constexpr const char* inverse() {
  if constexpr (std::is_same_v<Op, Eq>) return "!=";
  else if constexpr (std::is_same_v<Op, Ne>) return "==";
  else if constexpr (std::is_same_v<Op, Lt>) return ">=";
  else if constexpr (std::is_same_v<Op, Gt>) return "<=";
  else if constexpr (std::is_same_v<Op, Le>) return ">";
  else return "<";
}

}  // namespace internal

template <class Op, class L, class R> struct Binary : ExprTag {
  static constexpr int priority = Op::priority;
  static constexpr bool right_associative = Op::priority == kPower;
  L left;
  R right;
  Binary(const L& l, const R& r) : left(l), right(r) {}
  auto eval() const { return Op::apply(left.eval(), right.eval()); }
  void print(std::string& out) const {
    internal::print(out, left, priority > L::priority || (right_associative && priority == L::priority));
    ((out += ' ') += Op::text) += ' ';
    internal::print(out, right, priority > R::priority || (!right_associative && priority == R::priority));
  }
};

template <class E> struct Unary : ExprTag {
  static constexpr int priority = kUnary;
  char symbol;
  E operand;
  Unary(char s, const E& e) : symbol(s), operand(e) {}
  auto eval() const {
    const auto v = operand.eval();
    if constexpr (std::is_integral_v<decltype(v)>) return symbol == '-' ? -v : symbol == '~' ? ~v : v;
    else return symbol == '-' ? -v : v;
  }
  void print(std::string& out) const {
    out += symbol;
    internal::print(out, operand, E::priority < kUnary);
  }
};
template <Expression E> Unary<E> operator-(const E& e) { return {'-', e}; }
template <Expression E> Unary<E> operator+(const E& e) { return {'+', e}; }
template <Expression E> Unary<E> operator~(const E& e) { return {'~', e}; }

namespace internal {
template <class Op, class A, class B> auto binary(const A& a, const B& b) {
  return Binary<Op, decltype(wrap(a)), decltype(wrap(b))>(wrap(a), wrap(b));
}
}  // namespace internal

template <class A, class B>
concept Operands = Expression<A> || Expression<B>;
#define CATENA_TYPE_CHECK_BINARY(function, Op) \
  template <class A, class B>                  \
  requires Operands<A, B>                      \
  auto function(const A& a, const B& b) { return internal::binary<internal::Op>(a, b); }
CATENA_TYPE_CHECK_BINARY(operator|, Or)
CATENA_TYPE_CHECK_BINARY(operator^, Xor)
CATENA_TYPE_CHECK_BINARY(operator&, And)
CATENA_TYPE_CHECK_BINARY(operator<<, ShiftLeft)
CATENA_TYPE_CHECK_BINARY(operator>>, ShiftRight)
CATENA_TYPE_CHECK_BINARY(operator+, Add)
CATENA_TYPE_CHECK_BINARY(operator-, Sub)
CATENA_TYPE_CHECK_BINARY(operator*, Mul)
CATENA_TYPE_CHECK_BINARY(operator/, Div)
CATENA_TYPE_CHECK_BINARY(operator%, Mod)
CATENA_TYPE_CHECK_BINARY(floor_div, FloorDiv)
CATENA_TYPE_CHECK_BINARY(pow, Pow)
CATENA_TYPE_CHECK_BINARY(operator==, Eq)
CATENA_TYPE_CHECK_BINARY(operator!=, Ne)
CATENA_TYPE_CHECK_BINARY(operator<, Lt)
CATENA_TYPE_CHECK_BINARY(operator>, Gt)
CATENA_TYPE_CHECK_BINARY(operator<=, Le)
CATENA_TYPE_CHECK_BINARY(operator>=, Ge)
#undef CATENA_TYPE_CHECK_BINARY

// ---- calls, tuples and lists ----

template <class F, class... E> struct Call : ExprTag {
  static constexpr int priority = kAtom;
  F function;
  std::string_view name;
  std::tuple<E...> arguments;
  Call(const F& f, std::string_view n, const E&... e) : function(f), name(n), arguments(e...) {}
  auto eval() const {
    return std::apply([this](const auto&... e) { return internal::plain(function(e.eval()...)); }, arguments);
  }
  void print(std::string& out) const {
    (out += name) += '(';
    int k = 0;
    std::apply([&](const auto&... e) { ((out += k++ ? ", " : "", e.print(out)), ...); }, arguments);
    out += ')';
  }
};
// function("sum", f)(in_types[0].shape) prints sum(in_types[0].shape).
template <class F> auto function(std::string_view name, const F& f) {
  return [name, f](const auto&... arguments) {
    return Call<F, decltype(wrap(arguments))...>(f, name, wrap(arguments)...);
  };
}
template <Expression E> auto prod(const E& e) {
  return function("prod", [](const Dims& d) { return catena::size_of(d); })(e);
}

template <bool kList, class... E> struct Sequence : ExprTag {
  static constexpr int priority = kAtom;
  std::tuple<E...> elements;
  explicit Sequence(const E&... e) : elements(e...) {}
  Dims eval() const {
    Dims d;
    std::apply([&](const auto&... e) { (d.push_back(static_cast<std::int64_t>(e.eval())), ...); }, elements);
    return d;
  }
  void print(std::string& out) const {
    out += kList ? '[' : '(';
    int k = 0;
    std::apply([&](const auto&... e) { ((out += k++ ? ", " : "", e.print(out)), ...); }, elements);
    if (!kList && sizeof...(E) == 1) out += ',';
    out += kList ? ']' : ')';
  }
};
// (a, b) and [a, b], to be compared with a shape.
template <class... E> auto tuple(const E&... e) { return Sequence<false, decltype(wrap(e))...>(wrap(e)...); }
template <class... E> auto list(const E&... e) { return Sequence<true, decltype(wrap(e))...>(wrap(e)...); }

// Returns the text of an expression.
template <Expression E> std::string to_string(const E& e) { return internal::text(e); }

// ---- expect ----

namespace internal {
template <class Op, class L, class R>
[[noreturn, gnu::cold, gnu::noinline]] void fail(const Binary<Op, L, R>& condition) {
  throw catena::InvalidType(text(condition), value_text(condition.left.eval()) + " " + inverse<Op>() + " " +
                                                 value_text(condition.right.eval()));
}
template <class Op, class L, class R> void expect_one(const Binary<Op, L, R>& condition) {
  static_assert(Op::priority == kComparison, "expect takes comparisons");
  if (!condition.eval()) [[unlikely]]
    fail(condition);
}
}  // namespace internal

// Throws an InvalidType for the first condition that is false.
template <class... C> void expect(const C&... condition) { (internal::expect_one(condition), ...); }

// True if all arrays have the same backend and kind of device.
CATENA_EXPORT bool same_types(std::span<const Array> arrays) noexcept;

}  // namespace autograd::type_check
