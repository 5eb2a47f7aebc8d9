"""Results as a notebook shows them: a heading, a table and sentences, every word escaped.

Names of arms and objectives come from users' files, so nothing here is taken for markup.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from paretoid import text


@dataclass(frozen=True, repr=False)
class Shown:
    """A table under a heading, with sentences below: text in a terminal, HTML in a notebook.

    names   so many columns, the first ones, are words; the others are numbers, set to the right

    >>> shown = Shown("2 arms", ["arm", "samples"], [["<A>", "12"], ["B", "1,205"]], ["proved"])
    >>> shown
    2 arms
    <BLANKLINE>
    arm  samples
    <A>       12
    B      1,205
    <BLANKLINE>
    proved
    >>> "&lt;A&gt;" in shown._repr_html_(), "<A>" in shown._repr_html_()
    (True, False)
    """

    heading: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    sentences: Sequence[str] = ()
    names: int = 1

    def __repr__(self) -> str:
        heads = [text.visible(head) for head in self.heads]
        rows = [[text.visible(cell) for cell in row] for row in self.rows]
        parts = [text.visible(self.heading), text.table(heads, rows, names=self.names)]
        if self.sentences:
            parts.append("\n".join(map(text.visible, self.sentences)))
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        heads = "".join(
            f'<th scope="col" style="text-align:{self._side(column)}">{_escaped(head)}</th>'
            for column, head in enumerate(self.heads)
        )
        rows = "".join(f"<tr>{self._cells(row)}</tr>" for row in self.rows)
        sentences = "".join(f"<p>{_escaped(sentence)}</p>" for sentence in self.sentences)
        return (
            f"<div><p><strong>{_escaped(self.heading)}</strong></p><table><thead><tr>{heads}</tr>"
            f"</thead><tbody>{rows}</tbody></table>{sentences}</div>"
        )

    def _cells(self, row: Sequence[str]) -> str:
        return "".join(
            f'<td style="text-align:{self._side(column)}">{_escaped(cell)}</td>'
            for column, cell in enumerate(row)
        )

    def _side(self, column: int) -> str:
        return "left" if column < self.names else "right"


def _escaped(words: str) -> str:
    return html.escape(text.visible(words))
