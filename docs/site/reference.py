"""The pages of the API reference, made of the headers, docs/reference/chapters.yml and docs/reference/examples/.

python3 docs/site/reference.py --check prints the public names without a comment or an example and ends with 1 if there are any.
"""
import os
import re
import sys
from collections import defaultdict

try:
    import yaml
    from headers import ROOT, Reader
except ImportError as missing:
    if __name__ != "__main__":
        raise
    print(f"skipped: {missing}; bash docs/build.sh installs the tools of docs/requirements.txt")
    sys.exit(77)

NAMESPACES = {"ndarray": "nd", "autograd": "autograd", "nn": "nn", "training": "training"}
TITLES = {"ndarray": "Arrays", "autograd": "Automatic differentiation", "nn": "Networks", "training": "Training"}
FOLDER = os.path.join(ROOT, "docs", "reference")


# ---- what is on which page ----------------------------------------------------------------------
class Page:
    def __init__(self, library, name, title, headers):
        self.library, self.name, self.title = library, name, title
        self.path = f"{library}/{name}"
        self.headers = {}                      # header -> names, or None for all
        for entry in headers:
            header, _, names = entry.partition(" [")
            self.headers[header] = set(names.rstrip("]").split(", ")) if names else None
        self.items = []
        self.helpers, self.examples = read_examples(os.path.join(FOLDER, "examples", self.path + ".md"))


def read_examples(path):
    """The code for all examples of a page, and [(names, code, output)]."""
    examples = []
    if not os.path.exists(path):
        return "", examples
    with open(path, encoding="utf-8") as file:
        parts = re.split(r"^## ", file.read(), flags=re.M)
    for part in parts[1:]:
        title = part.partition("\n")[0]
        code = re.search(r"^```cpp\n(.*?)^```$", part, re.M | re.S)
        output = re.search(r"^```text\n(.*?)^```$", part, re.M | re.S)
        names = re.split(r", (?![^<(]*[>)])", title)
        examples.append((names, code[1] if code else "", output[1] if output else ""))
    helpers = re.search(r"^```cpp\n(.*?)^```$", parts[0], re.M | re.S)
    return helpers[1] if helpers else "", examples


class Chapters(yaml.SafeLoader):
    """A reader of chapters.yml that refuses equal keys, of which the reader of PyYAML keeps the last one silently."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value]
        again = sorted({key for key in keys if keys.count(key) > 1})
        if again:
            raise SystemExit(f"chapters.yml:{node.start_mark.line + 1}: below this line these keys stand twice: {', '.join(again)}")
        return super().construct_mapping(node, deep)


class Reference:
    """All pages, and the place of each name."""

    def __init__(self):
        with open(os.path.join(FOLDER, "chapters.yml"), encoding="utf-8") as file:
            chapters = yaml.load(file, Chapters)
        self.pages = [Page(library, name, entry[0], entry[1:]) for library, pages in chapters.items() for name, entry in pages.items()]
        self.page_of = {header: page for page in self.pages for header in page.headers}
        with open(os.path.join(FOLDER, "without_example.txt"), encoding="utf-8") as file:
            self.without_example = {line.strip() for line in file if line.strip() and not line.startswith("#")}
        for item in Reader(["catena.h", *self.page_of], self.page_of.__contains__).items():
            names = self.page_of[item.header].headers[item.header]
            if names is None or item.name in names:
                self.page_of[item.header].items.append(item)
        self.places = {}                       # full name -> page
        for page in self.pages:
            order = list(page.headers)
            page.items.sort(key=lambda item: order.index(item.header))
            for item in page.items:
                if item.kind != "using":
                    self.places.setdefault(item.full_name, page)
        self.classes = {item.full_name: item for page in self.pages for item in page.items if item.kind == "class"}
        self.by_name = self.find_names()
        self.functions = {item.name.replace("_", ""): item.full_name for page in self.pages if page.library in ("autograd", "nn")
                          for item in page.items if item.kind in ("function", "variable")}
        self.aliases = self.find_aliases()
        self.takers = self.find_takers()

    def find_names(self):
        """The full names that a way to write a name in a comment may mean."""
        found = defaultdict(set)
        for page in self.pages:
            for item in page.items:
                if item.kind != "using" and not item.name.startswith("operator"):
                    parts = item.full_name.split("::")
                    for at in range(len(parts)):
                        found["::".join(parts[at:])].add(item.full_name)
        return found

    def place(self, full_name):
        """(name with an entry, page): a member is at its class if it has no anchor of its own."""
        if full_name in self.places:
            return full_name, self.places[full_name]
        owner, _, name = full_name.rpartition("::")
        if owner in self.classes and any(member.name == name and member.kind != "field" for member in self.classes[owner].members):
            return full_name, self.places[owner]
        return (owner, self.places[owner]) if owner in self.places else (None, None)

    def introduction(self, header):
        """The comment at the top of a header, without what it says of folders."""
        with open(os.path.join(ROOT, header), encoding="utf-8") as file:
            comment = re.match(r"((?://.*\n)*)", file.read())[1]
        paragraphs = re.split(r"^//\n", comment, flags=re.M)
        kept = [p for p in paragraphs if not p.startswith("// Folder ")]
        kept = [re.sub(r"^// (This (?:header|file): )(.)", lambda m: "// " + m[2], p) for p in kept]
        return "//\n".join(kept).replace("//", "", 1).split("\n//") if kept else []

    def find_aliases(self):
        """full name -> the names under which other namespaces have it."""
        aliases = defaultdict(list)
        for page in self.pages:
            for item in page.items:
                if item.kind == "using":
                    target = item.target.replace("using ", "").strip(" ;\n")
                    if target in self.places and item.full_name != target and item.full_name not in aliases[target]:
                        aliases[target].append(item.full_name)
        return aliases

    def find_takers(self):
        """name of a class of options -> the functions and classes that take it."""
        takers = defaultdict(list)
        for page in self.pages:
            for item in page.items:
                for taker in [item] + item.members:
                    if taker.kind in ("function", "constructor", "variable", "class"):
                        for name in set(re.findall(r"\b\w+Options\b", taker.text)):
                            shown = item.name if taker.kind == "constructor" else taker.name if taker is item else f"{item.name}::{taker.name}"
                            if shown not in takers[name] and shown != name:
                                takers[name].append(shown)
        return takers

    def short(self, page, full_name):
        """A name as titles of examples write it: without the namespace of the library."""
        for space in (NAMESPACES[page.library], "catena"):
            if full_name.startswith(space + "::"):
                return full_name[len(space) + 2:]
        return full_name

    def full(self, page, short):
        for item in page.items:
            if self.short(page, item.full_name) == short and item.kind != "using":
                return item.full_name
        raise KeyError(short)

    def names(self):
        """(page, name, items) of all public names, overloads together."""
        for page in self.pages:
            found = defaultdict(list)
            for item in page.items:
                if item.kind != "using":
                    found[item.full_name].append(item)
            for name, items in found.items():
                if self.places[name] is page:
                    yield page, name, items

    def examples_of(self, page, name):
        return [example for example in page.examples if self.short(page, name) in example[0]]

    def function_of(self, item):
        """The function that a class of nn/functions/objects/ calls; "" for other classes."""
        if item.kind == "class" and item.scope == "nn::functions" and "Object" in item.text:
            name = item.name.lower().replace("_", "")
            return self.functions.get(name) or self.functions.get(name.removesuffix("function"), "")
        return ""

    def is_documented(self, item, page):
        if item.lead or item.trail or item.section and (item.section[1] or ": " in item.section[0] and "/" not in item.section[0]):
            return True
        if item.name in self.takers or item.kind == "constant" or self.function_of(item):
            return True
        if re.search(rf"\b{re.escape(item.name)}\b", " ".join(self.introduction(item.header))):
            return True
        runs = [other for other in page.items if other.run == item.run]
        return any(other.lead for other in runs)


# ---- the check ----------------------------------------------------------------------------------
def check(reference):
    missing_comment, missing_example, total, excused, unknown = [], [], 0, 0, []
    for page, name, items in reference.names():
        total += 1
        if not any(reference.is_documented(item, page) for item in items):
            missing_comment.append(f"{page.path} {name}")
        if not reference.examples_of(page, name):
            if name in reference.without_example:
                excused += 1
            else:
                missing_example.append(f"{page.path} {name}")
    for page in reference.pages:
        known = {reference.short(page, item.full_name) for item in page.items}
        known |= {reference.short(page, member.full_name) for item in page.items for member in item.members}
        unknown += [f"{page.path} {name}" for names, _, _ in page.examples for name in names if name not in known]
    for title, names in (("without a comment", missing_comment), ("without an example", missing_example), ("of an example, but not public", unknown)):
        for name in names:
            print(f"{title}: {name}")
    print(f"{total} public names on {len(reference.pages)} pages; {total - len(missing_comment)} with a comment, "
          f"{total - len(missing_example) - excused} with an example, {excused} that need none")
    if excused * 20 > total:
        print("more than 5 % of the names are in docs/reference/without_example.txt")
    return bool(missing_comment or missing_example or unknown or excused * 20 > total)


if __name__ == "__main__":
    if sys.argv[1:] != ["--check"]:
        sys.exit(__doc__)
    sys.exit(check(Reference()))
