from __future__ import annotations

import pytest

from cuda_gym.judge.toolchains.mangled_names import plain_name


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("launcher", "launcher"),
        ("_Z4rowsPfPKfi", "rows"),
        ("_ZN3ops6detail4rowsEPf", "ops::detail::rows"),
        ("_ZL5quietPf", "quiet"),
        ("_ZN12_GLOBAL__N_16hiddenEPf", "hidden"),
        ("_Z5tilesILi128EEvPfPKfi", "tiles<128>"),
        ("_Z3twoI6__halfLin4EEvPT_", "two<__half, -4>"),
        ("_Z3twoIPKfLb1EEvT_", "two<const float*, true>"),
        ("_ZN3ops5applyINS_3AddEfLb1EEEvPT0_", "ops::apply<...>"),
        ("_ZN3ops5applyIN1a3AddEfEEvPT0_", "ops::apply<a::Add, float>"),
    ],
)
def test_the_name_of_a_kernel_is_read_from_its_symbol(symbol: str, name: str) -> None:
    assert plain_name(symbol) == name


@pytest.mark.parametrize("symbol", ["", "_Z", "_Z99k", "_ZN", "_Z1kI", "_Z1kILi", "_ZN1aI", "_Z1kIIIIII"])  # fmt: skip
def test_no_symbol_raises(symbol: str) -> None:
    assert isinstance(plain_name(symbol), str)
