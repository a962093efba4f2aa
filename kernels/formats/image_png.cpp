#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/image.h>

#ifdef CATENA_HAS_PNG

#include <png.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

namespace catena::internal {
namespace {

// libpng reports an error by a jump, without running destructors. Functions that call it have no objects with
// destructors.
struct PngReader {
  std::string_view file;
  std::size_t at = 0;
  char message[256] = "";
  png_structp png = nullptr;
  png_infop info = nullptr;
  png_uint_32 width = 0, height = 0;
  int channels = 0, depth = 0, type = 0;
  png_bytepp rows = nullptr;
  std::size_t stride = 0;

  explicit PngReader(std::string_view content) : file(content) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, &fail, &ignore);
    if (png != nullptr) info = png_create_info_struct(png);
  }
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  [[noreturn]] static void fail(png_structp png, png_const_charp text) {
    auto* const self = static_cast<PngReader*>(png_get_error_ptr(png));
    const std::size_t n = std::min(std::strlen(text), sizeof self->message - 1);
    std::memcpy(self->message, text, n);
    self->message[n] = '\0';
    png_longjmp(png, 1);
  }
  static void ignore(png_structp, png_const_charp) {}
  static void read(png_structp png, png_bytep to, png_size_t n) {
    auto* const self = static_cast<PngReader*>(png_get_io_ptr(png));
    if (n > self->file.size() - self->at) png_error(png, "the file ends early");
    std::memcpy(to, self->file.data() + self->at, n);
    self->at += n;
  }
};

// Returns false, with the reason in `message`, on an error. The caller must check the size before read_rows(), which
// allocates memory for it.
bool read_header(PngReader& r) {
  if (setjmp(png_jmpbuf(r.png)) != 0) return false;
  png_set_read_fn(r.png, &r, &PngReader::read);
  png_set_user_limits(r.png, 0x7fffffff, 0x7fffffff);  // allocate_samples() checks the size
  png_set_chunk_malloc_max(r.png, 1 << 20);            // for texts and colour profiles, which are not used
  png_read_info(r.png, r.info);
  png_get_IHDR(r.png, r.info, &r.width, &r.height, &r.depth, &r.type, nullptr, nullptr, nullptr);
  r.channels = png_get_channels(r.png, r.info);
  return true;
}

// Sets the format of the samples and reads them.
bool read_rows(PngReader& r) {
  if (setjmp(png_jmpbuf(r.png)) != 0) return false;
  if (r.type == PNG_COLOR_TYPE_GRAY && (r.depth == 2 || r.depth == 4)) png_set_expand_gray_1_2_4_to_8(r.png);
  if (r.depth < 8) png_set_packing(r.png);  // palette indices and values of 1 bit are not scaled
  if (r.depth == 16 && r.type != PNG_COLOR_TYPE_GRAY) png_set_strip_16(r.png);
  if (r.depth == 16 && std::endian::native == std::endian::little) png_set_swap(r.png);
  png_set_interlace_handling(r.png);
  png_read_update_info(r.png, r.info);
  if (png_get_rowbytes(r.png, r.info) != r.stride) png_error(r.png, "the rows have another size than expected");
  png_read_image(r.png, r.rows);
  png_read_end(r.png, nullptr);
  return true;
}

}  // namespace

Image decode_png(const std::string& context, std::string_view file) {
  PngReader reader(file);
  check<RuntimeError>(reader.info != nullptr, context, "libpng cannot be initialised");
  check<ValueError>(read_header(reader), context, reader.message);
  const bool wide = reader.depth == 16 && reader.type == PNG_COLOR_TYPE_GRAY;
  Image image{reader.height, reader.width, reader.channels, wide ? 2 : 1, {}};
  allocate_samples(context, image, file.size(), reader.depth);
  std::vector<png_bytep> rows(reader.height);
  reader.stride = image.samples.size() / rows.size();
  for (std::size_t y = 0; y < rows.size(); ++y) rows[y] = image.samples.data() + y * reader.stride;
  reader.rows = rows.data();
  check<ValueError>(read_rows(reader), context, reader.message);
  image.has_other_colours = reader.type == PNG_COLOR_TYPE_PALETTE;
  return image;
}

}  // namespace catena::internal

#else

namespace catena::internal {
Image decode_png(const std::string& context, std::string_view) {
  fail<RuntimeError>(context, "this build has no libpng");
}
}  // namespace catena::internal

#endif
