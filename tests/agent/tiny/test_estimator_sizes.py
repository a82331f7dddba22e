"""The sizes among the parameters of an estimator, and how they are lowered."""

from typing import Any

import numpy as np
import pytest

from whet.agent.tiny.estimators.sizes import changed, sizes_of


@pytest.mark.parametrize(
    ("parameters", "sizes"),
    [
        ({"forest__n_estimators": 500, "forest__random_state": 9}, {"forest__n_estimators": 500}),
        ({"max_iter": np.int64(300), "n_jobs": 8, "verbose": 3}, {"max_iter": 300}),
        ({"n_iter_no_change": 10, "cache_size": 200, "min_samples_leaf": 5}, {}),
        ({"max_depth": None, "max_features": 0.5, "max_leaf_nodes": 2, "warm_start": True}, {}),
        ({"hidden_layer_sizes": (100, 50)}, {"hidden_layer_sizes[0]": 100, "hidden_layer_sizes[1]": 50}),
        ({"param_grid": {"C": [0.1, 1, 10], "kernel": ["rbf", "linear"]}}, {"param_grid.C": 3}),
        ({"param_grid": [{"n_estimators": [10, 400]}]}, {"param_grid[0].n_estimators": 400}),
        ({"param_grid": {"steps": [object(), object()]}}, {}),
        ({"dtype": np.float64, "max_bins": np.array([1, 3])}, {"max_bins[1]": 3}),
    ],
)  # fmt: skip
def test_a_size_is_known_by_its_name_and_value(
    parameters: dict[str, Any], sizes: dict[str, int]
) -> None:
    assert sizes_of(parameters) == sizes


def test_only_what_has_another_size_changes() -> None:
    parameters = {"n_estimators": 500, "max_depth": 2, "loss": "huber", "learning_rate": 0.1}

    assert changed(parameters, {"n_estimators": 2, "max_depth": 2}) == {"n_estimators": 2}
    assert changed(parameters, sizes_of(parameters)) == {}


def test_a_tuple_stays_one_and_as_long() -> None:
    parameters = {"hidden_layer_sizes": (100, 50)}

    new = changed(parameters, {"hidden_layer_sizes[0]": 2, "hidden_layer_sizes[1]": 50})

    assert new == {"hidden_layer_sizes": (2, 50)}
    assert isinstance(new["hidden_layer_sizes"], tuple)


def test_a_search_tries_fewer_numbers_and_every_kind() -> None:
    kinds = ["rbf", None]
    grid: dict[str, Any] = {
        "C": np.logspace(0, 3, 4),
        "kernel": kinds,
        "max_depth": [None, 3, 10],
        "cache": [1],
    }
    parameters = {"param_grid": grid}

    new = changed(parameters, {"param_grid.C": 2, "param_grid.max_depth": 2})

    assert new["param_grid"]["C"] == [1.0, 10.0]
    assert new["param_grid"]["kernel"] is kinds
    assert new["param_grid"]["max_depth"] == [None, 2]
    assert new["param_grid"]["cache"] == [1]
    assert list(grid["C"]) == [1.0, 10.0, 100.0, 1000.0]


def test_the_greatest_size_that_a_search_tries_may_be_lowered_to_a_lesser_one() -> None:
    parameters = {"param_grid": [{"n_estimators": [10, 50, 400]}, {"C": [1, 2, 3]}]}

    new = changed(parameters, {"param_grid[0].n_estimators": 50})

    assert new == {"param_grid": [{"n_estimators": [10, 50]}, {"C": [1, 2, 3]}]}
