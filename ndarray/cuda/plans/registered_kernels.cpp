#include <algorithm>
#include <set>

#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/cuda/compiler/kernel_cache.h>
#include <catena/ndarray/cuda/compiler/kernel_store.h>
#include <catena/ndarray/cuda/plans/multi_tensor.h>

namespace nd::cuda {
namespace {

using catena::BoundOperand;
using catena::Dims;
using catena::KernelDef;
using catena::KernelKind;
using catena::Loop;
using catena::Shape;
using catena::Strides;

// Plans typical calls with the functions that the backend uses, so that the keys are those that programs will use.
// Nothing is executed, and the operands have no memory.
class Forms {
 public:
  std::vector<WarmUpRequest> take() { return std::move(requests_); }

  void add(const KernelDef& def, int loop) {
    switch (def.kind) {
      case KernelKind::elementwise: return add_elementwise(def, loop);
      case KernelKind::indexed: return def.is(catena::is_random) ? add_random(def, loop) : add_indexed(def, loop);
      case KernelKind::reduction: return add_reduction(def, loop);
      case KernelKind::row_wise: return add_row(def, loop);
      case KernelKind::multi_tensor: return add_multi_tensor(def, loop);
    }
  }

 private:
  // Operands of the loop's dtypes, each with its own strides over `shape`.
  struct Operands {
    Shape shape;
    std::vector<Shape> shapes;
    std::vector<Strides> strides;
    std::vector<BoundOperand> all;
    catena::ScalarCell cell;

    Operands(const KernelDef& def, int loop, const Shape& over) : shape(over) {
      const std::size_t n = static_cast<std::size_t>(def.num_operands());
      shapes.assign(n, shape);
      for (std::size_t k = 0; k < n; ++k) {
        const Dtype type = def.loop_table[loop].type[k];
        strides.push_back(catena::c_strides(shape, catena::itemsize(type)));
        all.push_back({nullptr, type, false, nullptr, nullptr});
      }
      for (std::size_t k = 0; k < n; ++k) {
        all[k].shape = &shapes[k];
        all[k].strides = &strides[k];
      }
    }
    Operands(const Operands&) = delete;
    Operands& operator=(const Operands&) = delete;

    void make_scalar(std::size_t k) {
      all[k].immediate = true;
      all[k].data = cell.bytes;
      std::fill(strides[k].begin(), strides[k].end(), 0);
    }
    void transpose(std::size_t k) { std::reverse(strides[k].begin(), strides[k].end()); }
  };

  void request(const LaunchPlan& plan) {
    if (seen_.insert(record_key(plan.key)).second) requests_.push_back({plan.key, generate(plan)});
  }
  void request(const catena::Program& program, const Operands& o) {
    request(plan_elementwise(program, o.all, o.shape, 100));
  }

  // Plans calls on contiguous operands, on a transposed operand (of which a thread of a large loop computes several
  // elements), and with each of two operands as a scalar.
  void add_elementwise(const KernelDef& def, int loop) {
    const catena::EagerProgram program(def, loop);
    request(program, Operands(def, loop, {64, 48}));
    for (const std::int64_t length : {8, 48}) {
      Operands transposed(def, loop, {length, length});
      transposed.transpose(0);
      request(program, transposed);
    }
    for (std::size_t k = 0; k < def.nin && def.nin == 2; ++k) {
      Operands number(def, loop, {64, 48});
      number.make_scalar(k);
      request(program, number);
    }
  }

  // Plans calls over 1, 2 and 4 axes, or 6 for windows. Inputs that are not raw are scalars (sizes of windows, seeds),
  // or the first of them is an array (labels, values).
  void add_indexed(const KernelDef& def, int loop) {
    const catena::EagerProgram program(def, loop);
    for (const Shape& shape : {Shape{64}, Shape{8, 8}, Shape{2, 3, 4, 5}, Shape{2, 3, 2, 2, 4, 5}}) {
      for (const bool first_is_array : {true, false}) {
        Operands o(def, loop, shape);
        bool array = first_is_array;
        for (std::size_t k = 0; k < def.nin; ++k) {
          if ((def.raw >> k) & 1) continue;
          if (!array) o.make_scalar(k);
          array = false;
        }
        request(program, o);
      }
    }
  }

  // Random kernels have the signature of indexed kernels but their own launch skeleton.
  void add_random(const KernelDef& def, int loop) {
    const Loop& l = def.loop_table[loop];
    LaunchPlan plan;
    plan.kernel = &def;
    plan.loop = loop;
    plan.key.program = kernel_hash(def, l);
    plan.key.form = Form::random;
    plan.key.dtypes[0] = l.type[static_cast<std::size_t>(def.first_output())];
    request(plan);
  }

  // Plans reductions of a whole array, and of a matrix along its rows (short and long) and columns.
  void add_reduction(const KernelDef& def, int loop) {
    const auto plan = [&](const Shape& shape, const Dims& axes) {
      Operands o(def, loop, shape);
      catena::bound::Reduce call;
      call.kernel = &def;
      call.loop = loop;
      call.axes = axes;
      for (int a : axes) o.shapes[1][a] = 1;
      o.strides[1] = catena::c_strides(o.shapes[1], catena::itemsize(o.all[1].dtype));
      for (int a : axes) o.strides[1][a] = 0;
      call.in = o.all[0];
      call.out = o.all[1];
      for (const LaunchPlan& p : plan_reduce(call, 100).launches) request(p);
    };
    plan({1 << 24}, {0});
    plan({1000, 500}, {1});
    plan({1000, 5000}, {1});
    plan({5000, 1000}, {0});
  }

  // Plans calls over the rows of a matrix, of several lengths. Kernels with inputs that are the same for all rows
  // normalize rows: the last one or two of the inputs with one element per row are then numbers. Other kernels with
  // per-row results normalize channels: all inputs but the first have one element per channel, and the last one may be
  // a number.
  void add_row(const KernelDef& def, int loop) {
    const catena::RowWiseLoop& table = *def.loop_table[loop].row_wise;
    for (const std::int64_t length : {500, 1000, 5000}) {
      add_row(def, loop, {1000, length}, {1}, 0, 0);
      for (int numbers = 1; numbers <= 2 && table.shared != 0; ++numbers)
        add_row(def, loop, {1000, length}, {1}, table.per_row, numbers);
    }
    for (int numbers = 0; numbers < 2 && def.nrow > 0 && table.shared == 0; ++numbers) {
      const unsigned but_first = (1u << def.nin) - 2;
      add_row(def, loop, {32, 16, 14, 14}, {0, 2, 3}, but_first, numbers);
      add_row(def, loop, {1000, 500}, {0}, but_first, numbers);
    }
  }
  // per_row: bit k is set if input k has one element per row.
  void add_row(const KernelDef& def, int loop, const Shape& shape, const Dims& axes, unsigned per_row, int numbers) {
    Operands o(def, loop, shape);
    const std::size_t outputs = static_cast<std::size_t>(def.first_output());
    for (std::size_t k = 0; k < o.all.size(); ++k) {
      if (k < outputs + def.nout && ((per_row >> k) & 1) == 0) continue;
      Shape kept = shape;
      for (int a : axes) kept[a] = 1;
      o.strides[k] = catena::c_strides(kept, catena::itemsize(o.all[k].dtype));
      for (int a : axes) o.strides[k][a] = 0;
    }
    for (int k = def.nin - 1; k >= 0 && numbers > 0; --k) {
      if (((per_row >> k) & 1) == 0) continue;
      o.make_scalar(static_cast<std::size_t>(k));
      --numbers;
    }
    request(plan_row_wise({&def, loop, shape, axes, o.all}, 100));
  }

  void add_multi_tensor(const KernelDef& def, int loop) { request(plan_multi_tensor(def, loop)); }

  std::vector<WarmUpRequest> requests_;
  std::set<std::string> seen_;
};

}  // namespace

std::vector<WarmUpRequest> registered_kernels() {
  Forms forms;
  for (const KernelDef& def : catena::all_kernels())
    for (int loop = 0; loop < def.num_loops; ++loop) forms.add(def, loop);
  return forms.take();
}

}  // namespace nd::cuda
