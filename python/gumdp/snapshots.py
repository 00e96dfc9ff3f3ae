"""Snapshots of living objects: what they hold, saved and put back in place.

A copy of an environment may be built anew and differ from it, so nothing is copied but contents. Every object that can be reached from the
roots is saved by itself, with references to the others, and gets its own content back: what was the same object before is so
afterwards, and cycles do no harm.

Random generators are no content. Where they are is remembered, and whoever puts a snapshot back says what is drawn from.
"""

from __future__ import annotations

import enum
import functools
import types
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np

from ._contents import ATOMS, DRAWS, KNOWN, constant, manner, seed

__all__ = ["Snapshot"]

# Equal ones are the same.
PLAIN = frozenset({type(None), bool, int, str, bytes, complex, range})
Restore = Callable[[Any, Any], None]
# An object, its content, and what puts it back.
Kept = tuple[Restore, Any, Any]
# A container and the place in it.
Place = tuple[Any, Any]


class Snapshot:
    """The contents of everything that can be reached from some roots, but for constant fields of theirs.

    >>> class World:
    ...     def __init__(self):
    ...         self.items, self.places = ["lamp"], {"lamp": [0, 0]}
    >>> world = World()
    >>> before = Snapshot(world)
    >>> world.places["lamp"][0] = 7
    >>> world.items.append("rope")
    >>> Snapshot(world).differs(before)
    '.items'
    >>> before.restore()
    >>> world.items, world.places
    (['lamp'], {'lamp': [0, 0]})
    """

    __slots__ = ("_key", "generators", "kept", "opaque", "others", "roots")

    roots: tuple[Any, ...]
    kept: list[Kept]
    generators: list[Place]
    """Where generators of NumPy are."""
    others: list[Any]
    """Generators of other kinds, which are where nothing can be put."""
    opaque: list[Any]
    """What cannot be looked into."""

    def __init__(self, *roots: Any, constant: frozenset[str] = frozenset()) -> None:
        self.roots, self.kept, self.generators, self.others, self.opaque = roots, [], [], [], []
        self._key: dict[frozenset[str], Hashable] = {}
        seen, rest = set(), list(roots)
        if constant:
            fields = [field for root in roots for layer in _layers(root) for field in vars(layer).items()]
            seen = {id(value) for name, value in fields if name in constant}
        while rest:
            thing = rest.pop()
            kind = type(thing)
            if kind in ATOMS or id(thing) in seen:
                continue
            seen.add(id(thing))
            (KNOWN.get(kind) or manner(kind))(thing, self, rest)

    def __reduce__(self) -> Any:
        raise TypeError("a snapshot belongs to the objects that it was taken of and cannot be copied or pickled")

    def restore(self, generator: np.random.Generator | None = None) -> None:
        """Puts every content back; what is drawn from this generator afterwards, if one is given, is new."""
        for put_back, thing, content in self.kept:
            put_back(thing, content)
        if generator is not None:
            for holder, place in self.generators:
                holder[place] = generator
            for other in self.others:
                seed(other, generator)

    def key(self, ignored: frozenset[str] = frozenset()) -> Hashable:
        """Equal for equal contents, but for some fields of the roots."""
        if ignored not in self._key:
            self._key[ignored] = Keys(self, ignored).of_roots()
        return self._key[ignored]

    def fields(self, ignored: frozenset[str] = frozenset()) -> dict[str, Hashable]:
        """Every value by the way that leads to it. Of what cannot be looked into it is the type."""
        return dict(Keys(self, ignored).named())

    def differs(self, other: Snapshot, ignored: frozenset[str] = frozenset()) -> str | None:
        """The first field whose value is another one, in order of names, but for some fields of the roots."""
        mine, others = self.fields(ignored), other.fields(ignored)
        different = [name for name in mine.keys() | others.keys() if mine.get(name, NOTHING) != others.get(name, NOTHING)]
        return min(different, key=lambda name: (name.count(".") + name.count("["), name), default=None)


# Equal to nothing that is there.
NOTHING = object()


class Keys:
    """Reads a snapshot, not the objects themselves, which may have changed since."""

    def __init__(self, snapshot: Snapshot, ignored: frozenset[str]) -> None:
        self.contents = {id(thing): content for _, thing, content in snapshot.kept}
        self.order: dict[int, int] = {}
        self.roots = snapshot.roots
        self.ignored = ignored
        # Whether two objects of a type that cannot be looked into are taken for the same.
        self.is_loose = False

    def is_of_root(self, value: Any) -> bool:
        """Whether it is a root, or what wrappers that are roots contain."""
        return any(value is inner for root in self.roots for inner in _layers(root))

    def of_roots(self) -> Hashable:
        return tuple(map(self.of, self.roots))

    def of(self, value: Any) -> Hashable:
        kind = type(value)
        if kind in PLAIN:
            plain: Hashable = value
            return plain
        if isinstance(value, (float, np.generic)):
            return "not a number" if value != value else value
        if isinstance(value, DRAWS):
            return "generator"
        if isinstance(value, enum.Enum):
            return id(value)
        if kind in ATOMS:
            return self.unknown(value)
        if id(value) in self.order:
            return "again", self.order[id(value)]
        self.order[id(value)] = len(self.order)
        if isinstance(value, (tuple, frozenset)):
            return (kind, *map(self.of, value))
        if id(value) not in self.contents:
            return self.constant(value)
        content = self.contents[id(value)]
        if isinstance(content, np.ndarray):
            if content.dtype.hasobject:
                return (kind, content.shape, *map(self.of, content.flat))
            return kind, content.dtype.str, content.shape, content.tobytes()
        if isinstance(content, dict):
            # The order of fields says nothing, that of the items of a dictionary may.
            if isinstance(value, dict):
                return (kind, *((self.of(name), self.of(part)) for name, part in content.items()))
            ignored = self.ignored if self.ignored and self.is_of_root(value) else ()
            return (kind, *((name, self.of(content[name])) for name in sorted(content) if name not in ignored))
        if isinstance(value, (set, frozenset)):
            return kind, frozenset(map(self.of, content))
        if isinstance(content, bytes):
            return kind, content
        return (kind, *map(self.of, content))

    def constant(self, value: Any) -> Hashable:
        if isinstance(value, np.ndarray):
            return self.unknown(value) if value.dtype.hasobject else (value.dtype.str, value.shape, value.tobytes())
        if isinstance(value, types.MethodType):
            return value.__func__, self.of(value.__self__)
        if isinstance(value, types.BuiltinFunctionType):
            return value.__name__, self.of(value.__self__)
        if isinstance(value, types.FunctionType):
            return id(value.__code__), *map(self.of, value.__closure__ or ())
        if isinstance(value, functools.partial):
            return self.of(value.func), self.of(value.args), self.of(value.keywords)
        return self.unknown(value)

    def unknown(self, value: Any) -> Hashable:
        if self.is_loose or KNOWN.get(type(value)) is constant:
            return str(type(value))
        return id(value)

    def named(self) -> Iterator[tuple[str, Hashable]]:
        """Every value that is no container, by its way."""
        self.is_loose = True
        met: set[int] = set()
        rest = [(f"({type(root).__name__})" if place else "", root) for place, root in enumerate(self.roots)]
        while rest:
            name, value = rest.pop()
            content = self.contents.get(id(value), value if isinstance(value, tuple) else None)
            if content is None or isinstance(content, (bytes, np.ndarray, set)):
                yield name, self.of(value)
                self.order.clear()
            elif id(value) not in met:
                met.add(id(value))
                yield name, (type(value), len(content))
                if isinstance(content, dict):
                    if isinstance(value, dict):
                        rest += [(f"{name}[{key!r}]", part) for key, part in content.items()]
                    else:
                        ignored = self.ignored if self.ignored and self.is_of_root(value) else ()
                        rest += [(f"{name}.{key}", part) for key, part in content.items() if key not in ignored]
                else:
                    rest += [(f"{name}[{place}]", part) for place, part in enumerate(content)]


def _layers(root: Any) -> Iterator[Any]:
    """An environment, and those that it wraps."""
    while True:
        yield root
        inner = getattr(root, "__dict__", {}).get("env")
        if inner is None:
            return
        root = inner
