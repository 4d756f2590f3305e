"""`python -m scaffolds.draw geak`: a scaffold's compiled graph as Mermaid; `--write FILE` renews the pictures in a document."""

import argparse
import re
import sys
from pathlib import Path

from benchmark.console import show
from benchmark.errors import UserError
from scaffolds import loader

PICTURE = re.compile(r"(<!-- graph: (\S+) -->\n).*?(<!-- end of graph -->)", re.DOTALL)
"""Where a document wants a scaffold's picture."""


def mermaid(name: str) -> str:
    """The flow chart of scaffold `name` with its default options, nodes and edges in a fixed order."""
    graph = loader.build(name, loader.build_config(name)).compile(name=name).get_graph(xray=True)
    order = list(graph.nodes)
    lines = ["flowchart TD"]
    for node in order:
        label = node.replace("__", "")
        lines.append(f"    {key(node)}([{label}])" if node.endswith("__") else f"    {key(node)}[{label}]")
    for edge in sorted(graph.edges, key=lambda e: (order.index(e.source), order.index(e.target))):
        lines.append(f"    {key(edge.source)} {'-.->' if edge.conditional else '-->'} {key(edge.target)}")
    return "\n".join(lines) + "\n"


def key(node: str) -> str:
    """What Mermaid takes as a node's id: no colon, as nodes of a graph within the graph have, and no `end`."""
    return node.replace(":", "_").replace("__start__", "start").replace("__end__", "stop")


def renewed(text: str) -> str:
    """A document with its pictures drawn anew."""
    return PICTURE.sub(lambda found: f"{found[1]}```mermaid\n{mermaid(found[2])}```\n{found[3]}", text)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m scaffolds.draw", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"scaffolds; all without: {', '.join(loader.names())}")
    parser.add_argument("--write", type=Path, metavar="FILE", help="renew what lies between <!-- graph: NAME --> and <!-- end of graph -->")
    options = parser.parse_args(arguments)
    try:
        if options.write is None:
            show("\n".join(mermaid(name) for name in options.names or loader.names()).rstrip("\n"))
        elif options.write.is_file():
            options.write.write_text(renewed(options.write.read_text(encoding="utf-8")), encoding="utf-8")
        else:
            raise UserError(
                f"There is no file {str(options.write)!r}: --write names a document with pictures, as docs/scaffolds.md has them."
            )
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
