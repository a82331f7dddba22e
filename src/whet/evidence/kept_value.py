"""What a variable held, in one line: as the agent shows it in the program itself."""

from whet.agent.site.whet_state.shown import value_line

__all__ = ["value_line"]
