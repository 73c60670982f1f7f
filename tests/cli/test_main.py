from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cuda_gym.cli.exit_codes import ExitCode
from cuda_gym.cli.main import main
from cuda_gym.judge.sandbox.limits import descendants

VERBS = ("demo", "doctor", "tasks", "play", "show", "judge", "run", "check", "serve")
SOLUTIONS = Path(__file__).parents[2] / "src" / "cuda_gym" / "agents" / "solutions"
PROGRAM = (sys.executable, "-m", "cuda_gym")


@pytest.mark.parametrize("typed", [[], ["--help"], ["-h"]])
def test_help_names_every_verb_and_every_exit_code(
    typed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(typed) == 0
    told = capsys.readouterr().out
    assert all(f" {verb} " in told for verb in VERBS)
    assert all(f"\n- {code} " in told for code in (0, 1, 2, 3, 4, 130))
    assert len(told.splitlines()) < 30


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_explains_itself_and_its_exit_codes(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([verb, "--help"]) == 0
    told = capsys.readouterr().out
    assert f"cuda-gym {verb}" in told
    assert "\n- 0 " in told


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("cuda-gym 0.")


@pytest.mark.parametrize(
    ("typed", "code", "told"),
    [
        (["tsks"], 2, "There is no verb 'tsks'. Did you mean 'tasks'?"),
        (["play", "--seed", "None"], 2, "--seed INT"),
        (["play", "--max-turn", "3"], 2, "--max-turns INT"),
        (["judge", "core/softmax"], 2, "FOLDER"),
        (["play", "--keep", "/proc/none"], 2, "--keep: The folder '/proc/none' cannot be made"),
        (["demo", "--keep", __file__], 2, "cannot be made or written: File exists"),
        (["play", "--max-turns", "many"], 2, "--max-turns"),
        (["play", "--max-turns", "0"], 2, "--max-turns is at least 1; got 0"),
        (["play", "--episodes", "0"], 2, "--episodes is at least 1"),
        (["play", "--agent", "scriptd"], 2, "Did you mean 'scripted'"),
        (["play", "--reward", "speed"], 2, "Did you mean 'speedup'"),
        (["play", "--device", "gpu"], 2, "There is no device 'gpu'"),
        (["play", "--device", "cuda:99"], 3, "There is no cuda:99"),
        (["play", "--task", "core/softmx"], 4, "Did you mean 'core/softmax'"),
        (["demo", "--task", "core/softmx"], 4, "Did you mean 'core/softmax'"),
        (["play", "--task", "core"], 4, "There is no task 'core', but a suite of that name."),
        (["tasks", "cor"], 4, "Did you mean 'core'"),
        (["judge", "core/softmx", "."], 4, "Did you mean 'core/softmax'"),
        (["judge", "core/softmax", "/no/such/folder"], 2, "'/no/such/folder' cannot be opened"),
    ],
)
def test_what_makes_no_sense_is_told_with_a_remedy_and_its_exit_code(
    typed: list[str], code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(typed) == code
    said = capsys.readouterr()
    assert told in said.err
    assert said.out == ""


def test_with_json_an_error_is_one_document_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", "core/softmx", ".", "--json"]) == 4
    said = capsys.readouterr()
    error = json.loads(said.out)["error"]
    assert error["kind"] == "UnknownTask"
    assert error["exit_code"] == 4
    assert error["message"] in said.err.replace("\n", " ")


@pytest.mark.parametrize("typed", [["judge", "--json"], ["play", "--jso", "--json"]])
def test_with_json_an_option_that_makes_no_sense_is_a_document_of_plain_words(
    typed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(typed) == 2
    said = capsys.readouterr()
    error = json.loads(said.out)["error"]
    assert (error["kind"], error["exit_code"]) == ("UsageError", 2)
    assert error["message"].endswith(f"\n`cuda-gym {typed[0]} --help` lists what there is.")
    assert not set(said.err) & set("│╭╰─\x1b")


def test_an_interruption_while_the_program_is_loaded_gets_no_traceback() -> None:
    program = (
        "import sys, importlib.abc\n"
        "class Interrupts(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'cuda_gym.cli.main':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupts())\n"
        "from cuda_gym.__main__ import main\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "")


def test_the_command_line_never_has_torch_and_help_has_not_even_rich() -> None:
    program = (
        "import sys, cuda_gym.cli.main as m\n"
        "assert 'rich' not in sys.modules and 'pydantic' not in sys.modules\n"
        "assert m.main(['tasks']) == 0\n"
        "assert 'torch' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_reader_that_goes_away_gets_no_traceback() -> None:
    with subprocess.Popen(
        [*PROGRAM, "tasks"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert "Traceback" not in process.stderr.read()
    assert process.returncode == ExitCode.NO_READER


def test_an_interrupted_judgement_leaves_no_process_behind() -> None:
    typed = ["judge", "core/row_sum", str(SOLUTIONS / "row_sum"), "--json"]
    with subprocess.Popen(
        [*PROGRAM, *typed], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + 30
        while not (started := _pythons_below(process.pid)) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert started
        process.send_signal(signal.SIGINT)
        told, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert json.loads(told)["error"]["kind"] == "Interrupted"
    assert "KeyboardInterrupt" not in said
    assert not [pid for pid in started if _is_ours(pid)]


def _pythons_below(pid: int) -> list[int]:
    return [below for below in descendants(pid) if _is_ours(below)]


def _is_ours(pid: int) -> bool:
    """Whether a process is one of the judge's; pids are used again."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return os.fsencode("cuda_gym.judge.sandbox") in command
