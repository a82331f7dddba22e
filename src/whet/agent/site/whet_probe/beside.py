"""What is used here of the agent's other packages, which stand beside this one.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import builtins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from whet.agent.site.whet_stage.forking.exit import OWN_FILES, flush, run_and_exit
    from whet.agent.site.whet_stage.hiding.hidden_frames import CAN_TRACE, call_traced, hidden_frame
    from whet.agent.site.whet_stage.rewriting.debugger import open_in
    from whet.agent.site.whet_state.raised import RANKS, as_json
    from whet.agent.site.whet_state.shown import value_line
    from whet.agent.site.whet_state.values import Reader
else:
    from whet_stage.forking.exit import OWN_FILES, flush, run_and_exit
    from whet_stage.hiding.hidden_frames import CAN_TRACE, call_traced, hidden_frame
    from whet_stage.rewriting.debugger import open_in
    from whet_state.raised import RANKS, as_json
    from whet_state.shown import value_line
    from whet_state.values import Reader

ANY_ERROR = (Exception,)
"""What a stream of the program's, or whet itself, may raise here: the program is what matters."""
evaluate: Callable[..., object] = vars(builtins)["eval"]
"""For the expressions that the user asks for."""
execute: Callable[..., None] = vars(builtins)["exec"]
"""For the user's own modules."""

__all__ = [
    "ANY_ERROR",
    "CAN_TRACE",
    "OWN_FILES",
    "RANKS",
    "Reader",
    "as_json",
    "call_traced",
    "evaluate",
    "execute",
    "flush",
    "hidden_frame",
    "open_in",
    "run_and_exit",
    "value_line",
]
