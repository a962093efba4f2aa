// einsum as in NumPy: notation, diagonals, broadcasting, dtypes, errors; and all of its ways against one loop over all
// axes.
#include <algorithm>
#include <complex>
#include <map>

#include <catena/tests/support/host_matrices.h>
#include <catena/tests/support/ndarray_numpy.h>

using test::each;

namespace {

using nd::Array;

// One loop over all labels of "ab,bc->ac".
struct Loop {
  std::vector<std::string> of_operands;
  std::string output, labels;
  std::map<char, std::int64_t> lengths;

  Loop(const std::string& text, const std::vector<Array>& operands) : output(text.substr(text.find("->") + 2)) {
    std::string inputs = text.substr(0, text.find("->")), part;
    for (const char c : inputs + ",") {
      if (c == ',') of_operands.push_back(std::exchange(part, ""));
      else part += c;
    }
    for (std::size_t o = 0; o < operands.size(); ++o)
      for (std::size_t axis = 0; axis < of_operands[o].size(); ++axis) {
        const char c = of_operands[o][axis];
        std::int64_t& length = lengths.emplace(c, 1).first->second;
        length = std::max(length, operands[o].shape(int(axis)));
        if (labels.find(c) == std::string::npos) labels += c;
      }
  }
  std::vector<test::Complex> run(const std::vector<Array>& operands) const {
    std::vector<std::vector<test::Complex>> values;
    for (const Array& a : operands) values.push_back(a.to_vector<test::Complex>());
    std::int64_t size = 1;
    for (const char c : output) size *= lengths.at(c);
    std::vector<test::Complex> result(std::size_t(size), 0);
    std::map<char, std::int64_t> at;
    add(0, at, operands, values, result);
    return result;
  }
  void add(std::size_t depth, std::map<char, std::int64_t>& at, const std::vector<Array>& operands,
           const std::vector<std::vector<test::Complex>>& values, std::vector<test::Complex>& result) const {
    if (depth < labels.size()) {
      for (std::int64_t i = 0; i < lengths.at(labels[depth]); ++i) {
        at[labels[depth]] = i;
        add(depth + 1, at, operands, values, result);
      }
      return;
    }
    test::Complex product = 1;
    for (std::size_t o = 0; o < operands.size(); ++o) {
      std::int64_t position = 0;
      for (std::size_t axis = 0; axis < of_operands[o].size(); ++axis) {
        const std::int64_t length = operands[o].shape(int(axis));
        position = position * length + (length == 1 ? 0 : at[of_operands[o][axis]]);
      }
      product *= values[o][std::size_t(position)];
    }
    std::int64_t position = 0;
    for (const char c : output) position = position * lengths.at(c) + at[c];
    result[std::size_t(position)] += product;
  }
};

// Operands of random order in memory, with lengths of 1 to 4 by label, and some that broadcast.
std::vector<Array> random_operands(const std::vector<std::string>& of_operands, nd::Dtype dtype, std::mt19937& random) {
  std::map<char, std::int64_t> lengths;
  std::vector<Array> operands;
  for (const std::string& labels : of_operands) {
    nd::Shape shape;
    for (const char c : labels) {
      const std::int64_t length = lengths.emplace(c, 1 + std::int64_t(random() % 4)).first->second;
      const bool repeated = std::count(labels.begin(), labels.end(), c) > 1;
      shape.push_back(!repeated && random() % 8 == 0 ? 1 : length);
    }
    const Array a = test::normal_array(shape, dtype, random);
    operands.push_back(random() % 2 == 0 ? a : test::scattered(a, random));
  }
  return operands;
}

std::string random_text(int operands, std::mt19937& random) {
  constexpr std::string_view kNames = "ijklmn";
  std::string text, seen;
  for (int o = 0; o < operands; ++o) {
    if (o > 0) text += ',';
    for (std::size_t axes = random() % 4; axes > 0; --axes) {
      const char c = kNames[random() % kNames.size()];
      text += c;
      if (seen.find(c) == std::string::npos) seen += c;
    }
  }
  std::shuffle(seen.begin(), seen.end(), random);
  return text + "->" + seen.substr(0, seen.empty() ? 0 : random() % (seen.size() + 1));
}

void check_against_loop(const std::string& text, const std::vector<Array>& operands, const nd::EinsumOrder& order,
                        double tolerance) {
  BOOST_TEST_CONTEXT(text) {
    const Loop loop(text, operands);
    const Array result =
        nd::einsum(text, std::vector<nd::Operand>(operands.begin(), operands.end()), {.optimize = order});
    nd::Shape shape;
    for (const char c : loop.output) shape.push_back(loop.lengths.at(c));
    BOOST_TEST(result.shape() == shape);
    const auto expected = loop.run(operands), values = result.to_vector<test::Complex>();
    BOOST_REQUIRE(values.size() == expected.size());
    double most = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      most = std::max(most, std::abs(values[i] - expected[i]) / std::max(1.0, std::abs(expected[i])));
    BOOST_TEST(most < tolerance);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(einsum)

BOOST_FIXTURE_TEST_CASE(one_operand, test::NumpyScene) {
  NUMPY("np.einsum('ij->ji', a)", nd::einsum("ij->ji", a), "float64 (4, 3) 0.5 2.5 4.5 1 3 5 1.5 3.5 5.5 2 4 6");
  NUMPY("np.einsum('ba', a)", nd::einsum("ba", a), "float64 (4, 3) 0.5 2.5 4.5 1 3 5 1.5 3.5 5.5 2 4 6");
  NUMPY("np.einsum('aB', a)", nd::einsum("aB", a), "float64 (4, 3) 0.5 2.5 4.5 1 3 5 1.5 3.5 5.5 2 4 6");
  NUMPY("np.einsum('ii', s)", nd::einsum("ii", s), "float64 () 9");
  NUMPY("np.einsum('ii->i', s)", nd::einsum("ii->i", s), "float64 (3) 4 3 2");
  NUMPY("np.einsum('ij->', a)", nd::einsum("ij->", a), "float64 () 39");
  NUMPY("np.einsum('ij->j', a)", nd::einsum("ij->j", a), "float64 (4) 7.5 9 10.5 12");
  NUMPY("np.einsum('kij->jk', q)", nd::einsum("kij->jk", q), "float64 (4, 2) 12 48 15 51 18 54 21 57");
  NUMPY("np.einsum('ijj->i', t)", nd::einsum("ijj->i", t), "float64 (4) 26 24 22 20");
  NUMPY("np.einsum('ijj->ji', t)", nd::einsum("ijj->ji", t), "float64 (2, 4) 3 2 1 0 23 22 21 20");
  NUMPY("np.einsum('...jj->...', t)", nd::einsum("...jj->...", t), "float64 (4) 26 24 22 20");
  NUMPY("np.einsum('i...->...', q)", nd::einsum("i...->...", q), "float64 (3, 4) 12 14 16 18 20 22 24 26 28 30 32 34");
  NUMPY("np.einsum('...i', q)", nd::einsum("...i", q),
        "float64 (2, 3, 4) 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23");
  NUMPY("np.einsum('...ij->...ji', q)", nd::einsum("...ij->...ji", q),
        "float64 (2, 4, 3) 0 4 8 1 5 9 2 6 10 3 7 11 12 16 20 13 17 21 14 18 22 15 19 23");
  NUMPY("np.einsum(' i j  ->  j ', a)", nd::einsum(" i j  ->  j ", a), "float64 (4) 7.5 9 10.5 12");
  NUMPY("np.einsum('', zero)", nd::einsum("", zero), "float64 () 2.5");
  NUMPY("np.einsum('->', zero)", nd::einsum("->", zero), "float64 () 2.5");
  NUMPY("np.einsum('...', a)", nd::einsum("...", a), "float64 (3, 4) 0.5 1 1.5 2 2.5 3 3.5 4 4.5 5 5.5 6");
  NUMPY("np.einsum('i->', e)", nd::einsum("i->", e), "float64 () 0");
  NUMPY("np.einsum('ij->j', e3)", nd::einsum("ij->j", e3), "float64 (3) 0 0 0");
  NUMPY("np.einsum('ij->i', e3)", nd::einsum("ij->i", e3), "float64 (0)");
  NUMPY("np.einsum('i->', one)", nd::einsum("i->", one), "float64 () 2.5");
  NUMPY("np.einsum('ij->i', g)", nd::einsum("ij->i", g), "float64 (3) nan nan -inf");
  NUMPY("[np.einsum('ij->j', x) for x in reals]", each(reals, [](auto& x) { return nd::einsum("ij->j", x); }),
        "bool (4) 1 1 1 1 | int8 (4) 11 9 8 8 | uint8 (4) 11 9 8 8 | int16 (4) 11 9 8 8 | uint16 (4) 11 9 8 8 | "
        "int32 (4) 11 9 8 8 | uint32 (4) 11 9 8 8 | int64 (4) 11 9 8 8 | uint64 (4) 11 9 8 8 | float16 (4) 11 9 8 8 "
        "| float32 (4) 11 9 8 8 | float64 (4) 11 9 8 8");
  NUMPY("[np.einsum('ij->i', x) for x in floats]", each(floats, [](auto& x) { return nd::einsum("ij->i", x); }),
        "float16 (3) 1.5 4 3.5 | float32 (3) 1.5 4 3.5 | float64 (3) 1.5 4 3.5");
  NUMPY("[np.einsum('ij->', x) for x in complexes]", each(complexes, [](auto& x) { return nd::einsum("ij->", x); }),
        "complex64 () 36 -72 | complex128 () 36 -72");
  // A view if nothing is summed.
  Array x = a.copy();
  nd::einsum("ji", x).fill(0);
  nd::einsum("ii->i", x(nd::_, nd::Slice(3))) += 1;
  BOOST_TEST(x.to_vector<double>() == (std::vector<double>{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}));
}

BOOST_FIXTURE_TEST_CASE(two_operands, test::NumpyScene) {
  NUMPY("np.einsum('ij,kj->ik', a, b)", nd::einsum("ij,kj->ik", a, b),
        "float64 (3, 3) 6.75 4.75 13 15.75 10.25 30.5 24.75 15.75 48");
  NUMPY("np.einsum('ij,kj->ki', a, b)", nd::einsum("ij,kj->ki", a, b),
        "float64 (3, 3) 6.75 15.75 24.75 4.75 10.25 15.75 13 30.5 48");
  NUMPY("np.einsum('ij,kj', a, b)", nd::einsum("ij,kj", a, b),
        "float64 (3, 3) 6.75 4.75 13 15.75 10.25 30.5 24.75 15.75 48");
  NUMPY("np.einsum('ij,ij->i', a, b)", nd::einsum("ij,ij->i", a, b), "float64 (3) 6.75 10.25 48");
  NUMPY("np.einsum('ij,ij', a, b)", nd::einsum("ij,ij", a, b), "float64 () 65");
  NUMPY("np.einsum('ij,ij->ij', a, b)", nd::einsum("ij,ij->ij", a, b),
        "float64 (3, 4) 1 -1 0.75 6 -6.25 12 3.5 1 6.75 -3.75 33 12");
  NUMPY("np.einsum('ij,ij->ji', a, b)", nd::einsum("ij,ij->ji", a, b),
        "float64 (4, 3) 1 -6.25 6.75 -1 12 -3.75 0.75 3.5 33 6 1 12");
  NUMPY("np.einsum('ij,ik->jk', a, b)", nd::einsum("ij,ik->jk", a, b),
        "float64 (4, 4) 1.5 6.125 29.75 11.125 2 7.25 33.5 13.75 2.5 8.375 37.25 16.375 3 9.5 41 19");
  NUMPY("np.einsum('i,j', i, i)", nd::einsum("i,j", i, i), "int64 (3, 3) 4 0 2 0 0 0 2 0 1");
  NUMPY("np.einsum('i,j->ji', v[:3], w[:2])", nd::einsum("i,j->ji", v(nd::Slice(3)), w(nd::Slice(2))),
        "float64 (2, 3) 3 1 2 6 2 4");
  NUMPY("np.einsum('i,i', v, w)", nd::einsum("i,i", v, w), "float64 () 33.5");
  NUMPY("np.einsum('ij,j', a, b[0])", nd::einsum("ij,j", a, b(0)), "float64 (3) 6.75 15.75 24.75");
  NUMPY("np.einsum('j,ij', b[0], a)", nd::einsum("j,ij", b(0), a), "float64 (3) 6.75 15.75 24.75");
  NUMPY("np.einsum('ij,j->ij', a, b[0])", nd::einsum("ij,j->ij", a, b(0)),
        "float64 (3, 4) 1 -1 0.75 6 5 -3 1.75 12 9 -5 2.75 18");
  NUMPY("np.einsum('ijk,jk->i', q, a)", nd::einsum("ijk,jk->i", q, a), "float64 (2) 286 754");
  NUMPY("np.einsum('ijk,jk->ki', q, a)", nd::einsum("ijk,jk->ki", q, a), "float64 (4, 2) 46 136 61 169 79 205 100 244");
  NUMPY("np.einsum('ijk,ljk->il', q, q)", nd::einsum("ijk,ljk->il", q, q), "float64 (2, 2) 506 1298 1298 3818");
  NUMPY("np.einsum('kij,lji->kl', t, t)", nd::einsum("kij,lji->kl", t, t),
        "float64 (4, 4) 868 816 764 712 816 768 720 672 764 720 676 632 712 672 632 592");
  NUMPY("np.einsum('kij,kjl->kil', t, t)", nd::einsum("kij,kjl->kil", t, t),
        "float64 (4, 2, 2) 174 286 390 694 144 240 336 624 118 198 286 558 96 160 240 496");
  NUMPY("np.einsum('ijb,jkb->bik', t.T, t.T)", nd::einsum("ijb,jkb->bik", t.T(), t.T()),
        "float64 (4, 2, 2) 174 390 286 694 144 336 240 624 118 286 198 558 96 240 160 496");
  NUMPY("np.einsum('ii,jk->', s, a)", nd::einsum("ii,jk->", s, a), "float64 () 351");
  NUMPY("np.einsum('ii,ij->j', s, a)", nd::einsum("ii,ij->j", s, a), "float64 (4) 18.5 23 27.5 32");
  NUMPY("np.einsum('...ij,...jk', t, t[0])", nd::einsum("...ij,...jk", t, t(0)),
        "float64 (4, 2, 2) 174 286 390 694 156 252 372 660 138 218 354 626 120 184 336 592");
  NUMPY("np.einsum('...,...', q, a)", nd::einsum("...,...", q, a),
        "float64 (2, 3, 4) 0 1 3 6 10 15 21 28 36 45 55 66 6 13 21 30 40 51 63 76 90 105 121 138");
  NUMPY("np.einsum('...i,i...->...', q, a.T)", nd::einsum("...i,i...->...", q, a.T()),
        "float64 (2, 3) 10 74 202 70 230 454");
  NUMPY("np.einsum('i...,j...->ij...', a[:2], a)", nd::einsum("i...,j...->ij...", a(nd::Slice(2)), a),
        "float64 (2, 3, 4) 0.25 1 2.25 4 1.25 3 5.25 8 2.25 5 8.25 12 1.25 3 5.25 8 6.25 9 12.25 16 11.25 15 19.25 24");
  NUMPY("np.einsum('ij,jk', a[:, :1], b)", nd::einsum("ij,jk", a(nd::_, nd::Slice(1)), b),
        "float64 (3, 4) 0.5 1.125 3.75 2.625 2.5 5.625 18.75 13.125 4.5 10.125 33.75 23.625");
  NUMPY("np.einsum('ij,jk->ijk', a[:, :1], b)", nd::einsum("ij,jk->ijk", a(nd::_, nd::Slice(1)), b),
        "float64 (3, 3, 4) # 120 3183");
  NUMPY("np.einsum(',ij', 2, f)", nd::einsum(",ij", 2, f), "float64 (2, 2) 2 4 6 8");
  NUMPY("np.einsum(',', 2, 3.5)", nd::einsum(",", 2, 3.5), "float64 () 7");
  NUMPY("np.einsum('i,i', e, e)", nd::einsum("i,i", e, e), "float64 () 0");
  NUMPY("np.einsum('ji,jk', e3, e3)", nd::einsum("ji,jk", e3, e3), "float64 (3, 3) 0 0 0 0 0 0 0 0 0");
  NUMPY("np.einsum('i,i->i', h, h)", nd::einsum("i,i->i", h, h), "float64 (4) 1 nan 9 inf");
  NUMPY("np.einsum('i,i', h, h)", nd::einsum("i,i", h, h), "float64 () nan");
  NUMPY("np.einsum('i,i', z, z)", nd::einsum("i,i", z, z), "complex128 () 17.75 52");
  NUMPY("np.einsum('ij,j', a, z)", nd::einsum("ij,j", a, z), "complex128 (3) 15.5 11.25 37.5 26.25 59.5 41.25");
  NUMPY("[np.einsum('ij,kj->ik', x, x) for x in reals]",
        each(reals, [](auto& x) { return nd::einsum("ij,kj->ik", x, x); }),
        "bool (3, 3) 1 1 1 1 1 1 1 1 1 | int8 (3, 3) 14 27 17 27 82 42 17 42 62 | uint8 (3, 3) 14 27 17 27 82 42 17 "
        "42 62 | int16 (3, 3) 14 27 17 27 82 42 17 42 62 | uint16 (3, 3) 14 27 17 27 82 42 17 42 62 | int32 (3, 3) "
        "14 27 17 27 82 42 17 42 62 | uint32 (3, 3) 14 27 17 27 82 42 17 42 62 | int64 (3, 3) 14 27 17 27 82 42 17 "
        "42 62 | uint64 (3, 3) 14 27 17 27 82 42 17 42 62 | float16 (3, 3) 14 27 17 27 82 42 17 42 62 | float32 (3, "
        "3) 14 27 17 27 82 42 17 42 62 | float64 (3, 3) 14 27 17 27 82 42 17 42 62");
  NUMPY("[np.einsum('ij,ij->j', x, x) for x in reals]",
        each(reals, [](auto& x) { return nd::einsum("ij,ij->j", x, x); }),
        "bool (4) 1 1 1 1 | int8 (4) 59 41 24 34 | uint8 (4) 59 41 24 34 | int16 (4) 59 41 24 34 | uint16 (4) 59 41 "
        "24 34 | int32 (4) 59 41 24 34 | uint32 (4) 59 41 24 34 | int64 (4) 59 41 24 34 | uint64 (4) 59 41 24 34 | "
        "float16 (4) 59 41 24 34 | float32 (4) 59 41 24 34 | float64 (4) 59 41 24 34");
  NUMPY("[np.einsum('ij,ik->kj', x, x) for x in complexes]",
        each(complexes, [](auto& x) { return nd::einsum("ij,ik->kj", x, x); }),
        "complex64 (4, 4) -177 -220 -69 -132 -72 -112 -114 -176 -69 -132 -123 -64 -90 -80 -84 -52 -72 -112 -90 -80 "
        "-72 -80 -66 -64 -114 -176 -84 -52 -66 -64 -102 -100 | complex128 (4, 4) -177 -220 -69 -132 -72 -112 -114 "
        "-176 -69 -132 -123 -64 -90 -80 -84 -52 -72 -112 -90 -80 -72 -80 -66 -64 -114 -176 -84 -52 -66 -64 -102 -100");
  NUMPY("[np.einsum('ij,i', x, i) for x in reals]", each(reals, [&](auto& x) { return nd::einsum("ij,i", x, i); }),
        "int64 (4) 3 3 3 1 | int64 (4) 7 8 8 3 | int64 (4) 7 8 8 3 | int64 (4) 7 8 8 3 | int64 (4) 7 8 8 3 | int64 "
        "(4) 7 8 8 3 | int64 (4) 7 8 8 3 | int64 (4) 7 8 8 3 | float64 (4) 7 8 8 3 | float64 (4) 7 8 8 3 | float64 "
        "(4) 7 8 8 3 | float64 (4) 7 8 8 3");
}

BOOST_FIXTURE_TEST_CASE(several_operands, test::NumpyScene) {
  NUMPY("np.einsum('ij,jk,kl', s, s, a)", nd::einsum("ij,jk,kl", s, s, a),
        "float64 (3, 4) 41.0625 54.875 68.6875 82.5 36.59375 46.0625 55.53125 65 25.40625 30.0625 34.71875 39.375");
  NUMPY("np.einsum('ij,kj,kl,l->i', a, b, s, i)", nd::einsum("ij,kj,kl,l->i", a, b, s, i),
        "float64 (3) 107.0625 248.4375 389.8125");
  NUMPY("np.einsum('i,ij,j', i, s, i)", nd::einsum("i,ij,j", i, s, i), "float64 () 20");
  NUMPY("np.einsum('i,i,i->i', v, w, v)", nd::einsum("i,i,i->i", v, w, v), "float64 (6) 9 2 2 100 24 0.75");
  NUMPY("np.einsum('i,j,k->kij', i, i, [1, 2])", nd::einsum("i,j,k->kij", i, i, nd::array({1, 2})),
        "int64 (2, 3, 3) 4 0 2 0 0 0 2 0 1 8 0 4 0 0 0 4 0 2");
  NUMPY("np.einsum('ij,ik,il->jkl', s, s, s[:, :2])", nd::einsum("ij,ik,il->jkl", s, s, s(nd::_, nd::Slice(2))),
        "float64 (3, 3, 2) 65.125 19.0625 19.0625 13.03125 8.75 3 19.0625 13.03125 13.03125 28.015625 3 2.875 8.75 3 "
        "3 2.875 3.0625 1.4375");
  NUMPY("np.einsum('...i,...i,i', q, a, w[:4], optimize=True)",
        nd::einsum("...i,...i,i", q, a, w(nd::Slice(4)), {.optimize = true}),
        "float64 (2, 3) 27.5 162.5 417.5 162.5 477.5 912.5");
  NUMPY("np.einsum('ij,jk,kl,lm,mn->in', s, s, s, s, a)",
        nd::einsum("ij,jk,kl,lm,mn->in", std::vector<nd::Operand>{s, s, s, s, a}),
        "float64 (3, 4) 1051.62891 1372.49219 1693.35547 2014.21875 705.255859 907.097656 1108.93945 1310.78125 "
        "307.056641 388.597656 470.138672 551.679688");
  for (const nd::EinsumOrder& order :
       {nd::EinsumOrder("optimal"), nd::EinsumOrder("greedy"), nd::EinsumOrder("auto"), nd::EinsumOrder(true),
        nd::EinsumOrder(false), nd::EinsumOrder(std::vector<nd::Dims>{{0, 2}, {0, 1}}),
        nd::EinsumOrder(std::vector<nd::Dims>{{2, 0, 1}})}) {
    NUMPY("np.einsum('ij,jk,kl->li', s, s, a)", nd::einsum("ij,jk,kl->li", s, s, a, {.optimize = order}),
          "float64 (4, 3) 41.0625 36.59375 25.40625 54.875 46.0625 30.0625 68.6875 55.53125 34.71875 82.5 65 39.375");
  }
  const nd::EinsumPath path = nd::einsum_path("ij,jk,kl->li", s, s, a);
  NUMPY("np.einsum('ij,jk,kl->li', s, s, a)", nd::einsum("ij,jk,kl->li", s, s, a, {.optimize = path}),
        "float64 (4, 3) 41.0625 36.59375 25.40625 54.875 46.0625 30.0625 68.6875 55.53125 34.71875 82.5 65 39.375");
  NUMPY("[np.einsum('ij,jk,kl', x[:, :3], x[:3], x.T) for x in floats]",
        each(floats, [](auto& x) { return nd::einsum("ij,jk,kl", x(nd::_, nd::Slice(3)), x(nd::Slice(3)), x.T()); }),
        "float16 (3, 3) 1.609375 3.859375 3.390625 2.90625 6.828125 5.109375 3.8125 10.734375 8.078125 | float32 (3, "
        "3) 1.609375 3.859375 3.390625 2.90625 6.828125 5.109375 3.8125 10.734375 8.078125 | float64 (3, 3) 1.609375 "
        "3.859375 3.390625 2.90625 6.828125 5.109375 3.8125 10.734375 8.078125");
}

BOOST_FIXTURE_TEST_CASE(axes_by_number, test::NumpyScene) {
  NUMPY("np.einsum(a, [0, 1], b, [2, 1], [0, 2])", nd::einsum(a, {0, 1}, b, {2, 1}, {0, 2}),
        "float64 (3, 3) 6.75 4.75 13 15.75 10.25 30.5 24.75 15.75 48");
  NUMPY("np.einsum(a, [0, 1], b, [2, 1])", nd::einsum(a, {0, 1}, b, {2, 1}),
        "float64 (3, 3) 6.75 4.75 13 15.75 10.25 30.5 24.75 15.75 48");
  NUMPY("np.einsum(a, [1, 0])", nd::einsum(a, {1, 0}), "float64 (4, 3) 0.5 2.5 4.5 1 3 5 1.5 3.5 5.5 2 4 6");
  NUMPY("np.einsum(a, [26, 0])", nd::einsum(a, {26, 0}), "float64 (4, 3) 0.5 2.5 4.5 1 3 5 1.5 3.5 5.5 2 4 6");
  NUMPY("np.einsum(a, [51, 7], [7, 51])", nd::einsum(a, {51, 7}, {7, 51}),
        "float64 (4, 3) 0.5 2.5 4.5 1 3 5 1.5 3.5 5.5 2 4 6");
  NUMPY("np.einsum(q, [Ellipsis, 0], [0, Ellipsis])", nd::einsum(q, {nd::ellipsis, 0}, {0, nd::ellipsis}),
        "float64 (4, 2, 3) 0 4 8 12 16 20 1 5 9 13 17 21 2 6 10 14 18 22 3 7 11 15 19 23");
  NUMPY("np.einsum(a, [0, 1], [])", nd::einsum(a, {0, 1}, nd::EinsumAxes{}), "float64 () 39");
  NUMPY("np.einsum(a, [0, 1], b, [2, 1], s, [0, 2], [1])", nd::einsum(a, {0, 1}, b, {2, 1}, s, {0, 2}, {1}),
        "float64 (4) 5.5 27.0625 95.25 76.875");
  NUMPY("np.einsum(a, [0, 1], b, [2, 1], [0, 2], dtype=np.float64)",
        nd::einsum(a, {0, 1}, b, {2, 1}, {0, 2}, {.dtype = nd::float64}),
        "float64 (3, 3) 6.75 4.75 13 15.75 10.25 30.5 24.75 15.75 48");
  NUMPY_RAISES("np.einsum(a, [0, 52])", nd::einsum(a, {0, 52}), nd::ValueError);
  NUMPY_RAISES("np.einsum(a, [0, -1])", nd::einsum(a, {0, -1}), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(options, test::NumpyScene) {
  NUMPY("np.einsum('ij,kj', d, d, dtype=np.float64)", nd::einsum("ij,kj", d, d, {.dtype = nd::float64}),
        "float64 (3, 3) 14 27 17 27 82 42 17 42 62");
  NUMPY("np.einsum('ij->i', f, dtype=np.float64)", nd::einsum("ij->i", f, {.dtype = nd::float64}), "float64 (2) 3 7");
  NUMPY("np.einsum('ij->i', a, dtype=np.float32, casting='same_kind')",
        nd::einsum("ij->i", a, {.dtype = nd::float32, .casting = nd::Casting::same_kind}), "float32 (3) 5 13 21");
  NUMPY_RAISES("np.einsum('ij->i', a, dtype=np.float32)", nd::einsum("ij->i", a, {.dtype = nd::float32}),
               nd::TypeError);
  Array out = nd::zeros({3, 3});
  NUMPY("np.einsum('ij,kj->ki', a, b, out=np.zeros((3, 3)))", nd::einsum("ij,kj->ki", a, b, {.out = out.T()}),
        "float64 (3, 3) 6.75 15.75 24.75 4.75 10.25 15.75 13 30.5 48");
  NUMPY("np.einsum('ij,kj->ik', a, b)", out, "float64 (3, 3) 6.75 4.75 13 15.75 10.25 30.5 24.75 15.75 48");
  Array x = s.copy();
  nd::einsum("ij->ji", x, {.out = x});
  NUMPY("s.T", x, "float64 (3, 3) 4 1 0.5 1 3 0.25 0.5 0.25 2");
  Array single = nd::zeros(3, nd::float32);
  NUMPY("np.einsum('ij->i', a, out=np.zeros(3, np.float32), casting='same_kind')",
        nd::einsum("ij->i", a, {.out = single, .casting = nd::Casting::same_kind}), "float32 (3) 5 13 21");
  NUMPY_RAISES("np.einsum('ij->i', a, out=np.zeros(3, np.float32))", nd::einsum("ij->i", a, {.out = single}),
               nd::TypeError);
  NUMPY_RAISES("np.einsum('ij->i', a, out=np.zeros(4))", nd::einsum("ij->i", a, {.out = nd::zeros(4)}), nd::ValueError);
  BOOST_CHECK_THROW(nd::einsum("ij,jk", s, s, {.optimize = "best"}), nd::ValueError);
  for (const std::vector<nd::Dims>& path :
       {std::vector<nd::Dims>{{0, 3}}, {{0, 1}}, {{0, 0, 1}}, {{0, 1}, {1, 2}}, {{}}, {{0, -1, 1}}})
    BOOST_CHECK_THROW(nd::einsum("ij,jk,kl", s, s, s, {.optimize = path}), nd::ValueError);
  const std::vector<nd::Operand> many(13, s);
  BOOST_CHECK_THROW(nd::einsum("ab,bc,cd,de,ef,fg,gh,hi,ij,jk,kl,lm,mn", many, {.optimize = "optimal"}),
                    nd::ValueError);
  BOOST_TEST(nd::einsum("ab,bc,cd,de,ef,fg,gh,hi,ij,jk,kl,lm,mn", many).shape() == (nd::Shape{3, 3}));
}

BOOST_FIXTURE_TEST_CASE(errors, test::NumpyScene) {
  NUMPY_RAISES("np.einsum('i', a)", nd::einsum("i", a), nd::ValueError);
  NUMPY_RAISES("np.einsum('ijk', a)", nd::einsum("ijk", a), nd::ValueError);
  NUMPY_RAISES("np.einsum('ijk...', a)", nd::einsum("ijk...", a), nd::ValueError);
  NUMPY_RAISES("np.einsum('i,j', v)", nd::einsum("i,j", v), nd::ValueError);
  NUMPY_RAISES("np.einsum('i', v, v)", nd::einsum("i", v, v), nd::ValueError);
  NUMPY_RAISES("np.einsum('i..j', a)", nd::einsum("i..j", a), nd::ValueError);
  NUMPY_RAISES("np.einsum('i.j', a)", nd::einsum("i.j", a), nd::ValueError);
  NUMPY_RAISES("np.einsum('...i...', a)", nd::einsum("...i...", a), nd::ValueError);
  NUMPY_RAISES("np.einsum('i1', a)", nd::einsum("i1", a), nd::ValueError);
  NUMPY_RAISES("np.einsum('i-j', a)", nd::einsum("i-j", a), nd::ValueError);
  NUMPY_RAISES("np.einsum('ij->k', a)", nd::einsum("ij->k", a), nd::ValueError);
  NUMPY_RAISES("np.einsum('ij->ii', a)", nd::einsum("ij->ii", a), nd::ValueError);
  NUMPY_RAISES("np.einsum('ii', a)", nd::einsum("ii", a), nd::ValueError);
  NUMPY_RAISES("np.einsum('ii', a[:1])", nd::einsum("ii", a(nd::Slice(1))), nd::ValueError);
  NUMPY_RAISES("np.einsum('i,i', v, i)", nd::einsum("i,i", v, i), nd::ValueError);
  NUMPY_RAISES("np.einsum('ij,jk', a, b)", nd::einsum("ij,jk", a, b), nd::ValueError);
  NUMPY_RAISES("np.einsum('...i->i', a)", nd::einsum("...i->i", a), nd::ValueError);
  NUMPY_RAISES("np.einsum('...,...', a, v)", nd::einsum("...,...", a, v), nd::ValueError);
  NUMPY_RAISES("np.einsum('', [])", nd::einsum("", std::vector<nd::Operand>{}), nd::ValueError);
  BOOST_CHECK_THROW(nd::einsum("i", Array()), nd::TypeError);
  try {
    nd::einsum("ij,jk->ik", a, b);
  } catch (const nd::ValueError& error) {
    BOOST_TEST(std::string(error.what()) ==
               "einsum: axis \"j\" has length 3 in operand 1 of shape (3, 4), and 4 in one before it");
  }
}

// Random notation, lengths, layouts, orders and dtypes.
BOOST_AUTO_TEST_CASE(against_one_loop) {
  std::mt19937 random(43);
  const nd::EinsumOrder orders[] = {"auto", "optimal", "greedy", false};
  for (int round = 0; round < 400; ++round) {
    std::string text = random_text(1 + round % 5, random);
    const nd::Dtype dtype = test::kSolvedDtypes[round % 4];
    const std::vector<Array> operands = random_operands(Loop(text, {}).of_operands, dtype, random);
    check_against_loop(text, operands, orders[random() % 4], catena::real_dtype(dtype) == nd::float32 ? 1e-3 : 1e-10);
  }
}

// Products whose matrices are large enough for the libraries, in all orders of the axes of both operands.
BOOST_AUTO_TEST_CASE(orders_of_axes) {
  std::mt19937 random(44);
  std::string left = "bij", right = "bjk";
  do {
    do {
      for (const char* output : {"bik", "bki", "ibk", "kib", "ik"}) {
        const auto operand = [&](const std::string& labels) {
          nd::Shape shape;
          for (const char c : labels) shape.push_back(c == 'b' ? 3 : c == 'i' ? 17 : c == 'j' ? 9 : 20);
          return test::normal_array(shape, nd::float64, random);
        };
        check_against_loop(left + "," + right + "->" + output, {operand(left), operand(right)}, "auto", 1e-11);
      }
    } while (std::next_permutation(right.begin(), right.end()));
  } while (std::next_permutation(left.begin(), left.end()));
}

BOOST_AUTO_TEST_CASE(sixteen_bits) {
  const Array x = nd::full({1, 300}, 0.1).astype(nd::bfloat16), y = nd::ones({300}, nd::bfloat16);
  const Array sum = nd::einsum("ij,j", x, y);
  BOOST_TEST((sum.dtype() == nd::bfloat16));
  BOOST_TEST(std::abs(sum.item<double>() - 300 * double(nd::array(0.1, nd::bfloat16).item<float>())) < 0.1);
  // The product of the first two is beyond the range of float16.
  const Array large = nd::full({2}, 300).astype(nd::float16), small = nd::full({2}, 0.01).astype(nd::float16);
  const Array product = nd::einsum("i,i,i->i", large, large, small, {.optimize = false});
  BOOST_TEST((product.dtype() == nd::float16));
  BOOST_TEST(std::abs(product.item<double>(0) - 900) < 1);
}

// Whole numbers, so that sums in any order are equal. The lengths are no multiples of those of pieces.
BOOST_AUTO_TEST_CASE(sums_of_products_of_long_arrays) {
  const nd::Array x = nd::arange(391. * 517).reshape({391, 517}) % 13,
                  y = nd::arange(391. * 517).reshape({391, 517}) % 7;
  const nd::Array products = x * y;
  BOOST_TEST(bool(nd::array_equal(nd::einsum("ij,ij->j", x, y), products.sum(0))));
  BOOST_TEST(bool(nd::array_equal(nd::einsum("ij,ij->i", x, y), products.sum(1))));
  BOOST_TEST(bool(nd::array_equal(nd::einsum("ij,ij->", x, y), products.sum())));
  BOOST_TEST(bool(nd::array_equal(nd::einsum("ij,ij->j", x.T(), y.T()), products.sum(1))));
  const nd::Array a = x.reshape({391, 11, 47}), b = y.reshape({391, 11, 47});
  for (const auto& [text, axes] : {std::pair("ijk,ijk->j", nd::Axes({0, 2})), {"ijk,ijk->ki", nd::Axes(1)}}) {
    const nd::Array expected = (a * b).sum(axes);
    BOOST_TEST(bool(nd::array_equal(nd::einsum(text, a, b), expected.ndim() == 2 ? expected.T() : expected)));
  }
  BOOST_TEST(bool(nd::array_equal(nd::einsum("ij,ij->j", x > 11, y > 5), ((x > 11) & (y > 5)).any(0))));
}

BOOST_AUTO_TEST_SUITE_END()
