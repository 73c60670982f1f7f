"""`cuda-gym serve`: a mixture of models behind OpenAI's chat completions."""

from __future__ import annotations

import contextlib
import math
import os
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from cuda_gym.cli.exit_codes import ExitCode, UsageError

if TYPE_CHECKING:
    from rich.table import Table

    from cuda_gym.agents.route_moa.answers import Scorer
    from cuda_gym.agents.route_moa.layers import MixturePlan
    from cuda_gym.agents.route_moa.posterior import PosteriorWeights
    from cuda_gym.agents.route_moa.roster import Roster
    from cuda_gym.agents.route_moa.serving.server import ChatServer
    from cuda_gym.agents.route_moa.serving.service import Service
    from cuda_gym.cli.screen import Screen

__all__ = ["Serve"]

_WEIGHTS = "posterior.json"
"""In a scorer's folder, where its owner has put it: of `PosteriorWeights.save`."""
_NO_SCORER = """\
There is no --scorer: every model is believed in alike, so the cheapest are asked first, whatever the question."""


@dataclass(frozen=True, kw_only=True)
class Serve:
    """Serve a mixture of models on this machine as OpenAI's /v1/chat/completions, until Ctrl-C.

    Only 127.0.0.1 is listened on. Every answer has its bill and its route.

    Exit codes:
    - 0 does not occur: it serves until it is interrupted
    - 2 an option, the roster or the scorer makes no sense, or the port is taken
    - 3 a package is missing
    - 130 interrupted; all calls were ended
    """

    what: Annotated[Literal["routemoa"], tyro.conf.Positional] = "routemoa"
    """The mixture that routes before it calls."""
    roster: Path
    """A TOML file with a table `[[model]]` for each model: its endpoint, prices, speed and context."""
    scorer: Path | None = None
    """The folder of a trained scorer; without one all models are believed in alike, and the cheapest are asked."""
    port: int = 8088
    """0 takes a free one."""
    width: int = 3
    """Models asked side by side in a layer, at most."""
    max_layers: int = 3
    """Layers of models that read each other's answers, at most."""
    exit_posterior: float = 0.9
    """An answer that is right with at least this probability stands."""
    usd: float | None = None
    """A request may cost so many dollars, at most."""
    seconds: float | None = None
    """A request may take so many seconds, at most."""
    usd_weight: float = 0.0
    """Which share of right answers is given up to save a dollar a request."""
    seconds_weight: float = 0.0
    """Which share of right answers is given up to save a second a request."""
    exploration: float = 0.0
    """How much a model gains of which little is known; less with each answer that it gives while this serves."""
    max_tokens: int = 4096
    """Of each call's answer; a request may ask for less."""
    timeout_s: float = 120.0
    """Of each call, its repetitions included."""
    max_requests: int = 8
    """Worked on at once; one more gets the status 429."""
    api_key_variable: str | None = None
    """The environment variable with the key that clients have to send; without one, who is on this machine is let in."""
    json: bool = False
    """Print the address and the roster as one JSON document."""

    def run(self, screen: Screen) -> ExitCode:
        """Serve it."""
        from cuda_gym.agents.route_moa.roster import Roster
        from cuda_gym.agents.route_moa.serving.opening import endpoints_of, opener_of
        from cuda_gym.agents.route_moa.serving.service import Service, ServingLimits

        self._check()
        roster = Roster.from_toml(self.roster)
        key = self._key()
        models = endpoints_of(roster)
        scorer, weights = self._scorer_and_weights(roster, screen)
        service = Service(
            opener_of(roster, models, scorer, weights=weights, plan=self._plan()),
            model_names=roster.names,
            limits=ServingLimits(max_requests=self.max_requests),
            api_key=key,
            log=partial(_log, screen),
        )
        server = self._listen(service)
        try:
            self._introduce(server, roster, screen)
            server.serve()
        except KeyboardInterrupt:  # its ordinary end: no error, and no second document
            screen.note("Interrupted. Answers in the making end now.")
        finally:
            server.close()
            for model in models.values():
                model.close()
        return ExitCode.INTERRUPTED

    def _check(self) -> None:
        if not 0 <= self.port <= 65535:
            raise UsageError(f"--port is from 0 to 65535; got {self.port}.")
        for option, least in (
            ("width", 1),
            ("max_layers", 1),
            ("max_tokens", 1),
            ("max_requests", 1),
        ):
            if getattr(self, option) < least:
                raise UsageError(
                    f"{_typed(option)} is at least {least}; got {getattr(self, option)}."
                )
        for option in ("usd", "seconds", "timeout_s"):
            value = getattr(self, option)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise UsageError(f"{_typed(option)} is a number above 0; got {value}.")
        for option in ("usd_weight", "seconds_weight", "exploration", "exit_posterior"):
            value = getattr(self, option)
            if not (math.isfinite(value) and value >= 0):
                raise UsageError(f"{_typed(option)} is a number from 0 on; got {value}.")

    def _key(self) -> str | None:
        if self.api_key_variable is None:
            return None
        key = os.environ.get(self.api_key_variable, "")
        if not key:
            raise UsageError(
                f"--api-key-variable: there is no key in {self.api_key_variable}; export it first."
            )
        return key

    def _plan(self) -> MixturePlan:
        from cuda_gym.agents.route_moa.layers import MixturePlan
        from cuda_gym.agents.route_moa.ranking import Budget, Preferences
        from cuda_gym.models.model import Limits

        return MixturePlan(
            width=self.width,
            max_layers=self.max_layers,
            exit_posterior=self.exit_posterior,
            preferences=Preferences(
                usd=self.usd_weight, seconds=self.seconds_weight, exploration=self.exploration
            ),
            budget=Budget(usd=self.usd, seconds=self.seconds),
            limits=Limits(max_tokens=self.max_tokens, timeout_s=self.timeout_s),
        )

    def _scorer_and_weights(
        self, roster: Roster, screen: Screen
    ) -> tuple[Scorer, PosteriorWeights]:
        from cuda_gym.agents.route_moa.posterior import AGREEMENT_ALONE, PosteriorWeights
        from cuda_gym.agents.route_moa.scorer import load_scorer
        from cuda_gym.agents.route_moa.serving.opening import EqualScorer

        if self.scorer is None:
            screen.note(_NO_SCORER)
            return EqualScorer(roster.names), AGREEMENT_ALONE
        scorer = load_scorer(self.scorer)
        file = self.scorer / _WEIGHTS
        weights = PosteriorWeights.load(file) if file.is_file() else AGREEMENT_ALONE
        known = sum(name in scorer.names for name in roster.names)
        if known < len(roster):
            screen.note(_strangers(known, len(roster)))
        return scorer.with_models(roster.names), weights

    def _listen(self, service: Service) -> ChatServer:
        from cuda_gym.agents.route_moa.serving.server import ChatServer

        try:
            return ChatServer(service, port=self.port)
        except OSError as error:
            raise UsageError(
                f"Nothing can listen on port {self.port} of 127.0.0.1: {error.strerror}. "
                "Choose another --port, or 0 for a free one."
            ) from error

    def _introduce(self, server: ChatServer, roster: Roster, screen: Screen) -> None:
        screen.show_table(_table(roster))
        screen.show(f"\nbase_url [cyan]{server.url}[/], model [cyan]routemoa[/]; Ctrl-C ends it.")
        screen.give({"base_url": server.url, "model": "routemoa", "roster": _plain(roster)})


def _log(screen: Screen, line: str) -> None:
    with contextlib.suppress(BrokenPipeError):  # nobody reads it; clients are answered all the same
        screen.note(f"{datetime.now():%H:%M:%S} {line}")


def _strangers(known: int, models: int) -> str:
    """What to say where a scorer was trained with other models than the roster's."""
    if not known:
        return (
            f"The scorer knows none of the {models} models: every one is believed in alike, whatever the question. "
            "Names in the roster are to be those of its training."
        )
    return f"The scorer knows {known} of the {models} models; the others count as average ones."


def _typed(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def _table(roster: Roster) -> Table:
    from rich.table import Table

    table = Table(
        "model",
        "$/M in",
        "$/M out",
        "first token",
        "tokens/s",
        "context",
        "endpoint",
        box=None,
        pad_edge=False,
    )
    table.columns[0].style = "cyan"
    table.columns[-1].overflow = "fold"
    for entry in roster:
        table.add_row(
            entry.name,
            f"{entry.prices.input_usd_per_million:g}",
            f"{entry.prices.output_usd_per_million:g}",
            f"{entry.speed.first_token_s:g} s",
            f"{entry.speed.tokens_per_s:g}",
            f"{entry.context_tokens:,}",
            entry.base_url,
        )
    return table


def _plain(roster: Roster) -> list[dict[str, Any]]:
    from cuda_gym.core.plain import as_plain

    return [as_plain(entry) for entry in roster]
