from django import forms

from apps.accounts.models import User


class PreferencesForm(forms.ModelForm):
    """How pages look and sound to this person."""

    class Meta:
        model = User
        fields = ["card_letters", "four_colour", "theme", "sound"]
        widgets = {"card_letters": forms.RadioSelect, "theme": forms.RadioSelect}
