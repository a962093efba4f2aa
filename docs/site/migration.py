"""The tables of the migration pages: docs/migration/<name>.tsv, one table by chapter, behind the text of docs/migration/<name>.md.

The columns are those of tests/documents/migration/generate.awk: chapter, the other library's spelling, ours or "-", a remark, a recorded value.
"""
import html
import os
import re

HEADS = {
    "numpy": "NumPy, CuPy",
    "chainer": "Chainer",
    "pytorch": "PyTorch",
    "eigen_arrayfire": "Eigen, ArrayFire",
}


def code(text):
    return f"<code>{html.escape(text, quote=False)}</code>"


def prose(text):
    """A remark: `code` and [links](page.md), which refer to pages beside this one."""
    text = html.escape(text, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"\[([^\]]+)\]\(([^)\s]+)\.md\)", r'<a href="\2.html">\1</a>', text)


def rows_of(path):
    with open(path, encoding="utf-8") as table:
        for line in table.read().splitlines():
            if not line.startswith("#") and not line.startswith("chapter\t"):
                yield (line.split("\t") + [""])[:4]


def with_tables(markdown, page, docs):
    """The text of a page with its tables; of a page that is no migration page, the text alone."""
    folder, name = os.path.split(page.removesuffix(".md"))
    if folder != "migration" or name not in HEADS:
        return markdown
    lines, chapter = [markdown], None
    for this, theirs, ours, remark in rows_of(os.path.join(docs, "migration", name + ".tsv")):
        if this != chapter:
            if chapter is not None:
                lines.append("</tbody></table>\n")
            chapter = this
            lines.append(f'\n## {this}\n\n<table class="migration"><thead><tr><th>{HEADS[name]}</th><th>Catena</th><th></th></tr></thead><tbody>')
        answer = "<em>not offered</em>" if ours == "-" else code(ours)
        lines.append(f"<tr><td>{code(theirs)}</td><td>{answer}</td><td>{prose(remark)}</td></tr>")
    lines.append("</tbody></table>\n")
    return "\n".join(lines)
