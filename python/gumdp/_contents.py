"""What objects of each type hold, and how it is put back."""

from __future__ import annotations

import contextlib
import enum
import functools
import random
import types
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from .scripting import Script

if TYPE_CHECKING:
    from .snapshots import Snapshot

__all__ = ["ATOMS", "DRAWS", "KNOWN", "constant", "manner", "seed"]

# What cannot change.
ATOMS = frozenset(
    {type(None), bool, int, float, complex, str, bytes, range, slice, type(Ellipsis), type(NotImplemented), type, enum.EnumMeta}
    | {types.ModuleType, types.MappingProxyType, types.CodeType, property}
)
# What draws pictures or describes an environment has no part in what it does.
ASIDE = ("gymnasium.envs.registration", "gymnasium.spaces", "logging", "matplotlib", "moviepy", "OpenGL", "PIL", "pygame", "pyglet")


def seed(other: Any, generator: np.random.Generator) -> None:
    """Sets a generator that cannot be replaced. A script has nothing for it; whoever plays it looks whether it was drawn from."""
    number = 0 if isinstance(generator, Script) else int(generator.integers(2**32))
    if isinstance(other, np.random.Generator):
        other.bit_generator.state = type(other.bit_generator)(number).state
    else:
        other.seed(number)


DRAWS = (np.random.Generator, np.random.RandomState, random.Random)
# NumPy's global generator is known to others as this object.
GLOBAL = getattr(np.random.mtrand, "_rand", None)


def _mapping(thing: Any, into: Snapshot, rest: list[Any]) -> None:
    content = dict(thing)
    into.kept.append((_put_mapping, thing, content))
    _items(thing, content, into, rest)


def _items(holder: Any, content: dict[Any, Any], into: Snapshot, rest: list[Any]) -> None:
    for place, value in content.items():
        if type(value) not in ATOMS:
            if isinstance(value, np.random.Generator):
                into.generators.append((holder, place))
            else:
                rest.append(value)


def _put_mapping(thing: Any, content: dict[Any, Any]) -> None:
    thing.clear()
    thing.update(content)


def _object(thing: Any, into: Snapshot, rest: list[Any]) -> None:
    fields = thing.__dict__
    content = dict(fields)
    into.kept.append((_put_object, thing, content))
    _items(fields, content, into, rest)


def _put_object(thing: Any, content: dict[str, Any]) -> None:
    fields = thing.__dict__
    if len(fields) > len(content):
        for name in fields.keys() - content.keys():
            del fields[name]
    fields.update(content)


def _slotted(names: tuple[str, ...]) -> Any:
    def keep(thing: Any, into: Snapshot, rest: list[Any]) -> None:
        content = {name: getattr(thing, name) for name in names if hasattr(thing, name)}
        fields = getattr(thing, "__dict__", {})
        into.kept.append((put_back, thing, {**content, **fields}))
        rest += content.values()
        _items(fields, dict(fields), into, rest)

    def put_back(thing: Any, content: dict[str, Any]) -> None:
        for name in (*names, *getattr(thing, "__dict__", ())):
            if name not in content and hasattr(thing, name):
                object.__delattr__(thing, name)
        for name, value in content.items():
            object.__setattr__(thing, name, value)

    return keep


def _list(thing: Any, into: Snapshot, rest: list[Any]) -> None:
    content = list(thing)
    into.kept.append((_put_list, thing, content))
    for place, value in enumerate(content):
        if type(value) not in ATOMS:
            if isinstance(value, np.random.Generator):
                into.generators.append((thing, place))
            else:
                rest.append(value)


def _put_list(thing: Any, content: list[Any]) -> None:
    thing[:] = content


def _collection(thing: Any, into: Snapshot, rest: list[Any]) -> None:
    content = set(thing) if isinstance(thing, set) else list(thing)
    into.kept.append((_put_collection, thing, content))
    rest += content


def _put_collection(thing: Any, content: Any) -> None:
    thing.clear()
    (thing.update if isinstance(thing, set) else thing.extend)(content)


def _bytes(thing: Any, into: Snapshot, rest: list[Any]) -> None:
    into.kept.append((_put_list, thing, bytes(thing)))


def _array(thing: Any, into: Snapshot, rest: list[Any]) -> None:
    if thing.flags.writeable:
        into.kept.append((_put_array, thing, thing.copy()))
    if thing.dtype.hasobject:
        rest += thing.flat


def _put_array(thing: Any, content: Any) -> None:
    thing[...] = content


def _members(thing: Any, into: Snapshot, rest: list[Any]) -> None:
    rest += thing


def _draws(thing: Any, into: Snapshot, rest: list[Any]) -> None:
    if thing is not GLOBAL:
        into.others.append(thing)


def _method(thing: Any, into: Snapshot, rest: list[Any]) -> None:
    rest.append(thing.__self__)


def _builtin(thing: Any, into: Snapshot, rest: list[Any]) -> None:
    if not isinstance(thing.__self__, types.ModuleType):
        rest.append(thing.__self__)


def _function(thing: Any, into: Snapshot, rest: list[Any]) -> None:
    rest += thing.__closure__ or ()


def _cell(thing: Any, into: Snapshot, rest: list[Any]) -> None:
    content = []
    with contextlib.suppress(ValueError):
        content.append(thing.cell_contents)
    into.kept.append((_put_cell, thing, content))
    rest += content


def _put_cell(thing: Any, content: list[Any]) -> None:
    if content:
        thing.cell_contents = content[0]


def _partial(thing: Any, into: Snapshot, rest: list[Any]) -> None:
    rest += (thing.func, thing.args, thing.keywords)


def constant(thing: Any, into: Snapshot, rest: list[Any]) -> None:
    pass


def _unknown(thing: Any, into: Snapshot, rest: list[Any]) -> None:
    into.opaque.append(thing)


def manner(kind: type) -> Any:
    """How objects of a type are saved; the same for all."""
    KNOWN[kind] = found = _manner(kind)
    return found


def _manner(kind: type) -> Any:
    module = kind.__module__
    if issubclass(kind, (enum.Enum, type, np.generic, np.dtype, np.vectorize)) or any(
        module == name or module.startswith(name + ".") for name in ASIDE
    ):
        return constant
    for base, how in BASES:
        if issubclass(kind, base):
            own = issubclass(kind, (dict, list, set, deque)) and hasattr(kind, "__dict__") and kind.__dictoffset__ != 0
            return _both(how) if own else how
    slots = [name for part in kind.__mro__ for name in _slots(part)]
    if slots:
        return _slotted(tuple(slots))
    return _object if kind.__dictoffset__ != 0 else _unknown


def _slots(part: type) -> list[str]:
    """The slots that a class itself adds, as its attributes are called: private names begin with that of the class that has them."""
    given = part.__dict__.get("__slots__", ())
    names = [given] if isinstance(given, str) else [name for name in given if name not in ("__dict__", "__weakref__")]
    private = f"_{part.__name__.lstrip('_')}"
    return [private + name if name.startswith("__") and not name.endswith("__") else name for name in names]


def _both(how: Any) -> Any:
    """For a container that has fields, too."""

    def keep(thing: Any, into: Snapshot, rest: list[Any]) -> None:
        how(thing, into, rest)
        rest.append(thing.__dict__)

    return keep


BASES: tuple[tuple[Any, Any], ...] = (
    (DRAWS, _draws),
    (np.ndarray, _array),
    (dict, _mapping),
    (list, _list),
    ((set, deque), _collection),
    (bytearray, _bytes),
    ((tuple, frozenset), _members),
    (types.MethodType, _method),
    (types.BuiltinFunctionType, _builtin),
    (types.FunctionType, _function),
    (types.CellType, _cell),
    (functools.partial, _partial),
)
KNOWN: dict[type, Any] = {}
