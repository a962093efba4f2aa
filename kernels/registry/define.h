// Turns kernel bodies and their loop signatures into registered kernels with compiled host loops. This header has the
// parts that all kinds of kernels share. It is included only by kernels/registry/loops_<family>.cpp, through
// define_elementwise.h, define_indexed.h, define_reduction.h, define_row_wise.h or define_multi_tensor.h, which define
// the loops of each kind.
//
//   CATENA_DEFINE_KERNEL add =
//       elementwise<k::add, All2, by_width>("add", "catena/kernels/elementwise/arithmetic.h");
//
// Loops are compiled for the baseline, AVX2 and AVX-512 by target_clones. Functions that a loop calls must be ND_FN
// (always inlined): a lambda or an ordinary function would be compiled for the baseline only. To limit the amount of
// code, a loop is compiled only for contiguous operands of the types that compute differently (see Sharing);
// tiled_loop.cpp and reduction_loop.cpp convert all other operands.
#pragma once

#include <utility>

#include <catena/kernels/index.h>
#include <catena/kernels/numeric.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/kernels/registry/multiarch.h>

// A constant kernels::<name>. It is not declared before, because a declaration of all kernels would compile all loops
// again for each new kernel.
#define CATENA_DEFINE_KERNEL extern constexpr CATENA_EXPORT KernelDef

namespace catena::define {

// ---- signatures at compile time -----------------------------------------------------------------
struct Signature {
  std::array<Dtype, kMaxOperands> type{};
  int count[4] = {0, 0, 0, 0};  // inputs, in-outs, outputs, per-row outputs
  std::uint16_t raw = 0, shared = 0;
  int n = 0;
};

constexpr Signature parse(std::string_view s) {
  Signature r;
  int group = 0;
  bool raw = false, shared = false;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const char c = s[i];
    if (c == '*') {
      raw = true;
      continue;
    }
    if (c == '@') {
      shared = true;
      continue;
    }
    if (c == '&') {
      group = 1;
      continue;
    }
    if (c == '-') {
      group = 2;
      ++i;
      continue;
    }
    if (c == ';') {
      group = 3;
      continue;
    }
    const Dtype t = dtype_from_char(c);
    if (t == static_cast<Dtype>(0xff)) throw "unknown type character in a loop signature";
    if (raw) r.raw |= std::uint16_t(1u << r.n);
    if (shared) r.shared |= std::uint16_t(1u << r.n);
    raw = shared = false;
    r.type[std::size_t(r.n++)] = t;
    ++r.count[group];
  }
  return r;
}

template <fixed_string S> inline constexpr Signature signature_of = parse(S.view());
// Type of operand K as it is stored, and as host loops compute it.
template <fixed_string S, int K> using stored_t = typename element_type<signature_of<S>.type[K]>::type;
template <fixed_string S, int K> using computed_t = compute_t<stored_t<S, K>>;

template <fixed_string... S> struct loops {};
template <class A, class B> struct join_loops;
template <fixed_string... A, fixed_string... B> struct join_loops<loops<A...>, loops<B...>> {
  using type = loops<A..., B...>;
};

// ---- which dtypes share a loop ------------------------------------------------------------------
// Maps the character of a dtype to the dtype whose loop computes it. 16-bit floats have been replaced by float before.
// Types of one width share memory without conversion; a narrower type passes through casting tiles.
using Sharing = char (*)(char type, bool output);

constexpr char separate(char type, bool) { return type; }
// For bodies on integers whose result, truncated to the narrow type, does not depend on the width of the computation:
// bool, int8, int16 and their unsigned variants are computed as int32, uint32 as int64. All their values fit.
constexpr char widened(char type, bool) {
  switch (type) {
    case '?':
    case 'b':
    case 'B':
    case 'h':
    case 'H': return 'i';
    case 'I': return 'l';
    default: return type;
  }
}
// For bodies that ignore the sign: arithmetic modulo a power of two.
constexpr char by_width(char type, bool) {
  switch (type) {
    case 'b': return 'B';
    case 'h': return 'H';
    case 'i': return 'I';
    case 'l': return 'L';
    default: return type;
  }
}
// As by_width, for bodies that treat a bool as a byte of value 0 or 1.
constexpr char by_bits(char type, bool) { return type == '?' ? 'B' : by_width(type, false); }
// For bodies that copy values without computing with them: one loop per number of bytes.
constexpr char as_bits(char type, bool) {
  return type == 'f' ? 'I' : (type == 'd' || type == 'F' ? 'L' : by_bits(type, false));
}
// As `widened`, but bools and 8-bit integers, which are common, have loops of their own.
constexpr char widened_but_8_bits(char type, bool) {
  if (type == 'b') return 'b';
  return type == '?' || type == 'B' ? 'B' : widened(type, false);
}
// As widened_but_8_bits, with a separate loop for int16.
constexpr char widened_but_int16(char type, bool) { return type == 'h' ? type : widened_but_8_bits(type, false); }
// As widened_but_8_bits, with separate loops for 16-bit integers.
constexpr char widened_but_16_bits(char type, bool) {
  return type == 'h' || type == 'H' ? type : widened_but_8_bits(type, false);
}
// For predicates: the output is bool for inputs of any type.
template <Sharing Inputs> constexpr char predicate(char type, bool output) {
  return output ? type : Inputs(type, false);
}
constexpr bool is_bool_or_integer(char type) {
  return std::string_view("?bBhHiIlL").find(type) != std::string_view::npos;
}
// Modulo 2^64, int64 and uint64 give the same bits; truncated, these are the results of every narrower integer type.
constexpr char as_int64(char type, bool) { return is_bool_or_integer(type) ? 'l' : type; }
// Integers are computed in float64.
constexpr char as_float64(char type, bool) { return is_bool_or_integer(type) ? 'd' : type; }

// The signature of the host loop for S. Pairs of int64 and uint64 keep their types, because they are compared as
// numbers.
template <fixed_string S, Sharing Share> constexpr auto host_signature() {
  auto host = S;
  const bool mixed = S.view().starts_with("lL") || S.view().starts_with("Ll");
  bool output = false;
  for (char& c : host.text) {
    output |= c == '-';
    if (c == 'e' || c == 'E') c = 'f';
    if (!mixed && dtype_from_char(c) != static_cast<Dtype>(0xff)) c = Share(c, output);
  }
  return host;
}
// The signature in compute types: 16-bit floats reach elementwise, reduction, row-wise and multi-tensor loops as float,
// so "ee->e", "EE->E" and "ff->f" share one loop.
template <fixed_string S> inline constexpr auto compute_signature = host_signature<S, separate>();

// ---- operands -----------------------------------------------------------------------------------
// An operand inside a contiguous loop: a pointer, or one value kept in a register.
template <class T, bool kScalar> struct Operand {
  T* p;
  ND_FN explicit Operand(std::byte* b) : p(reinterpret_cast<T*>(b)) {}
  ND_FN T& operator[](std::int64_t i) const { return p[i]; }
};
template <class T> struct Operand<T, true> {
  T value;
  ND_FN explicit Operand(std::byte* b) : value(*reinterpret_cast<T*>(b)) {}
  ND_FN T operator[](std::int64_t) const { return value; }
};
// A bool input. Loops that load a bool and a wider type do not vectorise; loops that load a byte and compare it do.
template <bool kScalar> struct BoolOperand {
  const unsigned char* p;
  ND_FN explicit BoolOperand(std::byte* b) : p(reinterpret_cast<const unsigned char*>(b)) {}
  ND_FN bool operator[](std::int64_t i) const { return element<bool>(p + i); }
};
template <> struct BoolOperand<true> {
  bool value;
  ND_FN explicit BoolOperand(std::byte* b) : value(element<bool>(b)) {}
  ND_FN bool operator[](std::int64_t) const { return value; }
};
template <class T, bool kScalar, bool kInput>
using operand_t = conditional_t<is_same<T, bool> && kInput, BoolOperand<kScalar>, Operand<T, kScalar>>;

// ---- entries of the registry --------------------------------------------------------------------
template <fixed_string S> using operand_sequence = std::make_index_sequence<std::size_t(signature_of<S>.n)>;

template <fixed_string F, fixed_string... Rest> constexpr const Signature& first_signature(loops<F, Rest...>) {
  return signature_of<F>;
}
// Returns KernelDef::uniform_loop for these loops.
template <fixed_string... S> constexpr auto uniform_loops(loops<S...>) {
  decltype(KernelDef::uniform_loop) table{};
  table.fill(KernelDef::no_loop);
  int i = 0;
  const auto note = [&](const Signature& s) {
    const int n = s.count[0] + s.count[1];
    bool uniform = n > 0 && i < KernelDef::no_loop;
    for (int k = 1; k < n; ++k) uniform &= s.type[std::size_t(k)] == s.type[0];
    std::uint8_t& entry = table[static_cast<std::size_t>(s.type[0])];
    if (uniform && entry == KernelDef::no_loop) entry = std::uint8_t(i);
    ++i;
  };
  (note(signature_of<S>), ...);
  return table;
}
template <fixed_string... S>
constexpr KernelDef make_row(const char* name, const char* header, KernelKind kind, const Loop* table,
                             loops<S...> all) {
  const Signature& first = first_signature(all);
  KernelDef d{};
  d.id = kernel_id(name);
  d.name = name;
  d.header = header;
  d.kind = kind;
  d.nin = std::uint8_t(first.count[0]);
  d.ninout = std::uint8_t(first.count[1]);
  d.nout = std::uint8_t(first.count[2]);
  d.nrow = std::uint8_t(first.count[3]);
  d.raw = first.raw;
  d.shared = first.shared;
  d.loop_table = table;
  d.num_loops = std::uint16_t(sizeof...(S));
  d.uniform_loop = uniform_loops(all);
  return d;
}

// The usual sets of signatures. The first loop that can hold the inputs is chosen, so bfloat16 must precede float32,
// and the exact comparisons of int64 with uint64 must precede float64.
using Floats1 = loops<"e->e", "E->E", "f->f", "d->d">;
using Floats2 = loops<"ee->e", "EE->E", "ff->f", "dd->d">;
using Floats3 = loops<"eee->e", "EEE->E", "fff->f", "ddd->d">;
using Floats4 = loops<"eeee->e", "EEEE->E", "ffff->f", "dddd->d">;
using Complex1 = loops<"F->F", "D->D">;
using Complex2 = loops<"FF->F", "DD->D">;
using Moduli = loops<"F->f", "D->d">;
template <class Real, class Complex> using and_complex = typename join_loops<Real, Complex>::type;
using Ints1 = loops<"b->b", "B->B", "h->h", "H->H", "i->i", "I->I", "l->l", "L->L">;
using Ints2 = loops<"bb->b", "BB->B", "hh->h", "HH->H", "ii->i", "II->I", "ll->l", "LL->L">;
using Bool1 = loops<"?->?">;
using Bool2 = loops<"??->?">;
using Numbers1 = join_loops<Ints1, Floats1>::type;
using Numbers2 = join_loops<Ints2, Floats2>::type;
using All1 = join_loops<Bool1, Numbers1>::type;
using All2 = join_loops<Bool2, Numbers2>::type;
using FloatPredicates1 = loops<"e->?", "E->?", "f->?", "d->?">;
using Predicates1 =
    loops<"?->?", "b->?", "B->?", "h->?", "H->?", "i->?", "I->?", "l->?", "L->?", "e->?", "E->?", "f->?", "d->?">;
using Predicates2 = loops<"??->?", "bb->?", "BB->?", "hh->?", "HH->?", "ii->?", "II->?", "ll->?", "LL->?", "ee->?",
                          "EE->?", "ff->?", "dd->?">;
using Comparisons = loops<"??->?", "bb->?", "BB->?", "hh->?", "HH->?", "ii->?", "II->?", "ll->?", "LL->?", "lL->?",
                          "Ll->?", "ee->?", "EE->?", "ff->?", "dd->?">;

}  // namespace catena::define
