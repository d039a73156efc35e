"""Writes the JSON Schemas and docs/guide/formats.md: `python -m haichi.schema`."""

import sys

from haichi.schema import generated

for path, text in generated().items():
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")
        sys.stdout.write(f"wrote {path}\n")
