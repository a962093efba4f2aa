#include <catena/kernels/registry/tensor_table.h>

#include <catena/kernels/base/error.h>

namespace catena {

TensorTableCopy::~TensorTableCopy() = default;

void TensorTable::update(const call::MultiTensor& call) {
  start(call);
  for (std::size_t t = 0; t < tensors_; ++t) update_row(call, t);
  if (divided_ != layout_version_) divide();
}

void TensorTable::start(const call::MultiTensor& call) {
  const std::size_t operands = std::size_t(call.kernel->num_operands()), given = call.operands.size();
  check<ValueError>(given % operands == 0, call.kernel->name, given, " operands were given, it takes ", operands,
                    " per tensor");
  const std::size_t tensors = given / operands;
  check<ValueError>(call.hyper_of.empty() || call.hyper_of.size() == tensors, call.kernel->name, call.hyper_of.size(),
                    " indices of hyperparameters for ", tensors, " tensors");
  const Device device = tensors != 0 ? call.operands[0]->device : Device{};
  if (call.kernel == kernel_ && call.loop == loop_ && tensors == tensors_ && device == device_) return;
  words_.assign(tensors * (operands + 2), 0);
  kernel_ = call.kernel;
  loop_ = call.loop;
  device_ = device;
  tensors_ = tensors;
  row_words_ = operands + 2;
  ++version_;
  ++layout_version_;
}

void TensorTable::set_layout(std::int64_t& word, std::int64_t value) {
  if (word == value) return;
  word = value;
  ++version_;
  ++layout_version_;
}

void TensorTable::update_row(const call::MultiTensor& call, std::size_t t) {
  const KernelDef& kernel = *call.kernel;
  const std::string_view name = kernel.name;
  const std::size_t operands = row_words_ - 2;
  std::int64_t* const words = words_.data() + t * row_words_;
  const auto& types = kernel.loop_table[loop_].type;
  std::int64_t elements = -1;
  for (std::size_t k = 0; k < operands; ++k) {
    const ArrayHeader& a = *call.operands[t * operands + k];
    check<TypeError>(a.dtype == types[k] && a.c_contiguous, name, "operand ", k, " of tensor ", t,
                     " must be a C-contiguous array of ", types[k]);
    check<ValueError>(a.device == device_, name, "tensors are on ", device_, " and on ", a.device);
    if (((kernel.shared >> k) & 1) == 0) {
      check<ValueError>(elements < 0 || elements == a.size, name, "operand ", k, " of tensor ", t, " has ", a.size,
                        " elements instead of ", elements);
      elements = a.size;
    }
    const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.data));
    if (words[k] != address) {
      words[k] = address;
      ++version_;
    }
  }
  const std::int64_t hyper = call.hyper_of.empty() ? 0 : call.hyper_of[t];
  check<ValueError>(hyper >= 0 && std::size_t(hyper) < call.hyper.size(), name, "tensor ", t, " has hyperparameters ",
                    hyper, " of ", call.hyper.size());
  set_layout(words[operands], elements);
  set_layout(words[operands + 1], hyper);
}

void TensorTable::divide() {
  chunks_.clear();
  for (std::size_t t = 0; t < tensors_; ++t) {
    const std::int64_t parts = (elements(t) + kChunk - 1) / kChunk;
    for (std::int64_t c = 0; c < parts; ++c)
      chunks_.push_back({static_cast<std::int32_t>(t), static_cast<std::int32_t>(c)});
  }
  divided_ = layout_version_;
}

}  // namespace catena
