"""How well the detector judges pictures and whole prints whose outcome is known."""
