"""Renders an HTML file as a PNG with a headless browser engine (Chromium, in Qt WebEngine).

    pip install '.[images]'
    python -m tools.page_image .demo/report.html docs/images/demo.png --height 960

Renders the page in its light theme, as a whole or from its top to a height.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

WIDTH = 1000
PAINT_MS = 1000  # between a change of the size and the picture
HEIGHT_SCRIPT = "document.documentElement.scrollHeight"


def render(page: Path, picture: Path, width: int, height_max: int | None) -> None:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ.setdefault("QTWEBENGINE_CHROMIUM_FLAGS", "--no-sandbox --disable-gpu")
    from PyQt6.QtCore import Qt, QTimer, QUrl
    from PyQt6.QtGui import QImage
    from PyQt6.QtWebEngineWidgets import QWebEngineView
    from PyQt6.QtWidgets import QApplication

    application = QApplication(["page_image"])
    application.styleHints().setColorScheme(Qt.ColorScheme.Light)
    view = QWebEngineView()
    view.resize(width, 800)

    def save() -> None:
        image = view.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
        image = image.copy(0, 0, width, min(image.height(), height_max or image.height()))
        application.exit(0 if image.save(str(picture)) else 1)

    def resize(height: Any) -> None:
        view.resize(width, int(height))  # all of it: otherwise there is a scroll bar
        later(save)

    def later(step: Callable[[], None]) -> None:
        QTimer.singleShot(PAINT_MS, step)

    def loaded(is_loaded: bool) -> None:
        if is_loaded:
            view.page().runJavaScript(HEIGHT_SCRIPT, resize)
        else:
            application.exit(1)

    view.loadFinished.connect(loaded)
    view.load(QUrl.fromLocalFile(str(page.resolve())))
    view.show()
    if application.exec():
        raise SystemExit(f"{page} cannot be rendered to {picture}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Renders an HTML file as a PNG.")
    parser.add_argument("page", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--width", type=int, default=WIDTH, help=f"in pixels ({WIDTH})")
    parser.add_argument("--height", type=int, help="in pixels (of the whole page)")
    arguments = parser.parse_args()
    render(arguments.page, arguments.picture, arguments.width, arguments.height)


if __name__ == "__main__":
    main()
