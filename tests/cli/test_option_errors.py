"""Parameter errors name the option that sets the parameter."""

import click
import pytest

from standout.cli.option_errors import naming_options, option_names, with_option_name
from standout.core.errors import ParameterError


def test_only_the_parameter_at_the_start_of_a_message_is_replaced():
    options = {"phi": "--phi", "top": "--top"}
    for message, expected in [
        ("phi must be ≥ 0, got -1", "--phi must be ≥ 0, got -1"),
        ("the phi must be ≥ 0", "the phi must be ≥ 0"),
        ("sigma must be > 0", "sigma must be > 0"),
        ("--phi must be ≥ 0", "--phi must be ≥ 0"),
    ]:
        assert str(with_option_name(ParameterError(message), options)) == expected


def test_an_option_with_another_name_than_its_parameter_is_named():
    with pytest.raises(ParameterError, match=r"^--within-days must be"), naming_options(time="--within-days"):
        raise ParameterError("time must be ≥ 0")


def test_the_long_form_of_an_option_is_its_name():
    command = click.Command("x", params=[click.Option(["-o", "--output"]), click.Option(["-k", "sizes"])])
    assert option_names(command) == {"output": "--output", "sizes": "-k"}
