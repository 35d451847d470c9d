"""The prints to choose the rule over time by neither train nor measure."""

from itertools import chain

from training import cameras, choosing, render_pool, rule, sequences

TRAINING = chain(
    range(render_pool._GOOD_FROM, render_pool._GOOD_FROM + render_pool.GOOD),
    range(render_pool._BAD_FROM, render_pool._BAD_FROM + render_pool.BAD),
)
CHOOSING_NETWORKS = chain(
    range(choosing._GOOD_FROM, choosing._GOOD_FROM + choosing._GOOD),
    range(choosing._BAD_FROM, choosing._BAD_FROM + choosing._BAD),
)
MEASURING = chain(
    range(
        sequences._FIRST_SEED,
        sequences._FIRST_SEED + len(sequences._RENDERED) * sequences._SEEDS_EACH,
    ),
    *(
        range(first, first + count * cameras._SEEDS_A_CAMERA)
        for _, first, count in cameras._CAMERAS
    ),
)


def test_the_rule_is_chosen_by_seeds_of_its_own() -> None:
    drawn = [
        *chain.from_iterable(seeds for *_, seeds in rule._RENDERED),
        *rule._WITH_INCIDENTS,
        *rule._WHOLE,
        *rule._MIXED,
    ]

    assert len(drawn) == len(set(drawn))
    assert not set(drawn) & {*TRAINING, *CHOOSING_NETWORKS, *MEASURING}
