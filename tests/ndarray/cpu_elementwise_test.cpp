// Programs on the CPU backend: every layout and dtype against nested loops, and one result whatever the layout or the
// threads.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/cpu/cpu_backend.h>
#include <catena/ndarray/device/executor.h>
#include <catena/tests/support/streamed_from.h>
#include <catena/tests/support/strided.h>

namespace {

using namespace catena;
using test::Layout;
using test::rounded;
using test::Strided;

void execute(const Program& program, std::span<const BoundOperand> operands, const Shape& loop) {
  nd::executor(Device::Kind::cpu).execute(catena::bound::Elementwise{&program, operands, &loop}, {});
}

int loop_of(const KernelDef& def, Dtype t) {
  for (int i = 0; i < def.num_loops; ++i) {
    bool all = true;
    for (int k = 0; k < def.num_operands(); ++k) all = all && def.loop_table[i].type[std::size_t(k)] == t;
    if (all) return i;
  }
  return -1;
}

void run(const char* name, Dtype t, std::vector<Strided*> operands, const Shape& loop) {
  const KernelDef& def = find_kernel(name);
  std::vector<BoundOperand> o;
  for (Strided* s : operands) o.push_back(s->operand());
  execute(EagerProgram(def, loop_of(def, t)), o, loop);
}

const std::vector<Shape> kShapes = {{},       {1},        {7},       {0, 3}, {3, 5},   {5, 1, 4},
                                    {33, 17}, {2, 3, 70}, {1000, 3}, {3000}, {2, 1100}};

BOOST_AUTO_TEST_SUITE(cpu_elementwise)

BOOST_AUTO_TEST_CASE(add_in_all_layouts_and_dtypes) {
  std::mt19937 rng(1);
  for (Dtype t : test::all_dtypes())
    for (const Shape& shape : kShapes)
      for (Layout la : test::kLayouts)
        for (Layout lb : test::kLayouts)
          for (Layout lc : test::kWritableLayouts) {
            if (size_of(shape) > 600 && (la != lb || t == Dtype::int16 || t == Dtype::uint32)) continue;
            Strided a(t, shape, la), b(t, shape, lb), c(t, shape, lc);
            a.fill(rng);
            b.fill(rng);
            run("add", t, {&a, &b, &c}, shape);
            bool good = true;
            Strided::for_each(shape, [&](const Shape& i) {
              const double expected = t == Dtype::bool_ ? (a.get(i) != 0 || b.get(i) != 0) : a.get(i) + b.get(i);
              good = good && c.get(i) == expected;
            });
            BOOST_TEST(good, t << ' ' << shape << ' ' << name_of(la) << ' ' << name_of(lb) << ' ' << name_of(lc));
          }
}

BOOST_AUTO_TEST_CASE(operands_of_other_dtypes_are_converted) {
  std::mt19937 rng(2);
  for (Dtype slot : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64, Dtype::int32, Dtype::int8})
    for (Dtype from : test::all_dtypes())
      for (Dtype to : test::all_dtypes())
        for (Layout l : {Layout::c_order, Layout::f_order, Layout::zero}) {
          const Shape shape{5, 300};
          Strided a(from, shape, l), b(slot, shape), c(to, shape, l == Layout::zero ? Layout::gaps : l);
          a.fill(rng, 1.0, 100);
          b.fill(rng, 1.0, 20);
          run("add", slot, {&a, &b, &c}, shape);
          bool good = true;
          Strided::for_each(shape, [&](const Shape& i) {
            const double sum = rounded(slot, rounded(slot, a.get(i)) + b.get(i));
            if (slot == Dtype::int8 && std::fabs(rounded(slot, a.get(i)) + b.get(i)) > 127)
              return;  // wraps: another test's business
            // Integers convert modulo 2^n, floats saturate.
            const double expected = is_floating(slot) ? rounded(to, sum) : [&] {
              std::byte cell[16];
              Scalar(std::int64_t(sum)).store(to, cell);
              return Strided::load(to, cell);
            }();
            good = good && c.get(i) == expected;
          });
          BOOST_TEST(good, slot << ' ' << from << ' ' << to << ' ' << name_of(l));
        }
}

BOOST_AUTO_TEST_CASE(a_sixteen_bit_slot_rounds_whatever_memory_it_meets) {
  Strided a(Dtype::float64, {3}), b(Dtype::float16, {3}), c(Dtype::float64, {3});
  a.set({0}, 1.0 + 1.0 / 4096);
  a.set({1}, 2049);
  a.set({2}, 70000);
  for (int i = 0; i < 3; ++i) b.set({i}, 0);
  run("add", Dtype::float16, {&a, &b, &c}, {3});
  BOOST_TEST(c.get({0}) == 1.0);
  BOOST_TEST(c.get({1}) == 2048.0);
  BOOST_TEST(std::isinf(c.get({2})));
}

BOOST_AUTO_TEST_CASE(a_view_gives_what_its_copy_gives) {
  std::mt19937 rng(3);
  for (const char* name : {"tanh", "exp", "sin", "log"})
    for (Dtype t : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64})
      for (const Shape& shape : kShapes)
        for (Layout l : test::kLayouts) {
          Strided a(t, shape, l), c(t, shape), d(t, shape, l == Layout::zero ? Layout::gaps : l);
          a.fill(rng, 0.0371, 90);
          Strided copy = a.copy();
          run(name, t, {&a, &d}, shape);
          run(name, t, {&copy, &c}, shape);
          BOOST_TEST(c.same_bits(d), name << ' ' << t << ' ' << shape << ' ' << name_of(l));
        }
}

BOOST_AUTO_TEST_CASE(in_place) {
  std::mt19937 rng(4);
  for (Dtype t : test::all_dtypes())
    for (Layout l : test::kWritableLayouts) {
      Strided a(t, {13, 90}, l), b(t, {13, 90});
      a.fill(rng);
      b.fill(rng);
      Strided before = a.copy();
      run("add", t, {&a, &b, &a}, {13, 90});
      Strided expected(t, {13, 90});
      run("add", t, {&before, &b, &expected}, {13, 90});
      BOOST_TEST(expected.same_bits(a), t << ' ' << name_of(l));
    }
}

BOOST_AUTO_TEST_CASE(fused_steps_round_like_eager_ones) {
  std::mt19937 rng(5);
  const KernelDef &add = find_kernel("add"), &multiply = find_kernel("multiply"), &tanh = find_kernel("tanh");
  for (Dtype t : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64})
    for (Layout l : test::kLayouts)
      for (bool in_place : {false, true}) {
        if (in_place && l == Layout::zero) continue;
        const Shape shape{7, 333};
        Strided a(t, shape, l), b(t, shape, l), y(t, shape), z(t, shape);
        a.fill(rng, 0.0131, 90);
        b.fill(rng, 0.0217, 90);
        Strided p(t, shape), q(t, shape), r(t, shape), a0 = a.copy();
        run("multiply", t, {&a, &b, &p}, shape);
        run("tanh", t, {&p, &q}, shape);
        run("add", t, {&q, &a, &r}, shape);
        // Slots: a, b | y (product), z | tanh. The first output is written before a is read again, and may be a itself.
        const Step steps[] = {{&multiply, std::uint16_t(loop_of(multiply, t)), {0, 1, 2}},
                              {&tanh, std::uint16_t(loop_of(tanh, t)), {2, 4}},
                              {&add, std::uint16_t(loop_of(add, t)), {4, 0, 3}}};
        const Dtype slots[] = {t, t, t, t, t};
        const Program program{steps, slots, 2, 0, 2};
        const BoundOperand operands[] = {a.operand(), b.operand(), in_place ? a.operand() : y.operand(), z.operand()};
        execute(program, operands, shape);
        BOOST_TEST(r.same_bits(z), t << ' ' << name_of(l) << ' ' << in_place);
        BOOST_TEST(p.same_bits(in_place ? a : y), t << ' ' << name_of(l) << ' ' << in_place);
      }
}

BOOST_AUTO_TEST_CASE(copies_in_any_order_of_axes) {
  std::mt19937 rng(6);
  for (Dtype t : {Dtype::bool_, Dtype::int8, Dtype::float16, Dtype::float32, Dtype::float64})
    for (const Shape& shape :
         {Shape{37, 53}, Shape{3, 18, 35}, Shape{2, 3, 5, 34}, Shape{64, 64}, Shape{4, 5}, Shape{1, 9}}) {
      std::vector<int> order(std::size_t(shape.size()));
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = int(i);
      do {
        // `a` lies in memory with its axes in another order.
        Shape memory;
        for (int a : order) memory.push_back(shape[a]);
        Strided a(t, memory), c(t, shape);
        a.fill(rng);
        Strided view = a;
        for (std::size_t i = 0; i < order.size(); ++i) view.strides[order[i]] = a.strides[int(i)];
        view.shape = shape;
        run("copy", t, {&view, &c}, shape);
        BOOST_TEST(c.same_bits(view), t << ' ' << shape);
      } while (std::next_permutation(order.begin(), order.end()));
    }
  for (Dtype from : test::all_dtypes())
    for (Layout l : test::kLayouts) {
      Strided a(from, {6, 50}, l), c(from, {6, 50});
      a.fill(rng);
      run("copy", from, {&a, &c}, {6, 50});
      BOOST_TEST(c.same_bits(a), from << ' ' << name_of(l));
    }
}

// A program of one step with two outputs that stores one of them: the slot of the other one has no operand, and what
// lies behind the operands stays as it is.
BOOST_AUTO_TEST_CASE(outputs_without_an_operand) {
  std::mt19937 rng(13);
  const KernelDef& divmod = find_kernel("divmod");
  for (Dtype t : {Dtype::int32, Dtype::float16, Dtype::float32, Dtype::float64})
    for (Layout l : test::kLayouts)
      for (const Shape& shape : {Shape{2, 3}, Shape{7, 333}})
        for (const bool quotient : {true, false}) {
          Strided a(t, shape, l), b(t, shape, l), q(t, shape), r(t, shape), y(t, shape), behind(t, shape);
          a.fill(rng);
          b.fill(rng);
          behind.fill(rng);
          Strided before = behind.copy();
          run("divmod", t, {&a, &b, &q, &r}, shape);
          Step step{&divmod, std::uint16_t(loop_of(divmod, t)), {0, 1, 2, 3}};
          if (!quotient) std::swap(step.slot[2], step.slot[3]);
          const Dtype slots[] = {t, t, t, t};
          const Program program{{&step, 1}, slots, 2, 0, 1};
          const BoundOperand operands[] = {a.operand(), b.operand(), y.operand(), behind.operand()};
          execute(program, std::span(operands).first(3), shape);
          BOOST_TEST((quotient ? q : r).same_bits(y), t << ' ' << name_of(l) << ' ' << shape << ' ' << quotient);
          BOOST_TEST(before.same_bits(behind), t << ' ' << name_of(l) << ' ' << shape << ' ' << quotient);
        }
}

BOOST_AUTO_TEST_CASE(immediate_scalars) {
  std::mt19937 rng(7);
  for (Dtype t : test::all_dtypes())
    for (Layout l : test::kLayouts) {
      const Shape shape{4, 700};
      Strided a(t, shape, l), c(t, shape);
      a.fill(rng);
      ScalarCell three(Scalar(3), t);
      const Strides zero{0, 0};
      const KernelDef& add = find_kernel("add");
      const BoundOperand o[] = {a.operand(), {three.bytes, t, true, &shape, &zero}, c.operand()};
      execute(EagerProgram(add, loop_of(add, t)), o, shape);
      bool good = true;
      Strided::for_each(shape,
                        [&](const Shape& i) { good = good && c.get(i) == (t == Dtype::bool_ ? 1 : a.get(i) + 3); });
      BOOST_TEST(good, t << ' ' << name_of(l));
    }
}

BOOST_AUTO_TEST_CASE(the_number_of_threads_changes_nothing) {
  std::mt19937 rng(8);
  const int before = max_threads();
  for (Dtype t : {Dtype::float16, Dtype::float32, Dtype::float64})
    for (Layout l : {Layout::c_order, Layout::f_order, Layout::zero}) {
      const Shape shape{331, 701};
      Strided a(t, shape, l), one(t, shape), two(t, shape, Layout::f_order);
      a.fill(rng, 0.0173, 90);
      set_max_threads(1);
      run("tanh", t, {&a, &one}, shape);
      set_max_threads(2);
      run("tanh", t, {&a, &two}, shape);
      BOOST_TEST(one.same_bits(two), t << ' ' << name_of(l));
    }
  set_max_threads(before);
}

// An operand of rows x columns somewhere in memory: behind an offset, with any step, with gaps between rows, or one
// element for each row.
struct Drawn {
  Drawn(Dtype t, std::int64_t rows, std::int64_t columns, std::int64_t step, std::int64_t offset, std::int64_t gap)
      : dtype(t), shape{rows, columns} {
    const auto item = std::int64_t(itemsize(t));
    const std::int64_t row = std::max<std::int64_t>(1, std::llabs(step) * columns) + gap;
    strides = {row * item, step * item};
    first = (offset + (step < 0 ? -step * (columns - 1) : 0)) * item;
    memory.assign(std::size_t((offset + row * rows) * item), std::byte(0xcd));
  }
  BoundOperand operand() { return {memory.data() + first, dtype, false, &shape, &strides}; }
  std::byte* at(std::int64_t i, std::int64_t j) { return memory.data() + first + i * strides[0] + j * strides[1]; }
  double get(std::int64_t i, std::int64_t j) { return Strided::load(dtype, at(i, j)); }
  void fill(std::mt19937& rng) {
    for (std::int64_t i = 0; i < shape[0]; ++i)
      for (std::int64_t j = 0; j < shape[1]; ++j) {
        const double v = double(rng() % 161) / 4 - 20, whole = std::trunc(v);
        const bool is_unsigned = kind_of(dtype) == DtypeKind::unsigned_;
        Scalar(is_floating(dtype) ? v : (is_unsigned ? std::fabs(whole) : whole)).store(dtype, at(i, j));
      }
  }
  Drawn contiguous() {
    Drawn c(dtype, shape[0], shape[1], 1, 0, 0);
    for (std::int64_t i = 0; i < shape[0]; ++i)
      for (std::int64_t j = 0; j < shape[1]; ++j) std::memcpy(c.at(i, j), at(i, j), itemsize(dtype));
    return c;
  }
  Dtype dtype;
  Shape shape;
  Strides strides;
  std::int64_t first = 0;
  std::vector<std::byte> memory;
};

void run_drawn(const KernelDef& def, Dtype t, std::vector<Drawn*> operands) {
  int loop = 0;
  while (def.loop_table[loop].type[0] != t || (def.nin > 1 && def.loop_table[loop].type[1] != t)) ++loop;
  std::vector<BoundOperand> o;
  for (Drawn* d : operands) o.push_back(d->operand());
  execute(EagerProgram(def, loop), o, operands.back()->shape);
}

double by_definition(const std::string& name, double a, double b) {
  if (name == "add") return a + b;
  if (name == "maximum") return std::max(a, b);
  return name == "less" ? double(a < b) : std::exp(a);
}

BOOST_AUTO_TEST_CASE(drawn_shapes_dtypes_steps_and_offsets) {
  std::mt19937 rng(11);
  const auto one_of = [&](auto list) { return std::data(list)[rng() % std::size(list)]; };
  const int before = max_threads();
  for (int n = 0; n < 60; ++n) {
    const std::string name = one_of(std::vector<std::string>{"add", "maximum", "less", "exp"});
    const char c = one_of(name == "exp" ? std::string("eEfd") : std::string("bBhHiIlLeeEEfd"));
    const Dtype t = dtype_from_char(c), out = name == "less" ? Dtype::bool_ : t;
    const std::int64_t rows = one_of(std::vector<int>{1, 1, 3, 60, 1 + int(rng() % 300)}),
                       columns = 1 + std::int64_t(rng() % (rows == 1 ? 150000 : 1200));
    const auto draw = [&](Dtype type, std::vector<int> steps) {
      return Drawn(type, rows, columns, one_of(steps), std::int64_t(rng() % 20), std::int64_t(rng() % 3));
    };
    Drawn a = draw(t, {1, 1, 2, 3, 4, 7, -1}), b = draw(t, {1, 1, 2, 4, -1, 0}), y = draw(out, {1, 1, 2, -1});
    a.fill(rng), b.fill(rng);
    Drawn a1 = a.contiguous(), b1 = b.contiguous(), y1 = a1, y2 = y;
    if (out != t) y1 = Drawn(out, rows, columns, 1, 0, 0);
    const KernelDef& def = find_kernel(name);
    const bool unary = name == "exp";
    set_max_threads(2);
    run_drawn(def, t, unary ? std::vector<Drawn*>{&a, &y} : std::vector<Drawn*>{&a, &b, &y});
    set_max_threads(1);
    run_drawn(def, t, unary ? std::vector<Drawn*>{&a, &y2} : std::vector<Drawn*>{&a, &b, &y2});
    run_drawn(def, t, unary ? std::vector<Drawn*>{&a1, &y1} : std::vector<Drawn*>{&a1, &b1, &y1});
    const double tolerance = !unary ? 0 : (t == Dtype::float64 ? 1e-13 : (t == Dtype::float32 ? 1e-6 : 1e-2));
    std::int64_t wrong = 0, differ = y.memory != y2.memory;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        const double e = by_definition(name, a.get(i, j), b.get(i, j)), got = y.get(i, j);
        const bool beyond = t == Dtype::float16 && unary && (e > 65504 || e < 1e-4);
        wrong += !beyond && !(std::fabs(got - e) <= tolerance * e);
        differ += std::memcmp(y.at(i, j), y1.at(i, j), itemsize(out)) != 0;
      }
    BOOST_TEST((wrong == 0 && differ == 0), name << ' ' << t << ' ' << rows << " x " << columns << " steps "
                                                 << a.strides[1] << ' ' << b.strides[1] << ' ' << y.strides[1] << ": "
                                                 << wrong << " wrong, " << differ << " differ");
  }
  set_max_threads(before);
}

// Operands that are whole, one row for all, one element for each row, or rows with gaps between them, in memory of the
// loop's dtype and of another one.
BOOST_AUTO_TEST_CASE(short_rows_of_repeated_elements) {
  std::mt19937 rng(12);
  const auto one_of = [&](auto list) { return std::data(list)[rng() % std::size(list)]; };
  const int before = max_threads();
  for (int n = 0; n < 150; ++n) {
    const std::string name = one_of(std::vector<std::string>{"add", "maximum", "less"});
    const Dtype t = dtype_from_char(one_of(std::string("bhileEfd"))), out = name == "less" ? Dtype::bool_ : t;
    const std::int64_t columns = 2 + std::int64_t(rng() % 70), rows = 1 + std::int64_t(rng() % (1 + 40000 / columns));
    enum Kind { whole, one_row, one_element, gaps };
    const auto draw = [&](Dtype type, Kind kind) {
      Drawn d(type, rows, columns, kind == one_element ? 0 : 1, std::int64_t(rng() % 20), kind == gaps ? 3 : 0);
      if (kind == one_row) d.strides[0] = 0;
      return d;
    };
    const Dtype other = one_of(std::vector<Dtype>{t, t, is_floating(t) ? Dtype::float64 : Dtype::int64});
    Drawn a = draw(t, one_of(std::vector<Kind>{whole, gaps, one_element})),
          b = draw(other, one_of(std::vector<Kind>{whole, one_row, one_element, one_element, gaps})),
          y = draw(out, one_of(std::vector<Kind>{whole, whole, gaps})), y1 = y;
    a.fill(rng), b.fill(rng);
    const KernelDef& def = find_kernel(name);
    set_max_threads(2);
    run_drawn(def, t, {&a, &b, &y});
    set_max_threads(1);
    run_drawn(def, t, {&a, &b, &y1});
    std::int64_t wrong = y.memory != y1.memory;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) wrong += y.get(i, j) != by_definition(name, a.get(i, j), b.get(i, j));
    BOOST_TEST(wrong == 0, name << ' ' << t << ' ' << other << ' ' << rows << " x " << columns << " strides "
                                << a.strides << ' ' << b.strides << ' ' << y.strides);
  }
  set_max_threads(before);
}

// Outputs of short rows that are large enough to be written past the caches.
BOOST_AUTO_TEST_CASE(large_outputs_of_short_rows) {
  std::mt19937 rng(13);
  const test::StreamedFrom all(nd::cpu::kNeverStreamed);
  for (const std::int64_t gap : {0, 3}) {
    const std::int64_t rows = 240007, columns = 9;
    Drawn a(Dtype::float32, rows, columns, 1, 2, 0), b(Dtype::float32, rows, columns, 0, 0, 0),
        y(Dtype::float32, rows, columns, 1, 5, gap);
    a.fill(rng), b.fill(rng);
    run_drawn(find_kernel("add"), Dtype::float32, {&a, &b, &y});
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) wrong += y.get(i, j) != a.get(i, j) + b.get(i, j);
    BOOST_TEST(wrong == 0, "gap " << gap);
  }
}

BOOST_AUTO_TEST_CASE(indexed_kernels) {
  std::mt19937 rng(9);
  const KernelDef& def = find_kernel("im2col_2d");
  for (Dtype memory : {Dtype::float16, Dtype::float32, Dtype::float64, Dtype::int32})
    for (Layout l : test::kWritableLayouts) {
      const Dtype t = memory == Dtype::int32 ? Dtype::float32 : memory;  // an image of another dtype is converted
      const Shape shape{2, 3, 3, 2, 4, 5};                               // n, c, kh, kw, oh, ow
      Strided image(memory, {2, 3, 6, 7}, l), col(t, shape, l);
      image.fill(rng);
      const std::int64_t parameter[] = {2, 1, 1, 0, 1, 2};  // sy, sx, ph, pw, dy, dx
      const Strides zero = Strides::filled(6, 0);
      ScalarCell cell[6];
      std::vector<BoundOperand> o{image.operand()};
      for (int k = 0; k < 6; ++k) {
        cell[k] = ScalarCell(Scalar(parameter[k]), Dtype::int64);
        o.push_back({cell[k].bytes, Dtype::int64, true, &shape, &zero});
      }
      o.push_back(col.operand());
      int loop = 0;
      while (def.loop_table[loop].type[0] != t) ++loop;
      execute(EagerProgram(def, loop), o, shape);
      bool good = true;
      Strided::for_each(shape, [&](const Shape& i) {
        const std::int64_t y = i[4] * 2 + i[2] - 1, x = i[5] + i[3] * 2;
        const bool inside = y >= 0 && y < 6 && x >= 0 && x < 7;
        good = good && col.get(i) == (inside ? image.get({i[0], i[1], y, x}) : 0);
      });
      BOOST_TEST(good, memory << ' ' << name_of(l));
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
