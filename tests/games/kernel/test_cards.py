import msgspec
import pytest

from apps.games.kernel.cards import JOKERS, STANDARD_PACK, PackCard, is_card, is_joker, rank_of, suit_of


def test_the_pack_is_listed_s_h_d_c_each_ace_to_king():
    assert " ".join(STANDARD_PACK) == (
        "AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH "
        "AD 2D 3D 4D 5D 6D 7D 8D 9D TD JD QD KD AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC"
    )


def test_a_card_is_rank_and_suit():
    assert (rank_of("TH"), suit_of("TH")) == ("T", "H")
    assert (rank_of("XR"), suit_of("XR")) == ("X", "R")
    assert is_joker("XB")
    assert not is_joker("KS")


@pytest.mark.parametrize("card", [*STANDARD_PACK, *JOKERS])
def test_the_54_are_cards(card):
    assert is_card(card)


@pytest.mark.parametrize("text", ["", "A", "1S", "10S", "SA", "as", "AS ", "AS\n", "XX", "RX", "🂡", None, 7, ["AS"]])
def test_nothing_else_is_a_card(text):
    assert not is_card(text)


@pytest.mark.parametrize("text", ["AS\n", "\nAS", "AS ", "1S", "10S", "XR", "as", ""])
def test_decoding_takes_nothing_but_the_52(text):
    decoder = msgspec.json.Decoder(PackCard)
    assert [decoder.decode(msgspec.json.encode(card)) for card in STANDARD_PACK] == list(STANDARD_PACK)
    with pytest.raises(msgspec.ValidationError):
        decoder.decode(msgspec.json.encode(text))
