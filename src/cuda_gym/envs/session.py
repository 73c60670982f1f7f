"""An episode without any framework: text in; observations, rewards and an end out.

Covered: turns, payment, settlement, snapshots, the record. No text makes `step` raise. Not covered:
choosing tasks and judges (`cuda_kernel_env`), threads: one session is used by one at a time.

What the last turn judges: files that were never judged are judged once. If nothing else was right,
that Verdict is final, since nothing was chosen. Otherwise the best submission by pooled speed-up is
chosen and judged afresh, so that a lucky measurement can decide the choice but never the pay.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cuda_gym.core.episode import Action, Episode, Observation, Stage, Turn
from cuda_gym.core.task import Submission, Task
from cuda_gym.envs.actions import parse_action
from cuda_gym.envs.brevity import shorten_repeated
from cuda_gym.envs.briefing import first_text, open_workspace
from cuda_gym.envs.feedback.profile_page import describe_verdict
from cuda_gym.envs.feedback.submit_page import describe_settlement
from cuda_gym.envs.observation import StepResult, info_of, observe, valid
from cuda_gym.envs.reward import REWARDS, Ledger, Measurement
from cuda_gym.envs.rules import Rules
from cuda_gym.envs.snapshot import Snapshot
from cuda_gym.envs.tools import Reply, SessionJudge, Tools, judge_steadily
from cuda_gym.envs.workspace import Workspace
from cuda_gym.errors import AgentError, MachineError, TaskError, WorkspaceError

__all__ = ["Session", "SessionJudge", "Snapshot", "StepResult"]

_JUDGING = ("compile", "verify", "profile")
"""The tools whose answer, given again, tells that nothing has changed."""
_RECENT_TURNS = 4
"""How far an agent is expected to remember what it was told."""


class Session:
    """One agent's conversation with one task.

    Args:
        task: What is to be computed.
        judge: Who compiles, verifies and times. It is shared; closing the session leaves it open.
        reward: A name of `REWARDS`.
        max_turns: Actions in an episode; the last one settles.
        observation_chars: The longest observation text.
        workspace: A folder to work in, kept; None makes a temporary one.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        task: Task,
        judge: SessionJudge,
        *,
        reward: str = "speedup",
        max_turns: int = 20,
        observation_chars: int = 8000,
        workspace: str | Path | None = None,
    ) -> None:
        self.task = task
        self.rules = Rules(reward=reward, max_turns=max_turns, observation_chars=observation_chars)
        self._judge = judge
        self._folder = None if workspace is None else Path(workspace)
        self._workspace: Workspace | None = None
        self._snapshot: Snapshot | None = None

    def reset(self) -> Observation:
        """Begin an episode. The observation depends on nothing but the arguments.

        Raises:
            StorageError: the workspace cannot be made.
        """
        workspace = self._opened()
        workspace.restore(workspace.start)
        self._judge.warm(self.task)
        text = first_text(self.task, self._judge.device, self.rules)
        metrics = {"paid": 0.0, "turns_used": 0.0, "turns_left": float(self.rules.max_turns)}
        first = observe(text, Stage.START, metrics, max_chars=self.rules.observation_chars)
        self._snapshot = Snapshot(
            files=workspace.start,
            start=workspace.start,
            ledger=Ledger(reward=REWARDS[self.rules.reward]),
            first=first,
        )
        return first

    def step(self, action: str | Action) -> StepResult:
        """Take a turn. Any text is answered; none raises. After the end, nothing happens."""
        text = valid(action if isinstance(action, str) else action.text)
        if self._state.ended:
            return self._refuse()
        reply = self._perform(text)
        self._learn(reply)
        told = self._told(reply)
        is_last = reply.ends or len(self._state.turns) + 1 == self.rules.max_turns
        if reply.void is None and is_last:
            reply = self._judge_finally(reply)
        return self._close_turn(text, told, reply, settles=is_last)

    def snapshot(self) -> Snapshot:
        """This moment, files included."""
        return replace(self._state, files=self._files())

    def restore(self, snapshot: Snapshot) -> None:
        """Go back, or over from another session on the same task.

        Raises:
            StorageError: the files cannot be written.
        """
        self._opened().restore(snapshot.files)
        self._snapshot = snapshot

    def episode(self, agent: str) -> Episode:
        """The record so far.

        Args:
            agent: Name of the agent.
        """
        state = self._state
        return Episode(
            task_id=self.task.id,
            device=str(self._judge.device),
            agent=agent,
            first=state.first,
            turns=state.turns,
            verdict=state.final,
            void=state.void,
            workspace=None if self._folder is None else str(self._folder),
        )

    def close(self) -> None:
        """Let go of the workspace; a temporary one is removed. Closing twice is fine."""
        if self._workspace is not None:
            self._workspace.close()
        self._workspace = None

    # A turn, in its order

    def _perform(self, text: str) -> Reply:
        """Write the files, run the call; what went wrong becomes the reply, by whose fault it is."""
        said: list[str] = []
        tool = None
        try:
            workspace = self._opened()
            parsed = parse_action(text)
            for file in parsed.writes:
                workspace.write(file.path, file.content)
                said.append(f"Wrote {file.path} ({len(file.content):,} characters).")
            said += parsed.notes
            if parsed.call is None:
                return Reply(said=tuple(said))
            tool = parsed.call.name[:60]
            tools = Tools(workspace=workspace, task=self.task, judge=self._judge)
            reply = tools.call(parsed.call)
        except AgentError as error:
            return Reply(text=str(error), said=tuple(said), tool=tool)
        except (MachineError, TaskError) as error:
            return Reply(said=tuple(said), tool=tool, void=str(error))
        return replace(reply, said=tuple(said), tool=tool)

    def _learn(self, reply: Reply) -> None:
        """Remember what was found about the files that were looked at."""
        if reply.submission is None:
            return
        if reply.verdict is not None:
            self._snapshot = self._state.with_verdict(reply.submission, reply.verdict)
        elif reply.findings is not None:
            self._snapshot = self._state.with_findings(reply.submission, reply.findings)

    def _told(self, reply: Reply) -> str:
        """All that is answered; a Verdict says where it stands among the others.

        An answer that the last turns gave too is told in short, but for what an agent asked to
        read: it may have forgotten that.
        """
        told = reply.text
        if reply.verdict is not None and reply.submission is not None:
            best = self._state.ledger.best
            standing = None if best is None else best.verdict
            told += "\n" + describe_verdict(reply.verdict, reply.submission, best=standing)
        if reply.tool in _JUDGING:
            recent = self._state.turns[-_RECENT_TURNS:]
            told = shorten_repeated(told.strip(), [turn.observation.text for turn in recent])
        return "\n".join(part for part in (*reply.said, told.strip("\n")) if part)

    def _judge_finally(self, reply: Reply) -> Reply:
        """Choose what counts, and judge it afresh."""
        try:
            final = self._final_measurement()
        except (MachineError, TaskError) as error:
            return replace(reply, void=str(error))
        if final is None:
            return reply
        return replace(reply, verdict=final.verdict, submission=final.submission)

    def _final_measurement(self) -> Measurement | None:
        """The Verdict that pays, with its files; None where nothing was handed in."""
        files, state = self._files(), self._state
        known, best = state.known.get(files), state.ledger.best
        is_new = files != self._opened().untouched and state.ledger.verdict_of(files) is None
        if is_new and (best is None or known is None or not known.fails):
            measurement = self._measure(files)
            if best is None:
                return measurement
            best = self._state.ledger.best
        if best is not None:
            return self._measure(best.submission)
        return state.ledger.measured[-1] if state.ledger.measured else None

    def _measure(self, files: Submission) -> Measurement:
        verdict = judge_steadily(lambda: self._judge.judge(self.task, files))
        self._learn(Reply(submission=files, findings=verdict.findings, verdict=verdict))
        return Measurement(submission=files, verdict=verdict)

    def _close_turn(self, text: str, told: str, reply: Reply, *, settles: bool) -> StepResult:
        """Pay, observe, record."""
        state = self._state
        if reply.void is not None:
            reward = 0.0
            state = replace(state, void=reply.void)
            told += f"\nThe episode is void, through no fault of yours: {reply.void}"
        elif settles:
            ledger, reward = state.ledger.settle(reply.verdict)
            state = replace(state, ledger=ledger, final=reply.verdict)
            settlement = describe_settlement(
                reply.verdict,
                reply.submission or state.start,
                paid=ledger.paid,
                ledger=ledger,
                present=self._files(),
            )
            told += f"\n\n{settlement}"
        else:
            ledger, reward = state.ledger.pay()
            state = replace(state, ledger=ledger)
        files = self._files()
        used = len(state.turns) + 1
        left = 0 if state.ended else self.rules.max_turns - used
        metrics = state.metrics_of(files)
        metrics |= {"reward": reward, "turns_used": float(used), "turns_left": float(left)}
        if not state.ended:
            told += f"\n\nTurns left: {left}."
        stage = state.stage_of(files)
        observation = observe(told.lstrip(), stage, metrics, max_chars=self.rules.observation_chars)
        turn = Turn(action=Action(text), observation=observation, reward=reward)
        self._snapshot = replace(state, turns=(*state.turns, turn))
        return self._result(observation, reward, reply)

    def _refuse(self) -> StepResult:
        """The answer after the end."""
        state = self._state
        how = "settled" if state.void is None else f"void: {state.void}"
        metrics = {"reward": 0.0, "paid": state.ledger.paid, "turns_left": 0.0}
        metrics["turns_used"] = float(len(state.turns))
        text = f"The episode is over ({how}). Nothing was done; reset begins another."
        observation = observe(text, Stage.SETTLED, metrics, max_chars=self.rules.observation_chars)
        return self._result(observation, 0.0, Reply())

    def _result(self, observation: Observation, reward: float, reply: Reply) -> StepResult:
        state = self._state
        return StepResult(
            observation=observation,
            reward=reward,
            terminated=state.ledger.settled,
            truncated=state.void is not None,
            info=info_of(
                task_id=self.task.id,
                stage=observation.stage,
                tool=reply.tool,
                findings=reply.findings,
                verdict=reply.verdict,
                void=state.void,
            ),
        )

    # Handles

    @property
    def _state(self) -> Snapshot:
        if self._snapshot is None:
            self.reset()
        assert self._snapshot is not None
        return self._snapshot

    def _files(self) -> Submission:
        """The present files; the starting ones where the folder cannot be read as it is."""
        workspace = self._opened()
        try:
            return workspace.freeze()
        except WorkspaceError:
            return workspace.start

    def _opened(self) -> Workspace:
        if self._workspace is None:
            self._workspace = open_workspace(self.task, self._judge.device, self._folder)
        return self._workspace
