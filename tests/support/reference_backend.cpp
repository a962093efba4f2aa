#include <catena/tests/support/reference_backend.h>

#include <cstring>
#include <utility>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/backend.h>
#include <catena/autograd/backend/comm_extension.h>
#include <catena/kernels/random.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/cast.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/kernels/registry/tensor_table.h>
#include <catena/tests/support/reference_kernels.h>

namespace test {
namespace reference {
namespace {

using autograd::Backend;
using catena::KernelDef;
using catena::KernelKind;
using catena::NotImplementedError;

void check_device(std::string_view op, const catena::ArrayHeader& a, const Array& model) {
  check<ValueError>(a.owner == &owner, op, "an array of ", a.owner->name, " was given to the backend ", kName);
  check<ValueError>(a.device == model.device(), op, "operands on ", a.device, " and ", model.device());
}

// Returns a new handle to an array of a call.
Array handle(const catena::ArrayHeader* h) {
  auto* same = const_cast<catena::ArrayHeader*>(h);
  same->refs.fetch_add(1);
  return Array(same);
}
Array handle(const catena::ArrayHeader& h) { return handle(&h); }
std::vector<Array> handles(std::span<catena::ArrayHeader* const> list) {
  std::vector<Array> all;
  for (const catena::ArrayHeader* h : list) all.push_back(handle(h));
  return all;
}

// ---- communication between devices, all of which are host memory -------------------------------------
class HostSums final : public autograd::CommExtension {
 public:
  class Ranks final : public Group {
   public:
    void reduce(std::span<const Array> arrays) override {
      const Device root = arrays[0].device();
      for (const Array& a : arrays.subspan(1)) autograd::operator+=(arrays[0], autograd::to_device(a, root));
    }
    void broadcast(std::span<const Array> arrays) override {
      for (const Array& a : arrays.subspan(1)) autograd::copy_across(a, arrays[0]);
    }
  };
  std::string why_unavailable() const override { return {}; }
  catena::Owned<Group> connect(std::span<const Device>) override { return catena::Owned<Group>(new Ranks); }
};

// ---- the backend --------------------------------------------------------------------------------
class Reference final : public Backend {
 public:
  Reference() { owner.framework.store(static_cast<Backend*>(this)); }

  std::string_view name() const override { return kName; }
  Device default_device() override { return current_; }
  Device exchange_default_device(Device device) override { return std::exchange(current_, device); }

  Array empty(const Shape& shape, Dtype dtype, Device device) override { return new_array(shape, dtype, device); }
  Array from_host(const void* data, const Shape& shape, Dtype dtype, Device device) override {
    Array a = new_array(shape, dtype, device);
    if (a.size() > 0) std::memcpy(a->data, data, std::size_t(a.size()) * catena::itemsize(dtype));
    return a;
  }
  void to_host(const Array& a, void* data) override {
    const Column column(*a.get(), a.shape(), a.dtype());
    if (a.size() > 0) std::memcpy(data, column.data(), std::size_t(a.size()) * catena::itemsize(a.dtype()));
  }
  Array to_device(const Array& a, Device device) override {
    if (a.device() == device) return a;
    Array b = new_array(a.shape(), a.dtype(), device);
    Column(*a.get(), a.shape(), a.dtype()).write_to(*b.get());
    return b;
  }
  void synchronize(Device) override {}

  Array view(const Array& a, const Shape& shape, const Strides& strides, std::int64_t offset_bytes) override {
    check<ValueError>(shape.size() == strides.size(), "view", shape.size(), " lengths and ", strides.size(),
                      " strides");
    Array v(catena::make_header(a->storage, a->data + (catena::size_of(shape) != 0 ? offset_bytes : 0), a.dtype(),
                                shape, strides, a.device(), &owner));
    if (v.size() > 0) {
      const catena::ByteRange range = catena::byte_range(shape, strides, catena::itemsize(a.dtype()));
      const std::int64_t first = v->data - a->storage->data;
      check<ValueError>(first + range.begin >= 0 && first + range.end <= std::int64_t(a->storage->bytes), "view",
                        "it reaches beyond the memory of the array");
    }
    return v;
  }

  void execute(const catena::Call& call) override {
    call.visit([this](const auto& one) { run(one); });
  }

 protected:
  void* find_extension(std::string_view name, Device device) override {
    static HostSums sums;
    if (name != autograd::CommExtension::kName || device.kind != Device::Kind::cuda) return nullptr;
    return static_cast<autograd::CommExtension*>(&sums);
  }

 private:
  void run(const catena::call::Elementwise& call) {
    const catena::Program& program = *call.program;
    const std::span<const Input> inputs = call.inputs;
    const std::vector<Array> outputs = handles(call.outputs);
    const KernelDef& kernel = *program.steps[0].kernel;
    check<ValueError>(inputs.size() == program.nin && int(outputs.size()) == program.ninout + program.nout, kernel.name,
                      inputs.size(), " inputs and ", outputs.size(), " outputs do not fit the program");
    const bool indexed = kernel.kind == KernelKind::indexed;
    Shape loop;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (!inputs[k].is_array()) continue;
      check_device(kernel.name, inputs[k].array(), outputs[0]);
      if (!(indexed && ((kernel.raw >> k) & 1))) loop = common_shape(kernel.name, loop, inputs[k].array().shape);
    }
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      check_device(kernel.name, *outputs[k].get(), outputs[0]);
      if (!(indexed && ((kernel.raw >> (program.nin + k)) & 1)))
        loop = common_shape(kernel.name, loop, outputs[k].shape());
    }
    for (std::size_t k = 0; k < outputs.size(); ++k)
      check<ValueError>((indexed && ((kernel.raw >> (program.nin + k)) & 1)) || outputs[k].shape() == loop, kernel.name,
                        "the output has shape ", outputs[k].shape(), ", the operands broadcast to ", loop);
    if (catena::size_of(loop) > 0)
      indexed ? run_indexed(program, inputs, outputs, loop) : run_elementwise(program, inputs, outputs, loop);
    for (const Array& out : outputs) written(out);
  }

  void reduce_array(const KernelDef& kernel, int loop, const Array& in, const Dims& axes, const Array& out) {
    check_device(kernel.name, *in.get(), out);
    const catena::Loop& types = kernel.loop_table[loop];
    const catena::ReductionLoop& f = *types.reduction;
    check<ValueError>(catena::size_of(catena::reduced_shape(in.shape(), axes, true)) == out.size(), kernel.name,
                      "the output has shape ", out.shape(), ", the input ", in.shape(), " reduced over ", axes);
    const Column values = Column(*in.get(), in.shape(), types.type[0]).converted(catena::compute_dtype(types.type[0]));
    Column result(catena::compute_dtype(types.type[1]), out.size());
    const Memory acc = allocate(f.acc_bytes);
    std::int64_t i = 0;
    for_each_row(in.shape(), axes, [&](const Dims& index) {
      const Column row = pick(values, positions_of_row(in.shape(), axes, index));
      f.init(acc.get(), 1);
      f.reduce(acc.get(), row.data(), row.size(), 0, row.count());
      f.finish(acc.get(), row.count(), result.at(i++), result.size(), 1);
    });
    result.converted(types.type[1]).write_to(*out.get());
    written(out);
  }

  void run(const catena::call::Reduce& call) {
    check<NotImplementedError>(call.post == nullptr && call.ddof == 0, call.kernel->name,
                               "programs after a reduction and other divisors");
    const Array out = handle(call.out);
    if (call.pre == nullptr)
      return reduce_array(*call.kernel, call.loop, handle(call.inputs[0].array()), call.axes, out);
    Shape shape;
    for (const Input& in : call.inputs)
      if (in.is_array()) shape = common_shape(call.kernel->name, shape, in.array().shape);
    const Array mapped = empty(shape, call.pre->slots[call.pre->nin], out.device());
    catena::ArrayHeader* const written[] = {mapped.get()};
    run(catena::call::Elementwise{call.pre, call.inputs, written});
    reduce_array(*call.kernel, call.loop, mapped, call.axes, out);
  }

  void run(const catena::call::Scan& call) {
    const KernelDef& kernel = *call.kernel;
    const int loop = call.loop, axis = call.axis;
    const Array in = handle(*call.in), out = handle(call.out);
    check_device(kernel.name, *in.get(), out);
    check<ValueError>(in.shape() == out.shape(), kernel.name, "the output has shape ", out.shape(), ", the input ",
                      in.shape());
    const catena::Loop& types = kernel.loop_table[loop];
    const catena::ReductionLoop& f = *types.reduction;
    const Column values = Column(*in.get(), in.shape(), types.type[0]).converted(catena::compute_dtype(types.type[0]));
    Column result(catena::compute_dtype(types.type[1]), out.size());
    const Memory acc = allocate(f.acc_bytes);
    for_each_row(in.shape(), {axis}, [&](const Dims& index) {
      std::int64_t count = 0;
      f.init(acc.get(), 1);
      for (std::int64_t i : positions_of_row(in.shape(), {axis}, index)) {
        f.reduce(acc.get(), values.at(i), values.size(), count++, 1);
        f.finish(acc.get(), count, result.at(i), result.size(), 1);
      }
    });
    result.converted(types.type[1]).write_to(*out.get());
    written(out);
  }

  // The position of an element in the result is the number of elements that precede it.
  void run(const catena::call::Sort& call) {
    const Array in = handle(*call.in), out = handle(call.out);
    const int axis = call.axis;
    const bool positions = call.positions;
    check_device("sort", *in.get(), out);
    check<ValueError>(in.shape() == out.shape(), "sort", "the output has shape ", out.shape(), ", the input ",
                      in.shape());
    const Column values(*in.get(), in.shape(), in.dtype());
    Column result(positions ? Dtype::int64 : in.dtype(), in.size());
    catena::visit_real_dtype("sort", in.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto less = [&](std::int64_t i, std::int64_t j) {
        const auto a = catena::load(*reinterpret_cast<const T*>(values.at(i))),
                   b = catena::load(*reinterpret_cast<const T*>(values.at(j)));
        return a < b || (catena::is_nan(b) && !catena::is_nan(a));
      };
      for_each_row(in.shape(), {axis}, [&](const Dims& index) {
        const std::vector<std::int64_t> row = positions_of_row(in.shape(), {axis}, index);
        for (std::int64_t i = 0; i < std::int64_t(row.size()); ++i) {
          std::size_t place = 0;
          for (std::int64_t j = 0; j < std::int64_t(row.size()); ++j)
            place += less(row[std::size_t(j)], row[std::size_t(i)]) ||
                     (j < i && !less(row[std::size_t(i)], row[std::size_t(j)]));
          if (positions) std::memcpy(result.at(row[place]), &i, sizeof(i));
          else std::memcpy(result.at(row[place]), values.at(row[std::size_t(i)]), std::size_t(values.size()));
        }
      });
    });
    result.write_to(*out.get());
    written(out);
  }

  void run(const catena::call::Join& call) {
    std::int64_t first = 0;
    for (const catena::ArrayHeader* piece : call.pieces) {
      Column(*piece, piece->shape, piece->dtype)
          .write_to(
              *view(handle(call.out), piece->shape, call.out->strides, first * call.out->strides[call.axis]).get());
      first += piece->shape[call.axis];
    }
    check<ValueError>(first == call.out->shape[call.axis], call.name, "the pieces do not fill the output");
    written(handle(call.out));
  }

  void run(const catena::call::CountPieces& call) {
    const Array in = handle(*call.in), counts = handle(call.counts);
    check_device("nonzero", *in.get(), counts);
    check<ValueError>(counts.dtype() == Dtype::int64 && counts.size() >= catena::size_of_counts(in.size()), "nonzero",
                      "the counts are ", counts.dtype(), " of shape ", counts.shape());
    const Column flags(*in.get(), in.shape(), Dtype::bool_);
    std::int64_t total = 0;
    for (std::int64_t i = 0; i < in.size(); ++i) total += *flags.at(i) != std::byte(0);
    Column result(Dtype::int64, counts.size());
    std::memcpy(result.at(0), &total, sizeof total);
    result.write_to(*counts.get());
    written(counts);
  }

  void run(const catena::call::Nonzero& call) {
    const Array in = handle(*call.in), out = handle(call.out);
    check_device("nonzero", *in.get(), out);
    const Column flags(*in.get(), in.shape(), Dtype::bool_);
    check<ValueError>(out.ndim() == 2 && out.shape(0) == in.ndim() && out.dtype() == Dtype::int64, "nonzero",
                      "the output is ", out.dtype(), " of shape ", out.shape());
    Column result(Dtype::int64, out.size());
    Dims index;
    std::int64_t i = 0, count = 0;
    for_each_position(in.shape(), index, [&] {
      if (*flags.at(i++) == std::byte(0)) return;
      check<ValueError>(count < out.shape(1), "nonzero", "there are more than ", out.shape(1), " elements");
      for (int a = 0; a < in.ndim(); ++a)
        std::memcpy(result.at(a * out.shape(1) + count), &index[a], sizeof(std::int64_t));
      ++count;
    });
    check<ValueError>(count == out.shape(1) || in.ndim() == 0, "nonzero", "there are ", count, " elements, not ",
                      out.shape(1));
    result.write_to(*out.get());
    written(out);
  }

  void run(const catena::call::RowWise& call) {
    const KernelDef& kernel = *call.kernel;
    const int loop = call.loop;
    const Shape& shape = *call.shape;
    const Dims& axes = call.axes;
    const std::span<const Input> inputs = call.inputs;
    const std::vector<Array> outputs = handles(call.outputs);
    const catena::Loop& types = kernel.loop_table[loop];
    const catena::RowWiseLoop& f = *types.row_wise;
    const int nin = kernel.nin, nout = kernel.nout, total = kernel.num_operands();
    std::vector<Column> all;  // inputs and outputs at `shape`, per-row outputs one element per row
    for (int k = 0; k < total; ++k) {
      const Dtype stored = types.type[std::size_t(k)];
      if (k < nin) {
        if (inputs[std::size_t(k)].is_array()) check_device(kernel.name, inputs[std::size_t(k)].array(), outputs[0]);
        all.push_back(Column(inputs[std::size_t(k)], shape, stored).converted(catena::compute_dtype(stored)));
      } else {
        const Shape wanted = k < nin + nout ? shape : catena::reduced_shape(shape, axes, true);
        check<ValueError>(outputs[std::size_t(k - nin)].shape() == wanted, kernel.name, "output ", k - nin,
                          " has shape ", outputs[std::size_t(k - nin)].shape(), " and should have ", wanted);
        all.emplace_back(catena::compute_dtype(stored), catena::size_of(wanted));
      }
    }
    const Memory stats = allocate(f.stats_bytes);
    std::int64_t number = 0;
    for_each_row(shape, axes, [&](const Dims& index) {
      const std::vector<std::int64_t> positions = positions_of_row(shape, axes, index);
      const auto n = std::int64_t(positions.size());
      std::vector<Column> row;
      std::byte* ptr[catena::kMaxOperands];
      std::int64_t stride[catena::kMaxOperands];
      for (int k = 0; k < total; ++k) {
        if (k < nin + nout) {
          row.push_back(pick(all[std::size_t(k)], positions));
          ptr[k] = row.back().data();
          stride[k] = row.back().size();
        } else {
          ptr[k] = all[std::size_t(k)].at(number);
          stride[k] = 0;
        }
      }
      ++number;
      if (n == 0) {  // no statistics
        for (int k = nin + nout; k < total; ++k)
          std::memset(all[std::size_t(k)].at(number - 1), 0, std::size_t(all[std::size_t(k)].size()));
        return;
      }
      f.init(stats.get());
      f.phase0(stats.get(), ptr, stride, n);
      f.finish0(stats.get(), ptr, n);
      if (f.phases == 2) f.phase1(stats.get(), ptr, stride, n);
      f.finish1(stats.get(), ptr, n);
      f.write(stats.get(), ptr, stride, n);
      for (int k = nin; k < nin + nout; ++k)
        for (std::int64_t i = 0; i < n; ++i)
          std::memcpy(all[std::size_t(k)].at(positions[std::size_t(i)]), row[std::size_t(k)].at(i),
                      std::size_t(all[std::size_t(k)].size()));
    });
    for (int k = nin; k < total; ++k) {
      all[std::size_t(k)].converted(types.type[std::size_t(k)]).write_to(*outputs[std::size_t(k - nin)].get());
      written(outputs[std::size_t(k - nin)]);
    }
  }

  void run(const catena::call::RowWiseAndSums& call) {
    run(call.rows);
    for (const catena::call::Reduce& sum : call.sums) run(sum);
  }

  void run(const catena::call::Recurrence& call) { autograd::execute_each_position(*this, call); }

  void run(const catena::call::MultiTensor& call) {
    const KernelDef& kernel = *call.kernel;
    const catena::Loop& types = kernel.loop_table[call.loop];
    catena::TensorTable table;
    table.update(call);
    const std::size_t operands = std::size_t(kernel.num_operands());
    for (std::size_t t = 0; t < table.tensors(); ++t) {
      const std::span<catena::ArrayHeader* const> tensor = call.operands.subspan(t * operands, operands);
      std::vector<Column> columns;
      std::byte* ptr[catena::kMaxOperands];
      for (std::size_t k = 0; k < operands; ++k) {
        const Dtype stored = types.type[k];
        columns.push_back(Column(*tensor[k], tensor[k]->shape, stored).converted(catena::compute_dtype(stored)));
        ptr[k] = columns.back().data();
      }
      for (std::int64_t i = 0; i < table.elements(t); ++i) {
        std::byte* one[catena::kMaxOperands];
        for (std::size_t k = 0; k < operands; ++k)
          one[k] = ptr[k] + (((kernel.shared >> k) & 1) ? 0 : i * columns[k].size());
        types.multi_tensor(call.hyper[std::size_t(table.hyper(t))].data(), one, 1);
      }
      for (std::size_t k = kernel.nin; k < operands; ++k) {
        columns[k].write_to(*tensor[k]);
        if (tensor[k]->storage != nullptr) tensor[k]->storage->version.fetch_add(1, catena::MemoryOrder::relaxed);
      }
    }
  }

  void check_each(std::span<const catena::call::Index> indices, const Shape& loop, std::string_view name) {
    for (const catena::call::Index& i : indices)
      if (!i.wraps && catena::size_of(loop) > 0)
        run(catena::call::CheckIndices{i.array, catena::rule_of_axis(i.axis, i.length), name});
  }

  void run(const catena::call::Gather& call) {
    const Array a = handle(*call.base), out = handle(call.out);
    const Shape& loop = *call.loop;
    check_device("gather", *a.get(), out);
    const std::vector<Column> columns = index_columns(call.indices, loop);
    check_each(call.indices, loop, call.name);
    Column result(a.dtype(), catena::size_of(loop));
    Dims index;
    std::int64_t i = 0;
    for_each_position(loop, index, [&] {
      std::memcpy(result.at(i), indexed_address(a, columns, call.indices, call.base_strides, index, i),
                  catena::itemsize(a.dtype()));
      ++i;
    });
    result.write_to(*out.get());
    written(out);
  }

  void run(const catena::call::Scatter& call) {
    const Array a = handle(call.base);
    const Shape& loop = *call.loop;
    const Input& values = call.values;
    const catena::ScatterMode mode = call.mode;
    const std::vector<Column> columns = index_columns(call.indices, loop);
    check_each(call.indices, loop, call.name);
    const Column from(values, loop, a.dtype());
    Dims index;
    std::int64_t i = 0;
    for_each_position(loop, index, [&] {
      std::byte* to = indexed_address(a, columns, call.indices, call.base_strides, index, i);
      if (mode == catena::ScatterMode::set) std::memcpy(to, from.at(i), catena::itemsize(a.dtype()));
      else add_to(a.dtype(), to, from.at(i));
      ++i;
    });
    written(a);
  }

  void run(const catena::call::CheckIndices& call) {
    const Column column(*call.indices, call.indices->shape, Dtype::int64);
    for (std::int64_t k = 0; k < call.indices->size; ++k) {
      std::int64_t i;
      std::memcpy(&i, column.at(k), sizeof(i));
      const bool ignored = call.rule.ignores && i == call.rule.ignored;
      if (!ignored && (i < call.rule.low || i >= call.rule.high)) catena::fail_index(call.name, i, call.rule);
    }
  }

  void run(const catena::call::Matmul& call) {
    const Array a = handle(*call.a), b = handle(*call.b), out = handle(call.out);
    check_device("matmul", *a.get(), out);
    check_device("matmul", *b.get(), out);
    check<catena::TypeError>(a.dtype() == b.dtype() && a.dtype() == out.dtype(), "matmul", "dtypes differ");
    multiply(a, b, out);
    written(out);
  }

  void run(const catena::call::Random& call) {
    const catena::RandomKind kind = call.kind;
    const std::uint64_t seed = call.seed, offset = call.offset;
    const std::int64_t low = call.low, high = call.high;
    const Array out = handle(call.out);
    const bool floating = kind == catena::RandomKind::uniform || kind == catena::RandomKind::normal;
    check<catena::TypeError>(floating == catena::is_floating(out.dtype()), "random", "no such numbers of ",
                             out.dtype());
    const Column column(generated(kind, out.dtype()), out.size());
    catena::visit_real_dtype("random", column.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      catena::Index<1> i{};
      for (; i.position < out.size(); ++i.position) {
        T y{};
        if constexpr (std::is_floating_point_v<T>) {
          if (kind == catena::RandomKind::uniform) catena::k::random_uniform::run(i, seed, offset, y);
          else catena::k::random_normal::run(i, seed, offset, y);
        } else if constexpr (std::is_integral_v<T> && sizeof(T) >= 4) {
          if (kind == catena::RandomKind::bits) catena::k::random_bits::run(i, seed, offset, y);
          else catena::k::random_integers::run(i, seed, offset, low, high, y);
        }
        std::memcpy(column.at(i.position), &y, sizeof(y));
      }
    });
    const Column rounded = column.converted(out.dtype());
    if (kind == catena::RandomKind::uniform &&
        catena::itemsize(out.dtype()) == 2)  // 1 is outside [0, 1), so it is replaced by the largest value below it
      for (std::int64_t i = 0; i < out.size(); ++i) {
        const std::uint16_t one = out.dtype() == Dtype::float16 ? 0x3c00 : 0x3f80, below = one - 1;
        if (std::memcmp(rounded.at(i), &one, 2) == 0) std::memcpy(rounded.at(i), &below, 2);
      }
    rounded.write_to(*out.get());
    written(out);
  }

  static inline thread_local Device current_;
};

}  // namespace
}  // namespace reference

std::int64_t reference_live_bytes() noexcept { return reference::live_bytes; }

autograd::Backend& reference_backend() {
  // Never destroyed, because arrays in static variables of a test may be destroyed later.
  static auto& backend = *new reference::Reference;
  return backend;
}

}  // namespace test
