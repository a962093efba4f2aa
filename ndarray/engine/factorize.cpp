#include <catena/ndarray/engine/factorize.h>

#include <algorithm>

#include <catena/kernels/base/small_vector.h>
#include <catena/ndarray/device/executor.h>
#include <catena/ndarray/engine/execute.h>

namespace nd::internal {

std::vector<int> factorize(Factorize call, std::initializer_list<Array> operands) {
  const Array& first = *operands.begin();
  const std::int64_t elements = elements_of_operand(call, 0);
  call.count = elements == 0 ? 0 : first.size() / elements;
  catena::SmallVector<const ArrayHeader*, 4> read, written;
  int i = 0;
  for (const Array& a : operands) {
    catena::check<catena::RuntimeError>(
        a.is_c_contiguous() && a.dtype() == dtype_of_operand(call, i) && a.device() == first.device() &&
            a.size() == call.count * elements_of_operand(call, i),
        call.name, "operand ", i, " is ", a.dtype(), " of shape ", a.shape(), ", which does not fit ", call.count,
        " matrices of ", call.rows, " x ", call.columns);
    (is_only_read(call, i) ? read : written).push_back(a.get());
    call.operands[std::size_t(i++)] = a->data;
  }
  std::vector<int> status(static_cast<std::size_t>(call.count));
  if (call.count == 0) return status;
  call.status = status;
  const StreamRef stream = stream_for(first.device());
  launch_on(stream, read, written, [&] { executor(first.device().kind).execute(call, stream); });
  return status;
}

}  // namespace nd::internal
