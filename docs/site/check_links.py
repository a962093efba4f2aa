"""check_links.py FOLDER: checks every link of a built site that leads to a page or an anchor of the site, and says how many there are."""
import os
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(values[name] for name in ("id", "name") if values.get(name))
        for name in ("href", "src"):
            if values.get(name):
                self.links.append(values[name])


def main(root):
    pages = {}
    for folder, _, files in os.walk(root):
        for name in files:
            if name.endswith(".html"):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    pages[os.path.relpath(path, root)] = Page(file.read())
    checked, broken = 0, []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or path == "404.html":   # 404.html is shown in the place of any page
                continue
            checked += 1
            target = os.path.normpath(os.path.join(os.path.dirname(path), unquote(parts.path))) if parts.path else path
            if os.path.isdir(os.path.join(root, target)):
                target = os.path.normpath(os.path.join(target, "index.html"))
            anchor = unquote(parts.fragment)
            if not os.path.exists(os.path.join(root, target)):
                broken.append(f"{path}: {link}: there is no such page")
            elif anchor and not anchor.startswith("__") and target in pages and anchor not in pages[target].anchors:
                broken.append(f"{path}: {link}: the page has no such anchor")
    print("\n".join(sorted(set(broken))[:50]))
    print(f"{len(pages)} pages, {checked} links, {len(broken)} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
