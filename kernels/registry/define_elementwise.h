// Elementwise kernels.
#pragma once

#include <catena/kernels/registry/define.h>
#include <catena/kernels/registry/tiled_loop.h>

namespace catena::define {

template <class Body, class... L> ND_FN void run_contiguous(std::int64_t n, L... lane) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) Body::run(lane[i]...);
}

// Number of strided elements of one or two bytes from which on tiles, which are filled and computed in vectors, are
// faster than a loop over the elements. For wider elements, tiles are not faster.
inline constexpr std::int64_t kWorthTiles = 128;

// Returns an element as the body takes it: an input by value, an output by reference.
template <bool kInput, class T> ND_FN decltype(auto) element_at(T* p) {
  if constexpr (kInput && is_same<T, bool>) return element<bool>(p);
  else return (*p);
}

template <class Body, int kInputs, int... K, class... T>
ND_FN void run_strided(std::int64_t n, const std::int64_t* stride, std::integer_sequence<int, K...>, T*... p) {
  for (std::int64_t i = 0; i < n; ++i) {
    Body::run(element_at<(K < kInputs)>(p)...);
    ((p = reinterpret_cast<T*>(reinterpret_cast<char*>(p) + stride[K])), ...);
  }
}

// Returns the loop of operands that are stored in their compute types.
template <fixed_string S> constexpr TiledLoop tiled_loop(ElementwiseFn run, bool whole_blocks) {
  constexpr const Signature& s = signature_of<S>;
  return {run, s.type, s.type, s.count[0], s.count[1], s.count[2], whole_blocks};
}

template <class Body, fixed_string S, class Seq> struct Elementwise;
template <class Body, fixed_string S, std::size_t... K> struct Elementwise<Body, S, std::index_sequence<K...>> {
  static constexpr int nin = signature_of<S>.count[0];
  static constexpr bool kNarrow = sizeof(computed_t<S, 0>) <= 2;
  // True if a loop over strided elements is worth its code. Results that are updated in place depend on comparisons,
  // which are jumps in such a loop.
  static constexpr bool kMayStride = nin <= 2 && signature_of<S>.count[1] == 0;
  template <unsigned Scalars> static ND_FN void contiguous(std::byte* const* p, std::int64_t n) {
    run_contiguous<Body>(n, operand_t<computed_t<S, int(K)>, ((Scalars >> K) & 1) != 0, (int(K) < nin)>(p[K])...);
  }
  // Sets bit k of `scalars` if operand k has stride 0. Returns true if all other operands are contiguous.
  static ND_FN bool classify(const std::int64_t* s, unsigned& scalars) {
    scalars = 0;
    ((scalars |= (s[K] == 0 ? 1u << K : 0u)), ...);
    return ((((scalars >> K) & 1) || s[K] == std::int64_t(sizeof(computed_t<S, int(K)>))) && ...);
  }
  CATENA_MULTIARCH static void run(std::byte* const* p, const std::int64_t* s, std::int64_t n) {
    unsigned scalars;
    if (n == 1) return contiguous<0>(p, 1);
    if (classify(s, scalars)) {
      if (scalars == 0) return contiguous<0>(p, n);
      // int64 beside uint64 is rare: a repeated operand of such a pair takes the strided loop.
      if constexpr (nin == 2 && signature_of<S>.type[0] == signature_of<S>.type[1]) {
        if (scalars == 1) return contiguous<1>(p, n);
        if (scalars == 2) return contiguous<2>(p, n);
      } else if constexpr (nin > 2) {
        constexpr unsigned all_but_first = ((1u << nin) - 1) & ~1u, all_but_two = all_but_first & ~2u;
        if (scalars == all_but_first) return contiguous<all_but_first>(p, n);
        if (nin > 3 && scalars == all_but_two) return contiguous<all_but_two>(p, n);
      }
    }
    if (!kMayStride || (kNarrow && n >= kWorthTiles)) return run_tiled(tiled, p, s, n);
    if constexpr (kMayStride)
      run_strided<Body, nin>(n, s, std::integer_sequence<int, int(K)...>(),
                             reinterpret_cast<computed_t<S, int(K)>*>(p[K])...);
  }
  static constexpr TiledLoop tiled = tiled_loop<S>(&run, false);

  // For bodies that call vector mathematics: computes whole blocks only; run_padded() fills up the last one.
  CATENA_MULTIARCH static void run_blocks(std::byte* const* p, const std::int64_t*, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += kVectorBlock)
      run_contiguous<Body>(kVectorBlock, operand_t<computed_t<S, int(K)>, false, (int(K) < nin)>(
                                             p[K] + i * std::int64_t(sizeof(computed_t<S, int(K)>)))...);
  }
  static constexpr TiledLoop in_blocks = tiled_loop<S>(&run_blocks, true);
  static void run_whole(std::byte* const* p, const std::int64_t* s, std::int64_t n) { run_padded(in_blocks, p, s, n); }

  // Integers have no vector mathematics, so transcendental kernels compute them exactly, without blocks.
  static constexpr bool exact = ((!is_float<real_of_t<computed_t<S, int(K)>>>)&&...);
};

// Provides the function for operands of signature S, given the loop for operands of signature H.
template <fixed_string S, fixed_string H, ElementwiseFn Host> struct Cast {
  static constexpr Signature to = signature_of<H>;
  // True if the loop can read the operand without conversion: it has the loop's type, or another type with the same
  // bits.
  static constexpr bool readable_in_place(Dtype from, Dtype to) {
    return itemsize(from) == itemsize(to) && (is_floating(from) || !is_floating(to));
  }
  static constexpr Signature make_from() {
    Signature from = signature_of<compute_signature<S>>;
    for (std::size_t k = 0; k < std::size_t(from.n); ++k)
      if (readable_in_place(from.type[k], to.type[k])) from.type[k] = to.type[k];
    return from;
  }
  static constexpr Signature from = make_from();
  static constexpr TiledLoop tiled = {Host, from.type, to.type, from.count[0], from.count[1], from.count[2], false};
  static void run(std::byte* const* p, const std::int64_t* s, std::int64_t n) { run_tiled(tiled, p, s, n); }
  static constexpr ElementwiseFn function = from.type == to.type ? Host : &run;
};

// Body::exact_form, if the body has one: its loops for bool and integers give the same results as those of Body.
template <class Body, bool kExact> struct SharedBody { using type = Body; };
template <class Body>
requires requires { typename Body::exact_form; }
struct SharedBody<Body, true> {
  using type = typename Body::exact_form;
};

template <class Body, fixed_string S, Sharing Share> constexpr ElementwiseFn elementwise_loop() {
  constexpr auto H = host_signature<S, Share>();
  using Shared = typename SharedBody<Body, Elementwise<Body, H, operand_sequence<S>>::exact>::type;
  return Cast<S, H, &Elementwise<Shared, H, operand_sequence<S>>::run>::function;
}
template <class Body, fixed_string S, Sharing Share> constexpr ElementwiseFn transcendental_loop() {
  constexpr auto H = host_signature<S, Share>();
  using Host = Elementwise<Body, H, operand_sequence<S>>;
  if constexpr (Host::exact) return Cast<S, H, &Host::run>::function;
  else return &Host::run_whole;
}
// Runs a loop with its two inputs exchanged.
template <ElementwiseFn Loop> void run_swapped(std::byte* const* p, const std::int64_t* s, std::int64_t n) {
  std::byte* const q[] = {p[1], p[0], p[2]};
  const std::int64_t t[] = {s[1], s[0], s[2]};
  Loop(q, t, n);
}
template <fixed_string S> constexpr auto swapped_signature() {
  auto swapped = S;
  std::swap(swapped.text[0], swapped.text[1]);
  return swapped;
}

template <class Body, Sharing Share, class L> struct ElementwiseLoops;
template <class Body, Sharing Share, fixed_string... S> struct ElementwiseLoops<Body, Share, loops<S...>> {
  static constexpr Loop plain[] = {
      {.type = signature_of<S>.type, .elementwise = elementwise_loop<Body, S, Share>()}...};
  static constexpr Loop transcendental[] = {
      {.type = signature_of<S>.type, .elementwise = transcendental_loop<Body, S, Share>()}...};
  static constexpr Loop swapped[] = {
      {.type = signature_of<S>.type,
       .elementwise = &run_swapped<elementwise_loop<Body, swapped_signature<S>(), Share>()>}...};
};

template <class Body, class L, Sharing Share = separate>
constexpr KernelDef elementwise(const char* name, const char* header) {
  return make_row(name, header, KernelKind::elementwise, ElementwiseLoops<Body, Share, L>::plain, L{});
}
// For bodies that call functions of catena::m: see KernelDef::transcendental.
template <class Body, class L, Sharing Share = separate>
constexpr KernelDef transcendental(const char* name, const char* header) {
  KernelDef d = make_row(name, header, KernelKind::elementwise, ElementwiseLoops<Body, Share, L>::transcendental, L{});
  d.transcendental = true;
  return d;
}
// Registers the kernel `name` whose result is that of `Body` with its two inputs exchanged. Both kernels share their
// loops.
template <class Body, class L, Sharing Share = separate>
constexpr KernelDef swapped(const char* name, const char* header) {
  return make_row(name, header, KernelKind::elementwise, ElementwiseLoops<Body, Share, L>::swapped, L{});
}

}  // namespace catena::define
