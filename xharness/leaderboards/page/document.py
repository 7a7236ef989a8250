"""The page as one file: data, style and scripts go into the template."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from xharness.leaderboards.page.data import page_data
from xharness.leaderboards.page.palette import scale
from xharness.leaderboards.table import Tables

#: In this order they make one script: what runs at once, and not on a call, needs the files before it.
_SCRIPTS = (
    "format",
    "dom",
    "model",
    "state",
    "names",
    "bars",
    "grid",
    "comparison",
    "gap",
    "provenance",
    "controls",
    "main",
)


def render_page(suites: Sequence[Tables]) -> str:
    """Return the leaderboards as one HTML page that needs no network; the same tables give the same bytes.

    Nothing but the page's own style and script may run in it: its content security policy names both by digest.

    Raises:
        InputError: There are no tables, or a figure is not a finite number.
    """
    style, script = _style(), _script()
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.from_string(_part("page.html.jinja")).render(
        policy="; ".join(
            (
                "default-src 'none'",
                f"script-src '{_digest(script)}'",
                f"style-src '{_digest(style)}'",
                "img-src data:",
                "base-uri 'none'",
                "form-action 'none'",
                "require-trusted-types-for 'script'",
                "trusted-types 'none'",
            )
        ),
        style=Markup(style),  # noqa: S704  (the package's own file)
        script=Markup(script),  # noqa: S704  (the package's own files)
        data=Markup(embedded_json(page_data(suites))),  # noqa: S704  (escaped there)
    )


def embedded_json(value: object) -> str:
    """Return JSON that cannot end the ``script`` element it stands in, whatever text is in it."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    # These stand only within strings. U+2028 and U+2029, which end a line in JavaScript, are not ASCII.
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _style() -> str:
    rules = [_part("page.css")]
    for level, (light, dark) in enumerate(zip(scale(dark=False), scale(dark=True), strict=True)):
        rules.append(
            f'[data-heat="{level}"] {{ '
            f"background: light-dark({light.background}, {dark.background}); "
            f"color: light-dark({light.ink}, {dark.ink}); }}\n"
        )
    return "".join(rules)


def _script() -> str:
    parts = [_part("scripts", f"{name}.js") for name in _SCRIPTS]
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "})();\n"


def _part(*path: str) -> str:
    return files(__package__).joinpath(*path).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Return a text's digest in the form of a content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
