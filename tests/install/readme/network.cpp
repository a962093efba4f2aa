// The snippets of README.md on networks. It is compiled and linked, and not run: it would train for 20 epochs.
#include "network.includes"

#include "network.types"

int main() {
#include "network.body"
}
