from __future__ import annotations

from pathlib import Path

import pytest

from cuda_gym.envs.skills import (
    MAX_CHARS,
    READING_ORDER,
    SkillShelf,
    describe_shelf,
    describe_skill,
    parse_skill,
    read_shelf,
    skills,
)
from cuda_gym.errors import BadAction


def page(name: str, *, description: str = "when to read it", devices: str = "[cpu, cuda]") -> bytes:
    front = f"---\nname: {name}\ndescription: {description}\ndevices: {devices}\n---\n"
    return f"{front}# {name}\n".encode()


def shelf_of(folder: Path, pages: dict[str, bytes]) -> SkillShelf:
    for name, content in pages.items():
        (folder / name).mkdir()
        (folder / name / "SKILL.md").write_bytes(content)
    return read_shelf(folder)


def test_a_page_is_served_without_its_front_matter() -> None:
    skill = parse_skill("tiles", page("tiles", devices="[cuda]"))
    assert (skill.name, skill.description, skill.devices) == ("tiles", "when to read it", ("cuda",))
    assert skill.text == "# tiles"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"# tiles\n", "no front matter"),
        (page("tile"), "its name is 'tile', its folder 'tiles'"),
        (page("tiles", devices="[cpu, tpu]"), "its devices are '[cpu, tpu]'"),
        (page("tiles", devices="cpu"), "write a list"),
        (page("tiles", devices="[]"), "write a list"),
        (page("tiles", description=""), "description or its page is empty"),
        (page("tiles").replace(b"devices", b"device"), "has the line 'device: [cpu, cuda]'"),
        (page("tiles").replace(b"devices: [cpu, cuda]\n", b""), "lacks devices"),
        (page("tiles") + b"x" * MAX_CHARS, "are too many"),
        (page("tiles") + b"\xff", "is not UTF-8"),
    ],
)
def test_a_broken_page_is_told_and_the_others_are_served(
    tmp_path: Path, content: bytes, why: str
) -> None:
    shelf = shelf_of(tmp_path, {"tiles": content, "warps": page("warps")})
    listed = describe_shelf(shelf, "cpu").split("\n")
    assert list(shelf.skills) == ["warps"]
    [told] = [line for line in listed if line.startswith("broken: tiles: ")]
    assert why in told
    with pytest.raises(BadAction, match="It is broken: "):
        describe_skill(shelf, "tiles", "cpu")


def test_a_folder_without_a_page_is_told(tmp_path: Path) -> None:
    (tmp_path / "tiles").mkdir()
    assert "broken: tiles: it has no SKILL.md." in describe_shelf(read_shelf(tmp_path), "cpu")


def test_a_skill_of_another_device_is_marked(tmp_path: Path) -> None:
    shelf = shelf_of(tmp_path, {"tiles": page("tiles", devices="[cuda]"), "warps": page("warps")})
    assert describe_shelf(shelf, "cpu").split("\n")[-1].startswith("tiles (only on cuda): ")
    assert "(only on" not in describe_shelf(shelf, "cuda")
    assert describe_skill(shelf, "tiles", "cpu").startswith("This holds on cuda only; here is cpu.")


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        ("launcher", "launchers"),
        ("share_memory", "shared_memory"),
        ("coalescing", "memory_access"),
        ("occupancy", "compiler_output"),
        ("Tensor cores", "matmul"),
    ],
)
def test_an_unknown_name_gets_the_three_nearest(asked: str, nearest: str) -> None:
    with pytest.raises(BadAction) as caught:
        describe_skill(skills(), asked, "cpu")
    _, _, after = str(caught.value).partition("The nearest are ")
    names = after.partition(";")[0].split(", ")
    assert names[0] == nearest
    assert len(names) == 3


def test_capitals_and_hyphens_are_no_other_name() -> None:
    assert describe_skill(skills(), " Cpu-Device ", "cpu") == skills().skills["cpu_device"].text


def test_our_own_skills_are_whole_and_in_a_good_order() -> None:
    assert not skills().broken
    assert tuple(skills().skills) == READING_ORDER
