// Properties of generated texts, keys and parameters; none of them needs the GPU's compiler.
#include <catena/tests/support/cuda_device/execute.h>

#include <algorithm>
#include <set>

#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/cuda/compiler/compiler.h>
#include <catena/ndarray/cuda/runtime/library.h>

namespace {

using namespace cuda_device;
using catena::Dims;
using catena::KernelDef;
using nd::cuda::Form;
using nd::cuda::KernelKey;
namespace device = catena::device;

const KernelDef& add() { return catena::find_kernel("add"); }
const catena::EagerProgram& add_f() {
  static const catena::EagerProgram program(add(), loop_number(add(), "ff->f"));
  return program;
}
nd::cuda::LaunchPlan plan_of(const catena::Program& program, std::vector<HostArray>& operands, const Shape& loop) {
  std::vector<BoundOperand> refs;
  for (HostArray& a : operands) refs.push_back(a.operand());
  return nd::cuda::plan_elementwise(program, refs, loop, kProcessors);
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_field_of_the_key_counts) {
  const KernelKey key;
  std::vector<KernelKey> changed(13 + key.dtypes.size(), key);
  changed[0].program = 1;
  changed[1].form = Form::strided;
  changed[2].rank = 2;
  changed[3].reduced_rank = 2;
  changed[4].scalars = 1;
  changed[5].index32 = false;
  changed[6].arch = 90;
  changed[7].toolchain = 1;
  changed[8].per_thread = 4;
  changed[9].index_arrays = 1;
  changed[10].word_bytes = 4;
  changed[11].many_pieces = true;
  for (std::size_t k = 0; k < key.dtypes.size(); ++k) changed[12 + k].dtypes[k] = Dtype::float32;
  changed.back().dtypes.fill(Dtype::float32);
  std::set<std::uint64_t> hashes = {key.hash()};
  for (const KernelKey& other : changed) {
    BOOST_CHECK(other != key);
    BOOST_CHECK_MESSAGE(hashes.insert(other.hash()).second,
                        "field " << &other - changed.data() << " is not part of the hash");
  }
  // A field that is missing above would show here.
  BOOST_CHECK_EQUAL(sizeof(KernelKey), 48u);
}

BOOST_AUTO_TEST_CASE(the_program_hash_knows_kernels_types_and_slots) {
  const NamedProgram& chain = named_program("half_chain");
  std::set<std::uint64_t> hashes = {nd::cuda::program_hash(chain.program())};
  NamedProgram other = chain;
  other.steps[1].slot[0] = 4;
  BOOST_CHECK(hashes.insert(nd::cuda::program_hash(other.program())).second);
  other = chain;
  other.slots[3] = Dtype::float32;
  BOOST_CHECK(hashes.insert(nd::cuda::program_hash(other.program())).second);
  other = chain;
  other.steps[1].kernel = &catena::find_kernel("multiply");
  BOOST_CHECK(hashes.insert(nd::cuda::program_hash(other.program())).second);
  other = chain;
  other.steps.pop_back();
  BOOST_CHECK(hashes.insert(nd::cuda::program_hash(other.program())).second);
  BOOST_CHECK_EQUAL(nd::cuda::program_hash(NamedProgram(chain).program()), nd::cuda::program_hash(chain.program()));
}

// Values travel in the parameters: other values give the same key and the same text.
BOOST_AUTO_TEST_CASE(no_scalar_value_in_a_text) {
  std::set<std::string> texts;
  std::set<std::uint64_t> keys;
  for (double value : {1234.5, -0.0625, 777.0}) {
    std::vector<HostArray> operands = {random_array(Dtype::float32, {100}, 1), scalar(Dtype::float32, value, 1),
                                       make_array(Dtype::float32, {100})};
    const nd::cuda::LaunchPlan plan = plan_of(add_f(), operands, {100});
    const std::string source = nd::cuda::generate(add_f(), plan.key).source();
    for (const char* digits : {"1234", "0625", "777"}) BOOST_CHECK_EQUAL(source.find(digits), std::string::npos);
    texts.insert(source);
    keys.insert(plan.key.hash());
  }
  BOOST_CHECK_EQUAL(texts.size(), 1u);
  BOOST_CHECK_EQUAL(keys.size(), 1u);
}

BOOST_AUTO_TEST_CASE(texts_are_short) {
  for (const nd::cuda::GeneratedKernel& k : manifest()) {
    const std::string source = k.source();
    const bool one_step = source.find("_and_") == std::string::npos;
    BOOST_CHECK_MESSAGE(!one_step || std::count(source.begin(), source.end(), '\n') <= 13, source);
    BOOST_CHECK_LE(k.parameter_bytes, std::size_t(device::kParameterBytes));
    for (const std::string& header : k.headers)
      BOOST_CHECK_MESSAGE(catena::find_embedded_header(header) != nullptr, header);
  }
}

BOOST_AUTO_TEST_CASE(a_batch_includes_each_header_once) {
  const std::vector<nd::cuda::GeneratedKernel> kernels = manifest();
  const std::string source = nd::cuda::batch_source(kernels);
  const std::string include = "#include <catena/kernels/elementwise/arithmetic.h>";
  BOOST_CHECK_EQUAL(source.find(include), source.rfind(include));
  std::set<std::string> names;
  for (const nd::cuda::GeneratedKernel& k : kernels)
    BOOST_CHECK_MESSAGE(names.insert(k.name).second, k.name << " occurs twice");
}

// Forms that do not fit are refused, with names in the message.
BOOST_AUTO_TEST_CASE(wrong_forms) {
  KernelKey key;
  key.form = Form::reduce_block;
  BOOST_CHECK_EXCEPTION(nd::cuda::generate(add_f(), key), catena::ValueError, [](const catena::ValueError& e) {
    return std::string(e.what()) == "code generation: the form reduce_block does not fit the program of add";
  });
  const KernelDef& sum = catena::find_kernel("sum");
  key.form = Form::row_warp;
  BOOST_CHECK_THROW(nd::cuda::generate(sum, sum.loop_table[0], key), catena::ValueError);
  BOOST_CHECK_EXCEPTION(nd::cuda::generate(key), catena::ValueError, [](const catena::ValueError& e) {
    return std::string(e.what()) == "code generation: the form row_warp needs a kernel or a program";
  });
  key.form = Form::gather;
  BOOST_CHECK_THROW(nd::cuda::generate(sum, sum.loop_table[0], key), catena::ValueError);
}

// The bytes that plans write are the structs that kernels read.
BOOST_AUTO_TEST_CASE(parameters) {
  std::vector<HostArray> operands = {transposed(random_array(Dtype::float32, {31, 20}, 1), {1, 0}),
                                     scalar(Dtype::float32, 2.5, 2), make_array(Dtype::float32, {20, 31})};
  const nd::cuda::LaunchPlan plan = plan_of(add_f(), operands, {20, 31});
  using Strided = device::StridedParameters<3, 2>;
  BOOST_REQUIRE_EQUAL(plan.parameters.size(), sizeof(Strided));
  Strided p;
  std::memcpy(&p, plan.parameters.data(), sizeof p);
  BOOST_CHECK_EQUAL(p.n, 620);
  BOOST_CHECK_EQUAL(p.rank, 2);
  BOOST_CHECK(p.data[0] == operands[0].data() && p.data[1] == nullptr && p.data[2] == operands[2].data());
  float value;
  std::memcpy(&value, p.cell[1].bytes, sizeof value);
  BOOST_CHECK_EQUAL(value, 2.5f);
  BOOST_CHECK(p.length[0] == 20 && p.length[1] == 31);
  BOOST_CHECK(p.stride[0][0] == 4 && p.stride[0][1] == 80 && p.stride[2][0] == 124 && p.stride[2][1] == 4);

  HostArray in = random_array(Dtype::float32, {50000}, 1), out = make_array(Dtype::float32, {1});
  const KernelDef& sum = catena::find_kernel("sum");
  catena::bound::Reduce call;
  call.kernel = &sum;
  call.loop = loop_number(sum, "f->f");
  call.in = in.operand();
  call.out = out.operand();
  call.axes = {0};
  nd::cuda::Sequence reduce = nd::cuda::plan_reduce(call, kProcessors);
  int scratch;
  reduce.set_scratch(&scratch);
  using Reduce = device::ReduceParameters<1, 2, 1, 1>;
  BOOST_REQUIRE_EQUAL(reduce.launches.size(), 2u);
  BOOST_REQUIRE_EQUAL(reduce.launches[0].parameters.size(), sizeof(Reduce));
  BOOST_CHECK_EQUAL(nd::cuda::generate(reduce.launches[0]).parameter_bytes, sizeof(Reduce));
  Reduce r;
  std::memcpy(&r, reduce.launches[0].parameters.data(), sizeof r);
  BOOST_CHECK(r.outputs == 1 && r.count == 50000 && r.splits == reduce.launches[0].grid_y);
  BOOST_CHECK(r.data[0] == in.data() && r.data[1] == out.data() && r.partial == &scratch &&
              r.reduced_length[0] == 50000 && r.reduced_stride[0][0] == 4);
  BOOST_CHECK_GE(reduce.scratch_bytes, std::size_t(r.splits) * 4);
}

// The parameters tell which thread adds up what; the number of blocks alone may depend on the device.
void check_equal(const nd::cuda::Sequence& a, const nd::cuda::Sequence& b, const char* what, const Shape& shape) {
  BOOST_REQUIRE_EQUAL(a.launches.size(), b.launches.size());
  for (std::size_t k = 0; k < a.launches.size(); ++k) {
    const nd::cuda::LaunchPlan &x = a.launches[k], &y = b.launches[k];
    const bool same = x.key == y.key && x.grid_y == y.grid_y && x.parameters.size() == y.parameters.size() &&
                      std::memcmp(x.parameters.data(), y.parameters.data(), x.parameters.size()) == 0;
    BOOST_CHECK_MESSAGE(same, what << " of " << shape);
  }
}

BOOST_AUTO_TEST_CASE(sums_do_not_depend_on_the_number_of_multiprocessors) {
  constexpr int kCards[] = {1, 7, 80, 132, 200};
  const KernelDef& sum = catena::find_kernel("sum");
  for (const Shape& shape : {Shape{1 << 20, 1}, Shape{1, 1 << 20}, Shape{40, 30000}, Shape{30000, 40}, Shape{300, 300}})
    for (const std::int64_t axis : {0, 1}) {
      HostArray in = make_array(Dtype::float32, shape), out = make_array(Dtype::float32, shape);
      Shape kept = shape;
      kept[int(axis)] = 1;
      HostArray reduced = make_array(Dtype::float32, kept);
      Strides strides = reduced.strides;
      strides[int(axis)] = 0;
      catena::bound::Reduce reduce;
      reduce.kernel = &sum;
      reduce.loop = loop_number(sum, "f->f");
      reduce.in = in.operand();
      reduce.out = reduced.operand();
      reduce.out.strides = &strides;
      reduce.axes = {axis};
      const catena::bound::Scan scan{&sum, reduce.loop, in.operand(), int(axis), out.operand()};
      for (const int processors : kCards) {
        check_equal(nd::cuda::plan_reduce(reduce, 16), nd::cuda::plan_reduce(reduce, processors), "sum", shape);
        check_equal(nd::cuda::plan_scan(scan, 16), nd::cuda::plan_scan(scan, processors), "running sum", shape);
      }
    }
  for (const Shape& shape : {Shape{2, 20000}, Shape{70, 20000}}) {
    HostArray a = make_array(Dtype::float32, shape), b = make_array(Dtype::float32, {shape[1], 3}),
              out = make_array(Dtype::float32, {shape[0], 3});
    const catena::bound::Matmul product{a.operand(), b.operand(), out.operand()};
    for (const int processors : kCards)
      check_equal(nd::cuda::plan_matmul(product, 16), nd::cuda::plan_matmul(product, processors), "product", shape);
  }
}

// sqrt(sum(((a * b) + a) * b) * 2) of float16 over the rows of a matrix: a is a transposed matrix, b one number for
// each row.
BOOST_AUTO_TEST_CASE(parameters_of_reductions_with_programs) {
  constexpr Dtype e = Dtype::float16;
  const Shape shape{40, 30}, kept{40, 1};
  HostArray a = transposed(random_array(e, {30, 40}, 1), {1, 0}), b = random_array(e, {40, 1}, 2),
            out = make_array(e, kept);
  b.strides = Strides{2, 0};
  out.strides = Strides{2, 0};
  HostArray two = scalar(e, 2, 2);
  const KernelDef &multiply = catena::find_kernel("multiply"), &root = catena::find_kernel("sqrt");
  const catena::Step steps[] = {{&multiply, std::uint16_t(loop_number(multiply, "ee->e")), {0, 1, 3}},
                                {&root, std::uint16_t(loop_number(root, "e->e")), {3, 2}}};
  const Dtype slots[] = {e, e, e, e};
  const catena::Program pre = named_program("half_chain").program(), post{steps, slots, 2, 0, 1};
  const KernelDef& sum = catena::find_kernel("sum");
  const BoundOperand inputs[] = {a.operand(), b.operand()}, post_inputs[] = {two.operand()};
  catena::bound::Reduce call;
  call.kernel = &sum;
  call.loop = loop_number(sum, "e->e");
  call.in = {nullptr, e, false, &shape, &a.strides};
  call.out = out.operand();
  call.axes = {1};
  call.pre = &pre;
  call.pre_inputs = inputs;
  call.post = &post;
  call.post_inputs = post_inputs;
  const nd::cuda::Sequence plan = nd::cuda::plan_reduce(call, kProcessors);
  BOOST_REQUIRE_EQUAL(plan.launches.size(), 1u);
  const nd::cuda::LaunchPlan& launch = plan.launches[0];
  // The transposed array decides; b is one element per output, the number one for all.
  BOOST_CHECK(launch.key.form == Form::reduce_columns && launch.key.scalars == (1 << 2 | 1 << (8 + 1)));
  using Reduce = device::ReduceParameters<2, 4, 1, 1>;
  const nd::cuda::GeneratedKernel kernel = nd::cuda::generate(launch);
  BOOST_REQUIRE_EQUAL(launch.parameters.size(), sizeof(Reduce));
  BOOST_CHECK_EQUAL(kernel.parameter_bytes, sizeof(Reduce));
  BOOST_CHECK_MESSAGE(kernel.name.starts_with("multiply_and_2_more_then_sum_then_multiply_and_1_more_reduce_columns_"),
                      kernel.name);
  Reduce r;
  std::memcpy(&r, launch.parameters.data(), sizeof r);
  BOOST_CHECK(r.outputs == 40 && r.count == 30 && r.data[0] == a.data() && r.data[1] == b.data() &&
              r.data[2] == nullptr);
  BOOST_CHECK(r.data[3] == out.data() && r.kept_stride[0][0] == 2 && r.kept_stride[1][0] == 2 &&
              r.kept_stride[2][0] == 0);
  BOOST_CHECK(r.kept_stride[3][0] == 2 && r.reduced_stride[0][0] == 80 && r.reduced_stride[1][0] == 0);

  // The computation is in the key: with one program left out it is another one.
  std::set<std::uint64_t> programs = {launch.key.program};
  call.post = nullptr;
  call.post_inputs = {};
  BOOST_CHECK(programs.insert(nd::cuda::plan_reduce(call, kProcessors).launches[0].key.program).second);
  call.in.dtype = Dtype::float32;  // the elements are rounded to float32, not to float16
  BOOST_CHECK(programs.insert(nd::cuda::plan_reduce(call, kProcessors).launches[0].key.program).second);
}

BOOST_AUTO_TEST_CASE(parameters_of_structural_calls) {
  HostArray base = random_array(Dtype::float32, {7, 5}, 1), out = make_array(Dtype::float32, {3, 5}),
            index = make_array(Dtype::int32, {3});
  base.strides = Strides{0, 4};
  index.strides.push_back(0);
  const catena::bound::Index axes[] = {{index.operand(), 7, 20}};
  const nd::cuda::LaunchPlan gather = nd::cuda::plan_gather({{3, 5}, base.operand(), axes, out.operand()}, kProcessors);
  using Gather = device::GatherParameters<1, 2>;
  BOOST_REQUIRE_EQUAL(gather.parameters.size(), sizeof(Gather));
  BOOST_CHECK_EQUAL(nd::cuda::generate(gather).parameter_bytes, sizeof(Gather));
  Gather g;
  std::memcpy(&g, gather.parameters.data(), sizeof g);
  BOOST_CHECK(g.n == 15 && g.rank == 2 && g.base == base.data() && g.other == out.data() && g.index[0] == index.data());
  BOOST_CHECK(g.axis_length[0] == 7 && g.axis_stride[0] == 20 && g.length[0] == 3 && g.length[1] == 5 &&
              g.base_stride[1] == 4);
  BOOST_CHECK(g.other_stride[0] == 20 && g.index_stride[0][0] == 4 && g.index_stride[0][1] == 0);

  // Pointers into scratch memory are supplied later, to every launch; offsets are aligned.
  HostArray keys = random_array(Dtype::float32, {5000}, 1), places = make_array(Dtype::int64, {5000});
  nd::cuda::Sequence sort = nd::cuda::plan_sort({keys.operand(), 0, true, places.operand()}, kProcessors);
  auto* const memory = reinterpret_cast<std::byte*>(std::uintptr_t(1) << 40);
  sort.set_scratch(memory);
  using Radix = device::RadixParameters<1>;
  std::vector<Radix> passes;
  for (const nd::cuda::LaunchPlan& launch : sort.launches) {
    BOOST_CHECK_EQUAL(launch.parameters.size(), nd::cuda::generate(launch).parameter_bytes);
    if (launch.key.form != Form::sort_move) continue;
    passes.emplace_back();
    std::memcpy(&passes.back(), launch.parameters.data(), sizeof(Radix));
  }
  BOOST_REQUIRE_EQUAL(passes.size(), 4u);
  for (std::size_t k = 0; k < 4; ++k) {
    BOOST_CHECK_EQUAL(passes[k].digit, std::int64_t(k));
    BOOST_CHECK(passes[k].in == keys.data() && passes[k].out == places.data());
    for (const void* p : {static_cast<const void*>(passes[k].values), static_cast<const void*>(passes[k].places),
                          static_cast<const void*>(passes[k].counts), static_cast<const void*>(passes[k].states)}) {
      const auto offset = static_cast<const std::byte*>(p) - memory;
      BOOST_CHECK(offset >= 0 && std::size_t(offset) < sort.scratch_bytes && offset % 256 == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(layouts) {
  const auto form = [](std::vector<HostArray> operands, const Shape& loop) {
    return plan_of(add_f(), operands, loop).key;
  };
  constexpr Dtype f = Dtype::float32;
  // Axes that are contiguous with each other are one axis.
  BOOST_CHECK(
      form({random_array(f, {4, 5, 6}, 1), random_array(f, {4, 5, 6}, 2), make_array(f, {4, 5, 6})}, {4, 5, 6}).form ==
      Form::contiguous);
  HostArray row = random_array(f, {6}, 1);
  row.strides = Strides{0, 0, 4};
  const KernelKey broadcast = form({random_array(f, {4, 5, 6}, 1), row, make_array(f, {4, 5, 6})}, {4, 5, 6});
  BOOST_CHECK(broadcast.form == Form::strided && broadcast.rank == 2 && broadcast.scalars == 0);
  // An operand that repeats one element of device memory is a scalar as well.
  HostArray one = random_array(f, {1}, 1);
  one.strides = Strides{0};
  const KernelKey repeated = form({random_array(f, {100}, 1), one, make_array(f, {100})}, {100});
  BOOST_CHECK(repeated.form == Form::contiguous && repeated.scalars == 2);

  // 64-bit positions only where 31 bits do not reach. No memory is touched.
  HostArray far = random_array(f, {2}, 1);
  const Shape large{1 << 16, 1 << 15};
  std::vector<HostArray> operands(3, far);
  for (HostArray& a : operands) a.strides = Strides{4 << 15, 4};
  BOOST_CHECK(plan_of(add_f(), operands, {std::int64_t(1) << 31}).key.index32 == false);
  operands[0].strides = Strides{4, 4 << 16};
  const KernelKey transposed_key = plan_of(add_f(), operands, large).key;
  BOOST_CHECK(transposed_key.form == Form::strided && !transposed_key.index32);
  // Where operands are contiguous along different axes, a thread computes several elements.
  BOOST_CHECK_EQUAL(int(transposed_key.per_thread), 16);
  BOOST_CHECK_EQUAL(int(broadcast.per_thread), 1);
  BOOST_CHECK(form({random_array(f, {100}, 1), random_array(f, {100}, 1), make_array(f, {100})}, {100}).index32);
  BOOST_CHECK_EQUAL(plan_of(add_f(), operands, {0, 5}).grid_x, 0u);
}

BOOST_AUTO_TEST_CASE(vector_widths) {
  using D = Dtype;
  const auto width = [](std::vector<Dtype> t, unsigned scalars = 0) { return nd::cuda::vector_width(t, scalars); };
  BOOST_CHECK_EQUAL(width({D::float32, D::float32}), 4);
  BOOST_CHECK_EQUAL(width({D::float16, D::bfloat16}), 8);
  BOOST_CHECK_EQUAL(width({D::float64, D::bool_}), 2);
  BOOST_CHECK_EQUAL(width({D::float16, D::float64}, 2), 8);
  BOOST_CHECK_EQUAL(width({D::bool_, D::bool_}), 16);
  for (int operands = 1; operands <= catena::kMaxOperands; ++operands)
    BOOST_CHECK_GE(nd::cuda::generic_rank(operands, 0), 24);
}

// A fused float16 chain is the eager one: every step rounds, and leaving the rounding out would show.
BOOST_AUTO_TEST_CASE(a_fused_half_chain_rounds_at_every_step) {
  constexpr Dtype e = Dtype::float16;
  const Shape loop{4096};
  const NamedProgram& chain = named_program("half_chain");
  const HostArray a = random_array(e, loop, 1), b = random_array(e, loop, 2);
  std::vector<HostArray> fused = {a, b, make_array(e, loop)};
  run_program(chain.program(), fused, loop, Order::shuffled);

  const auto eager = [&](const char* name, const HostArray& x, const HostArray& y) {
    const KernelDef& def = catena::find_kernel(name);
    const catena::EagerProgram program(def, loop_number(def, "ee->e"));
    std::vector<HostArray> operands = {x, y, make_array(e, loop)};
    reference(program, operands, loop);
    return operands[2];
  };
  HostArray steps = eager("multiply", eager("add", eager("multiply", a, b), a), b);
  BOOST_CHECK(steps.content() == fused[2].content());

  int would_differ = 0;
  HostArray x = a, y = b;
  for (int i = 0; i < 4096; ++i) {
    const float u = float(x.as<catena::float16>()[i]), v = float(y.as<catena::float16>()[i]);
    would_differ += catena::float16((u * v + u) * v).bits != steps.as<catena::float16>()[i].bits;
  }
  BOOST_CHECK_GT(would_differ, 100);
}

BOOST_AUTO_TEST_CASE(targets) {
  const int known[] = {75, 80, 86, 90, 100};
  const auto is = [&](int arch, int expected, bool ptx) {
    const nd::cuda::Target t = nd::cuda::choose_target(arch, known);
    return t.arch == expected && t.ptx == ptx;
  };
  BOOST_CHECK(is(80, 80, false));
  BOOST_CHECK(is(90, 90, false));
  BOOST_CHECK(is(89, 86, true));
  BOOST_CHECK(is(121, 100, true));
  BOOST_CHECK_EXCEPTION(nd::cuda::choose_target(70, known), catena::RuntimeError, [](const catena::RuntimeError& e) {
    return std::string(e.what()) ==
           "NVRTC: a device of architecture sm_70 is too old, the compiler needs sm_75 or newer";
  });
}

BOOST_AUTO_TEST_CASE(compiler_reports) {
  std::string rest;
  const std::vector<nd::cuda::KernelResources> all = nd::cuda::parse_resources(
      "k.cu(3): warning: something\n"
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'first' for 'sm_90'\n"
      "ptxas info    : Function properties for first\n"
      "ptxas         .     8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 1 barriers, 8 bytes cumulative stack size, 1024 bytes smem, 400 bytes "
      "cmem[0]\n"
      "ptxas info    : Compile time = 5.000 ms\n"
      "ptxas info    : Compiling entry function 'second' for 'sm_90'\n"
      "ptxas info    : Function properties for second\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 10 registers, used 0 barriers\n",
      &rest);
  BOOST_REQUIRE_EQUAL(all.size(), 2u);
  BOOST_CHECK(all[0].name == "first" && all[0].registers == 40 && all[0].stack == 8 && all[0].spill_stores == 12 &&
              all[0].spill_loads == 16 && all[0].shared == 1024);
  BOOST_CHECK(all[1].name == "second" && all[1].registers == 10 && all[1].spill_stores == 0 && all[1].shared == 0);
  BOOST_CHECK_EQUAL(rest, "k.cu(3): warning: something\n");
  BOOST_CHECK_EQUAL(nd::cuda::numbered("a\nb\n"), "   1 | a\n   2 | b\n");
}

BOOST_AUTO_TEST_CASE(a_missing_library_says_what_was_tried) {
  const nd::cuda::LibraryFolders folders{{}, {"/nowhere/lib64"}};
  BOOST_CHECK_EXCEPTION(
      nd::cuda::Library({"NVRTC", {"libcatena_none.so.13", "libcatena_none.so"}}, folders), catena::RuntimeError,
      [](const catena::RuntimeError& e) {
        return std::string(e.what()) ==
               "NVRTC is unavailable: libcatena_none.so.13 not found (tried: libcatena_none.so.13, libcatena_none.so, "
               "/nowhere/lib64/libcatena_none.so.13, /nowhere/lib64/libcatena_none.so)";
      });
}
