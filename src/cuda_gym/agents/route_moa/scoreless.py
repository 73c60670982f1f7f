"""A reply without its scores, passed on while it arrives.

Held back is what may be, or may become, one of two things, and nothing else: a score with its name, such as
`self_score: 0.9`, which is left out; and a JSON object, with its fence, until it ends or shows that it is none, since it may
be an answer with scores, of which the answer alone is passed on. In prose and code that is now and then some characters
until the next piece. Objects with which a reply begins are held back until something else follows: they are drafts
where that is an answer with scores. Then the rest is held back too, as what follows is no part of the answer.

Covered: pieces that end anywhere, a reply that is cut off. Not covered: an object with scores whose `answer` came in
another one; prose before an answer, which is passed on before anybody knows what it was, and so are objects behind it.
"""

from __future__ import annotations

import re
from typing import final

from cuda_gym.agents.route_moa.judges import SCORES, end_of_object, has_scores, plain_answer

__all__ = ["Scoreless"]

_OBJECT = re.compile(r'(?P<fence>```(?:json)?\s*)?\{\s*"')
_CLOSING = re.compile(r"\s*```")
_CLOSING_MAYBE = re.compile(r"\s*`{0,2}")
_NAMES = ("self_score", "peer_scores")
_BEGUN = "|".join(name[:end] for name in _NAMES for end in range(1, len(name)))
_MAYBE = re.compile(
    rf"""(?:```(?:j|js|jso|json)?\s*(?:\{{\s*)?|\{{\s*
         |["'`*]{{1,3}}|["'`*]{{0,3}}\b(?:{_BEGUN})|["'`*]{{0,3}}\b(?:{"|".join(_NAMES)})["'`*]{{0,3}}\s*)\Z""",
    re.VERBOSE,
)
"""The end of a text with which an object or a score may begin."""


@final
class Scoreless:
    """One reply.

    >>> reply = Scoreless()
    >>> [reply.add(piece) for piece in ("It is ", "42. self", "_score: 0.", "9")], reply.rest()
    (['It is ', '42. ', '', ''], '')
    """

    def __init__(self) -> None:
        self._text = ""
        self._done = 0
        self._num_looked_at = 0
        self._is_first = True
        self._drafts: list[str] = []
        self._is_held_to_the_end = False

    def add(self, piece: str) -> str:
        """A further piece; what may be passed on by now."""
        # One character that was passed on stays: whether a name begins a word, shows by what is before.
        self._text = self._text[max(0, self._done - 1) :] + piece
        self._done = min(self._done, 1)
        said: list[str] = []
        while not self._is_held_to_the_end and (part := self._next()) is not None:
            if part.strip():
                said += self._drafts
                self._drafts.clear()
                self._is_first = False
            (self._drafts if self._drafts else said).append(part)
        return "".join(said)

    def rest(self) -> str:
        """What was held back and is to be passed on, now that the reply is at its end."""
        self._num_looked_at = 0
        said = self.add("")
        held = self._text[self._done :]
        whole = "".join(self._drafts) + held
        return said + (plain_answer(whole) if has_scores(held) else whole)

    def _next(self) -> str | None:
        """The part up to what may be a score, or what stands for that; None where there is no more for now."""
        text, start = self._text, self._done
        opening = _OBJECT.search(text, start)
        if opening and opening.start() == start:
            return self._object(opening)
        found = [one for one in (opening, SCORES.search(text, start)) if one]
        if not found:
            maybe = _MAYBE.search(text, start)
            self._done = maybe.start() if maybe else len(text)
            return text[start : self._done] or None
        first = min(found, key=lambda one: one.start())
        if first.start() > start:
            self._done = first.start()
            return text[start : self._done]
        if first.end() == len(text):
            return None  # its value may go on
        self._done = first.end()
        return ""

    def _object(self, opening: re.Match[str]) -> str | None:
        """What stands for the object that begins here."""
        text, start = self._text, opening.start()
        brace = opening.end("fence") if opening["fence"] else start
        if not self._is_worth_a_look(text[brace:]):
            return None
        length = end_of_object(text[brace:])
        if length is None:
            self._num_looked_at = len(text) - brace
            return None
        self._num_looked_at = 0
        if length == 0:
            self._done = brace + 1
            return text[start : self._done]
        end = brace + length
        if self._is_first and has_scores(text[brace:end]):
            self._is_held_to_the_end = True
            return None
        if opening["fence"]:
            if closing := _CLOSING.match(text, end):
                end = closing.end()
            elif _CLOSING_MAYBE.fullmatch(text, end):
                return None
            else:
                self._done = brace
                return text[start:brace]
        self._done = end
        whole = text[start:end]
        if has_scores(whole):
            return plain_answer(whole)
        if not self._is_first:
            return whole
        self._drafts.append(whole)
        return ""

    def _is_worth_a_look(self, held: str) -> bool:
        """Whether an object that went on may be at its end, or is longer by a tenth: reading it takes time."""
        return "}" in held[self._num_looked_at :] or len(held) > 1.1 * self._num_looked_at
