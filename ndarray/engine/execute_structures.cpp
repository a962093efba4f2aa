// The call layer: operations with code of their own on every device: sorting, joining, indexing by arrays, products,
// random numbers, copies of bytes.
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/small_vector.h>
#include <catena/ndarray/engine/call_watch.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/launch.h>

namespace nd::internal {

using catena::BoundOperand;
using catena::check;
using catena::Input;
using catena::Scalar;
using catena::Shape;
using catena::Strides;
using catena::ValueError;
using catena::call::Reads;

// ---- sorting and searching ----------------------------------------------------------------------
void run(const catena::call::Sort& call) {
  const ArrayHeader &in = *call.in, &out = *call.out;
  const Dtype wanted = call.positions ? Dtype::int64 : in.dtype;
  check<catena::TypeError>(!catena::is_complex_dtype(in.dtype), "sort", in.dtype, " numbers are not ordered");
  check<ValueError>(out.shape == in.shape && out.dtype == wanted && call.axis >= 0 && call.axis < in.shape.size(),
                    "sort", "the output is ", out.dtype, " of shape ", out.shape, " and should be ", wanted,
                    " of shape ", in.shape, ", sorted along axis ", call.axis);
  const Input given(in);
  execute_disjoint("sort", {&given, 1}, call.out, [&](Reads inputs) {
    return catena::bound::Sort{catena::operand_of(inputs[0].array()), call.axis, call.positions,
                               catena::operand_of(out), call.kth};
  });
}

// ---- joining ------------------------------------------------------------------------------------
void run(const catena::call::Join& call) {
  const ArrayHeader& out = *call.out;
  catena::SmallVector<Input, 8> given;
  std::int64_t length = 0;
  for (const ArrayHeader* piece : call.pieces) {
    length += piece->shape[call.axis];
    check<ValueError>(piece->dtype == out.dtype && piece->shape.size() == out.shape.size(), call.name, "a piece is ",
                      piece->dtype, " of shape ", piece->shape, ", the output ", out.dtype, " of shape ", out.shape);
    if (piece->size != 0) given.push_back(Input(*piece));
  }
  check<ValueError>(out.c_contiguous && length == out.shape[call.axis], call.name, "pieces of ", length,
                    " positions along axis ", call.axis, " do not fill the output of shape ", out.shape);
  catena::SmallVector<BoundOperand, 8> pieces;
  execute_disjoint(call.name, given, call.out, [&](Reads inputs) {
    for (const Input& in : inputs) pieces.push_back(catena::operand_of(in.array()));
    return catena::bound::Join{pieces, call.axis, catena::operand_of(out)};
  });
}

// ---- nonzero ------------------------------------------------------------------------------------
namespace {

void check_counts(const ArrayHeader& in, const ArrayHeader* counts) {
  const std::int64_t least = catena::size_of_counts(in.size);
  check<ValueError>(counts != nullptr && counts->dtype == Dtype::int64 && counts->c_contiguous && counts->size >= least,
                    "nonzero", "an array of shape ", in.shape, " needs ", least,
                    " counts of its pieces, int64 and C-contiguous");
}

}  // namespace

void run(const catena::call::CountPieces& call) {
  check_counts(*call.in, call.counts);
  const Input given(*call.in);
  execute_disjoint("nonzero", {&given, 1}, call.counts, [&](Reads inputs) {
    return catena::bound::CountPieces{catena::operand_of(inputs[0].array()), catena::operand_of(*call.counts)};
  });
}

void run(const catena::call::Nonzero& call) {
  const ArrayHeader &in = *call.in, &out = *call.out;
  check<ValueError>(
      out.shape.size() == 2 && out.shape[0] == in.shape.size() && out.dtype == Dtype::int64 && out.c_contiguous,
      "nonzero", "the output is ", out.dtype, " of shape ", out.shape, " and should be int64 with ", in.shape.size(),
      " rows, C-contiguous");
  if (call.counts != nullptr || in.size > catena::kLeastPiece) check_counts(in, call.counts);
  catena::SmallVector<Input, 2> given{Input(in)};
  if (call.counts != nullptr) given.push_back(Input(*call.counts));
  execute_disjoint("nonzero", given, call.out, [&](Reads inputs) {
    const BoundOperand counts = inputs.size() > 1 ? catena::operand_of(inputs[1].array()) : BoundOperand();
    return catena::bound::Nonzero{catena::operand_of(inputs[0].array()), counts, catena::operand_of(out)};
  });
}

// ---- indexing by arrays -------------------------------------------------------------------------
namespace {

// The operands of a gather or scatter. Index arrays that overlap the array `written` are copied.
class BoundIndices {
 public:
  BoundIndices(std::string_view op, const ArrayHeader& base, const Strides& base_strides,
               std::span<const catena::call::Index> indices, const Shape& loop, const ArrayHeader& written)
      : operand_{base.data, base.dtype, false, &loop, &base_strides} {
    check<ValueError>(base_strides.size() == loop.size(), op, base_strides.size(), " strides for a loop of shape ",
                      loop);
    for (const catena::call::Index& index : indices) {
      copies_.push_back(catena::HeaderRef());
      const ArrayHeader* array = index.array;
      if (catena::share_bytes(*array, written)) {
        copies_.back() = packed_copy(*array, array->dtype);
        array = copies_.back().get();
      }
      reads_.push_back(Input(*array));
      strides_.push_back(strides_at(op, *array, loop));
    }
    for (std::size_t j = 0; j < strides_.size(); ++j) {
      const ArrayHeader& array = reads_[j].array();
      axes_.push_back({{array.data, array.dtype, false, &loop, &strides_[j]}, indices[j].length, indices[j].stride});
    }
  }
  BoundIndices(const BoundIndices&) = delete;
  BoundIndices& operator=(const BoundIndices&) = delete;

  const BoundOperand& base() const { return operand_; }
  std::span<const catena::bound::Index> axes() const { return axes_; }
  // The index arrays and `also`.
  Reads reads(const ArrayHeader& also) {
    reads_.push_back(Input(also));
    return reads_;
  }

 private:
  BoundOperand operand_;
  catena::SmallVector<catena::HeaderRef, 2> copies_;
  catena::SmallVector<Input, 4> reads_;
  catena::SmallVector<Strides, 2> strides_;
  catena::SmallVector<catena::bound::Index, 2> axes_;
};

void check_each(std::string_view op, std::span<const catena::call::Index> indices) {
  for (const catena::call::Index& index : indices)
    if (!index.wraps) run(catena::call::CheckIndices{index.array, catena::rule_of_axis(index.axis, index.length), op});
}

Device device_of(std::string_view op, const ArrayHeader& base, std::span<const catena::call::Index> indices,
                 const ArrayHeader* other) {
  OneDevice one(op);
  one.add(&base);
  for (const catena::call::Index& index : indices) one.add(index.array);
  one.add(other);
  return one.get();
}

}  // namespace

void run(const catena::call::Gather& call) {
  const ArrayHeader& out = *call.out;
  check<ValueError>(out.shape == *call.loop && out.dtype == call.base->dtype, call.name, "the output is ", out.dtype,
                    " of shape ", out.shape, " and should be ", call.base->dtype, " of shape ", *call.loop);
  const Device device = device_of(call.name, *call.base, call.indices, &out);
  if (out.size == 0) return;
  check_each(call.name, call.indices);
  // The base must keep its strides, so if it overlaps the output, the output is replaced by a temporary and copied.
  const bool disjoint = !catena::share_bytes(*call.base, out);
  const catena::HeaderRef result(disjoint ? nullptr : new_array(out.shape, out.dtype, out.device));
  ArrayHeader* const written = disjoint ? call.out : result.get();
  BoundIndices bound(call.name, *call.base, call.base_strides, call.indices, *call.loop, *written);
  launch(device, bound.reads(*call.base), {&written, 1},
         catena::bound::Gather{*call.loop, bound.base(), bound.axes(), catena::operand_of(*written)});
  if (!disjoint) convert_into(call.name, Input(*written), *call.out);
}

void run(const catena::call::Scatter& call) {
  const ArrayHeader* given = call.values.is_array() ? &call.values.array() : nullptr;
  const Device device = device_of(call.name, *call.base, call.indices, given);
  check_output_layout(call.name, *call.base);
  if (catena::size_of(*call.loop) != 0) check_each(call.name, call.indices);
  // Values of another dtype, host scalars and arrays that overlap the target are copied to a new array.
  catena::HeaderRef own;
  const ArrayHeader* values = given;
  if (given == nullptr || given->dtype != call.base->dtype || catena::share_bytes(*given, *call.base)) {
    own = catena::HeaderRef(new_array(given ? given->shape : Shape(), call.base->dtype, device));
    convert_into(call.name, call.values, *own.get());
    values = own.get();
  }
  const Strides strides = strides_at(call.name, *values, *call.loop);
  BoundIndices bound(call.name, *call.base, call.base_strides, call.indices, *call.loop, *call.base);
  if (catena::size_of(*call.loop) == 0 || call.base->size == 0) return;
  const BoundOperand other{values->data, values->dtype, false, call.loop, &strides};
  launch(device, bound.reads(*values), {&call.base, 1},
         catena::bound::Scatter{{*call.loop, bound.base(), bound.axes(), other}, call.mode});
}

// ---- products and random numbers ----------------------------------------------------------------
namespace {

// An operand whose leading axes are broadcast to those of the output; one that has them is taken as it is.
class MatmulOperand {
 public:
  BoundOperand bind(const ArrayHeader& x, const Shape& out) {
    const int rank = out.size(), own = x.shape.size();
    if (own == rank && std::equal(out.begin(), out.end() - 2, x.shape.begin())) return catena::operand_of(x);
    shape_ = out;
    shape_[rank - 2] = x.shape[own - 2];
    shape_[rank - 1] = x.shape[own - 1];
    strides_ = strides_at("matmul", x, shape_);
    return {x.data, x.dtype, false, &shape_, &strides_};
  }

 private:
  Shape shape_;
  Strides strides_;
};

}  // namespace

void run(const catena::call::Matmul& call) {
  const ArrayHeader& out = *call.out;
  check<catena::TypeError>(call.a->dtype == call.b->dtype && call.a->dtype == out.dtype, "matmul", "the operands are ",
                           call.a->dtype, ", ", call.b->dtype, " and ", out.dtype, "; they must have one dtype");
  const Input given[] = {Input(*call.a), Input(*call.b)};
  MatmulOperand a, b;
  execute_disjoint("matmul", given, call.out, [&](Reads inputs) {
    return catena::bound::Matmul{a.bind(inputs[0].array(), out.shape), b.bind(inputs[1].array(), out.shape),
                                 catena::operand_of(out)};
  });
}

void run(const catena::call::Random& call) {
  if (call.out->size == 0) return;
  if (!call.out->c_contiguous) {
    const catena::HeaderRef packed(new_array(call.out->shape, call.out->dtype, call.out->device));
    catena::call::Random into_packed = call;
    into_packed.out = packed.get();
    run(into_packed);
    return convert_into("random", Input(*packed.get()), *call.out);
  }
  launch(call.out->device, {}, {&call.out, 1},
         catena::bound::Random{call.kind, call.seed, call.offset, call.low, call.high, catena::operand_of(*call.out),
                               call.refresh});
}

// ---- bytes --------------------------------------------------------------------------------------
namespace {

std::size_t bytes_of(const ArrayHeader& a) { return static_cast<std::size_t>(a.size) * catena::itemsize(a.dtype); }

// A side without an array is host memory of the caller. Each side is recorded on the current stream of its own device,
// because a copy between devices orders the streams of both.
void copy(std::byte* to, const ArrayHeader* to_array, const std::byte* from, const ArrayHeader* from_array,
          std::size_t bytes, bool wait) {
  const auto device_of_side = [](const ArrayHeader* a) { return a != nullptr ? a->device : cpu_device; };
  const Device to_device = device_of_side(to_array), from_device = device_of_side(from_array);
  const Device device = to_device.kind != Device::Kind::cpu ? to_device : from_device;
  const auto work = [&] {
    const StreamRef stream = stream_for(device);
    for (const ArrayHeader* a : {to_array, from_array})
      if (a != nullptr && a->device.kind != Device::Kind::cpu) record(stream_for(a->device), *a);
    Runtime& worker = runtime(device.kind);
    const bool has_waited = worker.copy(to, to_device, from, from_device, bytes, stream);
    if (wait && !has_waited) worker.synchronize(stream);
    if (to_array != nullptr) raise_version(*to_array);
  };
  watch_work(
      call_watch_scope, [&](CallWatch& watch) { watch.begin_copy(to_device, from_device, bytes); }, work);
}

}  // namespace

void copy_bytes(const ArrayHeader& to, const ArrayHeader& from) {
  if (to.size == 0 || to.data == from.data) return;
  // The caller may read host memory as soon as this function returns.
  const bool wait = to.device.kind == Device::Kind::cpu;
  copy(to.data, &to, from.data, &from, bytes_of(to), wait);
}

void copy_to_host(void* to, const ArrayHeader& from) {
  if (from.size == 0) return;
  copy(static_cast<std::byte*>(to), nullptr, from.data, &from, bytes_of(from), true);
}

void copy_to_host_async(void* to, const ArrayHeader& from) {
  if (from.size == 0) return;
  copy(static_cast<std::byte*>(to), nullptr, from.data, &from, bytes_of(from), false);
}

void copy_from_host(const ArrayHeader& to, const void* from) {
  if (to.size == 0) return;
  copy(to.data, &to, static_cast<const std::byte*>(from), nullptr, bytes_of(to), false);
}

}  // namespace nd::internal
