#include <catena/kernels/base/error.h>
#include <catena/training/datasets/image_file.h>

#ifdef CATENA_HAS_JPEG

#include <csetjmp>
#include <cstdio>

// Included after <cstdio>, whose types it uses.
#include <jpeglib.h>
// Included after jpeglib.h, whose types it uses.
#include <jerror.h>

namespace training::datasets::internal {
namespace {

// libjpeg reports an error through a function that must not return, so it jumps, and no destructors run. Functions that
// call libjpeg therefore have no objects with destructors.
struct JpegReader {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf jump{};
  char message[JMSG_LENGTH_MAX] = "";
  std::string_view file;
  std::uint8_t* samples = nullptr;
  std::size_t stride = 0;

  explicit JpegReader(std::string_view content) : file(content) {
    info.err = jpeg_std_error(&errors);
    errors.error_exit = &fail;
    errors.emit_message = &warn;
    info.client_data = this;
    progress.progress_monitor = &limit_scans;
  }
  ~JpegReader() { jpeg_destroy_decompress(&info); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  static JpegReader& of(j_common_ptr info) { return *static_cast<JpegReader*>(info->client_data); }
  [[noreturn]] static void fail(j_common_ptr info) {
    JpegReader& self = of(info);
    info->err->format_message(info, self.message);
    std::longjmp(self.jump, 1);
  }
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

DecodedImage decode_jpeg(const std::string& context, std::string_view file) {
  using catena::check;
  using catena::ValueError;
  JpegReader reader(file);
  check<ValueError>(read_header(reader), context, reader.message);
  DecodedImage image{reader.info.output_height, reader.info.output_width, reader.info.output_components, 1, {}};
  allocate_samples(context, image, file.size());
  reader.samples = image.samples.data();
  reader.stride = image.samples.size() / static_cast<std::size_t>(image.height);
  check<ValueError>(read_rows(reader), context, reader.message);
  // In files with four channels, the values are inverted by a convention of Adobe Photoshop.
  if (image.channels == 4)
    for (std::uint8_t& sample : image.samples) sample = static_cast<std::uint8_t>(255 - sample);
  return image;
}

}  // namespace training::datasets::internal

#else

namespace training::datasets::internal {
DecodedImage decode_jpeg(const std::string& context, std::string_view) {
  catena::fail<catena::RuntimeError>(context, "this build has no libjpeg");
}
}  // namespace training::datasets::internal

#endif
