from __future__ import annotations

import subprocess
import sys

import gymnasium
import pytest

import cuda_gym


@pytest.mark.parametrize("name", cuda_gym.ENVIRONMENTS)
def test_a_registered_environment_says_it_is_timed_and_has_no_step_limit(name: str) -> None:
    spec = gymnasium.spec(name)
    assert spec.nondeterministic
    assert spec.max_episode_steps is None
    assert spec.vector_entry_point is not None


@pytest.mark.parametrize("name", cuda_gym.ENVIRONMENTS)
def test_a_registered_environment_can_be_made_from_its_own_json(name: str) -> None:
    env = gymnasium.make(f"cuda_gym:{name}", suite="core", reward="log_speedup", max_turns=3)
    assert env.spec is not None
    again = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert again.unwrapped.observation_space == env.unwrapped.observation_space
    env.close()
    again.close()


def test_every_public_name_is_there_and_no_other() -> None:
    for name in cuda_gym.__all__:
        assert getattr(cuda_gym, name) is not None
        assert name in dir(cuda_gym)
    with pytest.raises(AttributeError, match="no attribute 'sumbit'"):
        _ = cuda_gym.sumbit


def test_importing_registers_and_loads_neither_torch_nor_the_rest() -> None:
    code = (
        "import sys, gymnasium, cuda_gym; "
        "assert 'CudaKernel-v0' in gymnasium.registry; "
        "heavy = {'torch', 'pydantic', 'rich', 'cuda_gym.judge', 'cuda_gym.envs'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_environment_itself_needs_no_torch() -> None:
    code = (
        "import sys, cuda_gym; cuda_gym.CudaKernelEnv(); cuda_gym.tool_schemas(); "
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_twice_does_not_register_twice() -> None:
    import importlib

    importlib.reload(cuda_gym)
