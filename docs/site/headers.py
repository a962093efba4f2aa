"""The public declarations of the headers, with their comments.

The preprocessor of the C++ compiler expands the macros of the project, which make many of the functions, and keeps the comments; headers of the
standard library stay #include lines. libclang reads the result: what it calls a function is one, whoever wrote it. A comment belongs to the
declaration below it and to those that follow without a blank line between them; behind a declaration it belongs to that one alone.
"""
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, field

from clang import cindex
from clang.cindex import AccessSpecifier, CursorKind

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARIES = ("kernels", "ndarray", "autograd", "nn", "training")
KINDS = {
    CursorKind.FUNCTION_DECL: "function", CursorKind.FUNCTION_TEMPLATE: "function", CursorKind.CXX_METHOD: "function",
    CursorKind.CONSTRUCTOR: "constructor", CursorKind.CONVERSION_FUNCTION: "conversion", CursorKind.DESTRUCTOR: "destructor",
    CursorKind.CLASS_DECL: "class", CursorKind.STRUCT_DECL: "class", CursorKind.CLASS_TEMPLATE: "class",
    CursorKind.ENUM_DECL: "enum", CursorKind.ENUM_CONSTANT_DECL: "constant", CursorKind.TYPE_ALIAS_DECL: "type",
    CursorKind.TYPE_ALIAS_TEMPLATE_DECL: "type", CursorKind.TYPEDEF_DECL: "type", CursorKind.VAR_DECL: "variable",
    CursorKind.FIELD_DECL: "field", CursorKind.CONCEPT_DECL: "concept", CursorKind.USING_DECLARATION: "using",
}
SECTION = re.compile(r"^ *// ---- (.*?) -*$")


@dataclass
class Item:
    """A declaration. Overloads are items of one name."""
    name: str                  # within its class
    scope: str                 # the namespace or class, with ::
    kind: str
    header: str                # below the root of the sources
    line: int
    text: str                  # as written, without a body
    lead: list = field(default_factory=list)      # lines of the comment above it
    trail: str = ""            # the comment behind it
    run: int = 0               # items of one run stand together without a blank line or a comment between them
    section: tuple = ()        # (title, lines of the comment below it)
    bases: list = field(default_factory=list)
    members: list = field(default_factory=list)
    protected: bool = False
    target: str = ""           # of a using declaration

    @property
    def full_name(self):
        return f"{self.scope}::{self.name}"


class Source:
    """The preprocessed headers: lines, and of each line its header and number."""

    def __init__(self, headers):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(ROOT, os.path.join(folder, "catena"))
            write_placeholders(os.path.join(folder, "standard"))
            command = [os.environ.get("CXX", "c++"), "-xc++", "-std=c++20", "-E", "-C", "-nostdinc", "-nostdinc++",
                       "-I", folder, "-I", os.path.join(folder, "standard"), "-"]
            text = "".join(f"#include <catena/{header}>\n" for header in headers)
            output = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, check=True).stdout
            output = output.decode("latin-1")  # one character a byte, as libclang counts
            self.lines, self.places = [], []
            header, number = "", 0
            for line in output.split("\n"):
                mark = re.match(r'# (\d+) "(.*?)"', line)
                if mark:
                    name = mark[2].removeprefix(os.path.join(folder, "catena") + "/")
                    number, header = int(mark[1]) - 1, header if name.endswith(".inc") else name   # a list belongs to the header around it
                    line = ""
                else:
                    number += 1
                line = line.replace("#pragma placeholder", "#include").replace('__attribute__((visibility("default")))', "")
                self.lines.append(line)
                self.places.append((header, number))
        self.text = "\n".join(self.lines)

    def parse(self):
        include = subprocess.run([os.environ.get("CXX", "c++"), "-print-file-name=include"], stdout=subprocess.PIPE, check=True, text=True).stdout
        name = "headers.cpp"
        unit = cindex.Index.create().parse(name, ["-xc++", "-std=c++20", "-w", "-isystem", include.strip()], unsaved_files=[(name, self.text)],
                                           options=cindex.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES)
        errors = [str(d) for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
        if errors:
            raise RuntimeError("the headers cannot be read:\n" + "\n".join(errors[:10]))
        return unit


def write_placeholders(folder):
    """Headers that stand for those of other libraries; the preprocessor leaves a line in their place."""
    for library in LIBRARIES:
        for path, _, files in os.walk(os.path.join(ROOT, library)):
            for file in files:
                if file.endswith((".h", ".inc")):
                    with open(os.path.join(path, file), encoding="utf-8") as text:
                        for name in re.findall(r"^ *# *include <(?!catena/)([^>]+)>", text.read(), re.M):
                            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
                            with open(os.path.join(folder, name), "w", encoding="utf-8") as placeholder:
                                placeholder.write(f"#pragma placeholder <{name}>\n")


def end_of_declaration(text):
    """The length of a declaration without its body and initializers of members; braces of requirements and of default values belong to it."""
    depth, at, parameters = 0, 0, False
    while at < len(text):
        c = text[at]
        if c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
            parameters = parameters or depth == 0
        elif c == "{":
            before = text[:at].rstrip()
            if depth == 0 and not re.search(r"(=|requires(\s*\([^{]*\))?)$", before):
                return at
            level = 0
            while at < len(text):
                level += {"{": 1, "}": -1}.get(text[at], 0)
                if level == 0:
                    break
                at += 1
        elif depth == 0 and c == ";":
            return at
        elif depth == 0 and parameters and c == ":" and ":" not in (text[at - 1], text[at + 1:at + 2]):
            return at
        at += 1
    return at


class Reader:
    """Makes items of the cursors of libclang."""

    def __init__(self, headers, wanted):
        self.source = Source(headers)
        self.wanted = wanted       # header -> bool
        self.runs = 0
        self.seen = set()

    def items(self):
        found = []
        self.walk(self.source.parse().cursor, "", found)
        return found

    def walk(self, cursor, scope, found):
        last = None
        children = list(cursor.get_children())
        for child in children:
            if child.location.file is None or child.location.file.name != "headers.cpp":
                continue
            if child.kind == CursorKind.NAMESPACE:
                if child.spelling not in ("internal", "detail", "k", "m", "exact", "std", ""):
                    self.walk(child, f"{scope}::{child.spelling}".removeprefix("::"), found)
                continue
            if child.kind == CursorKind.FRIEND_DECL:
                child = next(iter(child.get_children()), child)
            item = self.item(child, scope, last)
            if item:
                found.append(item)
                last = (item, child.extent.end.line)

    def item(self, cursor, scope, last):
        kind = KINDS.get(cursor.kind)
        text = self.source.text[cursor.extent.start.offset:cursor.extent.end.offset]
        name = cursor.spelling
        if kind is None and cursor.kind == CursorKind.UNEXPOSED_DECL and text.startswith("template"):
            match = re.search(r"(\w+)\s*(=|\{|$)", text)   # a template of a variable
            kind, name = "variable", match[1] if match else ""
        header, line = self.source.places[cursor.extent.start.line - 1]
        if kind is None or not name or not self.wanted(header) or cursor.access_specifier == AccessSpecifier.PRIVATE:
            return None
        if kind == "class" and not cursor.is_definition() or kind == "destructor" or "= delete" in text and kind in ("function", "constructor"):
            return None
        if cursor.kind in (CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.FUNCTION_TEMPLATE, CursorKind.VAR_DECL, CursorKind.CONSTRUCTOR,
                           CursorKind.CLASS_DECL, CursorKind.STRUCT_DECL):
            parent = cursor.semantic_parent
            if cursor.lexical_parent and parent and parent.kind != CursorKind.NAMESPACE and cursor.lexical_parent.kind == CursorKind.NAMESPACE:
                return None        # the definition of a member outside of its class
            usr = cursor.get_usr()
            if usr in self.seen and usr:
                return None        # declared once more
            self.seen.add(usr)
        name = re.sub(r"<.*", "", name) if kind in ("constructor", "class") else name
        item = Item(name, scope, kind, header, line, text[:end_of_declaration(text)].strip() if kind not in ("enum",) else text)
        item.protected = cursor.access_specifier == AccessSpecifier.PROTECTED
        if kind == "using":
            item.target = text
        self.comment(item, cursor, last)
        if kind in ("class", "enum"):
            item.bases = [c.type.get_canonical().spelling for c in cursor.get_children() if c.kind == CursorKind.CXX_BASE_SPECIFIER]
            self.walk(cursor, item.full_name, item.members)
        return item

    def comment(self, item, cursor, last):
        lines, first, end = self.source.lines, cursor.extent.start.line - 1, cursor.extent.end.line - 1
        indent = len(lines[first]) - len(lines[first].lstrip())
        at = first - 1
        while at >= 0 and re.match(rf" {{{indent}}}//", lines[at]) and not SECTION.match(lines[at]):
            at -= 1
        item.lead = [line.strip()[2:] for line in lines[at + 1:first]]
        behind = lines[end][cursor.extent.end.column - 1:]
        match = re.match(r"[;,{} ]*//(.*)", behind) or (re.search(r"[;{] *//(.*)", lines[first]) if first != end else None)
        if match:
            item.trail = match[1].strip()
            column = lines[end].rfind("//" + match[1])
            following = end + 1
            while column > indent and following < len(lines) and re.match(rf" {{{column}}}//", lines[following]):
                item.trail += " " + lines[following].strip()[2:].strip()
                following += 1
        item.section = self.section(first, indent)
        # A run goes on if the previous declaration ends in this line or the one above it.
        if not item.lead and last and last[1] - 1 >= self.code_above(first) >= 0:
            item.run = last[0].run
        else:
            self.runs += 1
            item.run = self.runs

    def code_above(self, line):
        """The line itself or the one above that continues no comment behind a declaration; -1 if a blank line is between."""
        above = line - 1
        while above >= 0 and re.match(r" +//", self.source.lines[above]):
            above -= 1
        return above if self.source.lines[above].strip() else -1

    def section(self, line, indent):
        """The last line "// ---- title ----" above, in the same header and as deep, with the comment below it."""
        header = self.source.places[line][0]
        for at in range(line - 1, -1, -1):
            if self.source.places[at][0] != header:
                return ()
            match = SECTION.match(self.source.lines[at])
            if match and len(self.source.lines[at]) - len(self.source.lines[at].lstrip()) == indent:
                comment = []
                while self.source.lines[at + 1 + len(comment)].strip().startswith("//"):
                    comment.append(self.source.lines[at + 1 + len(comment)].strip()[2:])
                return (match[1], comment)
        return ()
