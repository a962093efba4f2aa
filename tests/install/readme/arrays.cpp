// The snippets of README.md on arrays, as a program.
#include "arrays.includes"

int main() {
#include "arrays.body"
}
