"""The written rules on which careful readers of math answers differ, by the short name that a row carries."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

DEBATABLE_RULES: Mapping[str, str] = MappingProxyType(
    {
        "other_form": "The same exact value is right in any form: unreduced, decimal, mixed,"
        " not simplified, not worked out, factored or expanded.",
        "rounded_value": "A rounded decimal for an exact gold is wrong, however many digits it has.",
        "rounded_gold": "An exact value that rounds to a decimal gold of four or more digits is right.",
        "approximate_sign": "An approximate sign in front of the exact value is no fault.",
        "hedged": "A remark such as `approximately` behind the exact value is no fault.",
        "unit_not_in_gold": "A unit that the gold does not have is not checked: the number decides.",
        "converted_unit": "The same quantity in another unit of the same measure is right.",
        "unit_power": "The right number with the unit to another power (cm for cm²) is wrong.",
        "angle_in_other_measure": "An angle in the other measure is right where the answer tells which.",
        "degree_as_power": "A degree sign typed as the power o or 0 is a degree sign.",
        "percentage_for_number": "A percentage for a plain gold is right by value up to 1, else by number.",
        "number_for_percentage": "For a gold in percent, 40 and 2/5 stand for 40%; 0.4 does not.",
        "dropped_base": "The right digits without the base of the gold are right.",
        "value_in_base_ten": "The right number in base ten for a gold in another base is wrong.",
        "value_in_another_base": "The right number in another base than the gold's is wrong.",
        "list_in_brackets": "A list in brackets is a list; two values in square brackets are an interval.",
        "repeated_element": "A value that is given more than once counts once.",
        "set_for_tuple": "A set for a tuple is wrong.",
        "order_of_tuple": "The right parts in another order, without names, are wrong.",
        "tuple_in_brackets": "A tuple in square brackets is a tuple where it has other than two parts.",
        "vector_for_tuple": "A row or column for a tuple is right.",
        "row_for_column": "A tuple, row or column for a vector is right.",
        "identity_symbol": "I stands for the identity matrix of the gold's size.",
        "pair_or_number": "Digits with a comma for a pair are the pair.",
        "point_or_interval": "A pair of whole numbers is a point; one with another end is an open interval"
        " for an answer that is a condition on a variable.",
        "inequality_for_interval": "An inequality and its interval stand for each other.",
        "outward_brackets": "Bourbaki's ]3,4] is (3,4].",
        "right_side_only": "The right side alone is right for an equation that gives a variable.",
        "equation_form": "An equation with the same solutions is right, solved, scaled or not.",
        "zero_side_missing": "An expression for the equation that sets it to zero is wrong.",
        "function_name": "Another name for the function, or y for f(x), is right.",
        "letter_case": "A letter of the other case is another letter: wrong.",
        "letter_after_slash": "In plain text, 1/2x is half of x.",
        "missing_braces": "Several digits behind a root sign or a caret without braces are meant whole.",
        "engineers_j": "j stands for i where the gold has i.",
        "decimal_comma": "A comma in a number that cannot be a digit group is a decimal comma.",
        "spaced_digit_groups": "Digit groups with a comma and a blank are one number where the gold is one.",
        "digit_groups_in_brackets": "Digit groups in brackets are several numbers: wrong for one.",
        "dot_between_digit_groups": "A dot is a decimal point, never between digit groups.",
        "number_word": "A number in words is a number.",
        "value_of_expression": "An expression in several letters, set equal to a value, states that value.",
        "ratio_as_fraction": "A ratio of two terms and its quotient stand for each other.",
        "unreduced_ratio": "A ratio with other terms in the same proportion is right.",
        "half_of_day_missing": "A time without a.m. or p.m. is right.",
        "other_clock": "A time on the 24-hour clock is right.",
        "small_letter": "A small letter for a choice is right.",
        "option_text": "An option's text without its letter is wrong: the options are not known.",
        "abbreviation": "A usual abbreviation of a day, a month, yes, no, true or false is right.",
        "sentence_for_name": "A sentence that begins with the gold's words and names nobody else is right.",
        "name_for_sentence": "Words of a gold that is a sentence are right.",
        "empty_set_for_none": "The empty set and `no solution` stand for each other.",
        "infinity_for_infinitely_many": "Infinity and `infinitely many` stand for each other.",
    }
)
