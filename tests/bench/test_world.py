from bench.world import COMPILED, OURS, within_builds


def test_each_build_is_compared_with_itself_round_by_round() -> None:
    taken = {
        (OURS, "second"): [30.0, 10.0],
        (OURS, "single"): [60.0, 40.0],
        (COMPILED, "second"): [80.0, 60.0],
        (COMPILED, "single"): [100.0, 100.0],
    }

    figure = within_builds("second-node.rate", taken, "second", "single")

    assert (figure.spread.low, figure.spread.high) == (0.25, 0.5)
    assert figure.compiled is not None
    assert (figure.compiled.low, figure.compiled.high) == (0.6, 0.8)
    assert figure.is_ok


def test_a_build_that_is_not_there_has_no_figure() -> None:
    taken = {(OURS, "second"): [30.0], (OURS, "single"): [60.0]}

    assert within_builds("second-node.rate", taken, "second", "single").compiled is None
