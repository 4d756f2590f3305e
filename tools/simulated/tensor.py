"""Tensors of the simulated device: CPU memory that answers `cuda:0`, and the mode that keeps host and device apart."""

import types
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.utils.dlpack
from torch.overrides import TorchFunctionMode
from torch.utils._device import _device_constructors

from tools.simulated.addresses import told
from tools.simulated.errors import MixedDevices, NotOnHost, Unsupported
from tools.simulated.patches import Patches

DEVICE = torch.device("cuda", 0)
HOST = torch.device("cpu")
_T = torch.Tensor
_plain = torch._C.DisableTorchFunction


class SimTensor(torch.Tensor):
    """A tensor on the simulated device. Its memory is ordinary CPU memory."""

    @classmethod
    def __torch_function__(cls, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        return dispatch(func, args, kwargs or {})

    device = property(lambda self: DEVICE)
    is_cuda = property(lambda self: True)
    is_cpu = property(lambda self: False)

    def get_device(self) -> int:
        return DEVICE.index

    def __deepcopy__(self, memo: dict) -> torch.Tensor:
        return self.detach().clone()


class DeviceStorage(torch.UntypedStorage):
    """The storage of a device tensor that a candidate has asked for. Torch keeps it as it is as long as the memory lives."""

    device = property(lambda self: DEVICE)
    is_cuda = property(lambda self: True)

    def data_ptr(self) -> int:
        return told(storage_address(self))

    def clone(self) -> "DeviceStorage":
        made = torch.UntypedStorage(self.nbytes()).copy_(self)
        made.__class__ = DeviceStorage
        return made


class SimMode(TorchFunctionMode):
    """Maps `device=` in torch calls to the simulated device."""

    def __torch_function__(self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        return dispatch(func, args, kwargs or {})


def raw(value: Any) -> Any:
    """The same tensor as torch's own kind; anything else as it is."""
    return _T.as_subclass(value, _T) if isinstance(value, SimTensor) else value


def simulated(value: torch.Tensor) -> torch.Tensor:
    return value if isinstance(value, SimTensor) else _T.as_subclass(value, SimTensor)


def address_of(tensor: torch.Tensor) -> int:
    """Where its first element really lies."""
    with _plain():
        return _T.data_ptr(tensor)


def storage_address(storage: torch.UntypedStorage) -> int:
    return torch.UntypedStorage.data_ptr(storage)


def walk(value: Any, change: Callable[[torch.Tensor], Any]) -> Any:
    """`value` with `change` applied to each tensor in it."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, (list, tuple)):
        parts = [walk(part, change) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        return {key: walk(part, change) for key, part in value.items()}
    return value


def tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from tensors(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from tensors(part)


def on_device(where: Any) -> bool:
    """Whether a `device=` means the simulated device; there is only one."""
    device = torch.device(DEVICE.type, where) if isinstance(where, int) else torch.device(where)
    if device.type != DEVICE.type:
        return False
    if device.index not in (None, DEVICE.index):
        raise RuntimeError("CUDA error: invalid device ordinal")
    return True


_default_on_device = False


def set_default_device(where: Any) -> None:
    """Stands in for `torch.set_default_device`."""
    global _default_on_device
    _default_on_device = where is not None and on_device(where)


_MIXES = {
    _T.copy_, _T.__setitem__, _T.__getitem__, _T.index_put_, _T.index_put, torch.index_put, torch.index_put_, _T.type_as,
    _T.expand_as, _T.view_as, _T.reshape_as, torch.broadcast_tensors, torch.result_type, _T.is_same_size,
    _T.index_copy_, torch.is_tensor,
}  # fmt: skip
"""Calls that take host and device tensors together on a real GPU too."""
_FIRST_DECIDES = {_T.copy_, _T.__setitem__, _T.index_put_, _T.index_put, _T.__getitem__, _T.expand_as, _T.view_as, _T.reshape_as}
_ALIASES = {torch.as_tensor, torch.asarray}
"""Calls whose result can share memory with a numpy array or a buffer."""
_CONSTRUCTORS = _device_constructors()


def dispatch(func: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """One torch call under the simulated device."""
    special = _SPECIAL.get(func)
    if special is not None:
        return special(*args, **kwargs)
    given = list(tensors((args, kwargs)))
    sim = any(isinstance(t, SimTensor) for t in given)
    where = sim
    if kwargs.get("device") is not None:
        where = on_device(kwargs["device"])
        if where or sim:
            kwargs = {**kwargs, "device": HOST} if where or torch.device(kwargs["device"]).type == HOST.type else kwargs
    elif not sim and func in _CONSTRUCTORS:
        where = _default_on_device
    if sim and func not in _MIXES:
        _same_device(given)
    elif func in _FIRST_DECIDES:
        where = isinstance(args[0], SimTensor)
    if kwargs.get("pin_memory"):
        kwargs = {**kwargs, "pin_memory": False}
    # A leaf must stay a leaf: wrapping comes before requires_grad.
    leaf = where and not sim and bool(kwargs.get("requires_grad"))
    if leaf:
        kwargs = {**kwargs, "requires_grad": False}
    with _plain():
        out = _call(func, args, kwargs, [] if where and not sim else given, where)
        if where and not sim and (given or func in _ALIASES):
            out = walk(out, lambda t: simulated(t.clone()))
        return out.requires_grad_() if leaf else out


def _call(func: Callable, args: tuple, kwargs: dict[str, Any], given: list[torch.Tensor], where: bool) -> Any:
    """Calls torch and puts the results on one side; tensors of `given` that come back are the same objects."""
    known = {id(t): t for t in given}
    if isinstance(func, types.FunctionType):
        # Torch's Python functions look at `.device` themselves, so they get torch's own kind of tensor.
        kept: list[torch.Tensor] = []

        def strip(t: torch.Tensor) -> torch.Tensor:
            stripped = raw(t)
            kept.append(stripped)
            known[id(stripped)] = t
            return stripped

        args, kwargs = walk(args, strip), walk(kwargs, strip)
    out = func(*args, **kwargs)
    place = simulated if where else raw
    return walk(out, lambda t: known[id(t)] if id(t) in known else t if isinstance(t, torch.nn.Parameter) else place(t))


def _same_device(given: list[torch.Tensor]) -> None:
    """Refuses what CUDA refuses: any host tensor beside a device tensor, but for 0-dimensional ones."""
    with _plain():
        if any(not isinstance(t, SimTensor) and t.dim() > 0 for t in given):
            raise MixedDevices(f"Expected all tensors to be on the same device, but found at least two devices, {DEVICE} and {HOST}!")


def _move(tensor: torch.Tensor, to_device: bool, dtype: torch.dtype | None = None, copy: bool = False, **layout: Any) -> torch.Tensor:
    """The tensor on the wanted side; in new memory when the side changes."""
    with _plain():
        crosses = to_device != isinstance(tensor, SimTensor)
        out = _T.to(tensor, dtype or tensor.dtype, copy=copy or crosses, **layout)
        if out is tensor:
            return tensor
        return simulated(out) if to_device else raw(out)


_TO = {torch.dtype: ("dtype", "non_blocking", "copy"), torch.Tensor: ("other", "non_blocking", "copy")}


def _to(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    first = args[0] if args else None
    names = next((names for kind, names in _TO.items() if isinstance(first, kind)), ("device", "dtype", "non_blocking", "copy"))
    given = dict(zip(names, args, strict=False)) | kwargs
    given.pop("non_blocking", None)
    side, other, device = isinstance(tensor, SimTensor), given.pop("other", None), given.pop("device", None)
    if other is not None:
        side, given["dtype"] = isinstance(other, SimTensor), other.dtype
    elif device is not None:
        side = on_device(device)
    return _move(tensor, side, **given)


def _cuda(tensor: torch.Tensor, device: Any = None, non_blocking: bool = False, **layout: Any) -> torch.Tensor:
    return _move(tensor, device is None or on_device(device), **layout)


def _cpu(tensor: torch.Tensor, **layout: Any) -> torch.Tensor:
    return _move(tensor, False, **layout)


def _host_only(func: Callable) -> Callable:
    def refuse(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if isinstance(tensor, SimTensor):
            raise NotOnHost(
                f"can't convert {DEVICE} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
            )
        with _plain():
            return func(tensor, *args, **kwargs)

    return refuse


def _type(tensor: torch.Tensor, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
    """`Tensor.type`, whose strings name the device: `torch.cuda.FloatTensor`."""
    side, prefix = isinstance(tensor, SimTensor), f"torch.{DEVICE.type}."
    with _plain():
        if dtype is None:
            name = _T.type(raw(tensor))
            return name.replace("torch.", prefix) if side else name
        if isinstance(dtype, torch.dtype):
            return _move(tensor, side, dtype)
        name = dtype if isinstance(dtype, str) else f"{dtype.__module__}.{dtype.__name__}"
        return _move(tensor, name.startswith(prefix), _T.type(raw(tensor), name.replace(prefix, "torch.")).dtype)


def _type_as(tensor: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return _to(tensor, other)


def _repr(tensor: torch.Tensor, **kwargs: Any) -> str:
    with _plain():
        text = _T.__repr__(raw(tensor), **kwargs)
        return f"{text[:-1]}, device='{DEVICE}')" if isinstance(tensor, SimTensor) else text


def _format(tensor: torch.Tensor, spec: str) -> str:
    with _plain():
        if tensor.dim() == 0:
            return _T.__format__(raw(tensor), spec)
    return _repr(tensor)


def _side(of_device: Any, of_host: Any) -> Callable:
    return lambda tensor, *args, **kwargs: of_device if isinstance(tensor, SimTensor) else of_host


def _same(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    return tensor


def _data_ptr(tensor: torch.Tensor) -> int:
    address = address_of(tensor)
    return told(address) if isinstance(tensor, SimTensor) else address


def _storage(tensor: torch.Tensor) -> torch.UntypedStorage:
    with _plain():
        storage = _T.untyped_storage(tensor)
        if isinstance(tensor, SimTensor):
            storage.__class__ = DeviceStorage
        return storage


def _typed_storage(tensor: torch.Tensor) -> Any:
    _storage(tensor)
    with _plain():
        return _T._typed_storage(raw(tensor))


def _set(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    source = args[0] if args else kwargs.get("source")
    if source is not None and isinstance(getattr(source, "_untyped_storage", source), _ON_DEVICE) != isinstance(tensor, SimTensor):
        raise MixedDevices("Attempted to set the storage of a tensor to a storage on different device.")
    with _plain():
        return _SET(tensor, *args, **kwargs)


def _array_interface(tensor: torch.Tensor) -> Any:
    with _plain():
        found = _ARRAY_INTERFACE(tensor)
        return {**found, "data": (told(found["data"][0]), False)} if isinstance(tensor, SimTensor) else found


def _to_capsule(export: Callable) -> Callable:
    def refuse(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if isinstance(tensor, SimTensor):
            raise Unsupported("The simulated device gives no DLPack capsules away: they hold addresses that are not the host's.")
        with _plain():
            return export(tensor, *args, **kwargs)

    return refuse


def _from_dlpack(owner: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
    return owner.detach() if isinstance(owner, SimTensor) else _FROM_DLPACK(owner, *args, **kwargs)


def install(patches: Patches) -> None:
    """Replaces what torch does not show to `SimMode`, until `patches` are restored."""
    patches.set(_T, "set_", _set)
    for owner in (torch, torch.utils.dlpack):
        patches.set(owner, "from_dlpack", _from_dlpack)
    for owner, name in ((torch, "to_dlpack"), (torch.utils.dlpack, "to_dlpack"), (torch._C, "_to_dlpack")):
        patches.set(owner, name, _to_capsule(getattr(owner, name)))


def _property(name: str, owner: type = torch._C.TensorBase) -> Any:
    """What torch passes as the function when a property is read."""
    return vars(owner)[name].__get__


_ARRAY_INTERFACE = _property("__cuda_array_interface__", _T)
_FROM_DLPACK = torch.from_dlpack
_SET = _T.set_
_ON_DEVICE = (DeviceStorage, SimTensor)


_SPECIAL: dict[Any, Callable] = {
    _property("device"): _side(DEVICE, HOST),
    _property("is_cuda"): _side(True, False),
    _property("is_cpu"): _side(False, True),
    _T.get_device: _side(DEVICE.index, -1),
    _T.data_ptr: _data_ptr,
    _T.untyped_storage: _storage,
    _T.storage: _typed_storage,
    _T._typed_storage: _typed_storage,
    _SET: _set,
    _ARRAY_INTERFACE: _array_interface,
    _T.__dlpack__: _to_capsule(_T.__dlpack__),
    _T.to: _to,
    _T.cuda: _cuda,
    _T.cpu: _cpu,
    _T.type: _type,
    _T.type_as: _type_as,
    _T.numpy: _host_only(_T.numpy),
    _T.__array__: _host_only(_T.__array__),
    _T.__dlpack_device__: _side((2, DEVICE.index), (1, 0)),
    _T.__repr__: _repr,
    _T.__format__: _format,
    torch._has_compatible_shallow_copy_type: lambda one, other: isinstance(one, SimTensor) == isinstance(other, SimTensor),
    _T.pin_memory: _same,
    _T.record_stream: lambda tensor, stream: None,
    _T.share_memory_: _same,
}
