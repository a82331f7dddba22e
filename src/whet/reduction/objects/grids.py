"""Arrays, tables and tensors: shorter along each axis first, then plain in type and values.

The libraries are never imported: who has a value of theirs has them loaded.
"""

import hashlib
import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from whet.core.verdict import Verdict
from whet.reduction.edit import first_that_fails
from whet.reduction.objects.atoms import atom
from whet.reduction.objects.tree import Leaf
from whet.search.batch import LazyBatch
from whet.search.proposal import Search
from whet.search.rendering import rendering
from whet.search.subsets.delta import Kept, minimize

GridSearch = Search["Grid", "Grid"]

MANY_CELLS = 4096
"""Above this, cells become plain only together, not one by one."""


class Grid(ABC):
    """What has axes and cells.

    Attributes:
        data: what the library knows it as; never changed.
    """

    __slots__ = ("_key", "data")

    def __init__(self, data: Any) -> None:
        self.data = data
        self._key: bytes | None = None

    @property
    def lengths(self) -> tuple[int, ...]:
        """The length of each axis."""
        shape: tuple[int, ...] = self.data.shape
        return shape

    @abstractmethod
    def take(self, axis: int, kept: Sequence[int]) -> "Grid":
        """Return the grid with these of one axis alone."""

    @abstractmethod
    def plainer(self) -> "Iterator[Grid]":
        """Yield grids of the same cells that are plainer in form, the plainest first."""

    @abstractmethod
    def cells(self) -> list[object]:
        """Return all cells, as Python's own values where there are such."""

    @abstractmethod
    def with_cells(self, cells: list[object]) -> "Grid":
        """Return the grid of the same form with other cells."""

    @abstractmethod
    def make(self) -> object:
        """Return a copy."""

    @abstractmethod
    def describe(self) -> bytes:
        """Return what tells it from others."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grid) and type(self) is type(other) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def key(self) -> bytes:
        """A digest of all that decides."""
        if self._key is None:
            self._key = hashlib.blake2b(self.describe(), digest_size=16).digest()
        return self._key

    @property
    def count(self) -> int:
        """The number of cells."""
        return math.prod(self.lengths)

    def plainest(self) -> Leaf | None:
        """Return the empty one; None if it is empty."""
        return self.take(0, ()) if self.lengths and self.lengths[0] else None

    def search(self) -> Search[Leaf, Leaf]:
        """Propose smaller and plainer ones."""
        grid: Grid = self
        for axis in sorted(range(len(grid.lengths)), key=lambda each: -self.lengths[each]):
            grid = yield from _shorter(grid, axis)
        while (found := (yield from first_that_fails(grid.plainer()))) is not None:
            grid = found
        return (yield from _plain_cells(grid))


def _shorter(grid: Grid, axis: int) -> GridSearch:
    """Leave out all that can be left out of one axis."""

    def render(kept: Kept) -> Grid:
        return grid.take(axis, list(kept.elements()))

    return rendering(minimize(grid.lengths[axis]), render, grid)


def _plain_cells(grid: Grid) -> GridSearch:
    """Make cells zero; where they must differ, 0, 1, 2 and so on; then each as plain as can be."""
    cells = grid.cells()
    zeros = {
        index: zero.make()
        for index, cell in enumerate(cells)
        for zero in (atom(cell).plainest(),)
        if zero is not None
    }
    places = list(zeros)
    if _is_strange(cells):
        counted: list[object] = [
            float(index) if isinstance(cell, float) else index for index, cell in enumerate(cells)
        ]
        zeroed = [zeros.get(index, cell) for index, cell in enumerate(cells)]
        options = [grid.with_cells(zeroed), grid.with_cells(counted)]
        found = yield from first_that_fails(options)
        if found is not None:
            grid, cells = found, zeroed if found == options[0] else counted
            places = [index for index in places if index and cells is counted]

    def render(kept: Kept) -> Grid:
        stay = {places[number] for number in kept.elements()}
        gone = set(places) - stay
        return grid.with_cells(
            [zeros[index] if index in gone else cell for index, cell in enumerate(cells)]
        )

    grid = yield from rendering(minimize(len(places)), render, grid)
    return grid if grid.count > MANY_CELLS else (yield from _settled_cells(grid))


def _is_strange(cells: list[object]) -> bool:
    """Whether the cells are numbers that would read better as 0, 1, 2 and so on."""
    return (
        len(cells) > 1
        and all(type(cell) in {int, float} for cell in cells)
        and any(cell not in range(len(cells)) for cell in cells)
    )


def _settled_cells(grid: Grid) -> GridSearch:
    cells = grid.cells()
    for index, cell in enumerate(cells):
        search = atom(cell).search()
        try:
            wanted = next(search)
            while True:
                start = grid
                batch: LazyBatch[Grid] = LazyBatch(
                    start.with_cells([*cells[:index], each.make(), *cells[index + 1 :]])
                    for each in wanted
                )
                verdicts = yield batch
                if verdicts[-1] is Verdict.BAD:
                    grid = batch[len(verdicts) - 1]
                wanted = search.send(verdicts)
        except StopIteration:
            cells = grid.cells()
    return grid


class Array(Grid):
    """A NumPy array."""

    __slots__ = ()
    plain_types: ClassVar[tuple[str, ...]] = ("int64", "float64")

    def take(self, axis: int, kept: Sequence[int]) -> Grid:
        """Return the array with these of one axis alone."""
        numpy = _library("numpy")
        return self._like(self.data.take(numpy.asarray(kept, dtype="int64"), axis=axis))

    def plainer(self) -> Iterator[Grid]:
        """Yield it with an axis less, and with a plainer dtype."""
        for axis in range(len(self.lengths)):
            if self.lengths[axis] == 1 < len(self.lengths):
                yield self._like(self.data.take(0, axis=axis))
        if self.data.dtype.kind not in "iuf":
            return
        for name in self.plain_types:
            if self.data.dtype == name:
                return
            plain = _converted(self.data, name)
            if plain is not None:
                yield self._like(plain)

    def cells(self) -> list[object]:
        """Return its values in order; of an array of objects, none."""
        if self.data.dtype.kind not in "biufcSU":
            return []
        cells: list[object] = self.data.ravel().tolist()
        return cells

    def with_cells(self, cells: list[object]) -> Grid:
        """Return an array of the same shape and dtype."""
        numpy = _library("numpy")
        return self._like(numpy.array(cells, dtype=self.data.dtype).reshape(self.data.shape))

    def make(self) -> object:
        """Return a copy."""
        fresh: object = self.data.copy()
        return fresh

    def describe(self) -> bytes:
        """Return shape, dtype and bytes."""
        form = f"{self.data.shape} {self.data.dtype.str}".encode()
        if self.data.dtype.hasobject:
            return form + repr(self.data.tolist()).encode("utf-8", "replace")
        content: bytes = self.data.tobytes()
        return form + content

    def _like(self, data: Any) -> "Grid":
        numpy = _library("numpy")
        return type(self)(numpy.asarray(data))


class Tensor(Array):
    """A torch tensor, held as the array of its values.

    Attributes:
        form: its dtype, its device, and whether it has gradients.
    """

    __slots__ = ("form",)
    plain_types: ClassVar[tuple[str, ...]] = ("int64", "float32")

    def __init__(self, data: Any, form: tuple[Any, Any, bool]) -> None:
        super().__init__(data)
        self.form = form

    def _like(self, data: Any) -> Grid:
        numpy, torch = _library("numpy"), _library("torch")
        data = numpy.asarray(data)
        dtype, device, has_gradient = self.form
        if data.dtype != self.data.dtype:
            dtype = getattr(torch, str(data.dtype))
            has_gradient = has_gradient and data.dtype.kind == "f"
        return Tensor(data, (dtype, device, has_gradient))

    def make(self) -> object:
        """Return a tensor of its own."""
        torch = _library("torch")
        dtype, device, has_gradient = self.form
        fresh: object = (
            torch.from_numpy(self.data.copy())
            .to(dtype=dtype, device=device)
            .requires_grad_(has_gradient)
        )
        return fresh

    def describe(self) -> bytes:
        """Return form, shape and bytes."""
        return repr(self.form).encode() + super().describe()


def _converted(data: Any, name: str) -> Any:
    """Return an array as of another dtype; None if that would change its values."""
    numpy = _library("numpy")
    if data.dtype.kind == "f" and not numpy.isfinite(data).all():
        return None if name.startswith("int") else data.astype(name)
    with numpy.errstate(all="ignore"):
        converted = data.astype(name)
    return converted if (converted == data).all() else None


def grid_of(value: Any) -> Grid | None:
    """Return the grid of an array or a tensor; None if a value is neither."""
    library, name = type(value).__module__.partition(".")[0], type(value).__name__
    if library == "numpy" and name == "ndarray":
        return Array(value.copy()) if value.dtype.names is None else None
    if library == "torch" and name == "Tensor":
        return _tensor(value)
    return None


def _tensor(value: Any) -> Grid | None:
    plain = value.detach().cpu()
    if str(plain.layout) != "torch.strided":
        return None
    if str(plain.dtype) == "torch.bfloat16":
        plain = plain.float()  # NumPy has no such numbers
    has_gradient = bool(value.requires_grad and value.is_leaf)
    return Tensor(plain.numpy().copy(), (value.dtype, value.device, has_gradient))


def _library(name: str) -> Any:
    return sys.modules[name]
