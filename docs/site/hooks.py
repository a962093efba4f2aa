"""Additions to MkDocs: documents outside of docs/ become pages, and links follow them.

The same files are read in a checkout, where README.md links to docs/faq.md and docs/faq.md to ../CONTRIBUTING.md. A link to a file that is no
page, such as a source, becomes text: the site has no copy of the sources.
"""
import glob
import os
import posixpath
import re
import sys

from mkdocs.structure.files import File

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import migration
import pages as reference_pages
from programs import programs
from reference import Reference, TITLES

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Documents outside of docs/ by their path in the sources, with the path of their page.
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "benchmarks.md",
    "examples/README.md": "examples/index.md",
    "examples/RESULTS.md": "examples/results.md",
}
for path in sorted(glob.glob(os.path.join(ROOT, "examples", "*", "README.md"))):
    folder = os.path.basename(os.path.dirname(path))
    PAGES[f"examples/{folder}/README.md"] = f"examples/{folder}.md"
# Pictures outside of docs/ have the same path on the site.
PICTURES = [os.path.relpath(path, ROOT) for path in sorted(glob.glob(os.path.join(ROOT, "examples", "*", "*.png")))]
# Pages with this mark get a link to their programs, each joined to one file.
DOWNLOAD = "<!-- download -->"
# [text](target); the parentheses of code spans are not touched, as a target has no space.
LINK = re.compile(r"\[(?P<text>(?:`[^`]*`|[^\]`])*)\]\((?P<target>[^)\s]+)\)")

reference = Reference()


def on_config(config):
    """The chapters of the reference stand in the navigation."""
    nav = ["reference/index.md", "reference/names.md"]
    for library, title in TITLES.items():
        nav.append({title: [{page.title: f"reference/{page.path}.md"} for page in reference.pages if page.library == library]})
    place = next((at for at, entry in enumerate(config.nav) if "Internals" in entry), len(config.nav))
    config.nav.insert(place, {"Reference": nav})
    return config


def on_files(files, config):
    for page in reference.pages:
        files.append(File.generated(config, f"reference/{page.path}.md", content=str(reference_pages.PageText(reference, page))))
    files.append(File.generated(config, "reference/names.md", content=reference_pages.all_names(reference)))
    for page in files.documentation_pages():
        if page.src_uri.startswith("tutorials/"):
            for name, source in programs(page.abs_src_path).items():
                files.append(File.generated(config, f"tutorials/{name}.cpp", content=source))
    for source, page in PAGES.items():
        with open(os.path.join(ROOT, source), encoding="utf-8") as document:
            files.append(File.generated(config, page, content=document.read()))
    for picture in PICTURES:
        with open(os.path.join(ROOT, picture), "rb") as content:
            files.append(File.generated(config, picture, content=content.read()))
    return files


def source_of(page):
    """The path in the sources of a page's document."""
    for source, name in PAGES.items():
        if name == page:
            return source
    return "docs/" + page


def page_of(source):
    """The page of a document of the sources; None if it is on no page."""
    if source.startswith("docs/") and source.endswith((".md", ".png", ".svg", ".css")):
        return source[len("docs/"):]
    return source if source in PICTURES else PAGES.get(source)


def follow(link, page):
    """The link of a document as its page has it."""
    target, hash_sign, anchor = link["target"].partition("#")
    if not target or ":" in target:
        return link[0]
    source = posixpath.normpath(posixpath.join(posixpath.dirname(source_of(page)), target))
    other = page_of(source)
    if other is None:
        if not os.path.exists(os.path.join(ROOT, source)):
            return link[0]          # MkDocs warns of it
        return link["text"]
    return f"[{link['text']}]({posixpath.relpath(other, posixpath.dirname(page) or '.')}{hash_sign}{anchor})"


def on_page_markdown(markdown, page, config, files):
    if page.file.src_uri == "reference/index.md":
        markdown = markdown.replace("<!-- chapters -->", reference_pages.chapters(reference))
    if DOWNLOAD in markdown:
        names = programs(page.file.abs_src_path)
        markdown = markdown.replace(DOWNLOAD, "Joined already: " + ", ".join(f"[{name}.cpp]({name}.cpp)" for name in names) + ".")
    lines, fenced = [], False
    for line in markdown.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            line = LINK.sub(lambda link: follow(link, page.file.src_uri), line)
        lines.append(line)
    return migration.with_tables("\n".join(lines), page.file.src_uri, config["docs_dir"])
