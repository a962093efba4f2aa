"""The programs of a page as files: its snippets joined as the test install/readme joins them."""
import os
import re
import subprocess
import tempfile
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
JOIN = os.path.join(ROOT, "tests", "install", "readme")


def programs(page):
    """The sources of the programs of a page (a path) by their names."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["awk", "-v", "out=" + folder, "-f", os.path.join(JOIN, "extract.awk"), page], check=True)

        def part(name, kind):
            path = os.path.join(folder, name + "." + kind)
            if not os.path.exists(path):
                return ""
            with open(path, encoding="utf-8") as file:
                return file.read().strip("\n")

        with open(page, encoding="utf-8") as file:
            names = dict.fromkeys(re.findall(r"^<!-- program: (\w+)", file.read(), re.MULTILINE))
        sources = {}
        for name in names:
            body = "int main() {\n" + textwrap.indent(part(name, "body"), "  ") + "\n}"
            sources[name] = "\n\n".join(text for text in (part(name, "includes"), part(name, "types"), body) if text) + "\n"
        return sources
