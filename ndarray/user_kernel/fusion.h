// fuse: turns a function of array operations into one elementwise kernel or one reduction.
//
//   auto gelu_like = nd::fuse([](auto x, auto y) { return nd::tanh(x * y + 1) / (nd::exp(-x) + 2); });
//   nd::Array z = gelu_like(a, b);           // one kernel on CUDA, one pass through blocks of 1024 elements on the CPU
//   auto axpy = nd::fuse([](auto& y, auto x, auto a) { y += x * a; });
//   axpy(y, x, 0.5);                          // writes y
//   auto distance = nd::fuse([](auto x, auto y) { return nd::square(x - y); },
//                            {.reduce = nd::Reduction::sum, .post_map = [](auto s) { return nd::sqrt(s); }});
//   nd::Array d = distance(a, b, {.axis = 1});  // nd::sqrt(nd::sum(nd::square(a - b), {.axis = 1})), nothing stored
//
// The function is called with Traced values instead of arrays. It may use the elementwise functions of math.h,
// including those with two results, operators, where, clip, copy and astype; elements and shapes are not available.
// Dtypes follow the rules of each function step by step, and every step rounds to its dtype, so the result has the same
// bits and dtypes as the unfused computation (always on the CPU; on CUDA if each function does). Numbers among the
// arguments are C++ numbers of their types: an operator on two of them computes as in C++ (for a double h, 2.0 * h is a
// double, which does not promote an array; 1 / 2 of ints is 0). Arguments broadcast; all results have the common shape
// of the arrays that the function reads. Assigning to a parameter taken by reference (+= and so on) writes the
// argument.
//
// A function without captures is traced once for each list of dtypes of its arguments; the program is kept until the
// process ends. The function must therefore not read variables that change, such as globals: they would keep the values
// of the first call. A function with captures is traced in every call, because they may change: numbers that vary are
// better passed as arguments. Compiled kernels are found by the steps and dtypes of the trace. On the CPU, functions
// that run often are compiled by the system's compiler, with the same bits (ndarray/cpu/compiled_program.h).
//
// Arguments on several devices are not fused: after a UserWarning the steps are executed one by one, which is an error
// if one of them needs arrays of two devices.
//
// A fused reduction has one result; its elements are reduced as nd::sum, prod, amax, amin, all and any reduce an array,
// with the same dtypes. On the CPU the result has the same bits; on CUDA it does if the first argument of the full
// shape is C-contiguous. The post map, a function of one value, is applied to the reduced value. On CUDA the whole
// computation is one kernel; in a captured graph it is two if several blocks share the elements of a result. On the
// CPU, blocks of elements are reduced while they are in the cache.
//
// One kernel has at most 16 arguments, results and different constants, and 32 values at the same time. A longer
// function is split into several kernels, between which values are stored in arrays.
//
// Errors: TypeError for arguments without an array, for an assignment to a scalar, and for an assignment in a
// reduction; and the errors of the functions and of the reduction. Thread safety: as thread-safe as the function
// itself.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/kernels/registry/kernel_declaration.h>
#include <catena/ndarray/core/array.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/user_kernel/host_number.h>

namespace nd {

namespace internal {
class Trace;
}

// A value inside a fused function.
class CATENA_EXPORT Traced {
 public:
  Dtype dtype() const;
  Traced astype(Dtype dtype) const;
  Traced copy() const;

  // Used by Trace.
  Traced(internal::Trace* trace, int value) noexcept : trace_(trace), value_(value) {}
  internal::Trace* trace() const noexcept { return trace_; }
  int value() const noexcept { return value_; }

 private:
  internal::Trace* trace_;
  int value_;
};

// An argument of a step: a traced value or a constant.
class TracedOperand {
 public:
  TracedOperand(const Traced& x) noexcept : trace_(x.trace()), value_(x.value()) {}
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T> || catena::foreign_complex<T>>>
  TracedOperand(T v) : constant_{v, internal::number_type<T>()} {}
  TracedOperand(const Scalar& v) : constant_{v, internal::widest_type(v)} {}
  internal::Trace* trace() const noexcept { return trace_; }  // null for a constant
  int value() const noexcept { return value_; }
  const internal::HostNumber& constant() const noexcept { return constant_; }

 private:
  internal::Trace* trace_ = nullptr;
  int value_ = -1;
  internal::HostNumber constant_;
};

enum class Reduction : std::uint8_t {
  amax,
  amin,
#define CATENA_REDUCTION(name, Options) name,
#include <catena/kernels/lists/reductions.inc>
#undef CATENA_REDUCTION
};

// The reduction of the results of a fused function.
struct FusedReduce {
  Reduction reduce = Reduction::sum;
  catena::Function<Traced(const Traced&)> post_map = {};  // function of the reduced value; null: none
};

namespace internal {

// The operators: steps with the kernels that compute them for arrays, except between two numbers. Operators with one
// operand pass it twice.
CATENA_EXPORT Traced trace_operator(NumberOperation op, const TracedOperand& a, const TracedOperand& b);
// a op= b: keeps the dtype of `a`, as with arrays. TypeError if casting 'same_kind' does not allow that.
CATENA_EXPORT Traced& trace_in_place(NumberOperation op, Traced& a, const TracedOperand& b);

struct TracedProgram;

// The programs of a function, by the dtypes of its arguments. Thread safety: may be used from any thread.
class CATENA_EXPORT FusionCache {
 public:
  FusionCache();
  ~FusionCache();
  FusionCache(const FusionCache&) = delete;
  FusionCache& operator=(const FusionCache&) = delete;

  // Runs the program of an earlier call. Returns false, or a null array, if there is none for these arguments.
  bool run(std::span<const Operand> arguments, std::span<const NumberType> types, std::span<Array> results) const;
  Array reduce(std::span<const Operand> arguments, const FusedReduce& how, const TestOptions& options) const;
  void add(std::span<const Operand> arguments, std::span<const NumberType> types, const TracedProgram& program);

 private:
  struct Entry;
  struct State;
  const TracedProgram* find(std::span<const Operand> arguments, std::span<const NumberType> types) const;

  catena::Owned<State> state_;
};

// Returns the cache of a function without captures, which its type identifies; null for others.
template <class F> FusionCache* fusion_cache() {
  if constexpr (std::is_empty_v<F>) {
    static auto& cache = *new FusionCache;
    return &cache;
  } else {
    return nullptr;
  }
}

// The steps of one call.
class CATENA_EXPORT Trace {
 public:
  // The arguments must outlive this object. `types`: the types of the arguments that are numbers; empty: the widest of
  // each kind.
  explicit Trace(std::span<const Operand> arguments, std::span<const NumberType> types = {});
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  Traced argument(std::size_t k);
  // `parameters`: the traced parameters after the call; assigned ones are written back to the arguments. `results`: the
  // values that the function returned, which are stored in `returned`. The program is added to the cache, if there is
  // one.
  void run(std::span<const Traced> parameters, std::span<const Traced> results, std::span<Array> returned,
           FusionCache* cache = nullptr);
  // As run() for one result, which is reduced; no parameter may have been assigned to.
  Array reduce(std::span<const Traced> parameters, const Traced& result, const FusedReduce& how,
               const TestOptions& options, FusionCache* cache = nullptr);

  struct State;
  State& state() noexcept { return *state_; }

 private:
  catena::Owned<State> state_;
};

// Returns the results of a fused function as a list.
inline std::array<Traced, 1> traced_results(const Traced& t) { return {t}; }
template <class... T> std::array<Traced, sizeof...(T)> traced_results(const std::tuple<T...>& t) {
  return std::apply([](const auto&... v) { return std::array<Traced, sizeof...(T)>{v...}; }, t);
}
template <class A, class B> std::array<Traced, 2> traced_results(const std::pair<A, B>& t) {
  return {t.first, t.second};
}
template <std::size_t> using TracedParameter = Traced&;

}  // namespace internal

// The result of fuse: callable with arrays and scalars. Returns the function's result with arrays instead of traced
// values: an Array, a std::array of them for a tuple or a pair (auto [q, r] = f(x, y)), or nothing.
template <class F> class Fused {
 public:
  explicit Fused(F f) : f_(std::move(f)) {}

  template <class... A> auto operator()(const A&... arguments) const {
    const Operand operands[] = {Operand(arguments)...};
    static constexpr internal::NumberType types[] = {internal::number_type<A>()...};
    return call(operands, types, std::make_index_sequence<sizeof...(A)>{});
  }

 private:
  template <std::size_t... K>
  auto call(std::span<const Operand> operands, std::span<const internal::NumberType> types,
            std::index_sequence<K...>) const {
    if constexpr (!std::is_invocable_v<const F&, internal::TracedParameter<K>...>) {
      static_assert(sizeof(F) == 0,
                    "fuse calls the function with traced values: write auto for its parameters, as in "
                    "nd::fuse([](auto x, auto y) { return x * y; })");
    } else {
      using Returned = std::remove_cvref_t<std::invoke_result_t<const F&, internal::TracedParameter<K>...>>;
      internal::FusionCache* const cache = internal::fusion_cache<F>();
      if constexpr (std::is_void_v<Returned>) {
        if (cache != nullptr && cache->run(operands, types, {})) return;
        internal::Trace trace(operands, types);
        Traced parameters[] = {trace.argument(K)...};
        f_(parameters[K]...);
        trace.run(parameters, {}, {}, cache);
      } else {
        std::array<Array, std::tuple_size_v<decltype(internal::traced_results(std::declval<Returned>()))>> results;
        if (cache == nullptr || !cache->run(operands, types, results)) {
          internal::Trace trace(operands, types);
          Traced parameters[] = {trace.argument(K)...};
          const Returned returned = f_(parameters[K]...);
          trace.run(parameters, internal::traced_results(returned), results, cache);
        }
        if constexpr (std::is_same_v<Returned, Traced>) return std::move(results[0]);
        else return results;
      }
    }
  }

  F f_;
};

template <class F> Fused<F> fuse(F f) { return Fused<F>(std::move(f)); }

namespace internal {

template <std::size_t> using OperandNumber = const UnbracedOperand&;

// The call operator with sizeof...(K) parameters. They are written out because an argument in braces (the options)
// cannot be deduced after a parameter pack.
template <class Self, class Arguments> class ReducedCall;
template <class Self, std::size_t... K> class ReducedCall<Self, std::index_sequence<K...>> {
 public:
  Array operator()(OperandNumber<K>... arguments, const TestOptions& options = {}) const {
    const Operand operands[] = {arguments...};
    const auto& self = static_cast<const Self&>(*this);
    FusionCache* const cache = fusion_cache<typename Self::Function>();
    if (cache != nullptr) {
      Array reduced = cache->reduce(operands, self.how_, options);
      if (!reduced.is_null()) return reduced;
    }
    Trace trace(operands);
    Traced parameters[] = {trace.argument(K)...};
    const Traced result = self.f_(parameters[K]...);
    return trace.reduce(parameters, result, self.how_, options, cache);
  }
};
template <class Self, class Numbers> class ReducedCalls;
template <class Self, std::size_t... N>
class ReducedCalls<Self, std::index_sequence<N...>> : public ReducedCall<Self, std::make_index_sequence<N + 1>>... {
 public:
  using ReducedCall<Self, std::make_index_sequence<N + 1>>::operator()...;
};

}  // namespace internal

// The result of fuse with a reduction: callable with up to 15 arrays and scalars, followed by options (axis, out,
// keepdims) as for nd::sum.
template <class F>
class FusedReduction
    : public internal::ReducedCalls<FusedReduction<F>, std::make_index_sequence<catena::kMaxOperands - 1>> {
 public:
  using Function = F;

  FusedReduction(F f, FusedReduce how) : f_(std::move(f)), how_(std::move(how)) {}

 private:
  template <class, class> friend class internal::ReducedCall;

  F f_;
  FusedReduce how_;
};

template <class F> FusedReduction<F> fuse(F f, FusedReduce how) { return {std::move(f), std::move(how)}; }

// ---- functions of traced values: the functions of math.h ------------------------------------------------
#define CATENA_UNARY(name) CATENA_EXPORT Traced name(const Traced& x);
#define CATENA_BINARY(name)                                      \
  CATENA_EXPORT Traced name(const Traced& x1, const Traced& x2); \
  CATENA_EXPORT Traced name(const Traced& x1, const Scalar& x2); \
  CATENA_EXPORT Traced name(const Scalar& x1, const Traced& x2);
#include <catena/kernels/lists/elementwise.inc>
#undef CATENA_UNARY
#undef CATENA_BINARY

// Other names of functions of math.h.
inline Traced abs(const Traced& x) { return absolute(x); }
inline Traced asin(const Traced& x) { return arcsin(x); }
inline Traced acos(const Traced& x) { return arccos(x); }
inline Traced atan(const Traced& x) { return arctan(x); }
inline Traced asinh(const Traced& x) { return arcsinh(x); }
inline Traced acosh(const Traced& x) { return arccosh(x); }
inline Traced atanh(const Traced& x) { return arctanh(x); }
inline Traced conj(const Traced& x) { return conjugate(x); }
inline Traced degrees(const Traced& x) { return rad2deg(x); }
inline Traced radians(const Traced& x) { return deg2rad(x); }
CATENA_EXPORT Traced clip(const Traced& a, const TracedOperand& a_min, const TracedOperand& a_max);
inline Traced copy(const Traced& x) { return x.copy(); }
// The functions of math.h with two results.
CATENA_EXPORT std::pair<Traced, Traced> divmod(const Traced& x1, const TracedOperand& x2);
CATENA_EXPORT std::pair<Traced, Traced> divmod(const Scalar& x1, const Traced& x2);
CATENA_EXPORT std::pair<Traced, Traced> modf(const Traced& x);
CATENA_EXPORT std::pair<Traced, Traced> frexp(const Traced& x);
CATENA_EXPORT Traced nextafter(const Traced& x1, const TracedOperand& x2);
CATENA_EXPORT Traced nextafter(const Scalar& x1, const Traced& x2);
// The condition is true where it is not 0.
CATENA_EXPORT Traced where(const Traced& condition, const TracedOperand& x, const TracedOperand& y);

// ---- operators of traced values ------------------------------------------------------------------
namespace internal {
template <class T>
concept TracedConstant = std::is_arithmetic_v<T> || catena::foreign_complex<T>;
// The other operand beside an operand of type A: one of the two is traced.
template <class B, class A>
concept TracedBeside = (std::same_as<A, Traced> && (std::same_as<B, Traced> || TracedConstant<B>)) ||
                       (TracedConstant<A> && std::same_as<B, Traced>);
}  // namespace internal
template <class A, internal::TracedBeside<A> B> Traced atan2(const A& x1, const B& x2) { return arctan2(x1, x2); }
template <class A, internal::TracedBeside<A> B> Traced pow(const A& x1, const B& x2) { return power(x1, x2); }
template <class A, internal::TracedBeside<A> B> Traced divide(const A& x1, const B& x2) { return true_divide(x1, x2); }
template <class A, internal::TracedBeside<A> B> Traced mod(const A& x1, const B& x2) { return remainder(x1, x2); }
template <class A, internal::TracedBeside<A> B> Traced operator+(const A& a, const B& b) {
  return internal::trace_operator(internal::NumberOperation::add, a, b);
}
template <class A, internal::TracedBeside<A> B> Traced operator-(const A& a, const B& b) {
  return internal::trace_operator(internal::NumberOperation::subtract, a, b);
}
template <class A, internal::TracedBeside<A> B> Traced operator*(const A& a, const B& b) {
  return internal::trace_operator(internal::NumberOperation::multiply, a, b);
}
template <class A, internal::TracedBeside<A> B> Traced operator/(const A& a, const B& b) {
  return internal::trace_operator(internal::NumberOperation::divide, a, b);
}
template <class A, internal::TracedBeside<A> B> Traced operator%(const A& a, const B& b) {
  return internal::trace_operator(internal::NumberOperation::remainder, a, b);
}
template <class A, internal::TracedBeside<A> B> Traced operator&(const A& a, const B& b) {
  return internal::trace_operator(internal::NumberOperation::bit_and, a, b);
}
template <class A, internal::TracedBeside<A> B> Traced operator|(const A& a, const B& b) {
  return internal::trace_operator(internal::NumberOperation::bit_or, a, b);
}
template <class A, internal::TracedBeside<A> B> Traced operator^(const A& a, const B& b) {
  return internal::trace_operator(internal::NumberOperation::bit_xor, a, b);
}
template <class A, internal::TracedBeside<A> B> Traced operator<<(const A& a, const B& b) {
  return internal::trace_operator(internal::NumberOperation::shift_left, a, b);
}
template <class A, internal::TracedBeside<A> B> Traced operator>>(const A& a, const B& b) {
  return internal::trace_operator(internal::NumberOperation::shift_right, a, b);
}
template <class A, internal::TracedBeside<A> B> Traced operator==(const A& a, const B& b) {
  return internal::trace_operator(internal::NumberOperation::equal, a, b);
}
template <class A, internal::TracedBeside<A> B> Traced operator!=(const A& a, const B& b) {
  return internal::trace_operator(internal::NumberOperation::not_equal, a, b);
}
template <class A, internal::TracedBeside<A> B> Traced operator<(const A& a, const B& b) {
  return internal::trace_operator(internal::NumberOperation::less, a, b);
}
template <class A, internal::TracedBeside<A> B> Traced operator<=(const A& a, const B& b) {
  return internal::trace_operator(internal::NumberOperation::less_equal, a, b);
}
template <class A, internal::TracedBeside<A> B> Traced operator>(const A& a, const B& b) {
  return internal::trace_operator(internal::NumberOperation::greater, a, b);
}
template <class A, internal::TracedBeside<A> B> Traced operator>=(const A& a, const B& b) {
  return internal::trace_operator(internal::NumberOperation::greater_equal, a, b);
}
inline Traced operator-(const Traced& x) { return internal::trace_operator(internal::NumberOperation::negate, x, x); }
inline Traced operator~(const Traced& x) { return internal::trace_operator(internal::NumberOperation::invert, x, x); }
inline Traced& operator+=(Traced& a, const TracedOperand& b) {
  return internal::trace_in_place(internal::NumberOperation::add, a, b);
}
inline Traced& operator-=(Traced& a, const TracedOperand& b) {
  return internal::trace_in_place(internal::NumberOperation::subtract, a, b);
}
inline Traced& operator*=(Traced& a, const TracedOperand& b) {
  return internal::trace_in_place(internal::NumberOperation::multiply, a, b);
}
inline Traced& operator/=(Traced& a, const TracedOperand& b) {
  return internal::trace_in_place(internal::NumberOperation::divide, a, b);
}
inline Traced& operator%=(Traced& a, const TracedOperand& b) {
  return internal::trace_in_place(internal::NumberOperation::remainder, a, b);
}
inline Traced& operator&=(Traced& a, const TracedOperand& b) {
  return internal::trace_in_place(internal::NumberOperation::bit_and, a, b);
}
inline Traced& operator|=(Traced& a, const TracedOperand& b) {
  return internal::trace_in_place(internal::NumberOperation::bit_or, a, b);
}
inline Traced& operator^=(Traced& a, const TracedOperand& b) {
  return internal::trace_in_place(internal::NumberOperation::bit_xor, a, b);
}
inline Traced& operator<<=(Traced& a, const TracedOperand& b) {
  return internal::trace_in_place(internal::NumberOperation::shift_left, a, b);
}
inline Traced& operator>>=(Traced& a, const TracedOperand& b) {
  return internal::trace_in_place(internal::NumberOperation::shift_right, a, b);
}

}  // namespace nd
