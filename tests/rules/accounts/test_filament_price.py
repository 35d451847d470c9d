"""What was typed as a price of filament, and what prints cost by it."""

import pytest

from printreach.rules.accounts import FilamentPrice, cost_of, parse_filament_price, price_in_words


@pytest.mark.parametrize(
    ("price", "currency", "cents", "shown"),
    [
        ("24.90", "EUR", 2490, "24.90"),
        (" 24,9 ", "\u20ac", 2490, "24.90"),
        ("25", "$", 2500, "25.00"),
        ("0.05", "kr", 5, "0.05"),
    ],
)
def test_a_price_is_read_as_people_type_it(
    price: str, currency: str, cents: int, shown: str
) -> None:
    parsed = parse_filament_price(price, currency)

    assert parsed == FilamentPrice(cents=cents, currency=currency)
    assert price_in_words(parsed) == shown


@pytest.mark.parametrize(
    ("price", "currency"),
    [
        *(("", "EUR"), ("0", "EUR"), ("-5", "EUR"), ("1e9", "EUR"), ("24.901", "EUR")),
        *(
            ("1000000", "EUR"),
            ("24.90", ""),
            ("24.90", "<b>"),
            ("24.90", "E U"),
            ("24.90", "E" * 9),
        ),
        ("\u0662\u0664", "EUR"),
    ],
)
def test_anything_else_is_no_price(price: str, currency: str) -> None:
    assert parse_filament_price(price, currency) is None


def test_a_print_costs_what_its_filament_weighs() -> None:
    price = FilamentPrice(cents=2490, currency="EUR")

    assert cost_of(price, 18_770) == "0.47 EUR"
    assert cost_of(price, 1) == "0.01 EUR"
    assert cost_of(price, 0) == ""
    assert cost_of(None, 18_770) == ""
