"""How kernel sources are coloured: Pygments' tokens as short runs, which the page makes into elements without reading any markup."""

from collections.abc import Iterator
from itertools import groupby

from pygments.lexers import PythonLexer
from pygments.token import Token, _TokenType

CLASSES = {
    Token.Keyword: "K", Token.Operator.Word: "K", Token.Name.Builtin: "B", Token.Name.Function: "F", Token.Name.Class: "F",
    Token.Name.Decorator: "D", Token.Literal.String: "S", Token.Literal.Number: "N", Token.Comment: "C", Token.Name.Namespace: "M",
}  # fmt: skip
"""Letters of runs, and of the page's style sheet (`.hK`, ...). All else is `X`, which has no colour."""
LEXER = PythonLexer()
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def letter(token: _TokenType) -> str:
    """The class of the token type's nearest ancestor that has one."""
    while token is not Token and token not in CLASSES:
        token = token.parent
    return CLASSES.get(token, "X")


def runs(text: str) -> str:
    """`<length in base 36><letter>` for each run of one class; lengths in UTF-16 units, as JavaScript counts them."""
    return "".join(base36(length) + kind for kind, length in merged(text))


def plain(text: str) -> str:
    """One run without a colour."""
    return f"{base36(units(text))}X"


def merged(text: str) -> Iterator[tuple[str, int]]:
    for kind, tokens in groupby(LEXER.get_tokens_unprocessed(text), key=lambda found: letter(found[1])):
        yield kind, sum(units(value) for _, _, value in tokens)


def units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def base36(number: int) -> str:
    digits = ""
    while number:
        number, rest = divmod(number, 36)
        digits = DIGITS[rest] + digits
    return digits
