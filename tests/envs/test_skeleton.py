from __future__ import annotations

import ast

from cuda_gym.core.task import Task
from cuda_gym.envs.skeleton import skeleton_of


def test_the_constructor_is_kept_and_forward_is_unwritten(task: Task) -> None:
    text = skeleton_of(task.source)
    tree = ast.parse(text)
    model = next(n for n in tree.body if isinstance(n, ast.ClassDef))
    assert model.name == "ModelNew"
    assert "super(ModelNew, self).__init__()" in text
    assert "self.bias = nn.Parameter(torch.zeros(columns))" in text
    assert "relu" not in text
    assert "NotImplementedError" in text
    assert "get_inputs" not in text


def test_what_the_constructor_needs_comes_along_and_nothing_else() -> None:
    text = skeleton_of(
        "import torch.nn as nn\nWIDTH = 4\nbatch = 8\nclass Block(nn.Module):\n    pass\n"
        "class Model(nn.Module):\n    def __init__(self, n=WIDTH):\n        super().__init__()\n"
        "        self._fill()\n    def _fill(self):\n        self.block = Block()\n"
        "    def _other(self):\n        pass\n    def forward(self, x):\n        return self.block(x)\n"
        "def get_inputs():\n    return [batch]\n"
    )
    assert "WIDTH = 4" in text
    assert "class Block" in text
    assert "def _fill" in text
    assert "_other" not in text
    assert "batch" not in text


def test_a_reference_that_does_not_parse_gets_a_bare_class() -> None:
    assert "class ModelNew(nn.Module)" in skeleton_of("def (")
