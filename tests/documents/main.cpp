// Runs the examples of one page: examples <page>. Before the output of an example stands its title.
#include "examples.h"

int main(int argc, char** argv) {
  const auto page = argc == 2 ? examples::Page::all().find(argv[1]) : examples::Page::all().end();
  if (page == examples::Page::all().end()) {
    std::cerr << "examples <page>: no such page\n";
    return 2;
  }
  for (const examples::Example& example : page->second) {
    std::cout << "## " << example.title << std::endl;
    try {
      example.run();
    } catch (const std::exception& error) {
      std::cout << "ended by an exception: " << error.what() << "\n";
    }
  }
}
