"""The text of the reference's pages in Markdown."""
import html
import posixpath
import re
import textwrap

from reference import NAMESPACES, TITLES

ERROR = re.compile(r"^(?:an? |the )?(?:[A-Z]\w*Error|InvalidType)\b")
WORD = re.compile(r"`[^`]*`|[A-Za-z_]\w*(?:(?:::~?|\.|->)\w+)*(?:<\w+>)?(?:\((?:[^()]|\([^()]*\))*\)(?!\w))?|[\\*_<>\[\]#|]")
ABBREVIATIONS = re.compile(r"(?:\b(?:e\.g|i\.e|cf|al|vs|No)|\.\.)\.$")


def anchor(full_name):
    """The anchor of a name: letters, digits and dots; operators by the numbers of their signs."""
    name = full_name.replace("::", ".")
    return re.sub(r"[^\w.]", lambda sign: f"-{ord(sign[0]):x}", name)


# ---- comments -----------------------------------------------------------------------------------
class Prose:
    """Makes Markdown of the lines of a comment; names become code and lead to their entries."""

    def __init__(self, reference, page):
        self.reference, self.page = reference, page
        self.described = ()        # the names of the entry, which need no link
        self.owner = None          # the class whose members are described

    def find(self, name):
        """The full name that a comment of this page means."""
        if self.owner and any(member.name == name for member in self.owner.members):
            return f"{self.owner.full_name}::{name}"
        candidates = self.reference.by_name.get(name, ())
        near = [full for full in candidates if full.startswith(NAMESPACES[self.page.library] + "::")]
        for found in (near, candidates):
            if len(found) == 1:
                return next(iter(found))
        return None

    def link(self, full_name, text):
        target, page = self.reference.place(full_name)
        if target is None:
            return f"`{text}`"
        path = "" if page is self.page else posixpath.relpath(page.path + ".md", self.page.library)
        return f"[`{text}`]({path}#{anchor(target)})"

    def word(self, match):
        word = match[0]
        if word.startswith("`") or word in ("e.g", "i.e"):
            return word
        if len(word) == 1 and not word.isalnum():
            return {"<": "&lt;", ">": "&gt;", "_": "`_`"}.get(word, "\\" + word)
        name = re.sub(r"[(<].*", "", word, flags=re.S)
        is_call = "(" in word and not re.fullmatch(r"[a-zA-Z]+\((s|es|ies)\)", word)
        is_code = is_call or re.search(r"_|::|\.|->", word)
        full = self.find(name)
        if full and full not in self.described and (is_code or re.search(r"[A-Z].*[a-z].*[A-Z]", word) or name.endswith("Error")):
            return self.link(full, word)
        return f"`{word}`" if is_code else word

    def paragraph(self, text):
        return WORD.sub(self.word, text)

    def __call__(self, lines):
        blocks, kind = [], None
        for line in lines:
            line = line[1:] if line.startswith(" ") else line
            if not line.strip():
                kind = None
                continue
            if line.startswith("  ") and kind != "list":
                this = "code"
                if kind is None and blocks and blocks[-1][0] == "code":
                    blocks[-1][1].append("")
                    kind = "code"
            elif line.startswith("- "):
                this = "item"
            else:
                this = "list" if kind == "list" else "text"
            if this == kind or this == "list":
                blocks[-1][1].append(line)
            else:
                blocks.append(["list" if this == "item" else this, [line]])
            kind = blocks[-1][0]
        return "\n\n".join(self.block(kind, lines) for kind, lines in blocks)

    def block(self, kind, lines):
        if kind == "code":
            indent = min(len(line) - len(line.lstrip()) for line in lines if line)
            return "```cpp\n" + "\n".join(line[indent:] for line in lines) + "\n```"
        if kind == "list":
            return "- " + self.paragraph(" ".join(line.strip() for line in lines)[2:])
        # Sentences about errors stand apart.
        sentences, plain, errors = [], [], []
        text = " ".join(line.strip() for line in lines)
        for part in re.split(r"(?<=\.) +(?=[A-Z(])|(?<=;) +(?=[A-Z]\w*Error)", text.replace("Errors: ", "")):
            if sentences and ABBREVIATIONS.search(sentences[-1]):
                sentences[-1] += " " + part
            else:
                sentences.append(part)
        for sentence in sentences:
            (errors if ERROR.match(sentence) else plain).append(sentence)
        text = re.sub(r";$", ".", self.paragraph(" ".join(plain)))
        if errors:
            text += ("\n\n" if text else "") + "**Errors:** " + self.paragraph(" ".join(errors))
        return text


def sentence(text):
    """A remark behind a declaration as a sentence."""
    if re.match(r"[a-z]+([ ,:;]|$)", text):
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", ":", "...")) else text + "."


# ---- signatures ---------------------------------------------------------------------------------
def signature(item):
    """A declaration as users read it, without what only the compiler needs; options that a template takes have their class."""
    if item.kind in ("enum", "concept"):
        return textwrap.dedent(" " * (item.column - 1) + item.text) + ";"
    text = item.text if item.kind != "variable" else re.sub(r"(\w)\{.*", r"\1", item.text, flags=re.S)
    if item.stands_for:
        text = item.stands_for
        number = re.search(r"default_number = ([^}]*)", item.text)
        if number:
            text = re.sub(r"(double \w+)\)$", rf"\1 = {number[1].strip()})", text)
        text = re.sub(r"(const (\w+Options)& options)\)$", r"\1 = {})", text)
    text = re.sub(r"//.*", "", text)
    text = " ".join(text.split())
    text = re.sub(r"\b(inline|friend|CATENA_EXPORT|\[\[noreturn\]\]) ", "", text)
    options = re.search(r"(?:class|internal::DtypeOr<\w+>) (O) = (\w+)", text)
    if options and re.search(r"const O& \w+", text):
        text = text.replace("const O&", f"const {options[2]}&")
        text = re.sub(r"template <" + re.escape(options[0]) + r"> ", "", text)
        text = text.replace(", " + options[0], "").replace(options[0] + ", ", "")
    text = re.sub(r"\b(\w+::)*internal::", "", text)
    text = re.sub(r"\s+([,;)])", r"\1", text).strip()
    if item.kind == "class":
        text = re.sub(r"(: |, )(public |private |virtual )*\w*Base(<[^{]*>)?$", "", text)
    return wrap(text) + (";" if not text.endswith("}") else "")


def wrap(text, width=96):
    if len(text) <= width:
        return text
    head = re.match(r"template <.*?> (?=[\w(])", text)
    if head and text.count("<", 0, head.end()) == text.count(">", 0, head.end()):
        rest = text[head.end():]
        return head[0].rstrip() + "\n" + wrap(rest, width)
    opening = text.find("(")
    while opening >= 0 and text[:opening].endswith(("requires", "operator")):
        opening = text.find("(", opening + 1)
    if opening < 0:
        return text
    parts, depth, start = [], 0, opening + 1
    for at in range(opening + 1, len(text)):
        c = text[at]
        depth += (c in "(<[{") - (c in ")>]}" and text[at - 1:at + 1] != "->")
        if c == "," and depth == 0:
            parts.append(text[start:at + 1].strip())
            start = at + 1
        if depth < 0:
            break
    parts.append(text[start:].strip())
    lines, line = [], text[:opening + 1]
    indent = " " * len(line) if len(line) < 40 else "    "
    for part in parts:
        if len(line) + len(part) + 1 > width and line.strip():
            lines.append(line)
            line = indent + part
        else:
            line += (" " if line.endswith(",") else "") + part
    return "\n".join(lines + [line])


# ---- entries ------------------------------------------------------------------------------------
class PageText:
    def __init__(self, reference, page):
        self.reference, self.page = reference, page
        self.prose = Prose(reference, page)

    def __str__(self):
        page = self.page
        lines = [f"# {page.title}", ""]
        if page.helpers:
            lines += ["<details markdown>", "<summary>Names that the examples of this page use</summary>", "", "```cpp", page.helpers.rstrip("\n"),
                      "```", "", "</details>", ""]
        done, section, first = {}, (), None
        for header in page.headers:
            items = [item for item in page.items if item.header == header and item.kind != "using"]
            if not items:
                continue
            first = first or header
            if header != first:
                lines += [f"## {posixpath.basename(header)}", ""]
            lines += [f"`#include <catena/{header}>`", ""]
            if page.headers[header] is None:
                lines += [self.prose(self.reference.introduction(header)), ""]
            for entry in self.entries(items, done):
                if entry[0].section != section:
                    section = entry[0].section
                    lines += self.section(section, header == first)
                lines += self.entry(entry)
        return "\n".join(lines)

    def section(self, section, is_chapter):
        if not section:
            return ["## Further names", ""] if is_chapter else []
        title, _, rest = section[0].partition(": ")
        title = title[:1].upper() + title[1:]
        rest = "" if rest.startswith("kernels/") else rest      # the kernels of a list
        return ([f"## {title}" if is_chapter else f"**{title}**", ""]
                + ([self.prose([" " + rest[:1].upper() + rest[1:] + "."]), ""] if rest else [])
                + ([self.prose(section[1]), ""] if section[1] else []))

    def entries(self, items, done):
        """Lists of items that are described together: those of one name, and those below one comment."""
        entries, of_run = [], {}
        for item in items:
            entry = done.get(item.full_name)
            if entry is None:
                entry = of_run.get(item.run)
                if not entry or not entry[0].lead or item.trail or item.kind == "class" and len(item.members) > 6:
                    entry = of_run[item.run] = []
                    entries.append(entry)
                done[item.full_name] = entry
            entry.append(item)
        return entries

    def entry(self, entry):
        names = list(dict.fromkeys(item.full_name for item in entry))
        shown = [self.reference.short(self.page, name) for name in names]
        lines = ["### " + ", ".join(f"`{name}`" for name in shown) + f" {{ #{anchor(names[0])} }}", ""]
        lines += ["".join(f'<a id="{anchor(name)}"></a>' for name in names[1:]), ""] if names[1:] else []
        self.prose.described = names
        lines += self.description(entry)
        for function in filter(None, map(self.reference.function_of, entry)):
            lines += [f"The function {self.prose.link(function, function.rpartition('::')[2])} as an object.", ""]
        aliases = [alias for name in names for alias in self.reference.aliases.get(name, [])]
        if aliases:
            lines += ["Also " + ", ".join(f"`{alias}`" for alias in sorted(aliases)) + ".", ""]
        takers = [taker for item in entry if item.kind == "class" for taker in self.reference.takers.get(item.name, [])]
        if takers and entry[0].kind == "class":
            lines += ["Options of " + ", ".join(f"`{taker}`" for taker in takers[:12]) + (", ..." if len(takers) > 12 else "") + ".", ""]
        examples = [example for name in names for example in self.reference.examples_of(self.page, name)]
        for example in [e for at, e in enumerate(examples) if e not in examples[:at]]:
            lines += self.example(example)
        for item in entry:
            if item.kind == "class":
                lines += self.members(item)
        lines += [f"<small>{entry[0].file}, line {entry[0].line}</small>", ""]
        return lines

    def description(self, items):
        """Signatures, comments, options and bases."""
        code, comments = [], []
        for item in items:
            text = signature(item)
            if text not in [line.partition("  // ")[0] for line in code]:
                code.append(text + (f"  // {item.trail}" if item.trail and (len(items) > 1 or item.kind == "variable") else ""))
            if item.lead and item.lead not in comments:
                comments.append(item.lead)
        if len(items) == 1 and items[0].trail and items[0].kind != "variable":
            comments.append([" " + sentence(items[0].trail)])
        lines = ["```cpp", *code, "```", ""]
        for comment in comments:
            lines += [self.prose(comment), ""]
        options = dict.fromkeys(name for item in items if item.kind != "class" for name in re.findall(r"\b\w+Options\b", signature(item)))
        options = [name for name in options if self.prose.find(name) and not name.startswith("FunctionWith")]
        if options:
            classes = {name: self.reference.classes.get(self.prose.find(name)) for name in options}
            either = any(re.search(r"\bO = ", item.text) for item in items) and any(c and any(m.name == "dtype" for m in c.members) for c in classes.values())
            lines += ["Options: " + ", ".join(self.prose.link(self.prose.find(name), name) for name in options)
                      + (", or a dtype in their place" if either else "") + ".", ""]
        return lines

    def example(self, example):
        _, code, output = example
        lines = ['<div class="example" markdown>', "", "```cpp", code.rstrip("\n"), "```", ""]
        if output:
            lines += ["```text", output.rstrip("\n"), "```", ""]
        return lines + ["</div>", ""]

    def members(self, item):
        lines = []
        for base in item.bases:
            name = re.sub(r"<.*", "", base)
            parent = self.reference.classes.get(name) or self.reference.classes.get(self.prose.find(name))
            if parent:
                inherited = dict.fromkeys(m.name for m in parent.members if m.kind in ("function", "field", "class") and not m.protected)
                own = {m.name for m in item.members}
                names = [self.prose.link(parent.full_name + "::" + m, m) for m in inherited if m not in own and not m.startswith("operator")]
                if names:
                    lines += [f"Inherited from {self.prose.link(parent.full_name, parent.name)}: " + ", ".join(names), ""]
        fields = [m for m in item.members if m.kind == "field" and m.name != "named"]
        if fields:
            lines += ["| Member | Type | Default | Meaning |", "|---|---|---|---|"] + [self.field(m) for m in fields] + [""]
        self.prose.owner = item
        section = ()
        for group in self.groups(item):
            if group[0].section != section:
                section = group[0].section
                lines += self.section(section, False)
            lines += self.member(item, group)
        self.prose.owner = None
        return lines

    def groups(self, item):
        """Members that are described together: those of one name, and those of one form below one comment."""
        groups, of_name, of_run = [], {}, {}
        for m in item.members:
            if m.kind == "field" or m.name == "operator=" and not m.lead:
                continue
            group = of_name.get(m.name)
            if group is None:
                group = of_run.get(m.run)
                if not group or not group[0].lead or m.trail or m.text.replace(m.name, "") != group[0].text.replace(group[0].name, ""):
                    group = of_run[m.run] = []
                    groups.append(group)
                of_name[m.name] = group
            group.append(m)
        return groups

    def member(self, item, group):
        names = list(dict.fromkeys(m.name for m in group))
        protected = " (for derived classes)" if group[0].protected else ""
        lines = [f"#### {', '.join(f'`{name}`' for name in names)}{protected} {{ #{anchor(item.full_name + '::' + names[0])} }}", ""]
        if names[1:]:
            lines += ["".join(f'<a id="{anchor(item.full_name + "::" + name)}"></a>' for name in names[1:]), ""]
        lines += self.description(group)
        for m in group:
            if m.kind == "class":
                fields = [f for f in m.members if f.kind == "field"]
                if fields:
                    lines += ["| Member | Type | Default | Meaning |", "|---|---|---|---|"] + [self.field(f) for f in fields] + [""]
        for name in names:
            for example in self.reference.examples_of(self.page, f"{item.full_name}::{name}"):
                lines += self.example(example)
        return lines

    def field(self, m):
        text = re.sub(r"\b(\w+::)*internal::", "", " ".join(re.sub(r"//.*", "", m.text).split()))
        text = re.sub(r"\[\[.*?\]\] ", "", text)
        declared, _, value = text.partition(" = ")
        kind = re.sub(r"\s*\b" + re.escape(m.name) + r"$", "", declared.rsplit(",", 1)[0] if declared.count(",") and "<" not in declared else declared).strip()
        kind = re.sub(r"\s+\w+$", "", kind) if "," in declared and "<" not in declared else kind
        meaning = " ".join(filter(None, [" ".join(line.strip() for line in m.lead), m.trail]))
        cells = [f"`{m.name}`", f"`{kind}`" if kind else "", f"`{value}`" if value and value != "{}" else "", self.prose.paragraph(meaning)]
        return "| " + " | ".join(cell.replace("|", "\\|") if cell.startswith("`") else cell for cell in cells) + " |"


# ---- indexes ------------------------------------------------------------------------------------
def chapters(reference):
    """The index by chapter."""
    lines = []
    for library, title in TITLES.items():
        lines += [f"## {title}: namespace `{NAMESPACES[library]}`", "", "| Chapter | Names |", "|---|---|"]
        for page in (p for p in reference.pages if p.library == library):
            names = dict.fromkeys(reference.short(page, item.full_name) for item in page.items if item.kind != "using")
            listed = " ".join(f"[`{n}`]({page.path}.md#{anchor(reference.full(page, n))})".replace("|", "\\|") for n in names if not n.startswith("operator"))
            lines.append(f"| [{page.title}]({page.path}.md) | {listed} |")
        lines.append("")
    return "\n".join(lines)


def all_names(reference):
    """The alphabetical list."""
    names = []
    for page, name, items in reference.names():
        names.append((name.rsplit("::", 1)[-1], name, page, name))
        names += [(alias.rsplit("::", 1)[-1], alias, page, name) for alias in reference.aliases.get(name, [])]
    lines, letter = ["# All names", ""], None
    for short, shown, page, name in sorted(dict.fromkeys(names), key=lambda entry: (entry[0].lower().strip("_"), entry[1])):
        first = short.strip("_")[:1].upper()
        first = first if first.isalpha() else "_"
        if first != letter:
            lines += ["", "</div>" if letter else "", "", f"## {first}", "", '<div class="names" markdown>', ""]
            letter = first
        lines.append(f"[`{html.escape(short, quote=False)}`]({page.path}.md#{anchor(name)}) <small>{shown.rpartition('::')[0]}</small>  ")
    return "\n".join(lines + ["", "</div>", ""])
