// Reductions. The elements of one output are numbered in C order of the reduced axes and divided into chunks of kChunk.
// Inside a chunk, element i goes to lane i % kLanes (kernel.h). Chunks are joined as a binary tree (ChunkTree). This
// order, and thus every bit of the result, is independent of the layout of the array, of the number of threads and of
// the variant below.
//
//   inner variant   one output at a time; a chunk is contiguous, or is gathered into a tile
//   outer variant   neighbouring outputs together, one accumulator each (reduce_outer.cpp)
//
// A program that computes the elements runs over a chunk of one output, or over elements of neighbouring outputs, right
// before they are combined. If the order does not influence the bits of the result, as for integers and positions,
// chunks may be longer and the number of lanes may differ.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <catena/ndarray/cpu/copy.h>
#include <catena/ndarray/cpu/reducer.h>
#include <catena/ndarray/cpu/run.h>
#include <catena/ndarray/cpu/stream_store.h>
#include <catena/ndarray/cpu/tuning.h>

namespace nd::cpu {

using catena::compute_dtype;

Reducer::Reducer(const catena::bound::Reduce& call)
    : table_(*call.kernel->loop_table[call.loop].reduction),
      in_type_(call.kernel->loop_table[call.loop].type[0]),
      out_type_(call.kernel->loop_table[call.loop].type[1]),
      in_dtype_(call.in.dtype),
      out_(call.out),
      inputs_(call),
      direct_in_(is_direct(in_dtype_, in_type_)),
      direct_out_(is_direct(call.out.dtype, out_type_)),
      in_item_(static_cast<std::int64_t>(itemsize(compute_dtype(in_type_)))),
      out_item_(static_cast<std::int64_t>(itemsize(compute_dtype(out_type_)))),
      acc_(table_.acc_bytes) {
  if (!direct_in_) load_ = Load(in_dtype_, in_type_);
  if (!direct_out_) store_ = Store(out_type_, out_.dtype);
  split_axes(call);
  count_ = catena::size_of(reduced_);
  divisor_ = call.divisor(count_);
  outputs_ = catena::size_of(kept_);
  if (call.pre != nullptr) prepare(*call.pre);
  // A kernel without an identity leaves a single element as it is, if it has a running form.
  copies_ = count_ == 1 && !pre_ && in_dtype_ == in_type_ && in_dtype_ == out_.dtype && in_dtype_ != Dtype::bool_ &&
            call.kernel->is(catena::may_scan) && !call.kernel->has_identity;
  folds_prefetching_ = table_.fold_prefetching != nullptr && table_.in == table_.element &&
                       reduced_stride() == in_item_ && !tiled() && outputs_ * count_ * in_item_ >= kFetchedBytes;
  chunk_ = chunk_length();
  chunks_ = std::max<std::int64_t>(1, (count_ + chunk_ - 1) / chunk_);
}

void Reducer::run() const {
  if (outputs_ == 0) return;
  if (count_ == 1 && table_.fold_positions != nullptr) positions_of_single_elements();
  else if (copies_) copy_single_elements();
  else if (use_outer_variant()) run_outer();
  else run_inner();
}

void Reducer::split_axes(const catena::bound::Reduce& call) {
  const Shape& shape = *call.in.shape;
  auto &kept = inputs_.kept, &reduced = inputs_.reduced;
  const std::size_t guide = inputs_.guide, out = inputs_.out;
  for (int a = 0; a < shape.size(); ++a) {
    const bool is_reduced = std::find(call.axes.begin(), call.axes.end(), a) != call.axes.end();
    (is_reduced ? reduced_ : kept_).push_back(shape[a]);
    auto& strides = is_reduced ? reduced : kept;
    for (std::size_t k = 0; k < inputs_.n; ++k) strides[k].push_back((*inputs_.all[k].strides)[a]);
    strides[guide].push_back((*call.in.strides)[a]);
    if (!is_reduced) strides[out].push_back((*out_.strides)[a]);
  }
  // Outputs are independent, so their axes may be visited in any order: the smallest stride of the input goes
  // innermost.
  for (int b = 1; b < kept_.size(); ++b)
    for (int a = b; a > 0 && std::llabs(kept[guide][a - 1]) < std::llabs(kept[guide][a]) && kept_[a - 1] > 1; --a) {
      std::swap(kept_[a - 1], kept_[a]);
      for (std::size_t k = 0; k <= out; ++k) std::swap(kept[k][a - 1], kept[k][a]);
    }
  catena::merge_axes(kept_, {kept.data(), out + 1});
  catena::merge_axes(reduced_, {reduced.data(), guide + 1});
  kept_step_ = kept_.empty() ? 0 : std::llabs(kept[guide].back());
  reduced_step_ = reduced_.empty() ? 0 : std::llabs(reduced[guide].back());
}

std::int64_t Reducer::chunk_length() const {
  if (!table_.any_order || tiled()) return kChunk;
  // A reduction that may end early has shorter chunks, because it checks after each chunk.
  const std::int64_t most = table_.is_final != nullptr ? 4 * kChunk : 16 * kChunk,
                     pieces = 8 * catena::available_threads();
  // If threads share the rows of a large matrix instead of its columns, each reads contiguous memory.
  if (outputs_ * count_ > kLargeMatrix && use_outer_variant()) return std::clamp(count_ / pieces + 1, kLeastRows, most);
  return std::clamp((count_ / pieces + kChunk - 1) / kChunk * kChunk, kChunk, most);
}

bool Reducer::use_outer_variant() const {
  if (kept_.empty() || count_ == 0) return false;
  const std::int64_t row = kept_.back(), inner = reduced_.empty() ? 1 : reduced_.back();
  // Short contiguous rows: the outer variant would first transpose a panel of them. That costs more than folding the
  // rows, unless a row is a few elements that the folds read without conversion.
  const auto item = static_cast<std::int64_t>(itemsize(in_dtype_));
  const bool reduced_axis_contiguous = reduced_.size() == 1 && reduced_stride() == item;
  const std::int64_t bytes = count_ * item, transposed = table_.in == table_.element ? kTransposed : item;
  const bool is_long = bytes > transposed && (table_.fold_positions == nullptr || bytes >= kSearched);
  if (reduced_axis_contiguous && !pre_ && direct_in_ && table_.short_rows && is_long) return false;
  // Few elements per output, or per run: the inner variant would leave most lanes unused.
  if (row >= 16 && (count_ < kLanes || (inner < kLanes && !pre_))) return true;
  const std::int64_t least = pre_ ? kShortRow : 2;
  return row >= least && kept_step_ < reduced_step_ && (kept_step_ <= in_item_ || inner < kLanes);
}

// ---- elements computed by a program -------------------------------------------------------------
void Reducer::prepare(const catena::Program& program) {
  std::array<BoundOperand, catena::kMaxOperands> operands;
  std::copy(inputs_.all.begin(), inputs_.all.end(), operands.begin());
  operands[inputs_.n] = {nullptr, in_dtype_, false, nullptr, nullptr};
  pre_.emplace(program, std::span<const BoundOperand>(operands.data(), inputs_.n + 1), kTile);
  collects_ = reduced_.size() > 1 && reduced_.back() < kShortRun;
  for (std::size_t k = 0; k < inputs_.n; ++k) {
    const Strides& strides = inputs_.reduced[k];
    const bool moves = std::any_of(strides.begin(), strides.end(), [](std::int64_t s) { return s != 0; });
    collect_[k] = collects_ && moves ? catena::cast_function(inputs_.all[k].dtype, inputs_.all[k].dtype) : nullptr;
  }
}

Reducer::Tiles Reducer::tiles(std::int64_t n, bool collected) const {
  const auto size = static_cast<std::size_t>(n);
  Tiles t;
  t.end = round_up_64(size * std::size_t(in_item_));
  if (!pre_) return t;
  if (!direct_in_) {
    t.stored = t.end;
    t.end += round_up_64(size * itemsize(in_dtype_));
  }
  t.collected = t.end;
  if (collected) t.end += inputs_.n * kCollected;
  t.program = t.end;
  t.end += pre_->tile_bytes();
  return t;
}

void Reducer::evaluate(const Tiles& t, std::byte* tile, std::byte* const* ptr, const std::int64_t* stride,
                       std::int64_t first, std::int64_t n) const {
  const auto item = static_cast<std::int64_t>(itemsize(in_dtype_));
  std::byte* p[catena::kMaxOperands];
  std::int64_t s[catena::kMaxOperands];
  std::copy_n(ptr, inputs_.n, p);
  std::copy_n(stride, inputs_.n, s);
  p[inputs_.n] = tile + t.stored + first * item;
  s[inputs_.n] = item;
  pre_->run(tile + t.program, p, s, n);
  if (!direct_in_) load_(p[inputs_.n], item, tile + t.elements + first * in_item_, n);
}

void Reducer::evaluate_chunk(const Addresses& in, std::int64_t begin, std::int64_t n, const Tiles& t,
                             std::byte* tile) const {
  Odometer at(reduced_, inputs_.reduced_strides(), begin);
  std::byte* p[catena::kMaxOperands];
  std::int64_t s[catena::kMaxOperands];
  for (std::int64_t i = 0; i < n;) {
    const std::int64_t piece = std::min(collects_ ? kTile : at.run(), n - i);
    for (std::size_t k = 0; k < inputs_.n; ++k) {
      p[k] = in[k] + at.offset(k);
      s[k] = reduced_.empty() ? 0 : inputs_.reduced[k].back();
    }
    if (collects_) collect(in, at, piece, tile + t.collected, p, s);
    else at.advance(piece);
    evaluate(t, tile, p, s, i, piece);
    i += piece;
  }
}

void Reducer::collect(const Addresses& in, Odometer& at, std::int64_t n, std::byte* tile, std::byte** p,
                      std::int64_t* s) const {
  for (std::int64_t i = 0; i < n;) {
    const std::int64_t m = std::min(at.run(), n - i);
    for (std::size_t k = 0; k < inputs_.n; ++k) {
      if (collect_[k] == nullptr) continue;
      const auto item = static_cast<std::int64_t>(itemsize(inputs_.all[k].dtype));
      collect_[k](in[k] + at.offset(k), inputs_.reduced[k].back(), tile + k * kCollected + i * item, item, m);
    }
    at.advance(m);
    i += m;
  }
  for (std::size_t k = 0; k < inputs_.n; ++k) {
    if (collect_[k] == nullptr) continue;
    p[k] = tile + k * kCollected;
    s[k] = static_cast<std::int64_t>(itemsize(inputs_.all[k].dtype));
  }
}

// ---- inner variant ------------------------------------------------------------------------------
void Reducer::reduce_chunk(const Addresses& in, std::int64_t chunk, std::byte* acc, const Tiles& t,
                           std::byte* tile) const {
  const std::int64_t begin = chunk * chunk_, n = std::min(chunk_, count_ - begin);
  table_.init(acc, 1);
  if (n <= 0) return;
  if (folds_prefetching_) return table_.fold_prefetching(acc, {in[0] + begin * in_item_, 0, 1, begin, n});
  if (!tiled()) return table_.reduce(acc, in[0] + begin * reduced_stride(), reduced_stride(), begin, n);
  if (pre_) evaluate_chunk(in, begin, n, t, tile);
  else gather_chunk(in[0], begin, n, tile);
  table_.reduce(acc, tile, in_item_, begin, n);
}

void Reducer::gather_chunk(const std::byte* in, std::int64_t begin, std::int64_t n, std::byte* tile) const {
  const std::int64_t stride = reduced_.empty() ? 0 : inputs_.reduced[0].back();
  if (reduced_.size() <= 1) return load_(in + begin * stride, stride, tile, n);
  Odometer at(reduced_, inputs_.reduced_strides(), begin);
  const CastFn gather = direct_in_ ? catena::cast_function(in_dtype_, in_dtype_) : nullptr;
  for (std::int64_t i = 0; i < n;) {
    const std::int64_t run = at.run(), runs = std::min(at.whole_runs(), (n - i) / run);
    if (runs > 0 && gather && stride == in_item_) {
      const std::int64_t bytes = run * in_item_, apart = inputs_.reduced[0][reduced_.size() - 2];
      copy_rows(tile + i * in_item_, bytes, in + at.offset(), apart, runs, bytes);
      at.advance_runs(runs);
      i += runs * run;
      continue;
    }
    const std::int64_t m = std::min(run, n - i);
    if (gather) gather(in + at.offset(), stride, tile + i * in_item_, in_item_, m);
    else load_(in + at.offset(), stride, tile + i * in_item_, m);
    at.advance(m);
    i += m;
  }
}

void Reducer::finish(const std::byte* acc, std::byte* out, std::int64_t stride, std::int64_t n) const {
  if (direct_out_) return table_.finish(acc, divisor_, out, stride, n);
  alignas(64) std::byte tile[kTile * catena::kMaxItemsize];
  for (std::int64_t j = 0; j < n; j += kTile) {
    const std::int64_t m = std::min(kTile, n - j);
    table_.finish(acc + j * acc_, divisor_, tile, out_item_, m);
    store_(tile, out + j * stride, stride, m);
  }
}

void Reducer::run_inner() const {
  if (chunks_ > 1 && outputs_ < 4 * catena::available_threads())
    return run_inner_by_chunk(tiled() ? tiles(std::min(chunk_, count_), collects_) : Tiles{});
  const std::int64_t grain = std::max<std::int64_t>(1, kLightGrain / std::max<std::int64_t>(count_, kLanes));
  if (chunks_ == 1 && count_ > 0 && !tiled()) return run_inner_by_row(grain);
  const Tiles t = tiled() ? tiles(std::min(chunk_, count_), collects_) : Tiles{};
  catena::parallel_for(outputs_, grain, [&](std::int64_t b, std::int64_t e) {
    // Memory for a few accumulators, on the stack if they are small.
    alignas(64) std::byte small[512];
    const std::size_t bytes = (1 + ChunkTree::levels(chunks_)) * std::size_t(acc_);
    const Workspace heap(t.end + (bytes > sizeof(small) ? bytes : 0));
    std::byte* const memory = bytes > sizeof(small) ? heap.data() + t.end : small;
    Odometer in(kept_, inputs_.kept_strides(), b), out(kept_, {&inputs_.kept[inputs_.out], 1}, b);
    for (std::int64_t k = b; k < e; ++k) {
      finish(reduce_chunks(inputs_.addresses(in), memory, t, heap.data()), out_.data + out.offset(), out_item_, 1);
      in.advance(1);
      out.advance(1);
    }
  });
}

// For outputs of one chunk each, of elements along one axis: one call of the loop computes many outputs.
void Reducer::run_inner_by_row(std::int64_t grain) const {
  catena::parallel_for(outputs_, grain, [&](std::int64_t b, std::int64_t e) {
    alignas(64) std::byte small[kRowAccumulators];
    const Workspace heap(acc_ > kRowAccumulators ? std::size_t(acc_) : 0);
    std::byte* acc = acc_ > kRowAccumulators ? heap.data() : small;
    const std::int64_t most = std::max<std::int64_t>(1, kRowAccumulators / acc_),
                       out_step = kept_.empty() ? 0 : inputs_.kept[inputs_.out].back();
    Odometer in(kept_, inputs_.kept_strides(), b), out(kept_, {&inputs_.kept[inputs_.out], 1}, b);
    for (std::int64_t k = b, rows; k < e; k += rows) {
      rows = std::min({in.run(), most, e - k});
      table_.init(acc, rows);
      table_.reduce_rows(acc, {inputs_.all[0].data + in.offset(), kept_stride(), rows, 0, count_}, reduced_stride());
      finish(acc, out_.data + out.offset(), rows == 1 ? out_item_ : out_step, rows);
      in.advance(rows);
      out.advance(rows);
    }
  });
}

void ChunkTree::add(const std::byte* part) {
  int i = 0;
  for (; (chunks_ >> i & 1) != 0; ++i) {
    table_.join(level(i), part, width_);
    part = level(i);
  }
  std::memcpy(level(i), part, std::size_t(width_) * table_.acc_bytes);
  ++chunks_;
}

const std::byte* ChunkTree::total() {
  const std::byte* later = nullptr;
  for (int i = 0; (chunks_ >> i) != 0; ++i) {
    if ((chunks_ >> i & 1) == 0) continue;
    if (later != nullptr) table_.join(level(i), later, width_);
    later = level(i);
  }
  return later;
}

void join_chunks(const ReductionLoop& table, std::byte* parts, std::int64_t chunks, std::int64_t width,
                 std::size_t bytes) {
  for (std::int64_t step = 1; step < chunks; step *= 2)
    for (std::int64_t c = 0; c + step < chunks; c += 2 * step)
      table.join(parts + std::size_t(c) * bytes, parts + std::size_t(c + step) * bytes, width);
}

const std::byte* Reducer::reduce_chunks(const Addresses& in, std::byte* memory, const Tiles& t, std::byte* tile) const {
  reduce_chunk(in, 0, memory, t, tile);
  if (chunks_ == 1) return memory;
  ChunkTree tree(table_, 1, std::size_t(acc_), memory + acc_);
  tree.add(memory);
  for (std::int64_t c = 1; c < chunks_ && (table_.is_final == nullptr || !table_.is_final(memory)); ++c) {
    reduce_chunk(in, c, memory, t, tile);
    tree.add(memory);
  }
  return tree.total();
}

void Reducer::run_inner_by_chunk(const Tiles& t) const {
  const std::int64_t cells = outputs_ * chunks_;
  const Workspace parts{std::size_t(cells * acc_)};
  std::vector<std::atomic<bool>> is_final(std::size_t(table_.is_final != nullptr ? outputs_ : 0));
  const auto reduce_cells = [&](std::int64_t b, std::int64_t e) {
    const Workspace tile(t.end);
    // Visits the same chunk of all outputs together, because they may share cache lines.
    for (std::int64_t k = b; k < e; ++k) {
      const std::int64_t output = k % outputs_, chunk = k / outputs_;
      std::byte* part = parts.data() + (output * chunks_ + chunk) * acc_;
      if (!is_final.empty() && is_final[std::size_t(output)].load(std::memory_order_relaxed)) {
        table_.init(part, 1);
        continue;
      }
      const Odometer in(kept_, inputs_.kept_strides(), output);
      reduce_chunk(inputs_.addresses(in), chunk, part, t, tile.data());
      if (!is_final.empty() && table_.is_final(part))
        is_final[std::size_t(output)].store(true, std::memory_order_relaxed);
    }
  };
  // Often the first chunk determines the result, and no other thread is needed.
  const std::int64_t first = is_final.empty() ? 0 : outputs_;
  reduce_cells(0, first);
  const bool done =
      !is_final.empty() && std::all_of(is_final.begin(), is_final.end(), [](const auto& s) { return s.load(); });
  if (!done)
    catena::parallel_for(cells - first, std::max<std::int64_t>(1, kLightGrain / chunk_),
                         [&](std::int64_t b, std::int64_t e) { reduce_cells(first + b, first + e); });
  for (std::int64_t k = 0; k < outputs_; ++k) {
    std::byte* const own = parts.data() + k * chunks_ * acc_;
    join_chunks(table_, own, done ? 1 : chunks_, 1, std::size_t(acc_));
    const Odometer out(kept_, {&inputs_.kept[inputs_.out], 1}, k);
    finish(own, out_.data + out.offset(), out_item_, 1);
  }
}

// For positions of extrema (argmax) over single elements: the result is the same for all outputs.
void Reducer::positions_of_single_elements() const {
  alignas(64) std::byte acc[64], value[catena::kMaxItemsize];
  catena::check<catena::RuntimeError>(acc_ <= std::int64_t(sizeof(acc)), "reduce", "accumulators of ", acc_, " bytes");
  const std::byte element[catena::kMaxItemsize] = {};
  table_.init(acc, 1);
  table_.reduce(acc, element, in_item_, 0, 1);
  finish(acc, value, static_cast<std::int64_t>(itemsize(out_.dtype)), 1);
  copy_elements(out_.data, inputs_.kept[inputs_.out], value, Strides::filled(kept_.size(), 0), kept_,
                itemsize(out_.dtype));
}

// For extrema over single elements: copies the elements.
void Reducer::copy_single_elements() const {
  copy_elements(out_.data, inputs_.kept[inputs_.out], inputs_.all[0].data, inputs_.kept[0], kept_, itemsize(in_dtype_));
}

namespace {

// Computes a reduction of one chunk of one output along one axis, if the elements have the types of the loop. Returns
// false otherwise.
bool reduce_one(const catena::bound::Reduce& call) {
  const Shape& shape = *call.in.shape;
  if (shape.size() != 1 || call.axes.size() != 1 || shape[0] > Reducer::kChunk || call.pre != nullptr) return false;
  const catena::Loop& loop = call.kernel->loop_table[call.loop];
  if (!is_direct(call.in.dtype, loop.type[0]) || !is_direct(call.out.dtype, loop.type[1])) return false;
  const ReductionLoop& table = *loop.reduction;
  alignas(64) std::byte acc[64];
  if (table.acc_bytes > sizeof(acc)) return false;
  table.init(acc, 1);
  if (shape[0] > 0) table.reduce(acc, call.in.data, (*call.in.strides)[0], 0, shape[0]);
  table.finish(acc, call.divisor(shape[0]), call.out.data, 0, 1);
  return true;
}

}  // namespace

void run(const catena::bound::Reduce& call) {
  if (call.post == nullptr) {
    if (!reduce_one(call)) Reducer(call).run();
    return;
  }
  // The reduced values are few compared with the input, so another pass over them costs little.
  const Dtype type = call.kernel->loop_table[call.loop].type[1];
  const Shape& shape = *call.out.shape;
  const Strides strides = catena::c_strides(shape, itemsize(type));
  const Workspace values(std::max<std::size_t>(1, std::size_t(catena::size_of(shape)) * itemsize(type)));
  catena::bound::Reduce before = call;
  before.post = nullptr;
  before.out = {values.data(), type, false, &shape, &strides};
  Reducer(before).run();
  std::array<BoundOperand, catena::kMaxOperands> operands{before.out};
  std::copy(call.post_inputs.begin(), call.post_inputs.end(), operands.begin() + 1);
  operands[call.post_inputs.size() + 1] = call.out;
  run(catena::bound::Elementwise{call.post, {operands.data(), call.post_inputs.size() + 2}, &shape});
}

}  // namespace nd::cpu
