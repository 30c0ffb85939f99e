"""What all charts share: the page's palette as figure colours, one frame around every figure, sizes for a phone too.

A figure is opaque and made for one theme: the page says which one it has when it asks, so that every ink has the
contrast that the palette promises, also in the moment between a change of theme and the next drawing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from clover_viz.ui.palette import DARK, LIGHT
from clover_viz.ui.theme import FONT

LEFT, RIGHT, BOTTOM = 46, 12, 46  # pixels around the plots; BOTTOM holds the x axis
LEGEND, TITLE = 38, 20  # pixels above them
KEY = 56  # pixels below the x axis, for the colour key of a heat map


@dataclass(frozen=True)
class Look:
    """One theme: `#rrggbb` each. Cells of heat maps run from `line` (none) to `accent` (most)."""

    surface: str
    ink: str
    quiet: str
    line: str
    edge: str
    accent: str

    @property
    def scale(self) -> list[list]:
        return [[0, self.line], [1, self.accent]]

    def mark(self, symbol: str) -> dict:
        """A mark that stands out on any cell: one of surface and ink inside, the other around."""
        inside, around = (self.ink, self.surface) if symbol == "x" else (self.surface, self.ink)
        return {"symbol": symbol, "color": inside, "line": {"color": around, "width": 1.2}, "size": 6.5}


def look(dark: bool) -> Look:
    """The palette's dark or light theme."""
    colours = DARK if dark else LIGHT
    return Look(*(colours[name] for name in Look.__dataclass_fields__))


def framed(figure: go.Figure, by: Look, height: int, top: int = LEGEND, bottom: int = BOTTOM) -> go.Figure:
    """The figure with the page's type and colours. height: of the plots, in pixels; top, bottom: of what is around."""
    figure.update_layout(
        template="none",
        height=top + height + bottom,
        margin={"l": LEFT, "r": RIGHT, "t": top, "b": bottom, "pad": 0},
        paper_bgcolor=by.surface,
        plot_bgcolor=by.surface,
        font={"family": ", ".join(FONT), "size": 13, "color": by.ink},
        hoverlabel={"bgcolor": by.surface, "bordercolor": by.edge, "font": {"color": by.ink, "size": 13}},
        legend={
            "orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yanchor": "top", "yref": "container",
            "bgcolor": by.surface, "itemclick": False, "itemdoubleclick": False, "traceorder": "normal",
        },
        dragmode=False,  # a finger on the figure scrolls the page
        hovermode="closest",
    )  # fmt: skip
    axis = {
        "color": by.quiet, "linecolor": by.edge, "gridcolor": by.line, "zeroline": False, "fixedrange": True,
        "title": {"font": {"color": by.quiet, "size": 13}, "standoff": 8}, "tickfont": {"size": 12},
    }  # fmt: skip
    figure.update_xaxes(**axis)
    figure.update_yaxes(**axis)
    figure.update_annotations(font={"color": by.ink, "size": 13})
    return figure


def ticks(labels: Sequence, most: int) -> dict:
    """Axis settings that name at most `most` of the places 0, 1, 2 ... by their labels, evenly, from the first on."""
    stride = 1
    while stride * most < len(labels):
        stride *= 2
    return {"tickvals": list(range(0, len(labels), stride)), "ticktext": [str(label) for label in labels[::stride]]}


def row_height(rows: int, least: int = 9) -> int:
    """Pixels of one row of a heat map: few rows are tall, many have the `least`."""
    return max(least, min(22, 300 // max(rows, 1)))


def keyed(figure: go.Figure, by: Look, *keys: tuple[str, float]) -> go.Figure:
    """A framed figure of heat maps with its colour axes, each from 0 on: (title, greatest value). Their keys stand side
    by side below the x axis."""
    for at, (title, most) in enumerate(keys):
        bar = {
            "orientation": "h", "x": at / 2 + (0.03 if at else 0), "xanchor": "left", "len": 0.47,
            "y": 0, "yanchor": "bottom", "yref": "container", "thickness": 8, "xpad": 0, "ypad": 4,
            "outlinewidth": 0, "tickfont": {"color": by.quiet, "size": 12}, "nticks": 6,
        }  # fmt: skip
        axis = {"colorscale": by.scale, "cmin": 0, "cmax": most, "colorbar": bar}
        figure.update_layout({f"coloraxis{at + 1 if at else ''}": axis})
        figure.add_annotation(
            text=title, xref="paper", x=bar["x"], xanchor="left", yref="paper", y=0, yanchor="top", yshift=-BOTTOM - 2,
            showarrow=False, font={"color": by.quiet, "size": 13},
        )  # fmt: skip
    return figure
