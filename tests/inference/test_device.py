"""The choice of a device and its number format."""

from __future__ import annotations

import pytest
import torch

from xharness.errors import InputError
from xharness.inference.device import CPU_TOKENS, Device, choose_device


def test_a_cpu_computes_in_float32_unless_asked() -> None:
    assert choose_device("cpu") == Device("cpu", "float32", CPU_TOKENS)
    assert choose_device("cpu", "bfloat16", 64) == Device("cpu", "bfloat16", 64)


@pytest.mark.parametrize(
    ("name", "dtype", "where"),
    [("gpu", "auto", "--device"), ("cpu", "float16", "--dtype"), ("cpu", "fp32", "--dtype")],
)
def test_unknown_names(name: str, dtype: str, where: str) -> None:
    with pytest.raises(InputError, match="unknown") as error:
        choose_device(name, dtype)
    assert error.value.where == where
    assert error.value.mend


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_an_absent_device_is_named() -> None:
    with pytest.raises(InputError, match="no CUDA device here"):
        choose_device("cuda")
    assert choose_device("auto").name == "cpu"


def test_matrix_products_run_in_the_dtype() -> None:
    for device in (Device("cpu", "float32", 1), Device("cpu", "bfloat16", 1)):
        with device.autocast():
            product = torch.ones(2, 2) @ torch.ones(2, 2)
        assert str(product.dtype) == f"torch.{device.dtype}"


def test_a_record_says_what_was_used() -> None:
    described = Device("cpu", "float32", 64).describe()
    assert described == {
        "device": "cpu",
        "dtype": "float32",
        "threads": torch.get_num_threads(),
        "tokens": 64,
    }
