"""What is printed, on a terminal and in a log."""

import io

from demo.terminal import Terminal, progress_line


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_drawn_over_itself_on_a_terminal() -> None:
    screen = Screen()
    terminal = Terminal(screen)
    terminal.progress("half")
    terminal.say("done")
    assert screen.getvalue().count("\n") == 1
    assert "\r\033[K" in screen.getvalue()


def test_progress_is_a_line_in_a_log() -> None:
    log = io.StringIO()
    Terminal(log).progress("half")
    assert log.getvalue().endswith("half\n")
    assert "\033" not in log.getvalue()


def test_the_bar_fills_with_what_was_sent() -> None:
    assert progress_line(0, 100, {}).startswith("░" * 24)
    line = progress_line(50, 100, {"lake": 1234})
    assert line.startswith("█" * 12 + "░" * 12)
    assert line.endswith("sent 50  lake 1,234")
