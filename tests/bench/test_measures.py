from bench.measures import Spread, in_turn, interleave, percentile, ratios


def test_every_way_is_measured_in_every_round_and_each_goes_first_in_its_turn() -> None:
    order: list[str] = []

    def measure(way: str) -> str:
        order.append(way)
        return way.upper()

    taken = interleave({"ours": "a", "theirs": "b", "plain": "c"}, 3, measure)

    assert order == ["a", "b", "c", "b", "c", "a", "c", "a", "b"]
    assert taken == {"ours": ["A"] * 3, "theirs": ["B"] * 3, "plain": ["C"] * 3}


def test_names_come_in_the_order_in_which_they_are_measured() -> None:
    assert list(in_turn([1, 2], 3)) == [1, 2, 2, 1, 1, 2]


def test_ratios_are_taken_round_by_round() -> None:
    assert ratios([10.0, 30.0], [20.0, 10.0]) == [0.5, 3.0]


def test_a_spread_is_the_median_between_the_extremes() -> None:
    assert Spread.of([5.0, 1.0, 9.0, 2.0]) == Spread(median=3.5, low=1.0, high=9.0)


def test_a_percentile_is_a_value_that_was_measured() -> None:
    values = [float(number) for number in range(100, 0, -1)]

    assert percentile(values, 50) == 50.0
    assert percentile(values, 99) == 99.0
    assert percentile([7.0], 99) == 7.0
