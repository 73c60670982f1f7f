"""The README's Python runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def test_the_python_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"^`{3,4}python\n(.*?)^`{3,4}$", README.read_text(), re.M | re.S)
    assert len(blocks) == 2
    names: dict[str, object] = {}
    exec(blocks[0], names)
    names["env"].reset(seed=0)  # type: ignore[attr-defined]
    exec(blocks[1], names)
    names["env"].close()  # type: ignore[attr-defined]
    said = capsys.readouterr().out
    assert "Task core/row_sum" in said
    assert re.search(r"^\d+\.\d\dx torch.compile, verified: \d+\.\d\d earned$", said, re.M)


def test_the_readme_has_its_first_python_by_line_forty() -> None:
    lines = README.read_text().splitlines()
    assert lines.index("```python") < 40


@pytest.mark.parametrize("page", [README, *sorted((README.parent / "docs").glob("*.md"))])
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    prose = re.sub(r"`[^`\n]+`", "", page.read_text())  # code may look like a link
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", prose)
    missing = [link for link in links if not (page.parent / link).exists()]
    assert missing == []
