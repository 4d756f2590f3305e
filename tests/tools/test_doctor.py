import re

import pytest

from tools import doctor


def test_doctor_states_versions_device_isolation_and_names_of_keys(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "hush")
    text = "\n".join(doctor.facts())
    for words in ("python 3", "torch ", "triton ", "device: ", "simulated device: ", "isolation: ", "tcp denied", "SOME_API_KEY"):
        assert words in text
    assert "hush" not in text


def test_doctor_states_kernel_landlock_namespaces_and_every_level():
    text = "\n".join(doctor.facts())
    assert re.search(r"Linux \d+\.\d+", text)
    assert re.search(r"Landlock ABI \d+, user namespaces (yes|no), seccomp", text)
    for level in ("full", "landlock"):
        assert re.search(rf"  {level}: .+\n    (layers|to have it): ", text)


def test_doctor_takes_no_arguments(capsys):
    with pytest.raises(SystemExit) as left:
        doctor.main(["--gpu"])
    assert left.value.code == 2
    assert "unrecognized arguments: --gpu" in capsys.readouterr().err
