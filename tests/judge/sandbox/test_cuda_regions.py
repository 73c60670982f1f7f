from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest
import torch

from cuda_gym.errors import OutOfDeviceMemory
from cuda_gym.judge.sandbox.cuda_regions import CudaRegion, is_supported

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU"),
]

OTHER = """
import array, socket, sys, torch
from cuda_gym.judge.sandbox.cuda_regions import CudaRegion
torch.cuda.init(); torch.zeros(1, device="cuda")
_, ancillary, _, _ = socket.socket(fileno=int(sys.argv[1])).recvmsg(1, 64)
descriptor = array.array("i", ancillary[0][2])[0]
region = CudaRegion.open(descriptor, int(sys.argv[2]), 0)
floats = region.flat().view(torch.float32)
assert float(floats.sum()) == 3.0 * len(floats), floats
floats.mul_(2.0)
torch.cuda.synchronize()
"""


@pytest.fixture(autouse=True)
def _context() -> None:
    torch.zeros(1, device="cuda")


def test_what_another_process_writes_is_seen() -> None:
    region = CudaRegion.create(1 << 20, 0)
    floats = region.flat().view(torch.float32)
    floats.fill_(3.0)
    torch.cuda.synchronize()
    ours, theirs = socket.socketpair()
    descriptor = region.export()
    with ours, theirs:
        process = subprocess.Popen(
            [sys.executable, "-c", OTHER, str(theirs.fileno()), str(region.num_bytes)],
            pass_fds=[theirs.fileno()],
        )
        socket.send_fds(ours, [b"x"], [descriptor])
        os.close(descriptor)
        assert process.wait(60) == 0
    assert bool((floats == 6.0).all())


def test_a_tensor_outlives_the_name_of_its_region() -> None:
    floats = CudaRegion.create(4096, 0).flat().view(torch.float32)
    floats.fill_(1.0)
    assert float(floats.sum()) == 1024.0


@pytest.mark.alone
def test_memory_is_given_back() -> None:
    torch.cuda.synchronize()
    before = torch.cuda.mem_get_info()[0]
    region = CudaRegion.create(8 << 30, 0)
    assert before - torch.cuda.mem_get_info()[0] >= 7 << 30
    del region
    # Others may take a little meanwhile.
    assert before - torch.cuda.mem_get_info()[0] < 2 << 30


def test_more_than_there_is_gets_an_error() -> None:
    with pytest.raises(OutOfDeviceMemory):
        CudaRegion.create(1 << 42, 0)


def test_a_data_centre_card_supports_it() -> None:
    assert is_supported(0) in (True, False)
    if "H" in torch.cuda.get_device_name(0):
        assert is_supported(0)
