#include <catena/training/parallel/flat_params.h>

#include <algorithm>

namespace training::internal {

FlatParams::FlatParams(const nn::Link& model) {
  for (const Variable& p : model.params()) {
    if (!p.data() || p.size() == 0) continue;
    auto part = std::find_if(parts_.begin(), parts_.end(), [&](const Part& q) { return q.dtype == p.dtype(); });
    if (part == parts_.end()) part = parts_.insert(part, Part{p.dtype()});
    part->size += p.size();
    part->params.push_back(p);
  }
}

std::int64_t FlatParams::bytes() const {
  std::int64_t bytes = 0;
  for (const Part& part : parts_) bytes += part.bytes();
  return bytes;
}

std::size_t FlatParams::count() const {
  std::size_t count = 0;
  for (const Part& part : parts_) count += part.params.size();
  return count;
}

Array FlatParams::Part::data() const {
  std::vector<Array> pieces;
  for (const Variable& p : params) pieces.push_back(autograd::reshape(p.data(), {p.size()}));
  return pieces.size() == 1 ? autograd::copy(pieces[0]) : autograd::concatenate(pieces);
}

Array FlatParams::Part::grads() const {
  std::vector<Array> pieces;
  for (const Variable& p : params)
    pieces.push_back(autograd::reshape(p.grad() ? p.grad() : autograd::zeros_like(p.data()), {p.size()}));
  return pieces.size() == 1 ? autograd::copy(pieces[0]) : autograd::concatenate(pieces);
}

void FlatParams::Part::set_data(const Array& flat) const {
  std::int64_t at = 0;
  for (const Variable& p : params) {
    autograd::assign(p.data(), autograd::reshape(autograd::slice(flat, 0, at, at + p.size()), p.shape()));
    at += p.size();
  }
}

void FlatParams::Part::set_grads(const Array& flat) const {
  std::int64_t at = 0;
  for (Variable p : params) {
    if (p.requires_grad()) p.set_grad(autograd::reshape(autograd::slice(flat, 0, at, at + p.size()), p.shape()));
    at += p.size();
  }
}

}  // namespace training::internal
