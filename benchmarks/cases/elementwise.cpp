// Elementwise operations on arrays larger than the caches: limited by memory bandwidth or by the function. Every result
// is newly allocated.
#include <algorithm>

#include <catena/benchmarks/cases.h>
#include <catena/ndarray/cpu/compiled_program.h>

namespace bench {
namespace {

const Parameters line{{"n", 1 << 24}, {"sets", 8}}, short_line{{"n", 60}, {"sets", 2}};
const Parameters pair_of_lines{{"n", 1 << 24}, {"sets", 4}};
const Parameters square{{"rows", 4096}, {"columns", 4096}, {"sets", 8}},
    small_square{{"rows", 12}, {"columns", 10}, {"sets", 2}};
const Parameters chain{{"n", 1 << 22}, {"sets", 16}};

using Pair = std::pair<nd::Array, nd::Array>;

nd::Array line_of(const Parameters& p, std::int64_t seed) { return input(p, {p.at("n")}, seed); }
nd::Array matrix(const Parameters& p, std::int64_t seed) { return input(p, {p.at("rows"), p.at("columns")}, seed); }

template <class F> Ready unary(const Parameters& p, F f) {
  return rotating(
      p, [&](std::int64_t seed) { return input(p, {p.at("n")}, seed, -3, 3); }, f);
}
template <class F> Ready binary(const Parameters& p, F f) {
  return rotating(
      p, [&](std::int64_t seed) { return Pair(line_of(p, 2 * seed), line_of(p, 2 * seed + 1)); },
      [f](const Pair& s) { return f(s.first, s.second); });
}

// A chain of six operations.
constexpr auto chain_of_six = [](auto x, auto y) { return nd::sqrt(x * y + 1) - nd::exp(x) * y; };

// The untimed first result compiles the function, as torch.compile does in its first, untimed call.
Ready fused_chain(const Parameters& p) {
  Ready ready = binary(p, nd::fuse(chain_of_six));
  return {ready.run, [ready] {
            const std::int64_t usual = nd::cpu::set_program_compilation(0);
            if (usual < 0) nd::cpu::set_program_compilation(usual);  // compilation was switched off
            nd::Array result = ready.result();
            nd::cpu::set_program_compilation(usual);
            return result;
          }};
}

// The second operand is a row, or, with axis 1, a column.
Ready broadcast_add(const Parameters& p) {
  const bool column = get(p, "axis", 0) == 1;
  return rotating(
      p,
      [&](std::int64_t seed) {
        const nd::Shape other = column ? nd::Shape{p.at("rows"), 1} : nd::Shape{p.at("columns")};
        return Pair(matrix(p, 2 * seed), input(p, other, 2 * seed + 1));
      },
      [](const Pair& s) { return s.first + s.second; });
}

Ready transpose_copy(const Parameters& p) {
  return rotating(
      p, [&](std::int64_t seed) { return matrix(p, seed); }, [](const nd::Array& a) { return a.T().copy(); });
}

// Copies an array (outer, axis, inner) to memory in the order (inner, outer, axis).
Ready permuted_copy(const Parameters& p) {
  return rotating(
      p,
      [&](std::int64_t seed) {
        return input(p, {p.at("outer"), p.at("axis"), p.at("inner")}, seed);
      },
      [](const nd::Array& a) {
        return a.transpose({2, 0, 1}).copy();
      });
}

Ready strided_add(const Parameters& p) {
  const nd::Slice every_second({}, {}, get(p, "step", 2));
  return binary(p,
                [every_second](const nd::Array& a, const nd::Array& b) { return a(every_second) + b(every_second); });
}

Ready add_float16(const Parameters& p) {
  Parameters half = p;
  half["dtype"] = 'e';
  return binary(half, [](const nd::Array& a, const nd::Array& b) { return a + b; });
}

Ready where(const Parameters& p) {
  struct Set {
    nd::Array condition, a, b;
  };
  Parameters mask = p;
  mask["dtype"] = '?';
  return rotating(
      p,
      [&](std::int64_t seed) {
        return Set{line_of(mask, 3 * seed), line_of(p, 3 * seed + 1), line_of(p, 3 * seed + 2)};
      },
      [](const Set& s) { return nd::where(s.condition, s.a, s.b); });
}

// ---- the shapes of a sweep ----------------------------------------------------------------------
constexpr const char *kReal = "fdeEbBhil", *kFloats = "fdeE", *kIntegers = "bBhil", *kBytesToWords = "Bhfd";

Parameters line_of_floats(Draw& draw) { return draw.line(kFloats); }
Parameters any_line(Draw& draw) { return draw.line(kReal); }
Parameters line_of_integers(Draw& draw) { return draw.line(kIntegers); }
Parameters chain_line(Draw& draw) { return draw.line("fd"); }

// Lengths are at least 2: moving an axis of length 1 changes nothing, so peers would copy nothing.
Parameters at_least_two(Parameters p, std::initializer_list<const char*> lengths) {
  for (const char* length : lengths) p[length] = std::max<std::int64_t>(2, p.at(length));
  return p;
}
Parameters two_axes(Draw& draw) { return at_least_two(draw.matrix(kBytesToWords), {"rows", "columns"}); }
Parameters moved_axes(Draw& draw) { return at_least_two(draw.block(kBytesToWords), {"axis", "inner"}); }

const Cases cases{
    {"elementwise/add", pair_of_lines, short_line,
     [](const Parameters& p) { return binary(p, [](const nd::Array& a, const nd::Array& b) { return a + b; }); },
     any_line},
    {"elementwise/add_float16", line, short_line, add_float16, [](Draw& draw) { return draw.line("e"); }},
    {"elementwise/add_strided", pair_of_lines, short_line, strided_add,
     [](Draw& draw) {
       Parameters p = draw.line("fdeBi");
       p["step"] = draw.one_of({2, 3, 4, 7, -1});
       return p;
     }},
    {"elementwise/add_broadcast", square, small_square, broadcast_add,
     [](Draw& draw) {
       Parameters p = draw.matrix("fdei");
       p["axis"] = draw.one_of({0, 1});
       return p;
     }},
    {"elementwise/exp", line, short_line,
     [](const Parameters& p) { return unary(p, [](const nd::Array& a) { return nd::exp(a); }); }, line_of_floats},
    {"elementwise/tanh", line, short_line,
     [](const Parameters& p) { return unary(p, [](const nd::Array& a) { return nd::tanh(a); }); }, line_of_floats},
    {"elementwise/cast_float64", line, short_line,
     [](const Parameters& p) { return unary(p, [](const nd::Array& a) { return a.astype(nd::float64); }); },
     [](Draw& draw) { return draw.line("feEbBhil"); }},
    {"elementwise/cast_float16", line, short_line,
     [](const Parameters& p) { return unary(p, [](const nd::Array& a) { return a.astype(nd::float16); }); },
     [](Draw& draw) { return draw.line("fdBi"); }},
    {"elementwise/multiply_integers",
     {{"n", 1 << 24}, {"sets", 4}, {"dtype", 'i'}},
     short_line,
     [](const Parameters& p) { return binary(p, [](const nd::Array& a, const nd::Array& b) { return a * b; }); },
     line_of_integers},
    {"elementwise/less", pair_of_lines, short_line,
     [](const Parameters& p) { return binary(p, [](const nd::Array& a, const nd::Array& b) { return a < b; }); },
     any_line},
    {"elementwise/maximum", pair_of_lines, short_line,
     [](const Parameters& p) {
       return binary(p, [](const nd::Array& a, const nd::Array& b) { return nd::maximum(a, b); });
     },
     any_line},
    {"elementwise/where", pair_of_lines, short_line, where, [](Draw& draw) { return draw.line("fdeBil"); }},
    {"elementwise/chain", chain, short_line, [](const Parameters& p) { return binary(p, chain_of_six); }, chain_line},
    {"elementwise/chain_fused", chain, short_line, fused_chain, chain_line},
    {"elementwise/copy", line, short_line,
     [](const Parameters& p) { return unary(p, [](const nd::Array& a) { return a.copy(); }); }, any_line},
    {"elementwise/multiply_add", pair_of_lines, short_line,
     [](const Parameters& p) { return binary(p, nd::fuse([](auto x, auto y) { return x * y + x; })); }, chain_line},
    {"elementwise/transpose_copy", square, small_square, transpose_copy, two_axes},
    {"elementwise/permuted_copy",
     {{"outer", 64}, {"axis", 256}, {"inner", 1024}, {"sets", 4}},
     {{"outer", 3}, {"axis", 4}, {"inner", 5}, {"sets", 2}},
     permuted_copy,
     moved_axes},
};

}  // namespace
}  // namespace bench
