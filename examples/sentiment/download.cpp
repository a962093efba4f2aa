// Fetches the Stanford Sentiment Treebank and unpacks it into the folder trees. (Socher et al.: Recursive Deep Models
// for Semantic Compositionality Over a Sentiment Treebank, EMNLP 2013.)
// test: --help
// prints: usage: download
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <catena/catena.h>
#include <catena/kernels/formats/zip.h>

#include "../arguments.h"

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Catena example: fetch the Stanford Sentiment Treebank");
  std::string archive = args.option("--archive", "", "trainDevTestTrees_PTB.zip, fetched in another way");
  args.finish();

  if (archive.empty())
    archive = training::cached_download("http://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip");
  const catena::ZipReader zip("unpack", archive);
  for (const catena::ZipMember& member : zip.members()) {
    const std::string file = std::filesystem::path(member.name).filename().string();
    if (file.empty() || member.name != "trees/" + file) continue;
    const std::vector<std::byte> content = zip.read(member);
    std::filesystem::create_directories("trees");
    std::ofstream out(member.name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(content.data()), std::streamsize(content.size()));
    catena::check<catena::IOError>(bool(out.flush()), "download", '"', member.name, "\" cannot be written");
    std::printf("%s\n", member.name.c_str());
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "download: %s\n", e.what());
  return 1;
}
