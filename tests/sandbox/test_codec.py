"""What crosses from a program arrives as its plain value, within bounds, and nothing else does."""

from __future__ import annotations

import collections
import enum
import marshal
import struct
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_strict.sandbox import codec
from lm_eval_strict.sandbox.codec import FRAME, encode, is_plain
from lm_eval_strict.sandbox.codec_reader import Answer, Opaque, UnreadableAnswer, read_answer

ROOM = 1 << 24
HASHABLE = st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.floats(allow_nan=False)
LEAVES = HASHABLE | st.complex_numbers(allow_nan=False) | st.decimals(allow_nan=False) | st.fractions()
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(HASHABLE, inner)
        | st.sets(HASHABLE)
        | st.frozensets(HASHABLE)
    ),
    max_leaves=30,
)


def crossed(value: Any) -> Answer:
    frame = encode(value, ROOM)
    tag, size = FRAME.unpack_from(frame)
    assert tag in (codec.VALUE, codec.SLOW)
    assert size == len(frame) - FRAME.size
    return read_answer(frame[FRAME.size :])


def shape(value: Any) -> Any:
    """Give the value with the type of each part beside it."""
    if isinstance(value, dict):
        return "dict", [(shape(k), shape(v)) for k, v in value.items()]
    if isinstance(value, (set, frozenset)):
        return type(value), {(type(part), part) for part in value}
    if isinstance(value, (list, tuple)):
        return type(value), [shape(part) for part in value]
    return type(value), value


@given(VALUES)
def test_a_value_arrives_as_it_was(value: Any) -> None:
    assert shape(crossed(value).value) == shape(value)


@given(VALUES)
def test_the_fast_and_the_slow_encoder_agree(value: Any) -> None:
    assert shape(read_answer(codec.encode_slowly(value)).value) == shape(value)


@given(VALUES)
def test_plain_values_are_what_marshal_reads_back(value: Any) -> None:
    if is_plain(value):
        assert shape(marshal.loads(encode(value, ROOM)[FRAME.size :])) == shape(value)


@given(st.binary(max_size=200))
def test_any_bytes_are_an_answer_or_unreadable(data: bytes) -> None:
    try:
        read_answer(data)
    except UnreadableAnswer:
        return


@given(VALUES, st.data())
def test_an_answer_with_one_byte_changed_is_an_answer_or_unreadable(value: Any, data: st.DataObject) -> None:
    payload = bytearray(codec.encode_slowly(value))
    at = data.draw(st.integers(0, len(payload) - 1))
    payload[at] = data.draw(st.integers(0, 255))
    try:
        read_answer(bytes(payload))
    except UnreadableAnswer:
        return


class LyingInt(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__

    def __add__(self, other: int) -> int:
        return 99

    def __int__(self) -> int:
        return 99

    def __index__(self) -> int:
        return 99


class LyingList(list):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        return iter([7, 7])

    def __len__(self) -> int:
        return 2


class LyingStr(str):
    def __str__(self) -> str:
        return "lie"

    def __getitem__(self, key: Any) -> str:
        return "lie"

    def encode(self, *_: Any) -> bytes:
        return b"lie"


class LyingDict(dict):  # type: ignore[type-arg]
    def items(self) -> Any:
        return [("lie", 1)]


class Lane(enum.IntEnum):
    LEFT = 1


Pair = collections.namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    ("value", "arrives"),
    [
        (LyingInt(3), 3),
        (LyingList([1, 2, 3]), [1, 2, 3]),
        (LyingStr("true"), "true"),
        (LyingDict(a=2), {"a": 2}),
        (Lane.LEFT, 1),
        (Pair(1, 2), (1, 2)),
        (collections.Counter("aab"), {"a": 2, "b": 1}),
        (collections.OrderedDict(x=1), {"x": 1}),
        (collections.defaultdict(list, {1: [2]}), {1: [2]}),
    ],
)
def test_a_subclass_arrives_as_its_base_types_own_value(value: Any, arrives: Any) -> None:
    answer = crossed(value)
    assert shape(answer.value) == shape(arrives)
    assert not answer.exact
    inside = crossed([value])
    assert shape(inside.value) == shape([arrives])
    assert inside.exact


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.0, 1e-320])
def test_every_float_keeps_its_bits(value: float) -> None:
    assert struct.pack("d", crossed(value).value) == struct.pack("d", value)


@pytest.mark.parametrize(
    "value",
    [
        numpy.int64(5),
        numpy.float32(0.1),
        numpy.bool_(True),
        numpy.str_("ab"),
        numpy.complex64(1 + 2j),
        numpy.uint8(9),
    ],
)
def test_a_numpy_scalar_arrives_as_the_same_scalar(value: Any) -> None:
    arrived = crossed(value).value
    assert type(arrived) is type(value)
    assert arrived == value


def test_an_array_arrives_as_an_array_and_never_as_bytes() -> None:
    arrived = crossed([numpy.arange(6.0).reshape(2, 3)]).value[0]
    assert arrived.shape == (2, 3)
    assert arrived.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


@pytest.mark.parametrize(
    "value",
    [
        object(),
        range(3),
        map(str, []),
        (n for n in []),
        bytearray(b"x"),
        memoryview(b"x"),
        collections.deque([1]),
        len,
        int,
    ],
)
def test_anything_else_is_opaque_and_equal_to_nothing(value: Any) -> None:
    arrived = crossed(value).value
    assert isinstance(arrived, Opaque)
    assert not arrived == arrived  # noqa: SIM201 - the rule is that not even this holds
    with pytest.raises(TypeError):
        bool(arrived)


def test_a_code_object_never_crosses_as_data() -> None:
    assert isinstance(crossed(compile("1", "x", "eval")).value, Opaque)
    with pytest.raises(UnreadableAnswer):
        read_answer(marshal.dumps(compile("1", "x", "eval"), 2))


def test_a_list_that_holds_itself_is_opaque() -> None:
    endless: list[Any] = []
    endless += [endless, endless]
    assert isinstance(crossed(endless).value, Opaque)


def test_depth_beyond_the_bound_is_opaque_when_sent_and_unreadable_when_forged() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert isinstance(crossed(deep).value, Opaque)
    with pytest.raises(UnreadableAnswer):
        read_answer(b"[\x01\x00\x00\x00" * 100_000 + b"N")
    while deep:  # taken apart by hand: a recursive destructor is not what is tested
        deep = deep[0]


def test_a_value_beyond_its_room_is_sent_as_too_big() -> None:
    assert encode("x" * 1000, 100) == codec.TOO_BIG_FRAME


@pytest.mark.parametrize(
    "payload",
    [
        b"[\xff\xff\xff\x7f",  # two thousand million parts in no bytes
        b"u\xff\xff\xff\xff",
        b"l\x00\x00\x00\x80",
        b"l\xff\xff\xff\x7f",
        b"Q" + b"i\x01\x00\x00\x00" + b"i\x00\x00\x00\x00",  # a denominator of zero
        b"D\x03\x00\x00\x00abc",
        b"a\x02\x00\x00\x00|O\x00\x00\x00\x00\x00",  # an array of objects
        b"r\x00\x00\x00\x00",  # a reference, which this version has not
        b"<\x01\x00\x00\x00[\x00\x00\x00\x00",  # a set with a list in it
        b"",
        b"NN",
    ],
)
def test_a_malformed_payload_is_unreadable(payload: bytes) -> None:
    with pytest.raises(UnreadableAnswer):
        read_answer(payload)


def test_members_that_share_one_hash_are_refused_before_they_cost_a_square() -> None:
    modulus = (1 << 61) - 1
    members = [codec._dumps(n * modulus, 2) for n in range(1, 30_000)]
    with pytest.raises(UnreadableAnswer, match="too many members"):
        read_answer(b"<" + struct.pack("<i", len(members)) + b"".join(members))


def test_a_big_integer_crosses_in_binary() -> None:
    number = 7**200_000
    assert crossed(number).value == number
    assert crossed(-number).value == -number


def test_decimal_and_fraction_arrive_as_themselves() -> None:
    assert crossed([Decimal("1.10"), Fraction(1, 3)]).value == [Decimal("1.10"), Fraction(1, 3)]
