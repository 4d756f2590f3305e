"""Vega, Vega-Lite and vega-embed in the page once, without a network and without eval."""

from functools import cache
from pathlib import Path

import vl_convert

MOUNT = Path(__file__).with_name("templates") / "charts.js"


@cache
def bundle() -> str:
    """What `charts.js` draws with."""
    return str(vl_convert.javascript_bundle("window.kernelwright = {vegaEmbed};"))


def scripts() -> list[str]:
    return [bundle(), MOUNT.read_text(encoding="utf-8")]
