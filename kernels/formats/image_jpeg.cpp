#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/image.h>

#ifdef CATENA_HAS_JPEG

#include <csetjmp>
#include <cstdio>
#include <cstdlib>

// Included after <cstdio>, whose types it uses.
#include <jpeglib.h>
// Included after jpeglib.h, whose types it uses.
#include <jerror.h>

namespace catena::internal {
namespace {

// libjpeg reports an error through a function that must not return. This function jumps, and no destructors run:
// functions that call libjpeg have no objects with destructors.
struct JpegErrors {
  jpeg_error_mgr manager{};
  std::jmp_buf jump{};
  char message[JMSG_LENGTH_MAX] = "";

  // Reports the errors of a jpeg_decompress_struct or jpeg_compress_struct to this object, its client data from now on.
  template <class Info> void attach(Info& info) {
    info.err = jpeg_std_error(&manager);
    manager.error_exit = &fail;
    info.client_data = this;
  }
  [[noreturn]] static void fail(j_common_ptr info) {
    JpegErrors& self = *static_cast<JpegErrors*>(info->client_data);
    info->err->format_message(info, self.message);
    std::longjmp(self.jump, 1);
  }
};

struct JpegReader : JpegErrors {
  jpeg_decompress_struct info{};
  jpeg_progress_mgr progress{};
  std::string_view file;
  std::uint8_t* samples = nullptr;
  std::size_t stride = 0;

  explicit JpegReader(std::string_view content) : file(content) {
    attach(info);
    manager.emit_message = &warn;
    progress.progress_monitor = &limit_scans;
  }
  ~JpegReader() { jpeg_destroy_decompress(&info); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  // libjpeg only warns at the end of a truncated file and continues with grey pixels; this makes it an error.
  static void warn(j_common_ptr info, int level) {
    if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF) fail(info);
  }
  // Limits the scans of a progressive file: scans without refinement need time, but almost no bytes.
  static void limit_scans(j_common_ptr info) {
    if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > 500) {
      info->err->msg_code = JERR_BAD_PROGRESSION;
      fail(info);
    }
  }
};

bool read_header(JpegReader& reader) {
  if (setjmp(reader.jump) != 0) return false;
  jpeg_create_decompress(&reader.info);
  reader.info.progress = &reader.progress;
  jpeg_mem_src(&reader.info, reinterpret_cast<const unsigned char*>(reader.file.data()), reader.file.size());
  jpeg_read_header(&reader.info, TRUE);
  jpeg_calc_output_dimensions(&reader.info);
  return true;
}

bool read_rows(JpegReader& reader) {
  if (setjmp(reader.jump) != 0) return false;
  jpeg_start_decompress(&reader.info);
  while (reader.info.output_scanline < reader.info.output_height) {
    JSAMPROW row = reader.samples + reader.info.output_scanline * reader.stride;
    jpeg_read_scanlines(&reader.info, &row, 1);
  }
  jpeg_finish_decompress(&reader.info);
  return true;
}

}  // namespace

Image decode_jpeg(const std::string& context, std::string_view file) {
  JpegReader reader(file);
  check<ValueError>(read_header(reader), context, reader.message);
  Image image{reader.info.output_height, reader.info.output_width, reader.info.output_components, 1, {}};
  allocate_samples(context, image, file.size());
  reader.samples = image.samples.data();
  reader.stride = image.samples.size() / static_cast<std::size_t>(image.height);
  check<ValueError>(read_rows(reader), context, reader.message);
  image.has_other_colours = image.channels == 4;
  // The values of such files are inverted by a convention of Adobe Photoshop.
  if (image.has_other_colours)
    for (std::uint8_t& sample : image.samples) sample = static_cast<std::uint8_t>(255 - sample);
  return image;
}

namespace {

struct JpegWriter : JpegErrors {
  jpeg_compress_struct info{};
  jpeg_destination_mgr to{};
  unsigned char* file = nullptr;
  std::size_t capacity = 0;

  JpegWriter() {
    attach(info);
    to.init_destination = [](j_compress_ptr compress) { grow(compress); };
    to.empty_output_buffer = &grow;
    to.term_destination = [](j_compress_ptr) {};
  }
  ~JpegWriter() {
    jpeg_destroy_compress(&info);
    std::free(file);
  }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  // Enlarges the buffer, which is full, or allocates the first one. After an error, `file` is still the old buffer.
  static boolean grow(j_compress_ptr info) {
    JpegWriter& self = *static_cast<JpegWriter*>(static_cast<JpegErrors*>(info->client_data));
    const std::size_t used = self.capacity, wanted = used == 0 ? 4096 : 2 * used;
    auto* const larger = static_cast<unsigned char*>(std::realloc(self.file, wanted));
    if (larger == nullptr) ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
    self.file = larger;
    self.capacity = wanted;
    self.to.next_output_byte = larger + used;
    self.to.free_in_buffer = wanted - used;
    return TRUE;
  }
};

bool write_rows(JpegWriter& writer, const Image& image, int quality) {
  if (setjmp(writer.jump) != 0) return false;
  jpeg_compress_struct& info = writer.info;
  jpeg_create_compress(&info);
  info.dest = &writer.to;
  info.image_width = static_cast<JDIMENSION>(image.width);
  info.image_height = static_cast<JDIMENSION>(image.height);
  info.input_components = static_cast<int>(image.channels);
  info.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<JSAMPROW>(image.samples.data()) + info.next_scanline * image.width * image.channels;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  return true;
}

}  // namespace

std::string encode_jpeg(std::string_view op, const Image& image, int quality) {
  constexpr std::int64_t kMostSide = 65500;
  check<ValueError>(image.height <= kMostSide && image.width <= kMostSide, op, "a JPEG file has at most ", kMostSide,
                    " rows and columns, not ", image.height, " x ", image.width);
  JpegWriter writer;
  check<RuntimeError>(write_rows(writer, image, quality), op, "libjpeg: ", writer.message);
  return {reinterpret_cast<const char*>(writer.file), writer.capacity - writer.to.free_in_buffer};
}

}  // namespace catena::internal

#else

namespace catena::internal {
Image decode_jpeg(const std::string& context, std::string_view) {
  fail<RuntimeError>(context, "this build has no libjpeg");
}
std::string encode_jpeg(std::string_view op, const Image&, int) { fail<RuntimeError>(op, "this build has no libjpeg"); }
}  // namespace catena::internal

#endif
