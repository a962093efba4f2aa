#include <catena/training/datasets/list_config.h>

#include <cstdio>

#include <catena/kernels/base/error.h>
#include <catena/training/dataset.h>

#ifdef CATENA_HAS_CURL
#include <curl/curl.h>
#endif
#ifdef CATENA_HAS_PNG
#include <png.h>
#endif
#ifdef CATENA_HAS_JPEG
#include <jpeglib.h>
#endif

namespace training::datasets::internal {
namespace {

std::string curl() {
#ifdef CATENA_HAS_CURL
  return curl_version();
#else
  return "not built in: data sets are not downloaded";
#endif
}

std::string png() {
#ifdef CATENA_HAS_PNG
  return png_get_libpng_ver(nullptr);
#else
  return "not built in: PNG images are not read";
#endif
}

std::string jpeg() {
#ifdef CATENA_HAS_JPEG
#ifdef LIBJPEG_TURBO_VERSION_NUMBER
  return catena::concat("libjpeg-turbo ", LIBJPEG_TURBO_VERSION_NUMBER / 1000000, '.',
                        LIBJPEG_TURBO_VERSION_NUMBER / 1000 % 1000, '.', LIBJPEG_TURBO_VERSION_NUMBER % 1000);
#else
  return catena::concat("libjpeg ", JPEG_LIB_VERSION / 10);
#endif
#else
  return "not built in: JPEG images are not read";
#endif
}

std::string root() { return get_dataset_root(); }

}  // namespace

void list_config(catena::internal::ConfigList& list) {
  list.add("libraries", "curl", curl);
  list.add("libraries", "libpng", png);
  list.add("libraries", "libjpeg", jpeg);
  list.add_variable("CATENA_DATASET_ROOT", root);
  list.add_variable("CHAINER_DATASET_ROOT", root);
  list.add_variable("CATENA_OFFLINE");
  list.add_variable("CATENA_HDF5_TIMEOUT");
  for (const char* name : {"CATENA_RANK", "CATENA_SIZE", "CATENA_RENDEZVOUS", "CATENA_COMM_TIMEOUT"})
    list.add_variable(name);
}

}  // namespace training::datasets::internal
