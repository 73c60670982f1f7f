from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

from cuda_gym.agents.registry import AGENTS, load_agent
from cuda_gym.agents.scripted import load_solution
from cuda_gym.core.device import Device
from cuda_gym.core.episode import Action, Observation, Turn
from cuda_gym.core.findings import Findings, Outcome
from cuda_gym.core.task import Submission, Task
from cuda_gym.core.verdict import Timing, Verdict
from cuda_gym.envs.cuda_kernel_env import CudaKernelEnv
from cuda_gym.envs.session import Session
from cuda_gym.episode import play
from cuda_gym.errors import AgentError, MachineError, UnknownTask
from cuda_gym.tasks.registry import load_task


class TrustingJudge:
    """Believes whatever has a launcher, and calls it twice as fast."""

    device = Device("cpu")

    def __init__(self, *, fails: bool = False) -> None:
        self.fails = fails

    def warm(self, task: Task) -> None: ...

    def close(self) -> None: ...

    def compile(self, task: Task, submission: Submission) -> Findings:
        return self._findings(submission, None)

    def verify(self, task: Task, submission: Submission, *, check: str = "values") -> Findings:
        return self._findings(submission, Outcome.CORRECT)

    def judge(self, task: Task, submission: Submission, *, counters: bool = False) -> Verdict:
        findings = self._findings(submission, Outcome.CORRECT)
        outcome = findings.outcome
        assert outcome is not None
        timing = Timing(
            time_us=1.0,
            compile_us=2.0,
            speedup=2.0,
            speedup_low=1.9,
            speedup_high=2.1,
            num_blocks=1,
            num_calls=1,
            timer="none",
        )
        return Verdict(
            outcome=outcome,
            task_id=task.id,
            submission=submission.hash,
            device="cpu",
            findings=findings,
            fingerprint=None,
            timing=timing if outcome is Outcome.CORRECT else None,
        )

    def _findings(self, submission: Submission, outcome: Outcome | None) -> Findings:
        if self.fails:
            return Findings(outcome=Outcome.MACHINE_ERROR, summary="The disk is full.")
        if not any('extern "C"' in text for _, text in submission.files):
            outcome = Outcome.COMPILE_ERROR
        return Findings(outcome=outcome, summary="Trusted.")


class Silent:
    """Says nothing that is understood, `num_actions` times, then does what it is told to."""

    name = "silent"

    def __init__(self, then: Any = None, num_actions: int = 10**6) -> None:
        self.then = then
        self.num_actions = num_actions
        self.seen: list[Observation] = []

    def reset(self, observation: Observation) -> None:
        self.seen = [observation]

    def act(self, observation: Observation) -> Action:
        self.seen.append(observation)
        if len(self.seen) > self.num_actions + 1:
            if isinstance(self.then, Exception):
                raise self.then
            return self.then  # type: ignore[no-any-return]
        return Action("...")


@pytest.fixture
def session() -> Iterator[Session]:
    session = Session(load_task("core/softmax"), TrustingJudge(), max_turns=6)
    yield session
    session.close()


@pytest.fixture
def env() -> Iterator[gym.Env[Any, Any]]:
    env: gym.Env[Any, Any] = CudaKernelEnv(judge=TrustingJudge(), max_turns=8)
    env = gym.wrappers.RecordEpisodeStatistics(env)
    yield env
    env.close()


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("seed", range(3))
def test_every_agent_plays_to_the_settlement(env: gym.Env[Any, Any], name: str, seed: int) -> None:
    agent = load_agent(name, task_id="core/bias_gelu", seed=seed)
    episode = play(env, agent, seed=seed, task="core/bias_gelu")
    assert (episode.agent, episode.task_id) == (name, "core/bias_gelu")
    assert 1 <= len(episode.turns) <= 8
    assert episode.void is None
    expected = episode.verdict.speedup if episode.verdict is not None else None
    assert episode.total_reward == pytest.approx(expected or 0.0)


def test_the_scripted_agent_hands_in_its_solution() -> None:
    session = Session(load_task("core/row_sum"), TrustingJudge(), max_turns=20)
    episode = play(session, load_agent("scripted", task_id="core/row_sum"))
    assert episode.verdict is not None
    assert episode.verdict.submission == Submission.of(load_solution("core/row_sum")).hash
    assert episode.total_reward == pytest.approx(2.0)
    session.close()


def test_an_agent_sees_what_the_record_says(session: Session) -> None:
    agent = Silent()
    episode = play(session, agent)
    first, *others = agent.seen
    assert first == others[0] == episode.first
    assert others[1:] == [turn.observation for turn in episode.turns[:-1]]


def test_an_agent_that_never_ends_is_ended_by_the_budget(session: Session) -> None:
    episode = play(session, Silent())
    assert len(episode.turns) == 6
    assert (episode.verdict, episode.void) == (None, None)


def test_whoever_watches_is_told_each_turn_once(env: gym.Env[Any, Any]) -> None:
    told: list[tuple[int, Turn]] = []
    episode = play(env, Silent(), seed=1, on_turn=lambda number, turn: told.append((number, turn)))
    assert told == list(enumerate(episode.turns, start=1))


def test_the_seed_chooses_the_task(env: gym.Env[Any, Any]) -> None:
    tasks = {seed: play(env, Silent(), seed=seed).task_id for seed in range(8)}
    assert len(set(tasks.values())) > 1
    assert all(play(env, Silent(), seed=seed).task_id == tasks[seed] for seed in range(8))


def test_a_session_can_be_played_again(session: Session) -> None:
    agent = load_agent("random", task_id="core/softmax", seed=4)
    assert play(session, agent).turns[0].action == play(session, agent).turns[0].action


def test_a_machine_that_fails_voids_the_episode() -> None:
    session = Session(load_task("core/softmax"), TrustingJudge(fails=True))
    episode = play(session, load_agent("scripted", task_id="core/softmax"))
    assert episode.void is not None
    assert "The disk is full" in episode.void
    assert (episode.verdict, episode.total_reward) == (None, 0.0)


@pytest.mark.parametrize("error", [MachineError("no network"), AgentError("no idea")])
def test_an_agent_that_gives_up_voids_the_episode(session: Session, error: Exception) -> None:
    episode = play(session, Silent(then=error, num_actions=2))
    assert episode.void == f"The agent 'silent' gave up: {error}"
    assert len(episode.turns) == 2
    assert episode.verdict is None


def test_a_defect_of_an_agent_is_shown_to_its_author(session: Session) -> None:
    with pytest.raises(KeyError, match="oops"):
        play(session, Silent(then=KeyError("oops"), num_actions=1))


@pytest.mark.parametrize("answer", [None, "submit", 7])
def test_an_answer_that_is_no_action_is_named(session: Session, answer: object) -> None:
    with pytest.raises(TypeError, match=rf"silent\.act returned a {type(answer).__name__}"):
        play(session, Silent(then=answer, num_actions=0))


def test_a_session_plays_no_other_task(session: Session) -> None:
    assert play(session, Silent(), task="core/softmax").task_id == "core/softmax"
    with pytest.raises(ValueError, match="plays 'core/softmax', not 'core/row_sum'"):
        play(session, Silent(), task="core/row_sum")


def test_an_environment_that_knows_no_such_task_says_so(env: gym.Env[Any, Any]) -> None:
    with pytest.raises(UnknownTask, match="Did you mean 'core/softmax'"):
        play(env, Silent(), task="core/softmx")


def test_another_environment_is_refused() -> None:
    with pytest.raises(TypeError, match="CartPoleEnv is no environment in which kernels"):
        play(gym.make("CartPole-v1"), Silent())
