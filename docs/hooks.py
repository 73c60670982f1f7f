"""What the pages of the documentation take from the code, so that nothing is written twice.

A line `<!-- insert: WHAT ARGUMENT -->` in a page is replaced by what `_INSERTS` makes of it. Skills,
measured results, CONTRIBUTING and CHANGELOG become pages where they stand. Links are written as they
hold in the repository; a link to a page of the site is turned to it, one to a source file is dropped.
"""

from __future__ import annotations

import inspect
import os.path
import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import cuda_gym
from cuda_gym.agents.scripted import solved_tasks
from cuda_gym.core.task import Task
from cuda_gym.envs.observation import METRICS
from cuda_gym.envs.prompt import PAYS
from cuda_gym.envs.reward import REWARDS
from cuda_gym.envs.signatures import call_form
from cuda_gym.envs.skills import skills
from cuda_gym.envs.tools import TOOL_NAMES, Tools
from cuda_gym.tasks.registry import list_tasks

ROOT = Path(__file__).parents[1]
RESULTS = sorted((ROOT / "benchmarks" / "results").glob("*.md"))
PICTURES = sorted((ROOT / "benchmarks" / "results").glob("*.svg"))
EPISODES = ("success", "compile_repair", "race", "numerics", "slow_to_fast")

_INSERT = re.compile(r"^<!-- insert: (\w+) ?(.*?) -->$", re.MULTILINE)
_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<path>[^)\s#:]+)(?P<anchor>#[^)\s]*)?\)")
_LIST = re.compile(r"^(?!- |  )(.+)\n(?=- )", re.MULTILINE)
_FENCE_NOTE = re.compile(r"^(`{3,}\w+) (?:file=)?(\S+)$", re.MULTILINE)
_FENCED = re.compile(r"^(`{3,})[^\n]*\n.*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages that are made from elsewhere into the navigation."""
    _extend(config.nav, "skills/index.md", [f"skills/{name}.md" for name in skills().skills])
    _extend(config.nav, "results/index.md", [f"results/{path.name}" for path in RESULTS])
    played = [f"episodes/{name}.md" for name in EPISODES]
    there = [page for page in played if (ROOT / "docs" / page).exists()]
    _extend(config.nav, "episodes/index.md", there)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Make pages of what stands outside of the documentation's folder."""
    for place, page in _pages_elsewhere().items():
        if page.startswith("skills/"):
            skill = skills().skills[page.removeprefix("skills/").removesuffix(".md")]
            content = _FENCE_NOTE.sub(r'\1 title="\2"', f"{skill.text}\n")
        else:
            content = (ROOT / place).read_text("utf-8")
        files.append(File.generated(config, page, content=_linked(content, place, page)))
    for place, page in _pictures_elsewhere().items():
        files.append(File.generated(config, page, content=(ROOT / place).read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fill the inserts of a page, and turn its links."""
    del config, files
    uri = page.file.src_uri
    if page.file.generated_by is not None:
        return markdown
    linked = _linked(markdown, f"docs/{uri}", uri)
    return _INSERT.sub(lambda match: _INSERTS[match[1]](match[2], uri), linked)


# What can be inserted; each is given its argument and the page


def _readme(heading: str, page: str) -> str:
    """A section of the README; `-` is what stands before its first."""
    text = (ROOT / "README.md").read_text("utf-8")
    if heading == "-":
        section = text.split("\n", 1)[1].split("\n## ", 1)[0]
    else:
        section = f"## {heading}\n" + text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return _linked(section.strip(), "README.md", page)


def _docstring(path: str, page: str) -> str:
    del page
    module, _, name = path.rpartition(".")
    doc = inspect.getdoc(getattr(import_module(module), name)) or ""
    return _LIST.sub(r"\1\n\n", doc)


def _module(path: str, page: str) -> str:
    """What a module says of itself."""
    del page
    doc = inspect.getdoc(import_module(path)) or ""
    return _LIST.sub(r"\1\n\n", doc)


def _tools(argument: str, page: str) -> str:
    del argument, page
    rows = []
    for schema in cuda_gym.tool_schemas():
        function = schema["function"]
        about = " ".join(function["description"].split())
        arguments = function["parameters"]["properties"]
        told = "".join(f"<br>`{name}`: {arg['description']}" for name, arg in arguments.items())
        rows.append((_code(call_form(getattr(Tools, function["name"]))), about + told))
    assert len(rows) == len(TOOL_NAMES)
    return _table(("call", "what it does"), rows)


def _metrics(argument: str, page: str) -> str:
    del argument, page
    return _table(("name", "what it says"), [(_code(name), says) for name, says in METRICS.items()])


def _rewards(argument: str, page: str) -> str:
    del argument, page
    parts = []
    for name, function in REWARDS.items():
        doc = (inspect.getdoc(function) or "").split("\n>>>", 1)[0].strip()
        parts.append(f"### `{name}`\n\nAn episode pays {PAYS[name]}.\n\n{doc}")
    return "\n\n".join(parts)


def _prompt(task: str, page: str) -> str:
    del page
    text = cuda_gym.system_prompt(task, "cpu")
    return f"````text\n{text}\n````"


def _tasks(suite: str, page: str) -> str:
    del page
    rows = [
        (_code(task.id), task.title, task.family, _word(task, "band"), _word(task, "roofline"))
        for task in sorted(list_tasks(suite), key=lambda task: (_rank(task), task.id))
    ]
    return _table(("task", "what it computes", "family", "band", "bound by"), rows)


def _skill_table(argument: str, page: str) -> str:
    del argument, page
    rows = [
        (f"[{skill.name}]({skill.name}.md)", skill.description, ", ".join(skill.devices))
        for skill in skills().skills.values()
    ]
    return _table(("skill", "when to read it", "devices"), rows)


def _result_table(argument: str, page: str) -> str:
    del argument, page
    rows = [(f"[{_title(path)}]({path.name})", _script(path.stem)) for path in RESULTS]
    return _table(("result", "measured by"), rows)


def _script(result: str) -> str:
    name = f"benchmarks/{result}.py"
    return _code(name) if (ROOT / name).is_file() else "by hand, as the page says"


def _result(argument: str, page: str) -> str:
    """A section of a result: `name heading`, one level lower than it is there."""
    name, _, heading = argument.partition(" ")
    place = f"benchmarks/results/{name}.md"
    text = (ROOT / place).read_text("utf-8")
    section = text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return f"### {heading}\n{_linked(section, place, page)}"


def _solved(argument: str, page: str) -> str:
    del argument, page
    return f"Tasks with a solution: {', '.join(_code(task) for task in solved_tasks())}."


def _api(argument: str, page: str) -> str:
    del argument, page
    parts = []
    for name in cuda_gym.__all__:
        value = getattr(cuda_gym, name)
        if name.isupper():
            parts.append(f"### `{name}`\n\n`{value!r}`: the ids under which it is registered.")
        else:
            parts.append(f"::: {value.__module__}.{name}")
    return "\n\n".join(parts)


_INSERTS: Mapping[str, Callable[[str, str], str]] = {
    "readme": _readme,
    "docstring": _docstring,
    "module": _module,
    "tools": _tools,
    "metrics": _metrics,
    "rewards": _rewards,
    "prompt": _prompt,
    "tasks": _tasks,
    "skills": _skill_table,
    "results": _result_table,
    "result": _result,
    "solved": _solved,
    "api": _api,
}


# Links


def _pages_elsewhere() -> dict[str, str]:
    """The page of each file outside of the documentation's folder that becomes one."""
    pages = {
        f"src/cuda_gym/skills/{name}/SKILL.md": f"skills/{name}.md" for name in skills().skills
    }
    pages |= {f"benchmarks/results/{path.name}": f"results/{path.name}" for path in RESULTS}
    return {**pages, "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}


def _pictures_elsewhere() -> dict[str, str]:
    """Likewise of pictures."""
    return {f"benchmarks/results/{path.name}": f"results/{path.name}" for path in PICTURES}


def _linked(markdown: str, place: str, page: str) -> str:
    """The text with its links as they hold on the site, but for those in code.

    Args:
        markdown: The text.
        place: The file it comes from, seen from the root of the repository.
        page: The page that it is on.
    """

    def turned(match: re.Match[str]) -> str:
        target = os.path.normpath(PurePosixPath(place).parent / match["path"])
        to = {"README.md": "index.md", **_pages_elsewhere(), **_pictures_elsewhere()}.get(target)
        if to is None and target.startswith("docs/"):
            to = target.removeprefix("docs/")
        if to is not None:
            relative = os.path.relpath(to, PurePosixPath(page).parent)
            return f"{match['image']}[{match['text']}]({relative}{match['anchor'] or ''})"
        return match["text"] if (ROOT / target).exists() else match[0]

    parts, at = [], 0
    for code in _FENCED.finditer(markdown):
        parts += [_LINK.sub(turned, markdown[at : code.start()]), code[0]]
        at = code.end()
    return "".join([*parts, _LINK.sub(turned, markdown[at:])])


# Small things


def _extend(nav: Any, index: str, pages: list[str]) -> None:
    """Add pages to the section of the navigation that an index page opens."""
    for entry in nav:
        for value in entry.values() if isinstance(entry, dict) else ():
            if isinstance(value, list):
                if index in value:
                    value.extend(pages)
                _extend(value, index, pages)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _code(text: str) -> str:
    escaped = text.replace("|", "&#124;").replace("<", "&lt;")
    return f"<code>{escaped}</code>"


def _word(task: Task, name: str) -> str:
    value = getattr(task, name)
    return "-" if value is None else value.value


def _rank(task: Task) -> int:
    return ("easy", "medium", "hard", "-").index(_word(task, "band"))


def _title(path: Path) -> str:
    return path.read_text("utf-8").split("\n", 1)[0].removeprefix("# ")
