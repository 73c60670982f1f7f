from __future__ import annotations

from collections.abc import Callable

import pytest

from cuda_gym.judge.verification.free_dimensions import find_free_dimensions, other_sizes
from cuda_gym.judge.verification.reference_module import ReferenceModule

MakeReference = Callable[..., ReferenceModule]


def free(reference: ReferenceModule) -> dict[str, tuple[int, int]]:
    return find_free_dimensions(reference, reference.make_model(0), seed=1)


@pytest.mark.parametrize("value", [1, 2, 3, 7, 16, 32, 100, 4096, 393216])
def test_other_sizes_are_odd_and_on_both_sides(value: int) -> None:
    smaller, larger = other_sizes(value)
    assert smaller % 2 == larger % 2 == 1
    assert 1 <= smaller <= value < larger
    assert larger <= max(value + 2, value * 1.2)


def test_all_dimensions_of_an_elementwise_task_are_free(make_reference: MakeReference) -> None:
    found = free(make_reference("return x * 2", "torch.rand(rows, cols)"))
    assert found == {"rows": other_sizes(64), "cols": other_sizes(256)}


def test_a_dimension_of_a_parameter_is_not_free(make_reference: MakeReference) -> None:
    reference = make_reference(
        "return self.l(x)",
        "torch.rand(rows, cols)",
        init="self.l = nn.Linear(cols, 8)",
        arguments="cols",
    )
    assert set(free(reference)) == {"rows"}


def test_a_parameter_shaped_by_a_global_is_not_free(make_reference: MakeReference) -> None:
    reference = make_reference(
        "return x + self.w",
        "torch.rand(rows, 1)",
        init="self.w = nn.Parameter(torch.ones(rows, cols))",
    )
    assert free(reference) == {}


def test_a_constant_that_changes_no_shape_is_not_free(make_reference: MakeReference) -> None:
    reference = make_reference(
        "return x * 2", "torch.rand(rows) * factor", constants="rows = 64\nfactor = 3"
    )
    assert set(free(reference)) == {"rows"}


def test_a_dimension_that_the_reference_cannot_bear_is_not_free(
    make_reference: MakeReference,
) -> None:
    reference = make_reference(
        "return x.view(64, -1)", "torch.rand(rows, cols)", constants="rows = 64\ncols = 250"
    )
    assert set(free(reference)) == {"cols"}


def test_dimensions_are_free_together(make_reference: MakeReference) -> None:
    # x and y have to agree, and only one of the two constants can be changed without the other.
    reference = make_reference("return x * y", "torch.rand(rows, cols)", "torch.rand(rows, 256)")
    assert set(free(reference)) == {"rows"}
