"""The form of every page, and what pages promise of tools and of each other."""

from __future__ import annotations

import re

import pytest
from tests.skills.examples import blocks, task_of

from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Submission
from cuda_gym.envs.actions import ToolCall, parse_action
from cuda_gym.envs.skills import MAX_CHARS, skills
from cuda_gym.envs.tools import TOOL_NAMES
from cuda_gym.judge.judge import Judge

PAGES = dict(skills().skills)


def prose(skill: str) -> str:
    """A page without its code."""
    return re.sub(r"^(`{3,})[^\n]*\n.*?^\1$", "", PAGES[skill].text, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("skill", PAGES)
def test_a_page_is_two_pages_at_most_and_its_lines_are_readable(skill: str) -> None:
    page = PAGES[skill]
    assert len(page.text) < MAX_CHARS
    assert page.text.startswith("# ")
    assert 40 < len(page.description) <= 106
    assert max(map(len, prose(skill).splitlines())) <= 120


@pytest.mark.parametrize("skill", PAGES)
def test_all_code_of_a_page_names_its_file(skill: str) -> None:
    for block in blocks(skill):
        assert block.file is not None or block.info.split(" ")[0] in {"", "text"}, block.info


def test_pages_refer_to_skills_that_exist() -> None:
    for skill in PAGES:
        named = re.findall(r"skills? `(\w+)`", prose(skill))
        assert set(named) <= PAGES.keys(), skill


def test_only_tools_that_exist_are_taught() -> None:
    text = "".join(page.text for page in PAGES.values())
    taught = set(re.findall(r'"name": "(\w+)"', text)) - {"NAME"}
    assert taught <= set(TOOL_NAMES)
    table = re.findall(r"^\| (`.*?) \|", PAGES["episode"].text, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", "".join(table))) >= {"compile", "verify", "profile", "submit"}


def test_the_action_that_the_episode_page_shows_is_a_right_submission(judge: Judge) -> None:
    [action] = [block.body for block in blocks("episode") if block.info == ""]
    parsed = parse_action(action)
    assert parsed.call == ToolCall("verify")
    submission = Submission.of({write.path: write.content for write in parsed.writes})
    assert judge.verify(task_of("episode"), submission).outcome is Outcome.CORRECT
