#include <utility>

#include <catena/kernels/base/error_context.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/npz.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/routines/io.h>
#include <catena/ndarray/sparse/sparse.h>

namespace nd::sparse {
namespace {

using catena::check;

void write(const std::string& path, std::string_view format, const NamedArrays& arrays, bool compressed) {
  catena::AtomicFile file("save_npz", path.ends_with(".npz") ? path : path + ".npz");
  catena::NpzWriter npz(file, compressed);
  for (const auto& [name, array] : arrays) {
    const std::string bytes = array.tobytes();
    npz.add(name, array.dtype(), array.shape(), std::as_bytes(std::span(bytes)));
    if (name == "data") npz.add_text("format", format);
  }
  npz.finish();
  file.commit();
}

Array host_lengths(const Shape& shape) {
  const DeviceScope scope(cpu_device);
  return array(shape.to_vector());
}

Shape shape_in(const NpzFile& file, const std::string& context) {
  const Array lengths = file["shape"];
  check<ValueError>(lengths.ndim() == 1 && lengths.size() == 2 && catena::is_integer(lengths.dtype()), context,
                    "the shape is not two integers");
  return lengths.to_vector<std::int64_t>();
}

}  // namespace

void save_npz(const std::string& path, const csr_matrix& a, bool compressed) try {
  write(path, "csr",
        {{"indices", a.indices()}, {"indptr", a.indptr()}, {"shape", host_lengths(a.shape())}, {"data", a.data()}},
        compressed);
} catch (...) {
  internal::rethrow_out_of_memory("save_npz");
}

void save_npz(const std::string& path, const coo_matrix& a, bool compressed) try {
  write(path, "coo", {{"row", a.row()}, {"col", a.col()}, {"shape", host_lengths(a.shape())}, {"data", a.data()}},
        compressed);
} catch (...) {
  internal::rethrow_out_of_memory("save_npz");
}

void save_npz(const std::string& path, const csc_matrix& a, bool compressed) try {
  write(path, "csc",
        {{"indices", a.indices()}, {"indptr", a.indptr()}, {"shape", host_lengths(a.shape())}, {"data", a.data()}},
        compressed);
} catch (...) {
  internal::rethrow_out_of_memory("save_npz");
}

csr_matrix load_npz(const std::string& path) try {
  const catena::NpzReader reader("load_npz", path);
  check<ValueError>(reader.contains("format") && reader.contains("shape") && reader.contains("data"), reader.context(),
                    "is not the file of a sparse matrix: it lacks 'format', 'shape' or 'data'");
  const std::string format = catena::npy_text(reader.read("format"));
  const NpzFile file = loadz(path);
  const Shape shape = shape_in(file, reader.context());
  if (format == "coo") return csr_matrix({file["data"], {file["row"], file["col"]}}, shape);
  check<ValueError>(format == "csr" || format == "csc", reader.context(), "the format is '", format,
                    "', must be csr, csc or coo");
  const CompressedRows rows{file["data"], file["indices"], file["indptr"]};
  return format == "csr" ? csr_matrix(rows, shape) : csr_matrix(rows, Shape{shape[1], shape[0]}).T();
} catch (...) {
  internal::rethrow_out_of_memory("load_npz");
}

}  // namespace nd::sparse
