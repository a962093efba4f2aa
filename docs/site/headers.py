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
    CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION: "class",
    CursorKind.ENUM_DECL: "enum", CursorKind.ENUM_CONSTANT_DECL: "constant", CursorKind.TYPE_ALIAS_DECL: "type",
    CursorKind.TYPE_ALIAS_TEMPLATE_DECL: "type", CursorKind.TYPEDEF_DECL: "type", CursorKind.VAR_DECL: "variable",
    CursorKind.FIELD_DECL: "field", CursorKind.CONCEPT_DECL: "concept", CursorKind.USING_DECLARATION: "using",
}
HIDDEN = {"internal", "detail", "draw", "k", "m", "exact", "std", ""}   # namespaces of the implementation
SECTION = re.compile(r"^ *// ---- (.*?) -*$")


@dataclass
class Item:
    """A declaration. Overloads are items of one name."""
    name: str                  # within its class
    scope: str                 # the namespace or class, with ::
    kind: str
    header: str                # below the root of the sources
    file: str                  # where it is written: the header or a list that it includes
    line: int
    column: int
    text: str                  # as written, without a body
    lead: list = field(default_factory=list)      # lines of the comment above it
    trail: str = ""            # the comment behind it
    run: int = 0               # items of one run stand together without a blank line or a comment between them
    section: tuple = ()        # (title, lines of the comment below it)
    bases: list = field(default_factory=list)
    members: list = field(default_factory=list)
    protected: bool = False
    target: str = ""           # of a using declaration
    stands_for: str = ""       # of an object that is called like a function: the declaration of that function

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
            header, file, number = "", "", 0
            for line in output.split("\n"):
                mark = re.match(r'# (\d+) "(.*?)"', line)
                if mark:
                    name = mark[2].removeprefix(os.path.join(folder, "catena") + "/")
                    number, file = int(mark[1]) - 1, name
                    header = header if name.endswith(".inc") else name   # a list belongs to the header around it
                    line = ""
                else:
                    number += 1
                line = re.sub(r'__attribute__\(\(visibility\("default"\)\)\) ?', "", line.replace("#pragma placeholder", "#include"))
                self.lines.append(line)
                self.places.append((header, file, number))
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


def namespace_of(cursor):
    names = []
    while (cursor := cursor.semantic_parent) and cursor.kind == CursorKind.NAMESPACE:
        names.insert(0, cursor.spelling)
    return "::".join(names)


class Reader:
    """Makes items of the cursors of libclang."""

    def __init__(self, headers, wanted):
        self.source = Source(headers)
        self.wanted = wanted       # header -> bool
        self.runs = 0
        self.last_of = {}   # scope -> (item, line) of its last declaration
        self.seen = set()
        self.bodies = {}           # functions of namespaces internal, which objects of the namespace around them call
        self.friends = []          # functions that classes declare as friends: cursors, with the namespace of each

    def items(self):
        found = []
        unit = self.source.parse()
        self.walk(unit.cursor, "", found)
        # A function that is declared as a friend alone is one of the namespace; others have been seen there.
        for cursor, namespace in self.friends:
            item = self.item(cursor, namespace, None)
            if item:
                found.append(item)
        for item in found:
            body = re.search(r"<[^=]*\binternal::(\w+)", item.text) if item.kind == "variable" else None
            if body:
                item.stands_for = self.bodies.get(body[1], "")
        return found

    def walk(self, cursor, scope, found):
        last = self.last_of.get(scope)   # of a namespace that is opened again, as by a macro
        nested = []                      # of namespaces inside, behind the names of this one
        access = AccessSpecifier.PRIVATE if cursor.kind == CursorKind.CLASS_DECL else AccessSpecifier.PUBLIC
        children = list(cursor.get_children())
        for child in children:
            if child.location.file is None or child.location.file.name != "headers.cpp":
                continue
            if child.kind == CursorKind.CXX_ACCESS_SPEC_DECL:
                access = child.access_specifier
            if child.kind == CursorKind.NAMESPACE:
                if child.spelling == "internal":
                    self.read_bodies(child)
                if child.spelling not in HIDDEN:
                    self.walk(child, f"{scope}::{child.spelling}".removeprefix("::"), nested)
                continue
            if child.kind == CursorKind.FRIEND_DECL:
                child = next(iter(child.get_children()), child)
                # Operators belong to the class, other functions to its namespace; those among the private members are for the implementation.
                if child.kind in (CursorKind.FUNCTION_DECL, CursorKind.FUNCTION_TEMPLATE) and not child.spelling.startswith("operator"):
                    namespace = namespace_of(child)
                    if access != AccessSpecifier.PRIVATE and not HIDDEN.intersection(namespace.split("::")):
                        self.friends.append((child, namespace))
                    continue
            item = self.item(child, scope, last)
            if item:
                found.append(item)
                last = (item, child.extent.start.line)
                self.last_of[scope] = last
        found += nested

    def read_bodies(self, namespace):
        for child in namespace.get_children():
            if child.kind == CursorKind.FUNCTION_DECL and child.location.file.name == "headers.cpp":
                text = self.source.text[child.extent.start.offset:child.extent.end.offset]
                self.bodies.setdefault(child.spelling, text[:end_of_declaration(text)].strip())

    def item(self, cursor, scope, last):
        kind = KINDS.get(cursor.kind)
        text = self.source.text[cursor.extent.start.offset:cursor.extent.end.offset]
        name = cursor.spelling
        if kind is None and cursor.kind == CursorKind.UNEXPOSED_DECL and text.startswith("template"):
            match = re.search(r"(\w+)\s*(=|\{|$)", text)   # a template of a variable
            kind, name = "variable", match[1] if match else ""
        header, file, line = self.source.places[cursor.extent.start.line - 1]
        in_class = cursor.semantic_parent.kind not in (CursorKind.NAMESPACE, CursorKind.TRANSLATION_UNIT) if cursor.semantic_parent else False
        if kind is None or not name or not in_class and not self.wanted(header) or cursor.access_specifier == AccessSpecifier.PRIVATE:
            return None
        is_deleted = kind in ("function", "constructor") and re.search(r"=\s*delete", text + self.source.text[cursor.extent.end.offset:][:20].partition(";")[0])
        # Of templates for types of functions, as Function<R(A...)>, only the specialisation is defined.
        if cursor.kind == CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION and not re.search(r"\w<\w+\(", text):
            return None
        if kind in ("class", "enum") and not cursor.is_definition() or name == "visit_declared" or text.startswith("template <>") or \
                name.startswith("<deduction guide") or kind == "destructor" or is_deleted:
            return None
        if cursor.kind in (CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.FUNCTION_TEMPLATE, CursorKind.VAR_DECL, CursorKind.CONSTRUCTOR,
                           CursorKind.CLASS_DECL, CursorKind.STRUCT_DECL):
            parent = cursor.semantic_parent
            if cursor.lexical_parent and parent and parent.kind != CursorKind.NAMESPACE and cursor.lexical_parent.kind in (CursorKind.NAMESPACE, CursorKind.TRANSLATION_UNIT):
                return None        # the definition of a member outside of its class
            usr = cursor.get_usr()
            if usr in self.seen and usr and not in_class:
                return None        # declared once more
            self.seen.add(usr)
        if kind in ("constructor", "class"):
            name = re.sub(r"<.*", "", name)
        elif kind == "conversion" or name.startswith("operator type-parameter"):
            name = re.search(r"operator [^(]+", text)[0]
        item = Item(name, scope, kind, header, file, line, cursor.extent.start.column, text[:end_of_declaration(text)].strip() if kind not in ("enum", "concept", "variable") else text)
        item.protected = cursor.access_specifier == AccessSpecifier.PROTECTED
        if kind == "using":
            item.target = text
        self.comment(item, cursor, last)
        if kind in ("class", "enum"):
            item.bases = [c.type.get_canonical().spelling for c in cursor.get_children() if c.kind == CursorKind.CXX_BASE_SPECIFIER]
            self.walk(cursor, item.full_name, item.members)
            self.walk_internal_bases(cursor, item)
        return item

    def walk_internal_bases(self, cursor, item):
        """The members of a base that users do not see are members of the class."""
        for base in cursor.get_children():
            if base.kind == CursorKind.CXX_BASE_SPECIFIER and "internal::" in base.type.get_canonical().spelling:
                declared = base.type.get_declaration()
                pattern = cindex.conf.lib.clang_getSpecializedCursorTemplate(declared)
                declared = pattern if pattern and pattern.kind != CursorKind.NO_DECL_FOUND and pattern.spelling else declared.get_definition() or declared
                members = []
                self.walk(declared, item.full_name, members)
                item.members += [member for member in members if member.kind != "constructor"]
                item.bases += [c.type.get_canonical().spelling for c in declared.get_children() if c.kind == CursorKind.CXX_BASE_SPECIFIER]
                self.walk_internal_bases(declared, item)

    def comment(self, item, cursor, last):
        lines, first, end = self.source.lines, cursor.extent.start.line - 1, cursor.extent.end.line - 1
        indent = len(lines[first]) - len(lines[first].lstrip())
        at = first - 1
        while at >= 0 and re.match(rf" {{{indent}}}//", lines[at]) and not SECTION.match(lines[at]):
            at -= 1
        item.lead = [line.strip()[2:] for line in lines[at + 1:first]]
        behind = lines[end][cursor.extent.end.column - 1:]
        match = re.match(r"[;,{} ]*//(.*)", behind) or (re.search(r"[;{] *//(.*)", lines[first]) if first != end else None)
        # A macro may also declare an object of the same name in a namespace inside.
        match = match or re.match(r"; *namespace \w+ *\{.*\} *//(.*)", behind)
        if match:
            item.trail = re.sub(r"^in [\w/]+\.cpp$", "", match[1].strip())   # where it is implemented
            column = lines[end].rfind("//" + match[1])
            following = end + 1
            while column > indent and following < len(lines) and re.match(rf" {{{column}}}//", lines[following]):
                item.trail += " " + lines[following].strip()[2:].strip()
                following += 1
        item.section = self.section(first, indent)
        # A run goes on if the previous declaration is in this line (a macro may make several) or ends in the one above.
        if last and last[1] == first + 1:
            item.lead = []
        if not item.lead and last and (last[1] == first + 1 or self.follows(first)):
            item.run = last[0].run
        else:
            self.runs += 1
            item.run = self.runs

    def follows(self, line):
        """True if a declaration ends in the line above; comments behind it may go on below it."""
        above = line - 1
        while re.match(r" +//", self.source.lines[above]):
            above -= 1
        return bool(self.source.lines[above].strip()) and not SECTION.match(self.source.lines[above]) and not self.source.lines[above].endswith(("{", "public:", "protected:", "private:"))

    def section(self, line, indent):
        """The last line "// ---- title ----" above, in the same header and as deep, with the comment below it."""
        header, file, _ = self.source.places[line]
        for at in range(line - 1, -1, -1):
            if self.source.places[at][0] != header:
                return ()
            if self.source.places[at][1] != file:
                continue
            match = SECTION.match(self.source.lines[at])
            if match and len(self.source.lines[at]) - len(self.source.lines[at].lstrip()) == indent:
                comment = []
                while self.source.lines[at + 1 + len(comment)].strip().startswith("//"):
                    comment.append(self.source.lines[at + 1 + len(comment)].strip()[2:])
                # A comment with a declaration directly below it belongs to that.
                return (match[1], comment if not self.source.lines[at + 1 + len(comment)].strip() else [])
        return ()
