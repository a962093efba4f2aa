// Scans. Rows are independent and shared among threads. Elements of a row are combined strictly in order, so neither
// the layout of the array nor the number of threads changes a bit of the result.
#include <algorithm>
#include <cstdlib>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/cpu/along_axis.h>
#include <catena/ndarray/cpu/convert.h>
#include <catena/ndarray/cpu/run.h>
#include <catena/ndarray/cpu/tuning.h>

namespace nd::cpu {
namespace {

using catena::compute_dtype;
using catena::itemsize;
using catena::ScanBlock;

// Returns the number of units per thread.
std::int64_t grain(const catena::bound::Scan& call, const Walk& rows) {
  const auto item = std::int64_t(itemsize(call.out.dtype));
  const std::int64_t elements = std::max<std::int64_t>(1, kHeavyGrain / (*call.in.shape)[call.axis]);
  const bool side_by_side = rows.rank() == 1 && std::llabs((*call.out.strides)[call.axis]) > item;
  return rows.grain(side_by_side ? std::max(elements, kNeighbourGrain / item) : elements);
}

class Scanner {
 public:
  explicit Scanner(const catena::bound::Scan& call)
      : table_(*call.kernel->loop_table[call.loop].reduction),
        in_type_(call.kernel->loop_table[call.loop].type[0]),
        out_type_(call.kernel->loop_table[call.loop].type[1]),
        direct_in_(is_direct(call.in.dtype, in_type_)),
        direct_out_(is_direct(call.out.dtype, out_type_)),
        in_step_((*call.in.strides)[call.axis]),
        out_step_((*call.out.strides)[call.axis]),
        length_((*call.in.shape)[call.axis]) {
    if (!direct_in_) load_ = Load(call.in.dtype, in_type_);
    if (!direct_out_) store_ = Store(out_type_, call.out.dtype);
  }

  // Scans `width` neighbouring rows.
  void run(const std::byte* in, std::int64_t in_stride, std::byte* out, std::int64_t out_stride,
           std::int64_t width) const {
    const bool whole = direct_in_ && direct_out_;
    const std::int64_t most = std::max<std::int64_t>(1, kScannedBytes / std::int64_t(table_.acc_bytes));
    const std::int64_t rows = std::min(whole ? most : std::min(most, kScannedRows), width);
    const std::int64_t piece = whole ? length_ : kTile / rows;
    alignas(64) std::byte cells[kScannedBytes];
    for (std::int64_t j = 0; j < width; j += rows) {
      const std::int64_t w = std::min(rows, width - j);
      table_.init(cells, w);  // element 0 overwrites them, but they must hold some value before
      for (std::int64_t i = 0; i < length_; i += piece) {
        const ScanBlock block{in + i * in_step_ + j * in_stride,
                              in_step_,
                              in_stride,
                              out + i * out_step_ + j * out_stride,
                              out_step_,
                              out_stride,
                              i,
                              std::min(piece, length_ - i),
                              w};
        if (whole) table_.scan(cells, block);
        else scan_tile(cells, block);
      }
    }
  }

 private:
  // The position of element i of row j of a block in a tile. The tile has the order of the memory that it is loaded
  // from or stored to, so that conversions run along that memory.
  struct TileOrder {
    bool rows_inside;  // neighbouring elements of the tile are in neighbouring rows
    std::int64_t step, stride;
  };
  static TileOrder tile_order(const ScanBlock& b, std::int64_t step, std::int64_t stride, std::int64_t item) {
    const bool rows_inside = b.width > 1 && std::llabs(stride) < std::llabs(step);
    return rows_inside ? TileOrder{true, b.width * item, item} : TileOrder{false, item, b.n * item};
  }
  // Calls f(offset in memory, its stride, offset in the tile, count) for every run of the tile.
  template <class F>
  static void for_each_run(const ScanBlock& b, const TileOrder& t, std::int64_t step, std::int64_t stride, F&& f) {
    if (t.rows_inside)
      for (std::int64_t i = 0; i < b.n; ++i) f(i * step, stride, i * t.step, b.width);
    else
      for (std::int64_t j = 0; j < b.width; ++j) f(j * stride, step, j * t.stride, b.n);
  }

  void scan_tile(std::byte* cells, const ScanBlock& block) const {
    alignas(64) std::byte in_tile[kTile * catena::kMaxItemsize], out_tile[kTile * catena::kMaxItemsize];
    ScanBlock b = block;
    if (!direct_in_) {
      const TileOrder t = tile_order(b, b.in_step, b.in_stride, std::int64_t(itemsize(compute_dtype(in_type_))));
      for_each_run(b, t, b.in_step, b.in_stride,
                   [&](std::int64_t at, std::int64_t stride, std::int64_t in_tile_at, std::int64_t n) {
                     load_(block.in + at, stride, in_tile + in_tile_at, n);
                   });
      b.in = in_tile;
      b.in_step = t.step;
      b.in_stride = t.stride;
    }
    if (direct_out_) return table_.scan(cells, b);
    const TileOrder t = tile_order(b, b.out_step, b.out_stride, std::int64_t(itemsize(compute_dtype(out_type_))));
    b.out = out_tile;
    b.out_step = t.step;
    b.out_stride = t.stride;
    table_.scan(cells, b);
    for_each_run(b, t, block.out_step, block.out_stride,
                 [&](std::int64_t at, std::int64_t stride, std::int64_t in_tile_at, std::int64_t n) {
                   store_(out_tile + in_tile_at, block.out + at, stride, n);
                 });
  }

  const catena::ReductionLoop& table_;
  const Dtype in_type_, out_type_;
  const bool direct_in_, direct_out_;
  const std::int64_t in_step_, out_step_, length_;
  Load load_;
  Store store_;
};

}  // namespace

void run(const catena::bound::Scan& call) {
  catena::check<catena::TypeError>(call.kernel->is(catena::may_scan), "scan", call.kernel->name,
                                   " has no running results");
  if (catena::size_of(*call.in.shape) == 0) return;
  const Scanner scanner(call);
  const Walk rows = walk_rows(call.in, call.out, call.axis);
  catena::parallel_for(rows.units(), grain(call, rows), [&](std::int64_t begin, std::int64_t end) {
    rows.run(begin, end, [&](std::byte* const* ptr, const std::int64_t* stride, std::int64_t n) {
      scanner.run(ptr[0], stride[0], ptr[1], stride[1], n);
    });
  });
}

}  // namespace nd::cpu
