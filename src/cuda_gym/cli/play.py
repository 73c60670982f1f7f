"""`cuda-gym play`: episodes of an agent on a task, a line a turn."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuda_gym.cli.exit_codes import ExitCode, UsageError, code_of_episodes
from cuda_gym.core.episode import Stage

if TYPE_CHECKING:
    from rich.table import Table

    from cuda_gym.cli.screen import Screen
    from cuda_gym.core.episode import Action, Episode, Observation, Turn
    from cuda_gym.core.task import Task
    from cuda_gym.judge.judge import Judge

__all__ = ["Play"]


@dataclass(frozen=True, kw_only=True)
class Play:
    """Let an agent play episodes, and show them turn by turn.

    Exit codes, of several episodes the largest:
    - 0 every episode ended with a correct Verdict
    - 1 one did not
    - 2 there is no such agent, device, reward or folder
    - 3 an episode is void, or there is nothing to judge with
    - 4 there is no such task
    """

    agent: str = "scripted"
    """`scripted`, `random`, or `path/to/file.py:ClassName`."""
    task: str = "core/softmax"
    """An id of `cuda-gym tasks`, or the path of a file in KernelBench's format."""
    device: str = "auto"
    """`cpu`, `cuda`, `cuda:1`, ...; `auto` is the best that can be driven here."""
    seed: int | None = None
    """For agents that draw; each further episode counts one up. The judge's seeds stay secret."""
    max_turns: int = 20
    """Actions in an episode; the last one settles."""
    reward: str = "speedup"
    """`speedup`, `log_speedup` or `milestone`."""
    episodes: int = 1
    """How many."""
    keep: Path | None = None
    """A folder to work in and keep; of several episodes each gets a folder in it."""
    record: Path | None = None
    """A file to which each episode is added, as a line of JSON; `cuda-gym show` reads it."""
    json: bool = False
    """Print the episodes as one JSON document."""

    def run(self, screen: Screen) -> ExitCode:
        """Play them."""
        from cuda_gym.cli.devices import judge_of
        from cuda_gym.cli.kept_folder import check_folder
        from cuda_gym.tasks.registry import load_task
        from cuda_gym.tasks.sizes import sized_for

        for option, value in (("--episodes", self.episodes), ("--max-turns", self.max_turns)):
            if value < 1:
                raise UsageError(f"{option} is at least 1; got {value}.")
        task = load_task(self.task)
        self._check_record()
        judge = judge_of(self.device)
        task = sized_for(task, judge.device)
        for folder in filter(None, map(self._folder, range(self.episodes))):
            check_folder(folder, task, judge.device)
        played = tuple(self._play(index, task, judge, screen) for index in range(self.episodes))
        screen.show(_summary(played))
        for episode in played:
            if episode.workspace is not None:
                _show_place(episode.workspace, screen)
        screen.give({"episodes": [_plain(episode) for episode in played]})
        return code_of_episodes(played)

    def _play(self, index: int, task: Task, judge: Judge, screen: Screen) -> Episode:
        from cuda_gym.agents.registry import load_agent
        from cuda_gym.cli.watch import play_watched
        from cuda_gym.envs.session import Session
        from cuda_gym.episode_record import append_episode

        seed = None if self.seed is None else self.seed + index
        agent = load_agent(self.agent, task_id=task.id, seed=seed)
        try:
            session = Session(
                task,
                judge,
                reward=self.reward,
                max_turns=self.max_turns,
                workspace=self._folder(index),
            )
        except ValueError as error:
            raise UsageError(str(error)) from None
        _show_title(f"Episode {index + 1} of {self.episodes}: {agent.name} on {task.id}", screen)

        def watch(number: int, action: Action, turn: Turn | None) -> None:
            del action
            if turn is not None:
                _show_turn(number, self.max_turns, turn, screen)

        try:
            episode = play_watched(session, agent, screen, watch)
        finally:
            session.close()
        if self.record is not None:
            append_episode(self.record, episode)
        return episode

    def _check_record(self) -> None:
        """See before playing whether what is played can be kept."""
        if self.record is None:
            return
        try:
            self.record.open("a", encoding="utf-8").close()
        except OSError as error:
            raise UsageError(
                f"The record {str(self.record)!r} cannot be written: {error.strerror}. "
                "Give a file in a folder of yours."
            ) from None

    def _folder(self, index: int) -> Path | None:
        if self.keep is None or self.episodes == 1:
            return self.keep
        return self.keep / f"episode-{index + 1}"


def _show_title(title: str, screen: Screen) -> None:
    from rich.text import Text

    screen.show(Text(title, "bold"))


def _show_place(folder: str, screen: Screen) -> None:
    from rich.text import Text

    screen.show_line(Text.assemble(("files kept in ", "dim"), folder))


def _show_turn(number: int, max_turns: int, turn: Turn, screen: Screen) -> None:
    """Number, what was done, how far it has come, what it paid, and the gist of the answer."""
    from rich.table import Table
    from rich.text import Text

    from cuda_gym.cli.watch import call_text, read_action

    read = read_action(turn.action)
    done = [f"write {write.path}" for write in read.writes]
    done += [] if read.call is None else [call_text(read.call)]
    row = Table.grid(padding=(0, 2))
    row.add_column(justify="right", no_wrap=True, min_width=5, style="dim")
    row.add_column(no_wrap=True, min_width=8)
    row.add_column(justify="right", no_wrap=True, min_width=6)
    row.add_column(overflow="fold")
    stage, reward = turn.observation.stage.value, f"{turn.reward:+.2f}"
    said = Text(", ".join(done) or "(no action that can be read)", "cyan")
    row.add_row(f"{number}/{max_turns}", stage, reward, said)
    profiled = read.call is not None and read.call.name == "profile"
    row.add_row("", "", "", _gist(turn.observation, len(read.writes), profiled=profiled))
    screen.show(row)


def _gist(observation: Observation, num_writes: int, *, profiled: bool) -> str:
    """The speed-up, where that was asked for; or the first sentence of an answer after the lines that say what was written."""
    speedup = observation.metrics.get("speedup")
    if profiled and observation.stage is Stage.TIMED and speedup is not None:
        return f"Right, and {speedup:.2f}x as fast as torch.compile."
    lines = [line for line in observation.text.splitlines() if line.strip()]
    wrote = sum(line.startswith("Wrote ") for line in lines[:num_writes])
    lines = lines[wrote:] or lines
    return lines[0][:300] if lines else ""


def _summary(episodes: tuple[Episode, ...]) -> Table:
    from rich.table import Table
    from rich.text import Text

    from cuda_gym.cli.verdict_view import interval, outcome_style

    table = Table(box=None, pad_edge=False, title_justify="left")
    for name in ("episode", "turns", "return", "speed-up", "95 % interval"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("outcome", overflow="fold")
    for number, episode in enumerate(episodes, start=1):
        verdict = episode.verdict
        timing = None if verdict is None else verdict.timing
        outcome = Text("nothing was handed in", "bold red")
        if episode.void is not None:
            outcome = Text(f"void: {episode.void}", "bold yellow")
        elif verdict is not None:
            outcome = Text(verdict.outcome.value, outcome_style(verdict.outcome))
        table.add_row(
            str(number),
            str(len(episode.turns)),
            f"{episode.total_reward:.3f}",
            "-" if timing is None else f"{timing.speedup:.2f}x",
            "-" if timing is None else interval(timing),
            outcome,
        )
    return table


def _plain(episode: Episode) -> dict[str, Any]:
    from cuda_gym.core.plain import as_plain

    return {
        **as_plain(episode),
        "total_reward": episode.total_reward,
        "speedup": None if episode.verdict is None else episode.verdict.speedup,
    }
