from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuda_gym.core.episode import Stage
from cuda_gym.core.findings import Diagnostic, Findings, Outcome, Severity
from cuda_gym.core.task import Submission, Task
from cuda_gym.envs.actions import ToolCall, format_action
from cuda_gym.envs.reward import REWARDS, Reward
from cuda_gym.envs.session import Session
from cuda_gym.envs.tools import TOOL_NAMES
from cuda_gym.errors import StorageError


def write(judgement: str, call: str | None = None) -> str:
    """An action that writes a scripted model_new.py, then calls."""
    files = {"model_new.py": f"# judge: {judgement}\n", "kernels/relu.cu": "int x;\n    y = 1;\n"}
    return format_action(files, None if call is None else ToolCall(call))


def call(name: str, **arguments: Any) -> str:
    return format_action(call=ToolCall(name, arguments))


@pytest.fixture
def session(task: Task, judge: Any) -> Iterator[Session]:
    session = Session(task, judge, max_turns=5)
    yield session
    session.close()


def test_an_episode_from_a_compile_error_to_a_settled_speedup(session: Session) -> None:
    first = session.reset()
    assert first.stage is Stage.START
    assert "class Model(nn.Module)" in first.text
    broken = session.step(write("compile_error", "compile"))
    assert broken.info["outcome"] == "compile_error"
    assert "kernels/relu.cu:2:5: error" in broken.observation.text
    assert "|     y = 1;\n" in broken.observation.text
    assert broken.observation.metrics["num_errors"] == 1
    wrong = session.step(write("wrong", "verify"))
    assert wrong.observation.metrics["wrong_fraction"] == 4 / 32
    assert "[3, 7]: got 9, expected 1" in wrong.observation.text
    timed = session.step(write("correct 2.0", "profile"))
    assert timed.reward == 2.0
    assert timed.observation.stage is Stage.TIMED
    assert "2.00x" in timed.observation.text
    assert timed.info["speedup"] == 2.0
    end = session.step(call("submit"))
    assert (end.reward, end.terminated, end.truncated) == (0.0, True, False)
    assert end.observation.stage is Stage.SETTLED
    episode = session.episode("scripted")
    assert episode.total_reward == 2.0
    assert episode.verdict is not None
    assert episode.verdict.outcome is Outcome.CORRECT
    assert len(episode.turns) == 4


def test_the_best_submission_is_settled_on_and_not_the_last(session: Session, judge: Any) -> None:
    session.step(write("correct 3.0", "profile"))
    session.step(write("correct 1.0", "profile"))
    end = session.step(call("submit"))
    assert "correct 3.0" in (judge.judged[-1].text("model_new.py") or "")
    assert session.episode("").total_reward == 3.0
    assert end.terminated


def test_files_that_were_never_timed_are_judged_once_at_the_end(
    session: Session, judge: Any
) -> None:
    session.step(write("correct 1.5"))
    session.step(call("submit"))
    assert len(judge.judged) == 1
    assert session.episode("").total_reward == 1.5


def test_untimed_files_that_are_better_win_and_are_judged_afresh(
    session: Session, judge: Any
) -> None:
    session.step(write("correct 1.0", "profile"))
    session.step(write("correct 2.0", "submit"))
    assert len(judge.judged) == 3
    assert session.episode("").total_reward == 2.0


def test_untimed_files_known_to_be_wrong_are_not_judged_beside_a_right_one(
    session: Session, judge: Any
) -> None:
    session.step(write("correct 2.0", "profile"))
    session.step(write("wrong", "verify"))
    session.step(call("submit"))
    assert len(judge.judged) == 2
    assert session.episode("").total_reward == 2.0


def test_a_memory_check_says_nothing_about_the_values(session: Session, judge: Any) -> None:
    session.step(write("correct 1.0", "profile"))
    session.step(write("correct 2.0"))
    checked = session.step(call("verify", check="memory"))
    assert checked.info["outcome"] == "unsupported_on_device"
    assert checked.observation.stage is Stage.EDITED
    session.step(call("submit"))
    assert session.episode("").total_reward == 2.0


def test_an_untouched_workspace_returns_nothing_and_costs_no_judgement(
    session: Session, judge: Any
) -> None:
    end = session.step(call("submit"))
    assert end.terminated
    assert end.reward == 0.0
    assert not judge.judged
    assert session.episode("").verdict is None


def test_the_last_turn_settles_whatever_it_does(session: Session) -> None:
    session.step(write("correct 2.5"))
    results = [session.step(call("list_files")) for _ in range(4)]
    assert [r.terminated for r in results] == [False, False, False, True]
    assert results[-1].reward == 2.5
    assert results[-1].observation.metrics["turns_left"] == 0


def test_a_refused_final_submission_returns_what_doing_nothing_returns(
    task: Task, judge: Any
) -> None:
    session = Session(task, judge, reward="log_speedup")
    session.step(write("refused", "submit"))
    assert session.episode("").total_reward == 0.0
    session.close()


def test_milestone_pays_only_at_the_end(task: Task, judge: Any) -> None:
    session = Session(task, judge, reward="milestone")
    assert session.step(write("correct 2.0", "profile")).reward == 0.0
    assert session.step(call("submit")).reward == 4.0
    session.close()


def test_one_machine_error_is_tried_again_and_two_void_the_episode(
    session: Session, judge: Any
) -> None:
    judge.failures = 1
    assert session.step(write("correct 2.0", "profile")).reward == 2.0
    judge.failures = 2
    void = session.step(call("profile"))
    assert (void.reward, void.terminated, void.truncated) == (0.0, False, True)
    assert "failed twice" in void.info["void"]
    assert session.episode("").void is not None
    after = session.step(call("submit"))
    assert after.reward == 0.0
    assert after.truncated


def test_a_machine_error_while_settling_voids_too(session: Session, judge: Any) -> None:
    session.step(write("correct 2.0"))
    judge.failures = 2
    result = session.step(call("submit"))
    assert (result.reward, result.terminated, result.truncated) == (0.0, False, True)


def test_after_the_end_a_step_says_so_and_pays_nothing(session: Session) -> None:
    session.step(call("submit"))
    again = session.step(write("correct 9.0", "profile"))
    assert again.reward == 0.0
    assert again.terminated
    assert "over" in again.observation.text
    assert len(session.episode("").turns) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "\x00\ud800\ufffe",
        "```json\n{\n```",
        '{"name": "explode"}',
        '{"name": "read_file", "arguments": {"pth": "model.py"}}',
        '{"name": "read_file", "arguments": {"path": 3}}',
        '{"name": "write_file", "arguments": {"path": "../x", "content": ""}}',
        '{"name": "write_file", "arguments": {"path": "model.py", "content": ""}}',
        '{"name": "write_file", "arguments": {"path": "kernels/a.cu", "content": "\\ud800"}}',
        '{"name": "read_file", "arguments": {"path": "/dev/zero"}}',
        '{"name": "search", "arguments": {"pattern": "(a+)+$("}}',
        '{"name": "verify", "arguments": {"check": "speed"}}',
        "```cuda file=kernels/a.exe\nx\n```",
        "x" * 10_000_000,
        "```cuda file=kernels/a.cu\n" + "x" * 10_000_000 + "\n```",
        '{"name": "' + "y" * 10_000_000 + '"}',
        "[" * 1_000_000,
    ],
    ids=lambda text: ascii(text[:40]),
)
def test_any_text_is_answered_in_a_valid_bounded_observation(session: Session, text: str) -> None:
    result = session.step(text)
    assert len(result.observation.text) <= 8000
    result.observation.text.encode("utf-8")
    assert not result.terminated
    assert "Turns left: 4." in result.observation.text
    assert session.step(call("list_files")).observation.text.startswith("SKILL.md")


def test_an_answer_that_an_edit_has_not_changed_is_told_in_short(task: Task, judge: Any) -> None:
    class Unmoved(type(judge)):  # type: ignore[misc]
        def compile(self, task: Task, submission: Submission) -> Findings:
            errors = tuple(
                Diagnostic(severity=Severity.ERROR, message=f"{n} " + "no " * 80, file=f"{n}.cu")
                for n in range(6)
            )
            return Findings(outcome=Outcome.COMPILE_ERROR, summary="6 errors.", diagnostics=errors)

    session = Session(task, Unmoved(), max_turns=5)
    first = session.step(call("compile")).observation.text
    again = session.step(write("correct", "compile")).observation.text
    assert again.startswith(
        "Wrote model_new.py (17 characters).\nWrote kernels/relu.cu (18 characters).\n"
        "The same answer as the last turn, word for word:\n6 errors."
    )
    assert len(again) < 1000 < len(first)
    assert again.endswith("Turns left: 3.")
    read = session.step(call("read_file", path="model.py")).observation.text
    assert session.step(call("read_file", path="model.py")).observation.text[:300] == read[:300]
    session.close()


def test_every_tool_answers_in_an_episode(task: Task, judge: Any) -> None:
    arguments: dict[str, dict[str, Any]] = {
        "read_file": {"path": "model.py", "first_line": "5", "last_line": 5},
        "write_file": {"path": "model_new.py", "content": "# judge: correct 1.0\n"},
        "edit_file": {"path": "model_new.py", "old": "1.0", "new": "4.0"},
        "search": {"pattern": r"class\s+Mo"},
    }
    session = Session(task, judge)
    told = {name: session.step(call(name, **arguments.get(name, {}))) for name in TOOL_NAMES}
    assert all(result.info["tool"] == name for name, result in told.items())
    assert "launchers:" in told["read_skill"].observation.text
    assert "class Model(nn.Module):" in told["read_file"].observation.text
    assert "model.py:5: class Model" in told["search"].observation.text
    assert told["compile"].observation.stage is Stage.COMPILED
    assert told["verify"].observation.stage is Stage.VERIFIED
    assert told["profile"].reward == 4.0
    assert told["submit"].terminated
    session.close()


def test_a_snapshot_brings_back_files_turns_and_pay(task: Task, judge: Any) -> None:
    session = Session(task, judge)
    session.step(write("correct 2.0", "profile"))
    saved = pickle.loads(pickle.dumps(session.snapshot()))
    session.step(write("correct 5.0", "profile"))
    session.step(call("submit"))
    session.restore(saved)
    assert session.snapshot() == saved
    assert session.step(write("correct 3.0", "profile")).reward == 1.0
    session.step(call("submit"))
    assert session.episode("").total_reward == 3.0
    session.close()


def test_editing_forgets_the_numbers_and_going_back_remembers_them(session: Session) -> None:
    session.step(write("correct 2.0", "profile"))
    edited = session.step(write("correct 1.0")).observation
    assert edited.stage is Stage.EDITED
    assert "speedup" not in edited.metrics
    assert edited.metrics["best_speedup"] == 2.0
    back = session.step(write("correct 2.0")).observation
    assert back.stage is Stage.TIMED
    assert back.metrics["speedup"] == 2.0


def test_the_first_observation_is_the_same_in_every_session(task: Task, judge: Any) -> None:
    sessions = [Session(task, judge) for _ in range(2)]
    first, second = (session.reset() for session in sessions)
    assert first == second
    sessions[0].step(write("correct 2.0", "profile"))
    assert sessions[0].reset() == first
    for session in sessions:
        session.close()


def test_info_is_fresh_plain_and_without_none(session: Session) -> None:
    results = [session.step(write("correct 2.0", "profile")), session.step(call("profile"))]
    infos = [result.info for result in results]
    assert "null" not in json.dumps(infos)
    assert infos[0]["verdict"] is not infos[1]["verdict"]
    assert infos[0]["verdict"]["timing"]["speedup"] == 2.0


def test_a_given_folder_is_kept_continued_and_locked(
    task: Task, judge: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    session = Session(task, judge, workspace=folder)
    session.step(write("correct 2.0"))
    with pytest.raises(StorageError, match="in use"):
        Session(task, judge, workspace=folder).reset()
    session.close()
    again = Session(task, judge, workspace=folder)
    assert again.reset().stage is Stage.START
    assert "# judge: correct 2.0" in (folder / "model_new.py").read_text()
    assert again.step(call("submit")).reward == 2.0
    again.close()


def test_links_pipes_and_folders_in_the_workspace_are_answered(
    task: Task, judge: Any, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.cu"
    secret.write_text("secret")
    session = Session(task, judge, workspace=tmp_path / "work")
    session.reset()
    kernels = tmp_path / "work" / "kernels"
    kernels.mkdir()
    (kernels / "link.cu").symlink_to(secret)
    linked = session.step(call("read_file", path="kernels/link.cu"))
    assert "is a link" in linked.observation.text
    written = session.step(call("write_file", path="kernels/link.cu", content="mine"))
    assert secret.read_text() == "secret"
    assert "symbolic link" in written.observation.text
    assert "symbolic link" in session.step(call("profile")).observation.text
    (kernels / "link.cu").unlink()
    os.mkfifo(kernels / "pipe.cu")
    assert "pipe" in session.step(call("read_file", path="kernels/pipe.cu")).observation.text
    (kernels / "pipe.cu").unlink()
    assert session.step(write("correct 1.0", "profile")).reward == 1.0
    session.close()


def test_measuring_again_cannot_fish_for_noise(task: Task, make_judge: Callable[..., Any]) -> None:
    """Pay along the way may follow the noise; the return is the one fresh final judgement."""
    session = Session(task, make_judge(noise=0.04), max_turns=30)
    session.step(write("correct 1.0"))
    for _ in range(20):
        session.step(call("profile"))
    end = session.step(call("submit"))
    assert session.episode("").total_reward == pytest.approx(end.info["speedup"], abs=1e-7)
    session.close()


acts = st.sampled_from(
    [
        *(write(f"correct {ratio}", "profile") for ratio in (0.3, 1.0, 1.7)),
        *(
            write(outcome, tool)
            for outcome in ("wrong", "refused")
            for tool in ("verify", "profile")
        ),
        write("correct 5.0"),
        call("profile"),
        call("submit"),
        "junk",
    ]
)


@pytest.mark.parametrize("reward", REWARDS.values(), ids=REWARDS.keys())
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(actions=st.lists(acts, max_size=6), seed=st.integers(0, 1000))
def test_whatever_is_done_the_return_is_what_the_final_verdict_is_worth(
    task: Task,
    make_judge: Callable[..., Any],
    reward: Reward,
    actions: list[str],
    seed: int,
) -> None:
    session = Session(task, make_judge(noise=0.04, seed=seed), reward=reward.name, max_turns=6)
    results = [session.step(text) for text in [*actions, *[call("submit")] * 6]]
    assert results[5].terminated
    final = session.episode("").verdict
    counted = None if final is None or final.outcome is Outcome.REFUSED else final
    assert sum(result.reward for result in results) == reward.phi(counted) - reward.phi(None)
    assert all(result.reward == 0.0 for result in results[len(session.episode("").turns) :])
    session.close()
