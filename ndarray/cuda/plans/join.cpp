// Joining: plans and texts.
#include <algorithm>
#include <array>
#include <span>

#include <catena/kernels/base/small_vector.h>
#include <catena/kernels/registry/bind.h>
#include <catena/ndarray/cuda/plans/codegen_text.h>
#include <catena/ndarray/cuda/plans/plan_layout.h>

namespace nd::cuda {
namespace {

namespace device = catena::device;
using catena::BoundOperand;
using catena::concat;
using catena::Shape;
using catena::Strides;

// Computes the common stride of several axes that are contiguous with each other; 0 for no axes. Returns false if they
// are not.
bool common_stride(const BoundOperand& x, int begin, int end, std::int64_t& stride) {
  Shape shape;
  Strides strides;
  for (int a = begin; a < end; ++a) {
    shape.push_back((*x.shape)[a]);
    strides.push_back((*x.strides)[a]);
  }
  catena::merge_axes(shape, {&strides, 1});
  stride = strides.empty() ? 0 : strides.back();
  return shape.size() <= 1;
}

// Pieces that one launch moves; `begin` is the first column of the output.
class Batch {
 public:
  Batch(const catena::bound::Join& call, std::int64_t begin) : call_(&call), begin_(begin) {
    item_ = static_cast<std::int64_t>(catena::itemsize(call.out.dtype));
    const Shape& shape = *call.out.shape;
    for (int a = 0; a < shape.size(); ++a) {
      if (a < call.axis) rows_ *= shape[a];
      if (a > call.axis) inner_ *= shape[a];
    }
    pitch_ = shape[call.axis] * inner_ * item_;
  }

  // Returns false if the piece has more strides than a launch supports.
  bool add(const BoundOperand& x) {
    device::JoinPiece piece{};
    if (!common_stride(x, 0, call_->axis, piece.row) ||
        !common_stride(x, call_->axis + 1, x.shape->size(), piece.behind))
      return false;
    piece.data = x.data;
    piece.along = (*x.strides)[call_->axis];
    columns_ += (*x.shape)[call_->axis] * inner_;
    piece.end = columns_;
    pieces_.push_back(piece);
    return true;
  }
  bool empty() const { return pieces_.empty(); }
  bool full() const { return pieces_.size() == std::size_t(device::kManyPieces); }
  std::int64_t end() const { return begin_ + columns_; }

  LaunchPlan plan(int processors) {
    widen();
    const bool many = pieces_.size() > std::size_t(device::kFewPieces);
    LaunchPlan plan;
    plan.key.form = Form::join;
    plan.key.word_bytes = static_cast<std::uint8_t>(item_);
    plan.key.many_pieces = many;
    ParameterBlock& p = plan.parameters;
    p.put_head(device::JoinHead{.rows = rows_,
                                .columns = columns_,
                                .inner = inner_,
                                .pieces = std::int64_t(pieces_.size()),
                                .pitch = pitch_,
                                .out = out_});
    pieces_.resize(std::size_t(many ? device::kManyPieces : device::kFewPieces));
    p.append(pieces_.data(), pieces_.size() * sizeof(device::JoinPiece));
    plan.grid_x = blocks(ceil_divide(rows_ * columns_, device::kBlock), processors, 16);
    return plan;
  }

 private:
  // If all pieces are contiguous from the joined axis on, neighbouring elements move together, up to 16 bytes.
  void widen() {
    out_ = call_->out.data + begin_ * item_;
    std::int64_t all =
        pitch_ | static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out_));  // lowest set bit: alignment of all
    std::int64_t end = 0;
    for (const device::JoinPiece& x : pieces_) {
      const bool single = x.end - end == inner_;  // one position along the axis
      end = x.end;
      if ((inner_ > 1 && x.behind != item_) || (!single && x.along != inner_ * item_)) return;
      all |= static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(x.data)) | x.end * item_;
      if (rows_ > 1) all |= x.row;
    }
    std::int64_t wide = item_;
    while (wide < 16 && all % (2 * wide) == 0) wide *= 2;
    for (device::JoinPiece& x : pieces_) {
      x.end = x.end * item_ / wide;
      x.along = wide;
      x.behind = 0;
    }
    columns_ = columns_ * item_ / wide;
    inner_ = 1;
    item_ = wide;
  }

  const catena::bound::Join* call_;
  std::int64_t begin_, item_, rows_ = 1, inner_ = 1, pitch_, columns_ = 0;
  std::byte* out_ = nullptr;
  catena::SmallVector<device::JoinPiece, 8> pieces_;
};

}  // namespace

Sequence plan_join(const catena::bound::Join& call, int processors) {
  Sequence sequence;
  Batch batch(call, 0);
  std::int64_t inner = 1;
  for (int a = call.axis + 1; a < call.out.shape->size(); ++a) inner *= (*call.out.shape)[a];
  const auto flush = [&](std::int64_t next) {
    if (!batch.empty()) sequence.launches.push_back(batch.plan(processors));
    batch = Batch(call, next);
  };
  for (const BoundOperand& x : call.pieces) {
    if (batch.full()) flush(batch.end());
    if (batch.add(x)) continue;
    const std::int64_t begin = batch.end();
    BoundOperand part = call.out;
    part.data += begin / inner * (*call.out.strides)[call.axis];
    part.shape = x.shape;
    sequence.launches.push_back(plan_gather({*x.shape, x, {}, part}, processors));
    flush(begin + (*x.shape)[call.axis] * inner);
  }
  flush(0);
  return sequence;
}

void add_join(GeneratedKernel& k, const KernelKey& key) {
  add_header(k, "catena/kernels/device/join.h");
  set_parameters<device::JoinParameters>(k, "JoinParameters",
                                         key.many_pieces ? device::kManyPieces : device::kFewPieces);
  add_function(k, concat("catena::device::join<", int(key.word_bytes), ">"));
}

}  // namespace nd::cuda
